//===- Dialects.cpp - C API: dialects -------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo-c/Dialects.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Parser/Parser.h"
#include "terrazzo/Compiler/Registration.h"
#include "terrazzo/Support/Nesting.h"

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
