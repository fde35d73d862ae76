//===- Lowering.h - Tiles as the registers of one thread --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One walk builds what a single thread does. A tile becomes one scalar for each
// register of its layout; the coordinates of register `r` are a constant (the
// register's part) plus what the lane and the warp add, which is computed once
// a layout at the kernel's entry:
//
//   layout register = [[1], [2]], lane = [[4], [8]], warp = [[16]]:
//   register 3 holds element 3 + (lane & 3) * 4 + warp * 16.
//
// Registers that hold copies of one element share one value. Lanes and warps
// that hold copies compute them again, but write once. Elements beyond a tile's
// shape (its extents are padded to powers of two) are computed, too, but never
// reach memory nor another element.
//
// Where a kernel would become long, an op on many registers is a loop over some
// of their bits (Loops.cpp). In its body the counter is one more part of the
// thread's place: lowerings see a tile of fewer registers.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_CONVERSION_SIMTTOLLVM_LOWERING_H
#define TERRAZZO_LIB_CONVERSION_SIMTTOLLVM_LOWERING_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "terrazzo/Dialect/Simt/IR/Simt.h"
#include "terrazzo/Dialect/Tile/IR/SortNetwork.h"
#include "terrazzo/Dialect/Tile/IR/Tile.h"

#include "llvm/ADT/MapVector.h"

#include <memory>

namespace terrazzo::thread {

using Coords = llvm::SmallVector<int32_t, 4>;
/// On the heap, so that references stay valid while tables grow.
using Registers = llvm::SmallVector<mlir::Value, 0>;

/// A layout, taken apart.
struct Distribution {
  /// `loops` are where the bits of a loop's counter move: register bits, which
  /// are no registers then, or nowhere.
  explicit Distribution(const layout::LinearLayout &layout,
                        llvm::ArrayRef<Coords> loops = {});

  int64_t rank() const { return static_cast<int64_t>(outBits.size()); }
  uint32_t numRegisters() const { return uint32_t{1} << registers.size(); }
  /// Coordinates in one number.
  uint64_t pack(llvm::ArrayRef<int32_t> coords) const;
  /// The register whose own part of the coordinates is `coords`.
  std::optional<uint32_t> find(llvm::ArrayRef<int32_t> coords) const;
  /// Whether coordinate `d` is the sum of its parts, not only their XOR.
  bool isDisjoint(int64_t d) const {
    return (registerMask[d] & threadMask[d]) == 0;
  }

  llvm::SmallVector<int32_t, 4> outBits;  ///< log2 of padded extents
  llvm::SmallVector<Coords> registers;    ///< where each register bit moves
  llvm::SmallVector<Coords> lanes, warps; ///< the same of lanes and warps
  llvm::SmallVector<Coords> loops;        ///< and of a loop's counter
  llvm::SmallVector<unsigned> kept;       ///< the layout's bit of each register
  llvm::SmallVector<int> looped;          ///< of each loop, or -1: nowhere
  uint32_t freeRegisters = 0, freeLanes = 0, freeWarps = 0; ///< bits of copies
  llvm::SmallVector<Coords, 0> coords;      ///< each register's own part
  llvm::SmallVector<uint32_t, 0> canonical; ///< who holds the same, the first
  llvm::SmallVector<uint32_t, 0> unique;    ///< registers that are no copies
  Coords registerMask, threadMask;          ///< bits that each part can set
  llvm::SmallVector<mlir::Value, 4> thread; ///< the thread's part, or null: 0
  bool hasThread = false;                   ///< whether `thread` is computed

private:
  /// Fills in what there is for each register; `same[i]` has the same part as
  /// register bit `i`.
  void enumerateRegisters(llvm::ArrayRef<uint32_t> same);

  llvm::DenseMap<uint64_t, uint32_t> byCoords;
};

/// What the module says about the machine and the launch.
struct Machine {
  int64_t warpSize = 32;
  int64_t numWarps = 4;
  bool strict = false;
  unsigned privateSpace = 0; ///< where a thread's own memory is
  int64_t limit = 0;         ///< instructions of a kernel without loops
  int64_t fewest = 0;        ///< registers that are worth a loop
  int64_t turn = 1;          ///< registers of a turn
};

/// Whether shuffles within warps can convert one to the other.
bool isWithinWarps(const Distribution &from, const Distribution &to);

/// The scalar type of an element in a register.
mlir::Type registerType(mlir::Type element);
inline bool isTile(mlir::Value value) {
  return llvm::isa<mlir::RankedTensorType>(value.getType());
}

class Lowering {
public:
  Lowering(mlir::ImplicitLocOpBuilder &builder, Machine machine,
           llvm::SmallVectorImpl<mlir::Attribute> &lines)
      : b(builder), machine(machine), lines(lines) {}

