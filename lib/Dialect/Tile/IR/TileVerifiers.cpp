//===- TileVerifiers.cpp - Constraints of tile operations -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A comment `op_cN` names the constraint of TileOps.td that a check is for;
// test/Dialect/Tile/invalid.mlir has a case of each.
//===----------------------------------------------------------------------===//

#include "terrazzo/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace terrazzo::tile;

/// Both are scalars, or tiles of one shape.
static bool haveSameShape(Type lhs, Type rhs) {
  return isa<RankedTensorType>(lhs) == isa<RankedTensorType>(rhs) &&
         getShape(lhs) == getShape(rhs);
}

/// Both are one scalar type, or tiles of one shape and element type. Layouts
/// are not the business of this dialect.
static bool isSame(Type lhs, Type rhs) {
  return haveSameShape(lhs, rhs) && getElementType(lhs) == getElementType(rhs);
}

static bool areSame(TypeRange lhs, TypeRange rhs) {
  return lhs.size() == rhs.size() &&
         llvm::all_of(llvm::zip(lhs, rhs), [](auto pair) {
           return isSame(std::get<0>(pair), std::get<1>(pair));
         });
}

static LogicalResult verifyGridAxis(Operation *op, int32_t axis) {
  if (axis < 0 || axis > 2) // program_id_c1, num_programs_c1
    return op->emitOpError() << "axis must be 0, 1 or 2, got " << axis;
  return success();
}

LogicalResult ProgramIdOp::verify() { return verifyGridAxis(*this, getAxis()); }
LogicalResult NumProgramsOp::verify() {
  return verifyGridAxis(*this, getAxis());
}

LogicalResult SplatOp::verify() {
  if (getElementType(getType()) != getSource().getType()) // splat_c1
    return emitOpError() << "operand must have the element type of "
                         << getType() << ", got " << getSource().getType();
  return success();
}

LogicalResult BroadcastOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  auto result = cast<RankedTensorType>(getType());
  if (source.getRank() != result.getRank() ||
      source.getElementType() != result.getElementType()) // broadcast_c1
    return emitOpError() << "source and result must agree in rank and element "
                            "type, got "
                         << source << " and " << result;
  for (auto [from, to] : llvm::zip_equal(source.getShape(), result.getShape()))
    if (from != 1 && from != to) // broadcast_c2
      return emitOpError() << "source extents must be 1 or the result's, got "
                           << source << " and " << result;
  return success();
}

LogicalResult ReshapeOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  auto result = cast<RankedTensorType>(getType());
  if (source.getElementType() != result.getElementType() ||
      source.getNumElements() != result.getNumElements()) // reshape_c1
    return emitOpError() << "source and result must agree in element type and "
                            "number of elements, got "
                         << source << " and " << result;
  return success();
}

/// `dropped` is increasing and names extents of 1 in `sizes`.
static bool isDroppable(ArrayRef<int32_t> dropped, ArrayRef<int64_t> sizes) {
  int32_t last = -1;
  for (int32_t dim : dropped) {
    if (dim <= last || dim >= static_cast<int32_t>(sizes.size()) ||
        sizes[dim] != 1)
      return false;
    last = dim;
  }
  return true;
}

LogicalResult SliceOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  size_t rank = source.getRank();
  if (getOffsets().size() != rank || getSizes().size() != rank ||
      getStrides().size() != rank) // slice_c1
    return emitOpError() << "needs " << rank
                         << " offsets, sizes and strides, got "
                         << getOffsets().size() << ", " << getSizes().size()
                         << " and " << getStrides().size();
  SmallVector<int64_t> sizes(getSizes());
  if (!isDroppable(getDropped(), sizes)) // slice_c2
    return emitOpError() << "dropped dimensions must be increasing and of size "
                            "1, got ["
                         << getDropped() << "] of sizes [" << getSizes() << "]";
  SmallVector<int64_t> shape;
  for (size_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(getDropped(), static_cast<int32_t>(dim)))
      shape.push_back(sizes[dim]);
  Type expected = source.getElementType();
  if (!shape.empty())
    expected = RankedTensorType::get(shape, expected);
  if (!isSame(getType(), expected)) // slice_c3
    return emitOpError() << "result must be " << expected << ", got "
                         << getType();
  return success();
}

