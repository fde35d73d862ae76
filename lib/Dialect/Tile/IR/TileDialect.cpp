//===- TileDialect.cpp - The tile dialect: registration, types, folds -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectImplementation.h"
#include "terrazzo/Dialect/Tile/IR/Checks.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace terrazzo::tile;

#include "terrazzo/Dialect/Tile/IR/TileDialect.cpp.inc"
#include "terrazzo/Dialect/Tile/IR/TileEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "terrazzo/Dialect/Tile/IR/TileAttrs.cpp.inc"

/// "64x32xf16".
static ParseResult parseBlock(AsmParser &parser, SmallVector<int64_t> &shape,
                              Type &element) {
  return failure(
      parser.parseDimensionList(shape, /*allowDynamic=*/false).failed() ||
      parser.parseType(element).failed());
}

static void printBlock(AsmPrinter &printer, ArrayRef<int64_t> shape,
                       Type element) {
  printer.printDimensionList(shape);
  printer << 'x' << element;
}

#define GET_TYPEDEF_CLASSES
#include "terrazzo/Dialect/Tile/IR/TileTypes.cpp.inc"

#define GET_OP_CLASSES
#include "terrazzo/Dialect/Tile/IR/TileOps.cpp.inc"

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "terrazzo/Dialect/Tile/IR/TileAttrs.cpp.inc"
      >();
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

static bool isThreadCount(int64_t count) {
  return count > 0 && count <= kMostThreads &&
         llvm::isPowerOf2_64(static_cast<uint64_t>(count));
}

/// What passes read of the block that runs a kernel.
static LogicalResult verifyBlock(Operation *op, NamedAttribute attr) {
  if (attr.getName() == kTargetAttr) {
    if (isa<TargetAttr>(attr.getValue()))
      return success();
    return op->emitOpError()
           << "'" << kTargetAttr << "' must be a #tile.target, got "
           << attr.getValue();
  }
  auto integer = dyn_cast<IntegerAttr>(attr.getValue());
  if (integer && integer.getType().isSignlessInteger(32) &&
      isThreadCount(integer.getInt()))
    return success();
  return op->emitOpError() << "'" << attr.getName().getValue()
                           << "' must be a power of two (i32) from 1 to "
                           << kMostThreads << ", got " << attr.getValue();
}

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 llvm::StringRef name, llvm::StringRef chip,
                                 int32_t warpSize, int32_t maxThreads,
                                 int32_t sharedBytes, int32_t registers,
                                 int32_t vectorBytes, int32_t capability,
                                 int32_t ptxVersion, int32_t privateSpace,
                                 Units units, MatrixUnit matrix) {
  for (auto [fact, value] :
       {std::pair("warp_size", warpSize), std::pair("max_threads", maxThreads),
        std::pair("shared_bytes", sharedBytes),
        std::pair("registers", registers),
        std::pair("vector_bytes", vectorBytes),
        std::pair("capability", capability),
        std::pair("ptx_version", ptxVersion),
        std::pair("private_space", privateSpace)})
    if (value < 0)
      return emitError() << "'" << fact << "' must not be negative, got "
                         << value;
  if (warpSize != 0 && !isThreadCount(warpSize))
    return emitError() << "'warp_size' must be a power of two from 1 to "
                       << kMostThreads << ", got " << warpSize;
  return success();
}

TargetAttr TargetAttr::of(Operation *op) {
  for (; op; op = op->getParentOp())
    if (auto target = op->getAttrOfType<TargetAttr>(kTargetAttr))
      return target;
  return {};
}

LogicalResult TileDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attr) {
  if (attr.getName() == kNumWarpsAttr || attr.getName() == kTargetAttr)
    return verifyBlock(op, attr);
  if (attr.getName() != kKernelAttr)
    return success();
  auto func = dyn_cast<FunctionOpInterface>(op);
  if (!func)
    return op->emitOpError()
           << "carries '" << kKernelAttr << "', which marks functions";
  if (!op->hasAttr("function_type"))
    return success(); // The function says so itself, but later.
  for (auto [index, type] : llvm::enumerate(func.getArgumentTypes()))
    if (!isElement(type) && !isa<TensorMapType>(type))
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
  if (isElement(pointee) && !pointee.isInteger(1))
    return success();
  return emitError() << "a pointer points to integers or floats of 1, 2, 4 or "
                        "8 bytes or to pointers, got "
                     << pointee;
}

