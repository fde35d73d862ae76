//===- Dialects.cpp - C API: dialects -------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo-c/Dialects.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Parser/Parser.h"
#include "terrazzo/Compiler/Registration.h"
#include "terrazzo/Dialect/Tile/IR/Tile.h"
#include "terrazzo/Support/Nesting.h"

#include "llvm/ADT/StringSwitch.h"

void tzRegisterDialects(MlirDialectRegistry registry) {
  terrazzo::registerDialects(*unwrap(registry));
}

/// Whether text may be given to the parser; says so if not.
static bool isShallow(MlirContext context, MlirStringRef text) {
  std::optional<terrazzo::TextPlace> deep =
      terrazzo::findDeepNesting({text.data, text.length});
  if (!deep)
    return true;
  auto place = mlir::FileLineColLoc::get(unwrap(context), "-",
                                         static_cast<unsigned>(deep->line),
                                         static_cast<unsigned>(deep->column));
  mlir::emitError(place) << terrazzo::deepNestingMessage();
  return false;
}

MlirModule tzModuleCreateParse(MlirContext context, MlirStringRef text) {
  if (!isShallow(context, text))
    return {nullptr};
  return wrap(
      mlir::parseSourceString<mlir::ModuleOp>(unwrap(text), unwrap(context))
          .release());
}

MlirType tzTypeParseGet(MlirContext context, MlirStringRef text) {
  if (!isShallow(context, text))
    return {nullptr};
  return wrap(mlir::parseType(unwrap(text), unwrap(context)));
}

MlirAttribute tzAttributeParseGet(MlirContext context, MlirStringRef text) {
  if (!isShallow(context, text))
    return {nullptr};
  return wrap(mlir::parseAttribute(unwrap(text), unwrap(context)));
}

using EachCase = void (*)(MlirStringRef, MlirStringRef, void *);

/// The cases count from 0 without gaps.
template <typename Enum>
static void forEachCase(EachCase each, void *data) {
  constexpr size_t kBits = 8 * sizeof(Enum);
  for (uint64_t value = 0;; ++value) {
    llvm::StringRef name = stringifyEnum(static_cast<Enum>(value));
    if (name.empty())
      return;
    std::string attribute =
        std::to_string(value) + " : i" + std::to_string(kBits);
    each(wrap(name), wrap(llvm::StringRef(attribute)), data);
  }
}

MlirLogicalResult tzEnumForEachCase(MlirStringRef name, EachCase each,
                                    void *data) {
  namespace arith = mlir::arith;
  namespace tile = terrazzo::tile;
  using Visitor = void (*)(EachCase, void *);
  Visitor visit =
      llvm::StringSwitch<Visitor>(unwrap(name))
          .Case("arith.CmpIPredicate", forEachCase<arith::CmpIPredicate>)
          .Case("arith.CmpFPredicate", forEachCase<arith::CmpFPredicate>)
          .Case("arith.RoundingMode", forEachCase<arith::RoundingMode>)
          .Case("tile.RMWKind", forEachCase<tile::RMWKind>)
          .Case("tile.MemSem", forEachCase<tile::MemSem>)
          .Case("tile.MemScope", forEachCase<tile::MemScope>)
          .Case("tile.CacheModifier", forEachCase<tile::CacheModifier>)
          .Case("tile.EvictionPolicy", forEachCase<tile::EvictionPolicy>)
          .Case("tile.Precision", forEachCase<tile::Precision>)
          .Default(nullptr);
  if (!visit)
    return wrap(mlir::failure());
  visit(each, data);
  return wrap(mlir::success());
}