LogicalResult InsertOp::verify() {
  auto dest = cast<RankedTensorType>(getDest().getType());
  if (static_cast<int64_t>(getOffsets().size()) != dest.getRank()) // insert_c1
    return emitOpError() << "needs " << dest.getRank() << " offsets, got "
                         << getOffsets().size();
  SmallVector<int64_t> shape(getShape(getSource().getType()));
  for (int32_t dim : getDropped())
    if (dim >= 0 && dim <= static_cast<int32_t>(shape.size()))
      shape.insert(shape.begin() + dim, 1);
  bool fits = static_cast<int64_t>(shape.size()) == dest.getRank() &&
              getElementType(getSource().getType()) == dest.getElementType() &&
              isDroppable(getDropped(), shape);
  for (size_t dim = 0; fits && dim < shape.size(); ++dim)
    fits = shape[dim] <= dest.getDimSize(dim);
  if (!fits) // insert_c2
    return emitOpError()
           << "source, with dropped dimensions put back, must fit "
              "into "
           << dest << ", got " << getSource().getType();
  return success();
}

LogicalResult GatherOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  auto indices = cast<RankedTensorType>(getIndices().getType());
  int32_t axis = getAxis();
  if (axis < 0 || axis >= source.getRank()) // gather_c1
    return emitOpError() << "axis must be in [0, " << source.getRank()
                         << "), got " << axis;
  bool agree = source.getRank() == indices.getRank();
  for (int64_t dim = 0; agree && dim < source.getRank(); ++dim)
    agree = dim == axis || source.getDimSize(dim) == indices.getDimSize(dim);
  if (!agree) // gather_c2
    return emitOpError() << "source and indices must agree but for dimension "
                         << axis << ", got " << source << " and " << indices;
  auto expected =
      RankedTensorType::get(indices.getShape(), source.getElementType());
  if (!isSame(getType(), expected)) // gather_c3
    return emitOpError() << "result must be " << expected << ", got "
                         << getType();
  return success();
}

LogicalResult AddPtrOp::verify() {
  if (!haveSameShape(getPtr().getType(), getOffset().getType())) // addptr_c1
    return emitOpError() << "pointer and offset must be scalars or have one "
                            "shape, got "
                         << getPtr().getType() << " and "
                         << getOffset().getType();
  return success();
}

static LogicalResult verifyAddress(Operation *op, Type ptr, Type integer) {
  if (!haveSameShape(ptr, integer) || !getElementType(integer).isInteger(64))
    return op->emitOpError()
           << "needs i64 addresses and pointers of one shape, "
              "got "
           << ptr << " and " << integer;
  return success();
}

LogicalResult PtrToIntOp::verify() { // ptr_to_int_c1
  return verifyAddress(*this, getSource().getType(), getType());
}
LogicalResult IntToPtrOp::verify() { // int_to_ptr_c1
  return verifyAddress(*this, getType(), getSource().getType());
}

LogicalResult PtrCastOp::verify() {
  if (!haveSameShape(getSource().getType(), getType())) // ptr_cast_c1
    return emitOpError() << "source and result must have one shape, got "
                         << getSource().getType() << " and " << getType();
  return success();
}

LogicalResult HintOp::verify() {
  size_t rank = std::max<size_t>(1, getShape(getType()).size());
  for (std::optional<ArrayRef<int32_t>> hint :
       {getContiguity(), getDivisibility(), getConstancy()})
    if (hint && (hint->size() != rank || llvm::any_of(*hint, [](int32_t n) {
                   return n < 1;
                 }))) // hint_c1
      return emitOpError() << "each hint must have " << rank
                           << " positive entries, got [" << *hint << "]";
  return success();
}

/// Mask and value of a memory access have the pointer's shape.
static LogicalResult verifyAccess(Operation *op, Type ptr, StringRef what,
                                  Type other) {
  if (!haveSameShape(ptr, other)) // load_c1, store_c1, atomic_*_c1
    return op->emitOpError() << what << " must have the shape of the pointer "
                             << ptr << ", got " << other;
  return success();
}

static LogicalResult verifyPointee(Operation *op, Type ptr, StringRef what,
                                   Type value) {
  Type pointee = cast<PtrType>(getElementType(ptr)).getPointeeType();
  if (getElementType(value) != pointee) // load_c2, store_c2, atomic_*_c2
    return op->emitOpError() << what << " must have the pointee type "
                             << pointee << ", got " << getElementType(value);
  return success();
}

