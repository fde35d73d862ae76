//===- TileLines.cpp - What the runtime must know of prints and asserts ---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace terrazzo::tile;

/// "i32 4x8 0": what an operand of a print holds, for the printer.
static std::string describe(Type type, bool isSigned, bool hex) {
  Type element = getElementType(type);
  std::string text;
  llvm::raw_string_ostream out(text);
  if (isa<PtrType>(element))
    out << "ptr";
  else if (element.isInteger() && !isSigned && !element.isInteger(1))
    out << "u" << element.getIntOrFloatBitWidth();
  else
    out << element;
  out << " ";
  llvm::interleave(getShape(type), out, "x");
  out << " " << (hex ? 1 : 0);
  return text;
}

static DictionaryAttr entryOf(Operation *op, llvm::StringRef text,
                              ArrayRef<Attribute> operands) {
  Builder b(op->getContext());
  auto place = op->getLoc()->findInstanceOf<FileLineColLoc>();
  llvm::StringRef file = place ? place.getFilename().getValue() : "";
  return b.getDictionaryAttr(
      {b.getNamedAttr("text", b.getStringAttr(text)),
       b.getNamedAttr("file", b.getStringAttr(file)),
       b.getNamedAttr("line", b.getI32IntegerAttr(place ? place.getLine() : 0)),
       b.getNamedAttr("column",
                      b.getI32IntegerAttr(place ? place.getColumn() : 0)),
       b.getNamedAttr("operands", b.getArrayAttr(operands))});
}

DictionaryAttr terrazzo::tile::lineEntry(PrintOp op) {
  Builder b(op.getContext());
  SmallVector<Attribute> operands;
  for (auto [operand, isSigned] :
       llvm::zip_equal(op.getOperands(), op.getIsSigned()))
    operands.push_back(b.getStringAttr(
        describe(operand.getType(), isSigned != 0, op.getHex())));
  return entryOf(op, op.getPrefix(), operands);
}

DictionaryAttr terrazzo::tile::lineEntry(AssertOp op) {
  return entryOf(op, op.getMessage(), {});
}
