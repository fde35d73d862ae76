//===- SimtVerifiers.cpp - Constraints of simt operations -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A comment `op_cN` names the constraint of SimtOps.td that a check is for;
// test/Dialect/Simt/invalid.mlir has a case of each.
//===----------------------------------------------------------------------===//

#include "terrazzo/Dialect/Simt/IR/MatrixUnits.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::simt;

LogicalResult ConvertLayoutOp::verify() {
  auto source = getSource().getType(), result = getResult().getType();
  if (source.getShape() != result.getShape() ||
      source.getElementType() != result.getElementType()) // convert_layout_c1
    return emitOpError("may change the layout only, got ")
           << source << " and " << result;
  return success();
}

LogicalResult AllocOp::verify() {
  constexpr int64_t kMostBytes = int64_t{1} << 40;
  auto bytes = static_cast<int64_t>(getBytes());
  if (bytes <= 0 || bytes > kMostBytes) // alloc_c1
    return emitOpError("bytes must be in [1, 2^40], got ") << bytes;
  auto alignment = static_cast<int64_t>(getAlignment());
  if (alignment < 16 || alignment > 1024 ||
      !llvm::isPowerOf2_64(alignment)) // alloc_c1
    return emitOpError("alignment must be a power of two from 16 to 1024, got ")
           << alignment;
  if (getRing() && static_cast<int64_t>(*getRing()) < 0) // alloc_c1
    return emitOpError("ring must not be negative, got ")
           << static_cast<int64_t>(*getRing());
  if (std::optional<uint64_t> offset = getOffset();
      offset && (*offset >= uint64_t{kSharedEnd} ||
                 getBytes() > uint64_t{kSharedEnd} - *offset)) // alloc_c2
    return emitOpError() << "must end at " << kSharedEnd
                         << " bytes or before, got an offset of "
                         << static_cast<int64_t>(*offset) << " and "
                         << static_cast<int64_t>(getBytes()) << " bytes";
  return success();
}

static LogicalResult verifyAddress(Operation *op, Type type,
                                   ArrayRef<int32_t> strides,
                                   LayoutAttr swizzle) {
  size_t rank = tile::getShape(type).size();
  if (swizzle ? !strides.empty() : strides.size() != rank) // local_*_c1
    return op->emitOpError(
               "needs one stride a dimension, or a swizzle and none, got ")
           << strides.size() << " strides for " << type;
  if (!swizzle)
    return success();
  const LinearLayout &layout = swizzle.getLayout();
  if (layout.numIns() != 1 || layout.inDims().front().name != kOffset ||
      !layout.isInvertible() ||
      ArrayRef<int32_t>(layout.outShape()) !=
          ArrayRef<int32_t>(paddedShape(tile::getShape(type)))) // local_*_c3
    return op->emitOpError("needs a swizzle that has an offset for each "
                           "element of the padded tile, got ")
           << swizzle << " for " << type;
  return success();
}

/// Passes ask where a buffer is, so it must be plain to see.
static LogicalResult verifyBuffer(Operation *op, Value buffer) {
  if (!buffer.getDefiningOp<AllocOp>()) // local_*_c2
    return op->emitOpError("needs buffers that are results of simt.alloc");
  return success();
}

/// Elements outside of what a buffer has are as in another tile.
static LogicalResult verifyOtherwise(Operation *op, Value otherwise) {
  if (otherwise &&
      otherwise.getType() != op->getResult(0).getType()) // local_*_c4
    return op->emitOpError(
               "needs an 'otherwise' of the type of the result, got ")
           << otherwise.getType() << " and " << op->getResult(0).getType();
  return success();
}

LogicalResult LocalStoreOp::verify() {
  if (failed(verifyBuffer(*this, getBuffer())))
    return failure();
  return verifyAddress(*this, getValue().getType(), getStrides(),
                       getSwizzleAttr());
}

LogicalResult LocalLoadOp::verify() {
  if (failed(verifyBuffer(*this, getBuffer())) ||
      failed(verifyOtherwise(*this, getOtherwise())))
    return failure();
  return verifyAddress(*this, getResult().getType(), getStrides(),
                       getSwizzleAttr());
}