  /// Builds the body of `now` from that of `kernel`.
  llvm::LogicalResult lowerKernel(mlir::func::FuncOp kernel,
                                  mlir::func::FuncOp now, bool hasDebug);

private:
  //===--- SimtToLLVM.cpp: blocks, values, coordinates
  //---------------------===//
  llvm::LogicalResult lowerBlock(mlir::Block &block);
  bool commutes(tile::ReduceOp op) const;
  llvm::LogicalResult lowerOp(mlir::Operation *op);
  mlir::Value scalar(mlir::Value old) const;
  llvm::ArrayRef<mlir::Value> registersOf(mlir::Value tile) const;
  void setScalar(mlir::Value old, mlir::Value now) { scalars[old] = now; }
  void setRegisters(mlir::Value tile, Registers now) {
    (window ? window->tiles : tiles)[tile] = std::move(now);
  }
  /// Computes each element once and gives copies the same value.
  void setEach(mlir::Value tile,
               llvm::function_ref<mlir::Value(uint32_t)> compute);
  Distribution &distribution(mlir::Type type);
  mlir::Value constant(int64_t value, mlir::Type type);
  mlir::Value i32(int64_t value) { return constant(value, b.getI32Type()); }
  mlir::Value zero(mlir::Type type);
  void atEntry(llvm::function_ref<void()> emit);
  /// What is computed once for each turn of the loop over registers.
  void atHead(llvm::function_ref<void()> emit);
  void before(mlir::Operation *place, llvm::function_ref<void()> emit);
  mlir::Value laneId();
  mlir::Value warpId();
  mlir::Value isFirstThread();
  mlir::Value isFirstLane(); ///< of its warp
  /// What the set bits of a hardware index add (or, unless `isSum`, XOR)
  /// together; null for nothing.
  mlir::Value linear(mlir::Value index, llvm::ArrayRef<int32_t> bases,
                     bool isSum);
  /// The same for lane and warp of this thread, computed at the entry, and for
  /// the loop over registers.
  mlir::Value threadPart(llvm::ArrayRef<int32_t> lanes,
                         llvm::ArrayRef<int32_t> warps,
                         llvm::ArrayRef<int32_t> loops, bool isSum);
  /// Null operands are 0.
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value exclusiveOr(mlir::Value lhs, mlir::Value rhs);
  /// Whether these bits of a hardware index are all 0.
  mlir::Value areClear(mlir::Value index, uint32_t mask);
  mlir::Value laneBit(unsigned bit);
  /// A bit of the counter of the loop over registers.
  mlir::Value counterBit(unsigned bit);
  void computeThread(Distribution &d);
  mlir::Value coordinate(Distribution &d, uint32_t r, int64_t dim);
  /// Conditions: null is true, and `never()` false.
  mlir::Value never() { return constant(0, b.getI1Type()); }
  mlir::Value both(mlir::Value lhs, mlir::Value rhs);
  mlir::Value negated(mlir::Value condition);
  /// Whether register `r` of this thread lies within the tile's shape.
  mlir::Value inBounds(mlir::RankedTensorType type, uint32_t r);
  mlir::Value inBoundsAlong(mlir::RankedTensorType type, uint32_t r,
                            int64_t dim);
  /// Whether this thread is the one that writes what several hold.
  mlir::Value isWriter(Distribution &d);

  //===--- Elementwise.cpp
  //-------------------------------------------------===//
  llvm::LogicalResult lowerElementwise(mlir::Operation *op);
  llvm::LogicalResult lowerConstant(mlir::arith::ConstantOp op);
  llvm::LogicalResult lowerPointerOp(mlir::Operation *op);
  llvm::LogicalResult lowerClamp(tile::ClampOp op);
  llvm::LogicalResult lowerMap(tile::MapOp op);
  llvm::LogicalResult lowerRenamed(mlir::Operation *op);
  /// The result of `op`: `compute` of each distinct tuple of operands.
  llvm::LogicalResult
  setFromOperands(mlir::Operation *op,
                  llvm::function_ref<mlir::Value(mlir::ValueRange)> compute);
  llvm::LogicalResult checkOneLayout(mlir::Operation *op);
  llvm::LogicalResult checkOneLayout(mlir::Operation *op,
                                     mlir::ValueRange tiles);
  /// Runs a region of scalars on `arguments`.
  llvm::LogicalResult inlineRegion(mlir::Region &region,
                                   mlir::ValueRange arguments,
                                   llvm::SmallVectorImpl<mlir::Value> &yielded);