LogicalResult
DescriptorType::verify(function_ref<InFlightDiagnostic()> emitError,
                       ArrayRef<int64_t> shape, Type element, Padding padding) {
  if (!isElement(element) || element.isInteger(1))
    return emitError() << "a block has elements that a pointer may point to, "
                          "got "
                       << element;
  if (shape.empty() || llvm::any_of(shape, [](int64_t n) { return n < 1; }))
    return emitError() << "a block has one or more extents, all positive, got ["
                       << shape << "]";
  if (padding == Padding::NaN && !isa<FloatType>(element))
    return emitError() << "the padding 'nan' is for floats, got " << element;
  return success();
}

bool terrazzo::tile::isElement(Type type) {
  if (isa<PtrType, Float8E5M2Type, Float8E4M3FNType, Float8E5M2FNUZType,
          Float8E4M3FNUZType, Float16Type, BFloat16Type, Float32Type,
          Float64Type>(type))
    return true;
  return llvm::any_of(
      ArrayRef<unsigned>{1, 8, 16, 32, 64},
      [&](unsigned width) { return type.isSignlessInteger(width); });
}

LogicalResult terrazzo::tile::checkTiles(Operation *kernel) {
  auto isTile = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !isa<TensorType>(type) ||
           (tensor && isElement(tensor.getElementType()) &&
            llvm::all_of(tensor.getShape(), [](int64_t extent) {
              return extent >= 1 && extent <= kMostExtent;
            }));
  };
  Operation *culprit = nullptr;
  Type found;
  kernel->walk<WalkOrder::PreOrder>([&](Operation *op) {
    SmallVector<Type> types(op->getResultTypes());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::append_range(types, block.getArgumentTypes());
    const auto *it = llvm::find_if_not(types, isTile);
    if (it == types.end())
      return WalkResult::advance();
    culprit = op, found = *it;
    return WalkResult::interrupt();
  });
  if (!culprit)
    return success();
  return culprit->emitOpError()
         << "makes no tile: expected extents of 1 to " << kMostExtent
         << " and elements of i1, or of integers, floats or pointers of 8 to "
            "64 bits, found "
         << found;
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

TypedAttr SortOp::getLast() {
  Type element = getElementType(getType());
  if (auto type = dyn_cast<FloatType>(element)) {
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    if (!getDescending())
      return FloatAttr::get(type, APFloat::getNaN(semantics));
    bool hasInf = APFloat::semanticsHasInf(semantics);
    return FloatAttr::get(type,
                          hasInf ? APFloat::getInf(semantics, /*Negative=*/true)
                                 : APFloat::getLargest(semantics, true));
  }
  unsigned width = element.getIntOrFloatBitWidth();
  if (getIsUnsigned())
    return IntegerAttr::get(element, getDescending()
                                         ? APInt::getZero(width)
                                         : APInt::getAllOnes(width));
  return IntegerAttr::get(element, getDescending()
                                       ? APInt::getSignedMinValue(width)
                                       : APInt::getSignedMaxValue(width));
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

//===----------------------------------------------------------------------===//
// Effects on memory
//===----------------------------------------------------------------------===//
// An effect through a pointer is one on what that points to; one that names no
// pointer is one on all memory, and nothing moves over it.

using Effects = SmallVectorImpl<MemoryEffects::EffectInstance>;

void LoadOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getPtrMutable());
  // A volatile access may not be removed or merged.
  if (getIsVolatile())
    effects.emplace_back(MemoryEffects::Write::get());
}

/// What an atomic touches; one that is not relaxed orders all else, too.
static void addAtomicEffects(OpOperand &pointer, MemSem sem, Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &pointer);
  effects.emplace_back(MemoryEffects::Write::get(), &pointer);
  if (sem == MemSem::Relaxed)
    return;
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}

void AtomicRMWOp::getEffects(Effects &effects) {
  addAtomicEffects(getPtrMutable(), getSem(), effects);
}

void AtomicCASOp::getEffects(Effects &effects) {
  addAtomicEffects(getPtrMutable(), getSem(), effects);
}