LogicalResult LocalCountOp::verify() {
  auto indices = getIndices().getType();
  if (Value mask = getMask())
    if (auto type = cast<RankedTensorType>(mask.getType());
        type.getShape() != indices.getShape() ||
        type.getEncoding() != indices.getEncoding()) // local_count_c1
      return emitOpError("needs a mask with the shape and layout of the "
                         "indices, got ")
             << type << " and " << indices;
  if (static_cast<int32_t>(getBins()) < 1) // local_count_c3
    return emitOpError("needs at least one bin, got ")
           << static_cast<int32_t>(getBins());
  return verifyBuffer(*this, getBuffer());
}

LogicalResult LocalDotOp::verify() {
  if (failed(verifyBuffer(*this, getLhs())) ||
      failed(verifyBuffer(*this, getRhs())))
    return failure();
  size_t rank = tile::getShape(getAcc().getType()).size();
  if (getLhsStrides().size() != rank ||
      getRhsStrides().size() != rank) // local_dot_c1
    return emitOpError("needs one stride a dimension of the factors, got ")
           << getLhsStrides().size() << " and " << getRhsStrides().size()
           << " for rank " << rank;
  if (getAcc().getType() != getType()) // local_dot_c3
    return emitOpError("must give what it adds to, ")
           << getAcc().getType() << ", got " << getType();
  Type a = getLhsType(), b = getRhsType(), c = tile::getElementType(getType());
  bool isFloat = isa<FloatType>(a) && isa<FloatType>(b) && isa<FloatType>(c);
  auto isNarrow = [](Type type) {
    return type.isIntOrFloat() && type.getIntOrFloatBitWidth() <= 64;
  };
  if (rank < 2 || rank > 3 || !isNarrow(a) || !isNarrow(b) ||
      !(isFloat || (isa<IntegerType>(a) && a == b && c.isInteger(32))))
    // local_dot_c4
    return emitOpError("needs factors of floats and an accumulator of floats "
                       "of rank 2 or 3, or integers of one type and i32, all "
                       "of at most 64 bits, got ")
           << a << ", " << b << " and " << getType();
  if (static_cast<int32_t>(getDepth()) < 1) // local_dot_c5
    return emitOpError("depth must be positive, got ")
           << static_cast<int32_t>(getDepth());
  return success();
}

LogicalResult MmaOp::verify() {
  auto lhs = cast<RankedTensorType>(getLhs().getType()),
       rhs = cast<RankedTensorType>(getRhs().getType()),
       acc = cast<RankedTensorType>(getAcc().getType());
  InstructionAttr unit = getInstruction();
  auto rank = static_cast<size_t>(acc.getRank());
  auto agree = [&] {
    ArrayRef<int64_t> a = lhs.getShape(), b = rhs.getShape(),
                      c = acc.getShape();
    return (rank == 2 || rank == 3) && a.size() == rank && b.size() == rank &&
           a[rank - 1] == b[rank - 2] && a[rank - 2] == c[rank - 2] &&
           b[rank - 1] == c[rank - 1] &&
           (rank == 2 || (a[0] == c[0] && b[0] == c[0]));
  };
  if (!agree()) // mma_c1
    return emitOpError("needs factors of [batch,] M x K and K x N for an "
                       "accumulator of M x N, got ")
           << lhs << ", " << rhs << " and " << acc;
  if (lhs.getElementType() != tileElement(unit.getLhs()) ||
      rhs.getElementType() != tileElement(unit.getRhs()) ||
      acc.getElementType() != unit.getAcc()) // mma_c2
    return emitOpError("needs the element types of ")
           << unit << ", got " << lhs << ", " << rhs << " and " << acc;
  SmallVector<int32_t> padded = paddedShape(acc.getShape());
  if (padded[rank - 2] < unit.getM() || padded[rank - 1] < unit.getN() ||
      lhs.getShape()[rank - 1] % unit.getK() != 0) // mma_c3
    return emitOpError("needs at least one instruction along M and N and a "
                       "multiple of its k, got ")
           << lhs << " and " << rhs << " for " << unit;
  int64_t row = elementBytes(lhs.getElementType());
  row *= std::min({int64_t{padded[rank - 2]}, int64_t{padded[rank - 1]},
                   lhs.getShape()[rank - 1]});
  if (readsSharedMemory(unit) && (rank != 2 || row < 32)) // mma_c5
    return emitOpError("needs matrices with rows and columns of 32 bytes at "
                       "least in shared memory, got ")
           << lhs << " and " << rhs;
  LayoutAttr layout = getLayout(acc);
  auto isFactor = [&](RankedTensorType type, layout::MatrixRole role) {
    LayoutAttr own = getLayout(type);
    return own &&
           own.getLayout() ==
               factorLayout(unit, role, layout.getLayout(), type.getShape());
  };
  if (getLhsInRegisters() && !readsSharedMemory(unit)) // mma_c6
    return emitOpError("has all factors in registers with ") << unit;
  if (layout ? !isAccumulatorLayout(unit, layout.getLayout()) ||
                   (!isInShared(0) && !isFactor(lhs, layout::MatrixRole::A)) ||
                   (!isInShared(1) && !isFactor(rhs, layout::MatrixRole::B))
             : getLayout(lhs) || getLayout(rhs)) // mma_c4
    return emitOpError("needs layouts that repeat those of ")
           << unit << ", got " << lhs << ", " << rhs << " and " << acc;
  return success();
}