  //===--- Memory.cpp
  //------------------------------------------------------===//
  mlir::Type memoryType(mlir::Type element, int64_t count);
  mlir::Value toInteger(mlir::Value value, mlir::Type element);
  mlir::Value fromInteger(mlir::Value raw, mlir::Type element);
  mlir::Value pack(mlir::ValueRange values, mlir::Type element);
  llvm::SmallVector<mlir::Value> unpack(mlir::Value raw, mlir::Type element,
                                        int64_t count);
  /// Whether an access covers register `r`: within the shape, and as `mask` of
  /// the op says if there is one.
  mlir::Value accessMask(mlir::RankedTensorType type, uint32_t r,
                         mlir::Value mask);
  int64_t accessWidth(mlir::Operation *op, mlir::RankedTensorType type);
  llvm::LogicalResult lowerLoad(tile::LoadOp op);
  llvm::LogicalResult lowerStore(tile::StoreOp op);
  llvm::LogicalResult lowerAtomic(mlir::Operation *op);
  mlir::Value atomicElement(mlir::Operation *op, mlir::Value ptr,
                            mlir::Value value, mlir::Value expected,
                            mlir::Value mask);

  //===--- Shared.cpp
  //-----------------------------------------------------===//
  /// How the elements of a tile lie in a buffer, counted in elements.
  struct Addressing {
    /// How parts of an index come together.
    enum Mode : uint8_t { Sum, Xor, Coordinates } mode = Sum;
    llvm::SmallVector<int32_t> registers, lanes, warps, loops; ///< bits add
    llvm::SmallVector<int32_t> strides;
    mlir::Type element;     ///< an integer of its size
    mlir::Value base;       ///< pointer to the element of coordinates 0
    mlir::Value threadBase; ///< the same for those of the thread's part
    mlir::Value thread;     ///< what the thread adds; null for 0
    int32_t threadMask = 0; ///< bits that it may set, under Xor
    int64_t alignment = 1;  ///< elements; of `base` only
    int32_t first = 0;      ///< the place of coordinates 0,
    mlir::Value offset;     ///< and what is added to it; null for 0
    int32_t within = 0;     ///< places of the buffer, 0 if all are in it
    /// The part of register `r` in an index.
    int32_t own(uint32_t r) const;
  };
  mlir::Value pointerTo(mlir::Type element, mlir::Value base,
                        llvm::ArrayRef<mlir::LLVM::GEPArg> index);
  llvm::FailureOr<Addressing> addressing(mlir::Operation *op,
                                         mlir::Value buffer, mlir::Type element,
                                         mlir::Value offset, int64_t base);
  /// Adds what the layout of `type` says.
  void addressTile(Addressing &a, mlir::RankedTensorType type,
                   llvm::ArrayRef<int32_t> strides,
                   simt::LayoutAttr swizzle = {});
  /// Register bits that one access may cover.
  llvm::SmallVector<unsigned>
  chooseGroup(const Addressing &a, mlir::RankedTensorType type, int64_t bytes);
  mlir::Value address(Addressing &a, mlir::RankedTensorType type, uint32_t r);
  /// Whether the place of register `r`, `more` elements on, is one that the
  /// buffer has.
  mlir::Value isWithin(Addressing &a, mlir::RankedTensorType type, uint32_t r,
                       mlir::Value more = {});
  mlir::Value placeOfThread(Addressing &a, mlir::RankedTensorType type,
                            uint32_t r);
  /// Whether an index, `base` on, is in `[0, bound)`, and that as an i32.
  std::pair<mlir::Value, mlir::Value>
  checkIndex(mlir::Value index, int64_t bound, int64_t base = 0);
  llvm::LogicalResult lowerLocalStore(simt::LocalStoreOp op);
  llvm::LogicalResult lowerLocalCopy(simt::LocalCopyOp op);
  llvm::LogicalResult lowerTensorCopy(simt::LocalTensorCopyOp op);
  llvm::LogicalResult lowerMbarrierInit(simt::MbarrierInitOp op);
  llvm::LogicalResult lowerMbarrierEnd(simt::MbarrierEndOp op);
  /// What orders the copies of a ring.
  llvm::LogicalResult lowerRing(mlir::Operation *op);
  llvm::LogicalResult lowerCopyCommit(simt::CopyCommitOp op);
  llvm::LogicalResult lowerMbarrierArrive(simt::MbarrierArriveOp op);
  llvm::LogicalResult lowerMbarrierWait(simt::MbarrierWaitOp op);
  /// The address of one barrier for copies of a buffer of them.
  llvm::FailureOr<mlir::Value> mbarrier(mlir::Operation *op,
                                        mlir::Value barriers, mlir::Value slot);
  llvm::LogicalResult
  forEachMbarrier(mlir::Operation *op, mlir::Value barriers,
                  llvm::function_ref<void(mlir::Value)> visit);
  llvm::LogicalResult lowerLocalLoad(simt::LocalLoadOp op);
  llvm::LogicalResult lowerLocalGather(simt::LocalGatherOp op);
  llvm::LogicalResult lowerLocalCount(simt::LocalCountOp op);