LogicalResult LoadOp::verify() {
  Type ptr = getPtr().getType();
  if (getMask() &&
      failed(verifyAccess(*this, ptr, "mask", getMask().getType())))
    return failure();
  if (!getOther())
    return success();
  if (!getMask()) // load_c3
    return emitOpError() << "other is for lanes that a mask leaves out, got no "
                            "mask";
  if (failed(verifyAccess(*this, ptr, "other", getOther().getType())))
    return failure();
  return verifyPointee(*this, ptr, "other", getOther().getType());
}

LogicalResult StoreOp::verify() {
  Type ptr = getPtr().getType();
  if (failed(verifyAccess(*this, ptr, "value", getValue().getType())) ||
      (getMask() &&
       failed(verifyAccess(*this, ptr, "mask", getMask().getType()))))
    return failure();
  return verifyPointee(*this, ptr, "value", getValue().getType());
}

LogicalResult MakeDescriptorOp::verify() {
  size_t rank = getType().getShape().size();
  if (getShape().size() != rank) // make_descriptor_c1
    return emitOpError() << "needs a shape and strides of " << rank
                         << " dimensions, got " << getShape().size();
  return success();
}

LogicalResult DescriptorStoreOp::verify() {
  RankedTensorType block = getDescriptor().getType().getBlockType();
  if (static_cast<int64_t>(getOffsets().size()) !=
      block.getRank()) // descriptor_store_c1
    return emitOpError() << "needs " << block.getRank() << " offsets, got "
                         << getOffsets().size();
  if (!isSame(getValue().getType(), block)) // descriptor_store_c2
    return emitOpError() << "stores blocks of type " << block << ", got "
                         << getValue().getType();
  return success();
}

LogicalResult BlockHintOp::verify() {
  int64_t rank = cast<RankedTensorType>(getType()).getRank();
  if (static_cast<int64_t>(getOffsets().size()) != rank) // block_hint_c1
    return emitOpError() << "needs " << rank << " offsets, got "
                         << getOffsets().size();
  return success();
}

LogicalResult AtomicRMWOp::verify() {
  Type ptr = getPtr().getType(), value = getValue().getType();
  if (failed(verifyAccess(*this, ptr, "value", value)) ||
      (getMask() &&
       failed(verifyAccess(*this, ptr, "mask", getMask().getType()))) ||
      failed(verifyPointee(*this, ptr, "value", value)))
    return failure();
  bool isFloat = isa<FloatType>(getElementType(value));
  bool wantsFloat = llvm::is_contained(
      {RMWKind::FAdd, RMWKind::FMax, RMWKind::FMin}, getKind());
  if (getKind() != RMWKind::Exch && isFloat != wantsFloat) // atomic_rmw_c3
    return emitOpError() << "'" << stringifyRMWKind(getKind()) << "' takes "
                         << (wantsFloat ? "floats" : "integers") << ", got "
                         << value;
  if (wantsFloat &&
      getElementType(value).getIntOrFloatBitWidth() < 16) // atomic_rmw_c3
    return emitOpError() << "'" << stringifyRMWKind(getKind())
                         << "' takes floats of 16 bits or more, got " << value;
  if (!isSame(getType(), value)) // atomic_rmw_c4
    return emitOpError() << "result must have the type of the value, " << value
                         << ", got " << getType();
  return success();
}

LogicalResult ClampOp::verify() {
  if (!isa<FloatType>(getElementType(getType()))) // clamp_c1
    return emitOpError() << "operands must be floats or tiles of floats, got "
                         << getType();
  return success();
}

LogicalResult AtomicCASOp::verify() {
  Type ptr = getPtr().getType(), value = getValue().getType();
  if (failed(verifyAccess(*this, ptr, "value", value)))
    return failure();
  return verifyPointee(*this, ptr, "value", value);
}