bool MmaOp::isInShared(unsigned factor) {
  return readsSharedMemory(getInstruction()) &&
         (factor == 1 || !getLhsInRegisters());
}

LogicalResult LocalCopyOp::verify() {
  if (failed(verifyBuffer(*this, getBuffer())))
    return failure();
  return verifyAddress(*this, getPtr().getType(), {}, getSwizzleAttr());
}

LogicalResult ThreadCopyOp::verify() {
  int32_t bytes = static_cast<int32_t>(getBytes());
  if (bytes != 4 && bytes != 8 && bytes != 16) // thread_copy_c1
    return emitOpError("copies 4, 8 or 16 bytes, got ") << bytes;
  return success();
}

LogicalResult LocalTensorCopyOp::verify() {
  if (failed(verifyBuffer(*this, getBuffer())) ||
      failed(verifyBuffer(*this, getBarriers())) ||
      (getReleased() &&
       failed(verifyBuffer(*this, getReleased())))) // local_tensor_copy_c1
    return failure();
  if (!getReleased() != !getReleasedSlot() ||
      !getReleased() != !getReleasedParity()) // local_tensor_copy_c5
    return emitOpError("needs a slot and a parity with 'released', and none "
                       "without");
  const LinearLayout &swizzle = getSwizzle().getLayout();
  size_t rank = swizzle.numOuts();
  if (getCoordinates().size() != rank ||
      getShape().size() != rank) // local_tensor_copy_c2
    return emitOpError("needs ")
           << rank << " coordinates and extents, got "
           << getCoordinates().size() << " and " << getShape().size();
  auto pointee = getBase().getType().getPointeeType();
  std::optional<UnitSwizzle> unit = unitSwizzle(swizzle, elementBytes(pointee));
  if (!unit || unit->isColumn) // local_tensor_copy_c3
    return emitOpError("needs a swizzle with rows of ")
           << pointee << " that the copy engine knows, got " << getSwizzle();
  // The pattern of eight rows begins where a box does.
  constexpr int64_t kRows = 8;
  bool isWhole =
      llvm::all_of(llvm::zip(getShape(), swizzle.outShape()), [](auto pair) {
        return std::get<0>(pair) == std::get<1>(pair);
      });
  if (!isWhole || getShape()[0] < kRows) // local_tensor_copy_c4
    return emitOpError(
               "copies blocks of the shape of the swizzle, of at least ")
           << kRows << " rows, got [" << getShape() << "]";
  return success();
}

LogicalResult MbarrierInitOp::verify() {
  auto arrivals = static_cast<int32_t>(getArrivals());
  if (arrivals < 1) // mbarrier_init_c2
    return emitOpError("needs a positive number of arrivals, got ") << arrivals;
  return verifyBuffer(*this, getBarriers()); // mbarrier_init_c1
}

LogicalResult MbarrierEndOp::verify() {
  return verifyBuffer(*this, getBarriers()); // mbarrier_end_c1
}

LogicalResult CopyCommitOp::verify() {
  if (!getBarriers() != !getSlot()) // copy_commit_c1
    return emitOpError("needs a slot with barriers, and none without");
  return getBarriers() ? verifyBuffer(*this, getBarriers()) : success();
}

LogicalResult MbarrierArriveOp::verify() {
  if (failed(verifyBuffer(*this, getBarriers())) ||
      failed(verifyBuffer(*this, getRing()))) // mbarrier_arrive_c1
    return failure();
  if (!getRing().getDefiningOp<AllocOp>().getRing()) // mbarrier_arrive_c1
    return emitOpError("releases a buffer that is no ring");
  return success();
}

LogicalResult MbarrierWaitOp::verify() {
  return verifyBuffer(*this, getBarriers()); // mbarrier_wait_c1
}