  //===--- Loops.cpp
  //-------------------------------------------------------===//
  /// Some stages of a sort, one after the other, in a loop over the registers
  /// that none of them exchanges.
  struct SortPass {
    llvm::SmallVector<tile::SortStage> stages;
    llvm::SmallVector<Coords> bits; ///< of the counter
  };
  /// What a loop over registers sees of a tile: where the counter's bits move.
  struct Loop {
    llvm::MapVector<mlir::Value, llvm::SmallVector<Coords>> tiles;
    llvm::SmallVector<mlir::Value> sources;      ///< computed before the loop
    llvm::SmallVector<mlir::Operation *> inside; ///< computed in it, in order
    size_t bits = 0;
    size_t along = 0; ///< of them, the lowest, along the axis of a scan
    llvm::SmallVector<SortPass> passes; ///< of a sort along registers
  };
  /// The state in the body of such a loop.
  struct Window {
    mlir::Value counter;
    mlir::Operation *head = nullptr; ///< what a turn computes once
    /// Of a scan along which the loop goes: whether a row begins with this
    /// turn, the last elements of the turn before, and those of this one.
    mlir::Value isFirst;
    llvm::SmallVector<mlir::Value> carried, next;
    /// Of a sort in passes: this one, and whether it is the first.
    const SortPass *pass = nullptr;
    bool isFirstPass = true;
    llvm::DenseMap<unsigned, mlir::Value> counterBits;
    llvm::DenseMap<mlir::Attribute, std::unique_ptr<Distribution>>
        distributions;
    llvm::DenseMap<mlir::Value, Registers> tiles;
  };
  /// Chooses the ops that become loops.
  void planLoops(mlir::func::FuncOp kernel);
  void classify(llvm::ArrayRef<mlir::Operation *> ops);
  bool isInside(mlir::Value tile);
  int64_t weightOf(mlir::Operation *op);
  int64_t registersFor(mlir::Operation *op);
  bool planLoop(mlir::Operation *op, Loop &loop);
  bool chooseBits(mlir::Operation *op, mlir::Value tile, Loop &loop,
                  llvm::SmallVectorImpl<Coords> &bits);
  bool chooseBitsAlong(tile::ScanOp op, Loop &loop,
                       llvm::SmallVectorImpl<Coords> &bits);
  llvm::SmallVector<SortPass> sortPasses(tile::SortOp op);
  bool addTile(Loop &loop, mlir::Value tile, llvm::ArrayRef<Coords> bits);
  bool addOperands(Loop &loop, mlir::Operation *op,
                   llvm::DenseSet<mlir::Operation *> &seen);
  mlir::Value makeArray(mlir::Value tile);
  mlir::Value slot(mlir::Value array, mlir::Value tile, mlir::Value first,
                   uint32_t r);
  mlir::Value firstSlot(Distribution &d);
  void storeSlots(mlir::Value array, mlir::Value tile, mlir::Value first,
                  llvm::ArrayRef<uint32_t> slots,
                  llvm::ArrayRef<mlir::Value> values);
  Registers loadSlots(mlir::Value array, mlir::Value tile, mlir::Value first,
                      llvm::ArrayRef<uint32_t> slots);
  llvm::SmallVector<mlir::Value> initialCarry(mlir::Operation *op,
                                              const Loop &loop);
  llvm::LogicalResult lowerLoop(mlir::Operation *op);
  llvm::LogicalResult emitLoop(mlir::Operation *op, const Loop &loop,
                               Window &turn);
  llvm::LogicalResult lowerPasses(tile::SortOp op, const Loop &first);
  llvm::LogicalResult lowerTurn(mlir::Operation *op, const Loop &loop);