LogicalResult DotOp::verify() {
  auto lhs = cast<RankedTensorType>(getLhs().getType());
  auto rhs = cast<RankedTensorType>(getRhs().getType());
  auto acc = cast<RankedTensorType>(getAcc().getType());
  int64_t rank = lhs.getRank();
  if (rank != rhs.getRank() || rank != acc.getRank() || rank < 2 || rank > 3 ||
      (rank == 3 && (lhs.getDimSize(0) != rhs.getDimSize(0) ||
                     lhs.getDimSize(0) != acc.getDimSize(0)))) // dot_c1
    return emitOpError()
           << "operands must have rank 2, or rank 3 and one batch "
              "extent, got "
           << lhs << ", " << rhs << " and " << acc;
  if (lhs.getDimSize(rank - 1) != rhs.getDimSize(rank - 2) ||
      lhs.getDimSize(rank - 2) != acc.getDimSize(rank - 2) ||
      rhs.getDimSize(rank - 1) != acc.getDimSize(rank - 1)) // dot_c2
    return emitOpError() << "operands must be [M, K], [K, N] and [M, N], got "
                         << lhs << ", " << rhs << " and " << acc;
  Type a = lhs.getElementType(), b = rhs.getElementType();
  bool isFloat = isa<FloatType>(a) && isa<FloatType>(b);
  if (!isFloat && !(isa<IntegerType>(a) && a == b)) // dot_c3
    return emitOpError() << "operands must both be floats, or integers of one "
                            "width, got "
                         << a << " and " << b;
  Type c = acc.getElementType();
  bool accFits = isFloat ? isa<FloatType>(c) && c.getIntOrFloatBitWidth() >= 16
                         : c.isInteger(32);
  if (!accFits) // dot_c4
    return emitOpError() << "accumulator must be "
                         << (isFloat ? "a float of 16 bits or more" : "i32")
                         << ", got " << c;
  auto imprecise = static_cast<int32_t>(getMaxNumImpreciseAcc());
  if (imprecise < 0) // dot_c5
    return emitOpError() << "maxNumImpreciseAcc must not be negative, got "
                         << imprecise;
  return success();
}

//===----------------------------------------------------------------------===//
// Operations with regions
//===----------------------------------------------------------------------===//

static LogicalResult verifyAxisOperands(Operation *op, ValueRange operands,
                                        int32_t axis) {
  if (operands.empty())
    return op->emitOpError() << "needs at least one operand"; // reduce_c1
  auto first = cast<RankedTensorType>(operands.front().getType());
  for (Value operand : operands)
    if (getShape(operand.getType()) != first.getShape()) // reduce_c1
      return op->emitOpError() << "operands must have one shape, got " << first
                               << " and " << operand.getType();
  if (axis < 0 || axis >= first.getRank()) // reduce_c2
    return op->emitOpError()
           << "axis must be in [0, " << first.getRank() << "), got " << axis;
  return success();
}

/// The region takes `arguments` and yields `results`.
static LogicalResult verifyRegion(Operation *op, Region &region,
                                  ArrayRef<Type> arguments,
                                  ArrayRef<Type> results) {
  Block &block = region.front();
  if (!areSame(block.getArgumentTypes(), arguments)) {
    InFlightDiagnostic diag = op->emitOpError("region must take (");
    llvm::interleaveComma(arguments, diag);
    diag << "), got (";
    llvm::interleaveComma(block.getArgumentTypes(), diag);
    return diag << ")";
  }
  auto yield =
      dyn_cast_or_null<YieldOp>(block.empty() ? nullptr : &block.back());
  if (!yield || !areSame(yield.getOperandTypes(), results)) {
    InFlightDiagnostic diag = op->emitOpError("region must yield (");
    llvm::interleaveComma(results, diag);
    diag << "), got (";
    if (yield)
      llvm::interleaveComma(yield.getOperandTypes(), diag);
    return diag << ")";
  }
  return success();
}

static LogicalResult verifyCombine(Operation *op, Region &region,
                                   ValueRange operands) {
  SmallVector<Type> elements;
  for (Value operand : operands)
    elements.push_back(getElementType(operand.getType()));
  SmallVector<Type> arguments(elements);
  llvm::append_range(arguments, elements);
  return verifyRegion(op, region, arguments, elements); // reduce_c3
}

LogicalResult ReduceOp::verify() {
  if (failed(verifyAxisOperands(*this, getOperands(), getAxis())))
    return failure();
  if (getNumResults() != getNumOperands())
    return emitOpError() << "must have one result an operand, got "
                         << getNumResults() << " for " << getNumOperands();
  for (auto [operand, result] : llvm::zip_equal(getOperands(), getResults())) {
    Type expected =
        dropAxis(cast<RankedTensorType>(operand.getType()), getAxis());
    if (!isSame(result.getType(), expected))
      return emitOpError() << "result must be " << expected << ", got "
                           << result.getType();
  }
  return success();
}

LogicalResult ReduceOp::verifyRegions() {
  return verifyCombine(*this, getCombine(), getOperands());
}

LogicalResult ScanOp::verify() {
  if (failed(verifyAxisOperands(*this, getOperands(), getAxis())))
    return failure();
  if (!areSame(getOperandTypes(), getResultTypes())) // scan_c4
    return emitOpError() << "results must have the types of the operands";
  return success();
}