LogicalResult ThreadTensorCopyOp::verify() {
  size_t rank = getCoordinates().size();
  if (rank < 1 || rank > 5) // thread_tensor_copy_c1
    return emitOpError("needs 1 to 5 coordinates, got ") << rank;
  return success();
}

LogicalResult ThreadMbarrierInitOp::verify() {
  auto arrivals = static_cast<int32_t>(getArrivals());
  if (arrivals < 1) // thread_mbarrier_init_c1
    return emitOpError("needs a positive number of arrivals, got ") << arrivals;
  return success();
}

LogicalResult ThreadMbarrierArriveOp::verify() {
  auto bytes = static_cast<int32_t>(getBytes());
  if (bytes < 0) // thread_mbarrier_arrive_c1
    return emitOpError("needs a number of bytes that is not negative, got ")
           << bytes;
  return success();
}

LogicalResult LocalMmaOp::verify() {
  auto tile = dyn_cast<RankedTensorType>(getLhs().getType());
  if ((!tile && failed(verifyBuffer(*this, getLhs()))) ||
      failed(verifyBuffer(*this, getRhs()))) // local_mma_c1
    return failure();
  InstructionAttr unit = getInstruction();
  auto isRead = [&](LayoutAttr swizzle, unsigned factor) {
    Type element = factor == 0 ? unit.getLhs() : unit.getRhs();
    std::optional<int> innermost = innermostDim(unit, factor);
    std::optional<UnitSwizzle> known;
    if (swizzle)
      known =
          unitSwizzle(swizzle.getLayout(), elementBytes(tileElement(element)));
    return known && (!innermost || known->isColumn == (*innermost == 0));
  };
  if (tile ? getLhsSwizzleAttr() || getLhsOffset()
           : !isRead(getLhsSwizzleAttr(), 0)) // local_mma_c2
    return emitOpError("needs a left factor that lies as the matrix unit reads "
                       "it, or a tile without swizzle and offset, got ")
           << getLhsSwizzleAttr();
  if (!isRead(getRhsSwizzleAttr(), 1)) // local_mma_c2
    return emitOpError("needs a right factor that lies as the matrix unit "
                       "reads it, got ")
           << getRhsSwizzle();
  LayoutAttr layout = getLayout(getAcc().getType());
  if (!readsSharedMemory(unit) || !layout ||
      !isAccumulatorLayout(unit, layout.getLayout())) // local_mma_c3
    return emitOpError("needs a layout that repeats that of ")
           << unit << ", got " << getAcc().getType();
  if (tile && (!getLayout(tile) ||
               getLayout(tile).getLayout() !=
                   factorLayout(unit, layout::MatrixRole::A, layout.getLayout(),
                                tile.getShape()))) // local_mma_c3
    return emitOpError("needs the layout of a left factor beside ")
           << getAcc().getType() << ", got " << tile;
  return success();
}

/// That an op waits for no less than nothing, and gives what it is given.
static LogicalResult verifyWait(Operation *op, int32_t pending,
                                ValueRange values) {
  if (values.getTypes() != op->getResultTypes()) // mma_wait_c1
    return op->emitOpError("needs a result for each value, of its type");
  if (pending < 0) // mma_wait_c2
    return op->emitOpError("pending must not be negative, got ") << pending;
  return success();
}

LogicalResult MmaWaitOp::verify() {
  return verifyWait(*this, static_cast<int32_t>(getPending()), getValues());
}

LogicalResult ThreadGroupWaitOp::verify() {
  return verifyWait(*this, static_cast<int32_t>(getPending()), getValues());
}

/// The bits of an integer or a vector of them; 0 of any other type.
static int64_t wordBits(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  auto word = dyn_cast<IntegerType>(vector ? vector.getElementType() : type);
  return word ? word.getWidth() * (vector ? vector.getNumElements() : 1) : 0;
}

LogicalResult ThreadMmaOp::verify() {
  InstructionAttr unit = getInstruction();
  auto has = [&](Value value, layout::MatrixRole role, Type element) {
    int64_t registers = instructionLayout(unit, role).inSize(kRegister);
    return wordBits(value.getType()) ==
           registers * 8 * elementBytes(tileElement(element));
  };
  if (!has(getLhs(), layout::MatrixRole::A, unit.getLhs()) ||
      !has(getRhs(), layout::MatrixRole::B, unit.getRhs()) ||
      !has(getAcc(), layout::MatrixRole::Accumulator, unit.getAcc()))
    // thread_mma_c1
    return emitOpError("needs integers with what a lane holds for ")
           << unit << ", got " << getLhs().getType() << ", "
           << getRhs().getType() << " and " << getAcc().getType();
  return success();
}