  //===--- Shape.cpp
  //-------------------------------------------------------===//
  using CoordMap = llvm::function_ref<Coords(llvm::ArrayRef<int32_t>)>;
  /// Gives `result` registers of `source`: `map` (linear) says which element.
  llvm::LogicalResult rename(mlir::Operation *op, mlir::Value result,
                             mlir::Value source, CoordMap map);
  llvm::LogicalResult matchThreads(mlir::Operation *op, Distribution &result,
                                   Distribution &source, CoordMap map);
  llvm::LogicalResult lowerArange(tile::ArangeOp op);
  llvm::LogicalResult lowerReshape(tile::ReshapeOp op);
  /// Which element of its source a renaming has at `coords`.
  static Coords sourceOf(mlir::Operation *op, llvm::ArrayRef<int32_t> coords);
  llvm::LogicalResult lowerShape(mlir::Operation *op);
  llvm::LogicalResult lowerJoin(tile::JoinOp op);
  llvm::LogicalResult lowerSplit(tile::SplitOp op);

  //===--- ConvertLayout.cpp
  //-----------------------------------------------===//
  struct Rounds;
  llvm::LogicalResult lowerConvertLayout(simt::ConvertLayoutOp op);
  llvm::SmallVector<mlir::Value, 2> splitToWords(mlir::Value value);
  mlir::Value fromWords(mlir::ValueRange words, mlir::Type type);
  mlir::Value shuffleXor(mlir::Value value, int32_t mask);
  mlir::Value shuffleIndex(mlir::Value value, mlir::Value lane);

  //===--- Reduce.cpp
  //-----------------------------------------------------===//
  /// One value for each operand.
  using Tuple = llvm::SmallVector<mlir::Value, 2>;
  llvm::FailureOr<Tuple> combine(mlir::Region &region,
                                 llvm::ArrayRef<mlir::Value> lhs,
                                 llvm::ArrayRef<mlir::Value> rhs);
  Tuple select(mlir::Value condition, llvm::ArrayRef<mlir::Value> yes,
               llvm::ArrayRef<mlir::Value> no);
  /// The hardware bit that moves along one bit of an axis.
  struct AxisBit {
    enum Kind : uint8_t { None, Register, Lane, Warp, Counter } kind = None;
    unsigned bit = 0;
  };
  /// One for each bit of the axis, also those that a loop over registers goes
  /// along; fails unless there is one.
  llvm::FailureOr<llvm::SmallVector<AxisBit>>
  axisBits(mlir::Operation *op, Distribution &d, int64_t axis);
  /// Which of them a reduction combines, in order.
  llvm::SmallVector<unsigned> combineOrder(llvm::ArrayRef<AxisBit> bits,
                                           bool commutative) const;
  llvm::LogicalResult lowerReduce(mlir::Operation *op, mlir::Region &region,
                                  int64_t axis, bool commutative,
                                  bool keepsAxis);
  /// Rows by the register that holds their value.
  using Rows = llvm::DenseMap<uint32_t, Tuple>;
  llvm::LogicalResult reduceStep(mlir::RankedTensorType type, int64_t axis,
                                 mlir::Region &region, int32_t done,
                                 int32_t step, AxisBit bit, bool ordered,
                                 Rows &rows);
  llvm::LogicalResult setReduced(mlir::Operation *op, int64_t axis,
                                 bool keepsAxis, Rows &rows);
  /// Whether the second member of a combination across bit `step` exists, when
  /// those across the bits `done` are behind.
  mlir::Value isPresent(mlir::RankedTensorType type, int64_t axis, uint32_t r,
                        int32_t done, int32_t step);

  //===--- Scan.cpp
  //-------------------------------------------------------===//
  struct Scan;
  llvm::LogicalResult lowerScan(tile::ScanOp op);

  //===--- Sort.cpp
  //-------------------------------------------------------===//
  struct Network;
  llvm::LogicalResult lowerSort(tile::SortOp op);

