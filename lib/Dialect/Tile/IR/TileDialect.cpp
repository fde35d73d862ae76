//===- TileDialect.cpp - The tile dialect: registration, types, folds -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace terrazzo::tile;

#include "terrazzo/Dialect/Tile/IR/TileDialect.cpp.inc"
#include "terrazzo/Dialect/Tile/IR/TileEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "terrazzo/Dialect/Tile/IR/TileTypes.cpp.inc"

#define GET_OP_CLASSES
#include "terrazzo/Dialect/Tile/IR/TileOps.cpp.inc"

void TileDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "terrazzo/Dialect/Tile/IR/TileTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "terrazzo/Dialect/Tile/IR/TileOps.cpp.inc"
      >();
}

Operation *TileDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                            Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

LogicalResult TileDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attr) {
  if (attr.getName() != kKernelAttr)
    return success();
  auto func = dyn_cast<FunctionOpInterface>(op);
  if (!func)
    return op->emitOpError()
           << "carries '" << kKernelAttr << "', which marks functions";
  for (auto [index, type] : llvm::enumerate(func.getArgumentTypes()))
    if (!isa<IntegerType, FloatType, PtrType>(type))
      return op->emitOpError()
             << "kernel argument " << index
             << " must be an integer, a float or a pointer, got " << type;
  if (!func.getResultTypes().empty())
    return op->emitOpError() << "a kernel returns nothing, got "
                             << func.getResultTypes().size() << " results";
  return success();
}

LogicalResult PtrType::verify(function_ref<InFlightDiagnostic()> emitError,
                              Type pointee) {
  if (isa<PtrType>(pointee))
    return success();
  if (isa<IntegerType, FloatType>(pointee) &&
      pointee.getIntOrFloatBitWidth() % 8 == 0)
    return success();
  return emitError() << "a pointer points to integers or floats of whole "
                        "bytes or to pointers, got "
                     << pointee;
}

//===----------------------------------------------------------------------===//
// Type arithmetic
//===----------------------------------------------------------------------===//

Type terrazzo::tile::getElementType(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? tile.getElementType() : type;
}

Type terrazzo::tile::withElementType(Type type, Type element) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? Type(RankedTensorType::get(tile.getShape(), element,
                                           tile.getEncoding()))
              : element;
}

ArrayRef<int64_t> terrazzo::tile::getShape(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? tile.getShape() : ArrayRef<int64_t>();
}

bool terrazzo::tile::isCommutative(Region &combine) {
  Block &block = combine.front();
  unsigned count = block.getNumArguments() / 2;
  if (block.getOperations().size() != count + 1)
    return false;
  for (auto [index, value] :
       llvm::enumerate(block.getTerminator()->getOperands())) {
    Operation *op = value.getDefiningOp();
    if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp, arith::MulFOp,
                         arith::MulIOp, arith::MaxNumFOp, arith::MinNumFOp,
                         arith::MaximumFOp, arith::MinimumFOp, arith::MaxSIOp,
                         arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp,
                         arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op))
      return false;
    Value first = block.getArgument(index),
          second = block.getArgument(count + index);
    Value lhs = op->getOperand(0), rhs = op->getOperand(1);
    if (!(lhs == first && rhs == second) && !(lhs == second && rhs == first))
      return false;
  }
  return true;
}

Type terrazzo::tile::dropAxis(RankedTensorType type, int64_t axis) {
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + axis);
  if (shape.empty())
    return type.getElementType();
  return RankedTensorType::get(shape, type.getElementType());
}

//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

static Value foldIdentity(Value source, Type result) {
  return source.getType() == result ? source : Value();
}

OpFoldResult SplatOp::fold(FoldAdaptor) { return {}; }

OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  return foldIdentity(getSource(), getType());
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (auto inner = getSource().getDefiningOp<ReshapeOp>()) {
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  return foldIdentity(getSource(), getType());
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  for (auto [index, dim] : llvm::enumerate(getOrder()))
    if (static_cast<int64_t>(index) != dim)
      return {};
  return getSource();
}

OpFoldResult AddPtrOp::fold(FoldAdaptor adaptor) {
  if (auto offset = dyn_cast_or_null<IntegerAttr>(adaptor.getOffset()))
    if (offset.getValue().isZero())
      return getPtr();
  return {};
}

OpFoldResult PtrCastOp::fold(FoldAdaptor) {
  if (auto inner = getSource().getDefiningOp<PtrCastOp>()) {
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  return foldIdentity(getSource(), getType());
}

void LoadOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  effects.emplace_back(MemoryEffects::Read::get());
  // A volatile access may not be removed or merged.
  if (getIsVolatile())
    effects.emplace_back(MemoryEffects::Write::get());
}