LogicalResult ThreadGroupMmaOp::verify() {
  size_t count = getAccs().size();
  if (getLhsPlaces().size() != count || getRhsPlaces().size() != count ||
      getResults().size() != count ||
      getLhsSteps().size() != getRhsSteps().size()) // thread_group_mma_c1
    return emitOpError("needs as many places and results as accumulators, and "
                       "steps in pairs");
  InstructionAttr unit = getInstruction();
  auto has = [&](Type type, layout::MatrixRole role, Type element) {
    return readsSharedMemory(unit) &&
           wordBits(type) ==
               int64_t{8} * elementBytes(tileElement(element)) *
                   instructionLayout(unit, role).inSize(kRegister);
  };
  auto refuse = [&](Type type) { // thread_group_mma_c2
    return emitOpError("needs integers with what a lane holds for ")
           << unit << ", got " << type;
  };
  for (auto [acc, result] : llvm::zip(getAccs(), getResults()))
    if (acc.getType() != result.getType() ||
        !has(acc.getType(), layout::MatrixRole::Accumulator, unit.getAcc()))
      return refuse(acc.getType());
  for (Value fragment : getFragments())
    if (!has(fragment.getType(), layout::MatrixRole::A, unit.getLhs()))
      return refuse(fragment.getType());
  auto held = static_cast<int64_t>(getFragments().size());
  bool isHeld = llvm::all_of(getLhsPlaces(), [&](int32_t place) {
    return llvm::all_of(getLhsSteps(), [&](int32_t step) {
      return place + step >= 0 && place + step < held;
    });
  });
  if (getLhs() ? held != 0 : !isHeld) // thread_group_mma_c3
    return emitOpError("needs a pointer to the left factor or a fragment for "
                       "each place and step, got ")
           << held << " fragments";
  if ((getLhsAcross() && innermostDim(unit, 0)) ||
      (getRhsAcross() && innermostDim(unit, 1))) // thread_group_mma_c4
    return emitOpError("needs factors that run along K for ") << unit;
  return success();
}

LogicalResult LocalGatherOp::verify() {
  if (failed(verifyBuffer(*this, getBuffer())) ||
      failed(verifyOtherwise(*this, getOtherwise())))
    return failure();
  auto indices = getIndices().getType(), result = getResult().getType();
  if (getStrides().size() != static_cast<size_t>(result.getRank()) ||
      indices.getShape() != result.getShape() ||
      indices.getEncoding() != result.getEncoding()) // local_gather_c1
    return emitOpError("needs one stride a dimension, and indices with the "
                       "shape and layout of the result, got ")
           << indices << " and " << result;
  auto axis = static_cast<int32_t>(getAxis()),
       extent = static_cast<int32_t>(getExtent());
  if (axis < 0 || axis >= result.getRank() || extent < 1) // local_gather_c3
    return emitOpError("needs an axis in [0, ")
           << result.getRank() << ") and a positive extent, got " << axis
           << " and " << extent;
  return success();
}

//===----------------------------------------------------------------------===//
// Reductions within a warp
//===----------------------------------------------------------------------===//

LogicalResult WarpReduceOp::verify() {
  if (getOperands().empty() || getNumResults() != getNumOperands())
    // warp_reduce_c1
    return emitOpError("needs one operand or more and a result for each, got ")
           << getNumOperands() << " and " << getNumResults();
  auto first = cast<RankedTensorType>(getOperands().front().getType());
  auto axis = static_cast<int32_t>(getAxis());
  if (axis < 0 || axis >= first.getRank()) // warp_reduce_c2
    return emitOpError("axis must be in [0, ")
           << first.getRank() << "), got " << axis;
  LayoutAttr layout = getLayout(first);
  if (!layout || !hasOwnBits(layout.getLayout(), axis)) // warp_reduce_c4
    return emitOpError("needs a layout in which each bit of a place moves "
                       "along the axis only or not at all, got ")
           << first;
  SmallVector<int64_t> shape(first.getShape());
  shape[axis] = warpsAlong(layout.getLayout(), axis, shape[axis]);
  auto parts =
      LayoutAttr::get(getContext(), warpReduceLayout(layout.getLayout(), axis));
  for (auto [operand, result] : llvm::zip(getOperands(), getResults())) {
    auto type = cast<RankedTensorType>(operand.getType());
    if (type.getShape() != first.getShape() ||
        type.getEncoding() != layout) // warp_reduce_c1
      return emitOpError("operands must have one shape and layout, got ")
             << first << " and " << type;
    auto expected = RankedTensorType::get(shape, type.getElementType(), parts);
    if (result.getType() != expected) // warp_reduce_c5
      return emitOpError("result must be ")
             << expected << ", got " << result.getType();
  }
  return success();
}