  //===--- Dot.cpp
  //--------------------------------------------------------===//
  struct Factor;
  llvm::FailureOr<Factor> factor(simt::LocalDotOp op, bool isLhs);
  /// The rows where elements beyond the shape have to be kept inside.
  void setCheckedRows(Factor &f, const Addressing &a,
                      mlir::RankedTensorType type,
                      llvm::ArrayRef<int32_t> strides);
  void setRows(Factor &f, const Addressing &a, mlir::RankedTensorType type);
  void loadFactor(const Factor &f, mlir::Value k, int64_t unroll,
                  mlir::Type compute, bool isUnsigned,
                  llvm::SmallVectorImpl<llvm::SmallVector<mlir::Value>> &out);
  llvm::LogicalResult lowerLocalDot(simt::LocalDotOp op);
  mlir::Value converted(mlir::Value value, mlir::Type type, bool isUnsigned);

  //===--- Mma.cpp
  //--------------------------------------------------------===//
  llvm::LogicalResult lowerMma(simt::MmaOp op);
  struct GroupFactor;
  llvm::FailureOr<GroupFactor> groupFactor(simt::LocalMmaOp op, bool isLhs);
  GroupFactor heldFactor(simt::LocalMmaOp op);
  llvm::SmallVector<mlir::Value> packBlocks(mlir::Value acc, size_t run);
  void unpackBlocks(mlir::Value acc, mlir::ValueRange blocks);
  llvm::LogicalResult lowerLocalMma(simt::LocalMmaOp op);
  llvm::LogicalResult lowerMmaWait(simt::MmaWaitOp op);

  //===--- Control.cpp
  //-----------------------------------------------------===//
  /// The scalars that stand for some values: tiles give one for each element.
  llvm::SmallVector<mlir::Value> expand(mlir::ValueRange values);
  llvm::SmallVector<mlir::Type> expand(mlir::TypeRange types);
  /// Makes `now` the scalars that stand for `old`.
  void bind(mlir::ValueRange old, mlir::ValueRange now);
  llvm::LogicalResult lowerFor(mlir::scf::ForOp op);
  llvm::LogicalResult lowerIf(mlir::scf::IfOp op);
  llvm::LogicalResult lowerWhile(mlir::scf::WhileOp op);
  llvm::LogicalResult lowerExecuteRegion(mlir::scf::ExecuteRegionOp op);

  //===--- Debug.cpp
  //-------------------------------------------------------===//
  llvm::LogicalResult lowerPrint(tile::PrintOp op);
  llvm::LogicalResult lowerAssert(tile::AssertOp op);
  void printElements(int32_t line, int32_t operand, mlir::Value condition,
                     mlir::Value first, mlir::ValueRange values,
                     mlir::Type element);
  mlir::Value rowMajorIndex(mlir::RankedTensorType type, uint32_t r);
  int32_t addLine(mlir::DictionaryAttr entry);
  mlir::Value debugWord(mlir::Value word);
  mlir::Value programId(int32_t axis);
  void ifThen(mlir::Value condition, llvm::function_ref<void()> body);

  mlir::ImplicitLocOpBuilder &b;
  Machine machine;
  llvm::SmallVectorImpl<mlir::Attribute> &lines;
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  llvm::DenseMap<mlir::Value, Registers> tiles;
  llvm::DenseMap<mlir::Value, mlir::Value> arrays; ///< of tiles in memory
  Window *window = nullptr;
  /// Ops that are loops, and those that only such loops compute.
  llvm::DenseSet<mlir::Operation *> looped, deferred;
  llvm::DenseMap<mlir::Value, bool> cheap;
  llvm::DenseMap<mlir::Attribute, std::unique_ptr<Distribution>> distributions;
  llvm::DenseMap<std::pair<mlir::Type, int64_t>, mlir::Value> constants;
  llvm::DenseMap<std::pair<uint32_t, uint32_t>, mlir::Value> writers;
  llvm::DenseMap<unsigned, mlir::Value> laneBits;
  mlir::Operation *entry = nullptr; ///< what is computed once goes before it
  mlir::Value lane, warp, threadId, firstThread, firstLane, sharedBase,
      debugBuffer;
  mlir::Value programs[3];
};

} // namespace terrazzo::thread

#endif // TERRAZZO_LIB_CONVERSION_SIMTTOLLVM_LOWERING_H
