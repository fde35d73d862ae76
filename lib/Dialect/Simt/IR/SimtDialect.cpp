//===- SimtDialect.cpp - The simt dialect ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Dialect/Simt/IR/Simt.h"

#include "mlir/IR/DialectImplementation.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::simt;

#include "terrazzo/Dialect/Simt/IR/SimtDialect.cpp.inc"

#include "terrazzo/Dialect/Simt/IR/SimtEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "terrazzo/Dialect/Simt/IR/SimtAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "terrazzo/Dialect/Simt/IR/SimtTypes.cpp.inc"

#define GET_OP_CLASSES
#include "terrazzo/Dialect/Simt/IR/SimtOps.cpp.inc"

namespace {

/// Layouts are long and come back often: each gets a name at the head of the
/// module.
struct LayoutAliases : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(Attribute attr, raw_ostream &os) const override {
    if (!isa<LayoutAttr>(attr))
      return AliasResult::NoAlias;
    os << "layout";
    return AliasResult::FinalAlias;
  }
};

} // namespace

void SimtDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "terrazzo/Dialect/Simt/IR/SimtAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "terrazzo/Dialect/Simt/IR/SimtTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "terrazzo/Dialect/Simt/IR/SimtOps.cpp.inc"
      >();
  addInterfaces<LayoutAliases>();
}

//===----------------------------------------------------------------------===//
// #simt.layout
//===----------------------------------------------------------------------===//

static ParseResult parseIntegers(AsmParser &parser,
                                 SmallVectorImpl<int32_t> &values) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parser.parseInteger(values.emplace_back());
  });
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SmallVector<layout::LinearLayout::InSpec> ins;
  SmallVector<int32_t> sizes;
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  while (true) {
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return {};
    if (name == "dims") {
      if (parseIntegers(parser, sizes))
        return {};
      break;
    }
    layout::LinearLayout::InSpec in{name, {}};
    auto parseBasis = [&]() -> ParseResult {
      SmallVector<int32_t> values;
      if (parseIntegers(parser, values))
        return failure();
      in.second.emplace_back(values.begin(), values.end());
      return success();
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                       parseBasis) ||
        parser.parseComma())
      return {};
    ins.push_back(in);
  }
  if (parser.parseGreater())
    return {};
  SmallVector<layout::LinearLayout::OutSpec> outs;
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    if (size < 1 || !llvm::isPowerOf2_32(static_cast<uint32_t>(size))) {
      parser.emitError(place)
          << "extents of a layout must be powers of two, got " << size;
      return {};
    }
    outs.push_back({layout::dimName(static_cast<unsigned>(dim)),
                    static_cast<int32_t>(llvm::Log2_32(size))});
  }
  std::string error;
  std::optional<layout::LinearLayout> layout =
      layout::LinearLayout::tryCreate(ins, outs, error);
  if (!layout) {
    parser.emitError(place) << error;
    return {};
  }
  return LayoutAttr::get(parser.getContext(), *layout);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  const layout::LinearLayout &layout = getLayout();
  printer << '<';
  for (const layout::Dim &in : layout.inDims()) {
    printer << in.name << " = [";
    for (int32_t bit = 0; bit < in.bits; ++bit) {
      printer << (bit ? ", [" : "[");
      llvm::interleaveComma(layout.basis(in.name, bit), printer);
      printer << ']';
    }
    printer << "], ";
  }
  printer << "dims = [";
  llvm::interleaveComma(layout.outShape(), printer);
  printer << "]>";
}

LogicalResult LayoutAttr::verifyEncoding(
    ArrayRef<int64_t> shape, Type element,
    llvm::function_ref<InFlightDiagnostic()> emitError) const {
  const layout::LinearLayout &layout = getLayout();
  for (const layout::Dim &in : layout.inDims())
    if (in.name != kRegister && in.name != kLane && in.name != kWarp)
      return emitError() << "a tile's layout has the inputs register, lane and "
                            "warp, got "
                         << in.name;
  if (!tile::isElement(element) || llvm::any_of(shape, [](int64_t extent) {
        return extent < 1 || extent > tile::kMostExtent;
      }))
    return emitError() << "a tile with a layout has extents of 1 to "
                       << tile::kMostExtent
                       << " and integers, floats or pointers as elements, got ["
                       << shape << "] of " << element;
  if (ArrayRef<int32_t>(layout.outShape()) !=
      ArrayRef<int32_t>(paddedShape(shape))) {
    InFlightDiagnostic diag = emitError() << "a layout for a tile of extents [";
    llvm::interleaveComma(shape, diag);
    diag << "] has dims [";
    llvm::interleaveComma(paddedShape(shape), diag);
    diag << "], got [";
    llvm::interleaveComma(layout.outShape(), diag);
    return diag << "]";
  }
  if (!layout.isSurjective())
    return emitError() << "a tile's layout has a place for each element, got "
                          "one that leaves some out: "
                       << *this;
  return success();
}

LayoutAttr simt::getLayout(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? dyn_cast_or_null<LayoutAttr>(tile.getEncoding()) : LayoutAttr();
}

RankedTensorType simt::withLayout(RankedTensorType type, LayoutAttr layout) {
  return RankedTensorType::get(type.getShape(), type.getElementType(), layout);
}

SmallVector<int32_t> simt::paddedShape(ArrayRef<int64_t> shape) {
  SmallVector<int32_t> padded;
  for (int64_t extent : shape)
    padded.push_back(static_cast<int32_t>(llvm::PowerOf2Ceil(extent)));
  return padded;
}

int64_t simt::elementBytes(Type element) {
  if (isa<tile::PtrType>(element))
    return 8;
  return std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
}

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor) {
  if (getSource().getType() == getResult().getType())
    return getSource();
  if (auto before = getSource().getDefiningOp<ConvertLayoutOp>()) {
    if (before.getSource().getType() == getResult().getType())
      return before.getSource();
    getSourceMutable().assign(before.getSource());
    return getResult();
  }
  return {};
}