LogicalResult ScanOp::verifyRegions() {
  return verifyCombine(*this, getCombine(), getOperands());
}

LogicalResult RecurrenceOp::verify() {
  if (getXs().empty()) // recurrence_c1
    return emitOpError() << "needs at least one tile to step through";
  int32_t axis = getAxis();
  std::optional<int64_t> extent;
  for (Value x : getXs()) {
    auto type = cast<RankedTensorType>(x.getType());
    if (axis < 0 || axis >= type.getRank()) // recurrence_c1
      return emitOpError() << "axis must be in [0, " << type.getRank()
                           << "), got " << axis;
    if (extent && *extent != type.getDimSize(axis)) // recurrence_c1
      return emitOpError() << "tiles must have one extent along axis " << axis
                           << ", got " << *extent << " and "
                           << type.getDimSize(axis);
    extent = type.getDimSize(axis);
  }
  return success();
}

LogicalResult RecurrenceOp::verifyRegions() {
  SmallVector<Type> arguments(getInits().getTypes());
  SmallVector<Type> yields(arguments);
  for (Value x : getXs())
    arguments.push_back(
        dropAxis(cast<RankedTensorType>(x.getType()), getAxis()));
  int64_t extent =
      cast<RankedTensorType>(getXs().front().getType()).getDimSize(getAxis());
  if (getNumResults() < getInits().size() ||
      !areSame(getResults().take_front(getInits().size()).getTypes(),
               getInits().getTypes())) // recurrence_c4
    return emitOpError() << "first results must have the types of the inits";
  for (Type type : getResults().drop_front(getInits().size()).getTypes()) {
    auto stacked = dyn_cast<RankedTensorType>(type);
    if (!stacked || getAxis() >= stacked.getRank() ||
        stacked.getDimSize(getAxis()) != extent) // recurrence_c4
      return emitOpError() << "outputs must be stacked to extent " << extent
                           << " along axis " << getAxis() << ", got " << type;
    yields.push_back(dropAxis(stacked, getAxis()));
  }
  return verifyRegion(*this, getStep(), arguments, yields); // recurrence_c2, c3
}

LogicalResult MapOp::verify() {
  if (getOperands().empty()) // map_c1
    return emitOpError() << "needs at least one operand";
  ArrayRef<int64_t> shape = getShape(getOperands().front().getType());
  for (Type type :
       llvm::concat<const Type>(SmallVector<Type>(getOperandTypes()),
                                SmallVector<Type>(getResultTypes())))
    if (getShape(type) != shape) // map_c1
      return emitOpError() << "operands and results must have one shape, got "
                           << getOperands().front().getType() << " and "
                           << type;
  return success();
}

LogicalResult MapOp::verifyRegions() {
  auto elements = [](TypeRange types) {
    return llvm::map_to_vector(types, [](Type t) { return getElementType(t); });
  };
  return verifyRegion(*this, getBody(), elements(getOperandTypes()),
                      elements(getResultTypes())); // map_c2
}

LogicalResult SortOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  int32_t axis = getAxis();
  if (axis < 0 || axis >= type.getRank()) // sort_c1
    return emitOpError() << "axis must be in [0, " << type.getRank()
                         << "), got " << axis;
  if (!type.getElementType().isIntOrFloat()) // sort_c2
    return emitOpError() << "elements must be integers or floats, got " << type;
  bool isPart = getBitonic() || getTurnedBit();
  if (isPart && !llvm::isPowerOf2_64(type.getDimSize(axis))) // sort_c3
    return emitOpError() << "a part's axis must have an extent that is a "
                            "power of two, got "
                         << type.getDimSize(axis);
  if (std::optional<uint32_t> bit = getTurnedBit()) { // sort_c4
    if (axis == 0)
      return emitOpError("rows along dimension 0 cannot be turned by it");
    unsigned bits = llvm::Log2_64_Ceil(type.getDimSize(0));
    if (*bit >= bits)
      return emitOpError() << "bit to turn by must be in [0, " << bits
                           << ") of dimension 0, got "
                           << static_cast<int32_t>(*bit);
  }
  return success();
}

LogicalResult PrintOp::verify() {
  if (getIsSigned().size() != getOperands().size()) // print_c1
    return emitOpError() << "isSigned must have one entry an operand, got "
                         << getIsSigned().size() << " for "
                         << getOperands().size();
  return success();
}