LogicalResult WarpReduceOp::verifyRegions() {
  SmallVector<Type> elements, arguments;
  for (Value operand : getOperands())
    elements.push_back(tile::getElementType(operand.getType()));
  arguments = elements;
  llvm::append_range(arguments, elements);
  Block &body = getCombine().front();
  auto yield = body.empty() ? YieldOp() : dyn_cast<YieldOp>(body.back());
  if (body.getArgumentTypes() != TypeRange(arguments) || !yield ||
      yield.getOperandTypes() != TypeRange(elements)) // warp_reduce_c3
    return emitOpError("region must take two scalars an operand, of its "
                       "element type, and yield one");
  return success();
}

//===----------------------------------------------------------------------===//
// What one thread does
//===----------------------------------------------------------------------===//

static bool isWholeBytes(Type type) {
  return llvm::any_of(ArrayRef<unsigned>{8, 16, 32, 64}, [&](unsigned width) {
    return type.isSignlessInteger(width);
  });
}

/// A value that one access moves.
static LogicalResult verifyAccessed(Operation *op, Type type) {
  Type element = type;
  int64_t count = 1;
  bool isFit = true;
  if (auto vector = dyn_cast<VectorType>(type)) {
    element = vector.getElementType();
    isFit = vector.getRank() == 1 && !vector.isScalable();
    count = isFit ? vector.getDimSize(0) : 0;
  }
  isFit &= isWholeBytes(element) && llvm::isPowerOf2_64(count) &&
           count * element.getIntOrFloatBitWidth() <= 128;
  if (!isFit) // thread_load_c1, thread_store_c1
    return op->emitOpError("moves an i8, i16, i32 or i64, or a vector of 1, 2, "
                           "4, 8 or 16 of them and up to 16 bytes, got ")
           << type;
  return success();
}

LogicalResult ThreadLoadOp::verify() {
  if (failed(verifyAccessed(*this, getType())))
    return failure();
  if (!getOther())
    return success();
  if (getOther().getType() != getType()) // thread_load_c2
    return emitOpError("other must have the type of the result, ")
           << getType() << ", got " << getOther().getType();
  if (!getMask()) // thread_load_c3
    return emitOpError("other is what a false mask gives, got no mask");
  return success();
}

LogicalResult ThreadStoreOp::verify() {
  return verifyAccessed(*this, getValue().getType());
}

LogicalResult ThreadAtomicRMWOp::verify() {
  Type type = getValue().getType();
  bool isFloat = isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type);
  if (!isFloat && !isWholeBytes(type)) // thread_atomic_rmw_c1
    return emitOpError("updates an i8, i16, i32, i64, f16, bf16, f32 or f64, "
                       "got ")
           << type;
  using tile::RMWKind;
  bool wantsFloat = llvm::is_contained(
      {RMWKind::FAdd, RMWKind::FMax, RMWKind::FMin}, getKind());
  if (getKind() != RMWKind::Exch && isFloat != wantsFloat)
    // thread_atomic_rmw_c2
    return emitOpError("'")
           << tile::stringifyRMWKind(getKind()) << "' takes "
           << (wantsFloat ? "floats" : "integers") << ", got " << type;
  if (getType() != type) // thread_atomic_rmw_c3
    return emitOpError("result must have the type of the value, ")
           << type << ", got " << getType();
  return success();
}

LogicalResult ThreadAtomicCASOp::verify() {
  if (!isWholeBytes(getType())) // thread_atomic_cas_c1
    return emitOpError("compares an i8, i16, i32 or i64, got ") << getType();
  return success();
}

LogicalResult ShuffleXorOp::verify() {
  if (static_cast<int32_t>(getMask()) < 0) // shuffle_xor_c1
    return emitOpError("mask must be the distance of two lanes, got ")
           << static_cast<int32_t>(getMask());
  return success();
}
