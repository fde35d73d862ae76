//===- Lowering.h - Tiles as lazily evaluated expressions -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile is never one big vector. It is either in a *buffer* on the stack or it
// is *virtual*: an expression that is evaluated strip by strip, inside the loop
// nest of whoever consumes it. Consumers (stores, reductions, dots, ...) are
// the *roots*; so elementwise chains fuse into the loops that need them. A
// virtual value that several roots need, and that is not cheap, is *pending*:
// the first root that passes over all of it leaves it in its buffer on the way.
//
// Evaluation at a strip gives a scalar where lanes agree, base + step * lane
// where they are affine, and a vector otherwise; that is the whole analysis of
// contiguity. docs/adr/0006 says why.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_CONVERSION_TILETOVECTOR_LOWERING_H
#define TERRAZZO_LIB_CONVERSION_TILETOVECTOR_LOWERING_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "terrazzo/Dialect/Tile/IR/Tile.h"

#include <functional>

namespace terrazzo::cpu {

/// Where a strip reads a dimension: lane `l` is at `base + step * l`. `base` is
/// an i64.
struct Coord {
  mlir::Value base;
  int64_t step = 0;
  bool operator==(const Coord &) const = default;
};
using Coords = llvm::SmallVector<Coord, 4>;

/// The value of a tile expression at a strip.
struct Val {
  /// A vector (or, in strips of one lane, a scalar) if `isVector`; else the
  /// scalar value of lane 0.
  mlir::Value v;
  /// What each lane adds to the last, if not `isVector`.
  int64_t step = 0;
  bool isVector = false;
  bool isUniform() const { return !isVector && step == 0; }
};

/// A tile in memory. Element `i` is at `ptr + sum(i[d] * strides[d])`, counted
/// in elements of the storage type.
struct Buffer {
  mlir::Value ptr;
  mlir::Type element;
  llvm::SmallVector<int64_t, 4> strides;
};

/// What the chip offers, from the module's `tile.target`, and how exact
/// arithmetic has to be.
struct ChipFacts {
  int64_t vectorBytes = 32;
  bool hasFma = true;
  // Instructions for products of narrow elements: in tile registers (AMX) and
  // in vectors (AVX512-BF16, AVX512-VNNI).
  bool hasTileBf16 = false, hasTileInt8 = false;
  bool hasVectorBf16 = false, hasVectorInt8 = false;
  bool isStrict = false;
};

/// Which instructions a product is made of: one product at a time, or groups of
/// narrow elements, neighbours along K, that one lane of 32 bits holds.
enum class DotUnit { Single, Vectors, Tiles };

/// A matrix product in memory: acc += lhs @ rhs. In groups, the operands are
/// buffers of i32, and `k` counts groups.
struct Product {
  Buffer lhs, rhs, acc;
  int64_t m = 0, n = 0, k = 0;
  DotUnit unit = DotUnit::Single;
  mlir::Type element; ///< what groups are of
  bool isUnsigned = false;
  mlir::Value pitch;   ///< in tiles, the bytes from one row of lhs to the next
  mlir::Value isFirst; ///< in tiles, an i1: acc is zero, and not in memory yet
  /// Of the shape of acc: what the products of groups are too large by.
  std::optional<Buffer> excess;
};

/// The scalar type that an element has in registers: pointers are i64.
mlir::Type registerType(mlir::Type element);
/// The type that an element has in buffers: i1 and 8-bit floats are i8.
mlir::Type storageType(mlir::Type element);
int64_t byteSize(mlir::Type element);

/// An op whose result can be evaluated strip by strip from its operands.
bool isVirtualOp(mlir::Operation *op);
/// An op that only renames elements: it neither computes nor moves anything.
bool isRenaming(mlir::Operation *op);

/// Lowers the body of one kernel.
class Lowering {
public:
  Lowering(mlir::ImplicitLocOpBuilder &builder, ChipFacts chip,
           mlir::func::FuncOp function)
      : b(builder), chip(chip), function(function) {}

  //===--- Program.cpp: blocks and scalars
  //---------------------------------===//
  /// Lowers all ops of `block` but the terminator at the insertion point.
  llvm::LogicalResult lowerBlock(mlir::Block &block);
  llvm::LogicalResult lowerOp(mlir::Operation *op);
  /// The new value of an old scalar.
  mlir::Value scalar(mlir::Value old);
  void mapScalar(mlir::Value old, mlir::Value now) { scalars.map(old, now); }
  llvm::LogicalResult lowerScalarOp(mlir::Operation *op);

  mlir::Value context;                      ///< !llvm.ptr to the KernelContext
  mlir::Value programs[3];                  ///< i32 program indices
  mlir::Value grid[3];                      ///< i32 grid extents
  llvm::SmallVector<mlir::Attribute> lines; ///< entries of `tile.lines`

private:
  /// What a loop nest leaves in memory on the way, and how it is cut into
  /// strips.
  struct Nest {
    llvm::SmallVector<mlir::Value> roots; ///< all that is evaluated
    llvm::SmallVector<mlir::Value> along;
    llvm::SmallVector<Buffer> targets;
    int64_t vectorDim = -1;
    int64_t maxLanes = 1;
  };

  //===--- Evaluate.cpp: strips of virtual tiles
  //---------------------------===//
  Val eval(mlir::Value tile, const Coords &at);
  Val evalOp(mlir::Operation *op, mlir::Value result, const Coords &at);
  Val evalConstant(mlir::arith::ConstantOp op);
  Val evalArange(tile::ArangeOp op, const Coords &at);
  Val evalFlip(tile::FlipOp op, const Coords &at);
  Val evalSlice(tile::SliceOp op, const Coords &at);
  Val evalSplit(tile::SplitOp op, mlir::Value result, const Coords &at);
  Val evalClamp(tile::ClampOp op, const Coords &at);
  mlir::Value clamped(tile::ClampOp op, mlir::Value x, mlir::Value low,
                      mlir::Value high);
  Val evalElementwise(mlir::Operation *op, mlir::Value result,
                      const Coords &at);
  /// An i1: whether remainders of `extent` consecutive numbers, of which
  /// `dividend` is the first, are consecutive.
  mlir::Value startsNoMore(mlir::Value dividend, mlir::Value divisor,
                           mlir::Value remainder, int64_t extent);
  std::optional<Val> evalAffine(mlir::Operation *op,
                                llvm::ArrayRef<Val> operands);
  Val evalGather(tile::GatherOp op, const Coords &at);
  Val evalLoad(tile::LoadOp op, const Coords &at);
  void fetchAhead(tile::LoadOp op, Val address);
  Val address(tile::AddPtrOp op, const Coords &at);
  Val add(Val lhs, Val rhs, mlir::Type type);
  Val scaled(Val value, int64_t factor, mlir::Type type);
  mlir::Value asVector(Val value);
  mlir::Type laneType(mlir::Type element);
  mlir::Value evalVector(mlir::Value tile, const Coords &at) {
    return asVector(eval(tile, at));
  }
  /// An i1 that is true if all lanes of a mask are; null when not known
  /// cheaply.
  mlir::Value allTrue(mlir::Value mask, const Coords &at);
  /// Where the operand of a broadcast, expand_dims or transpose is read for the
  /// result to be at `at`; nothing for other ops.
  std::optional<Coords> sourceCoords(mlir::Operation *op, const Coords &at);

  //===--- Memory.cpp: buffers and global memory
  //---------------------------===//
  Val loadBuffer(const Buffer &buffer, const Coords &at);
  void storeBuffer(const Buffer &buffer, const Coords &at, Val value);
  std::pair<mlir::Value, int64_t> elementOffset(const Buffer &buffer,
                                                const Coords &at);
  mlir::Value elementPtr(const Buffer &buffer, mlir::Value offset);
  /// What starts `offset` elements into a buffer, under strides of its own.
  Buffer part(const Buffer &buffer, mlir::Value offset,
              llvm::ArrayRef<int64_t> strides);
  /// Index `i` along an axis of a buffer, which has that axis no more.
  Buffer sliceAt(const Buffer &buffer, int64_t axis, mlir::Value i);
  std::pair<mlir::Value, int64_t> bufferAddress(const Buffer &buffer,
                                                const Coords &at);
  mlir::Value loadContiguous(mlir::Value ptr, mlir::Type element);
  mlir::Value fromStorage(mlir::Value raw, mlir::Type element);
  mlir::Value toStorage(mlir::Value value, mlir::Type element);
  mlir::Value gatherLanes(mlir::Value addresses, mlir::Type element,
                          mlir::Value mask, mlir::Value other);
  mlir::Value loadLanes(Val address, mlir::Type element, mlir::Value mask,
                        mlir::Value maskAllTrue, mlir::Value other);
  void storeLanes(Val address, mlir::Type element, mlir::Value value,
                  mlir::Value mask, mlir::Value maskAllTrue,
                  mlir::Value aroundCaches = {});
  /// An i1: whether a store goes around the caches; null if it never does.
  mlir::Value goesAroundCaches(tile::StoreOp op);
  llvm::LogicalResult lowerStore(tile::StoreOp op);
  void storeDirectly(tile::StoreOp op, const Nest &nest);
  void storeByBuffer(tile::StoreOp op, const Nest &nest);
  llvm::LogicalResult lowerScalarLoad(tile::LoadOp op);
  llvm::LogicalResult lowerAtomic(mlir::Operation *op);
  mlir::Value atomicElement(mlir::Operation *op, mlir::Value address,
                            mlir::Value value, mlir::Value expected);
  mlir::Value casLoop(mlir::Value ptr, mlir::Value value, tile::RMWKind kind);
  /// Code for where a condition holds and, unless null, where it does not.
  void either(mlir::Value condition, llvm::function_ref<void()> then,
              llvm::function_ref<void()> otherwise = nullptr);
  mlir::Value ifElse(mlir::Value condition, mlir::Type type,
                     llvm::function_ref<mlir::Value()> then,
                     llvm::function_ref<mlir::Value()> otherwise);

  //===--- Strides.cpp: how indices move
  //-----------------------------------===//
  /// By how many elements a tile of integers or pointers moves along a
  /// dimension (-1: none of them). Unless `exact`, as long as no sum wraps and
  /// no remainder starts again.
  std::optional<int64_t> strideAlong(mlir::Value tile, int64_t dim,
                                     bool exact = false, int depth = 0);
  std::optional<int64_t> strideOfSum(mlir::Operation *op, int64_t dim,
                                     bool exact, int depth);
  std::optional<int64_t> strideOfProduct(mlir::Operation *op, int64_t dim,
                                         bool exact, int depth);
  /// What a tile of integers, or of pointers in bytes, moves by along a
  /// dimension from `origin` on (-1: none of them), a scalar that may be known
  /// at run time only; that holds for `extent` elements if `conditions` do.
  std::optional<mlir::Value>
  slopeAlong(mlir::Value tile, const Coords &origin, int64_t dim,
             int64_t extent, llvm::SmallVectorImpl<mlir::Value> &conditions);
  std::optional<mlir::Value>
  slopeOfProduct(mlir::Operation *op, const Coords &origin, int64_t dim,
                 int64_t extent,
                 llvm::SmallVectorImpl<mlir::Value> &conditions);
  std::optional<mlir::Value>
  slopeOfRemainder(mlir::Operation *op, const Coords &origin, int64_t dim,
                   int64_t extent,
                   llvm::SmallVectorImpl<mlir::Value> &conditions);
  /// The slope of integers that are widened to i64.
  std::optional<mlir::Value>
  widenedSlope(mlir::Value narrow, const Coords &origin, int64_t dim,
               int64_t extent, llvm::SmallVectorImpl<mlir::Value> &conditions);
  /// A tile of integers or pointers whose stride is known everywhere.
  bool isIndex(mlir::Value tile, bool exact = false);
  /// A mask that can be decided for a whole row along `dim`.
  bool isRowMask(mlir::Value mask, int64_t dim);
  /// A remainder that is consecutive along `dim` where it does not start again.
  bool isRowRemainder(mlir::Value tile, int64_t dim);
  /// What can be decided for a whole row: that a mask is true all along it, or
  /// that a remainder does not start again.
  struct RowFact {
    mlir::Value tile;
    Coords at;
    int64_t dim;       ///< the dimension that moves, or -1
    mlir::Value start; ///< of a remainder, its value where the row starts
  };
  void collectRowFacts(mlir::ValueRange roots, const Coords &row, int64_t dim,
                       llvm::SmallVectorImpl<RowFact> &facts);
  /// An i1: whether a fact holds for `lanes` elements; null if that is not
  /// known cheaply.
  mlir::Value holds(RowFact &fact);
  int64_t pickVectorDim(llvm::ArrayRef<int64_t> shape, mlir::ValueRange roots,
                        int64_t preferred = -1);
  void scoreDims(mlir::Value tile, llvm::ArrayRef<int64_t> dims,
                 llvm::MutableArrayRef<int64_t> score);

  //===--- Placement.cpp: what has to be in memory
  //-------------------------===//
  /// What a value flows into through virtual ops of its block: its roots.
  struct Reach {
    mlir::Operation *root = nullptr;      ///< one of them
    mlir::Operation *last = nullptr;      ///< the last op here that holds one
    mlir::Operation *nextWrite = nullptr; ///< the first behind the value
    bool isSeveral = false;
    bool isElsewhere = false; ///< one of them is in another block
    void add(const Reach &other);
  };
  void noteRoots(mlir::Block &block);
  void classify(mlir::Operation *op);
  void flushForWrite(mlir::Operation *write);
  void flushForRegion(mlir::Operation *op);
  /// Evaluates pending values on the way of these expressions that must be in
  /// memory first; returns those that the coming nest over `shape` leaves
  /// there.
  llvm::SmallVector<mlir::Value> prepare(mlir::ValueRange roots,
                                         llvm::ArrayRef<int64_t> shape);
  void prepareTree(mlir::Value tile, bool identity,
                   llvm::ArrayRef<int64_t> shape,
                   llvm::DenseMap<mlir::Value, bool> &seen,
                   llvm::SmallVectorImpl<mlir::Value> &along);
  struct Cost {
    int64_t ops = 0;
    bool hasLoad = false; ///< reads memory that a write may change
    bool isDear = false;  ///< worth a buffer if it is needed again
  };
  Cost costOf(mlir::Value tile);
  Cost measure(mlir::Operation *op);
  /// A load that costs no more than to read a buffer.
  bool isStream(tile::LoadOp load);
  /// Notes which loads the coming nest over `roots` reads, and which of them
  /// shall fetch what the next program will read.
  void noteReads(mlir::ValueRange roots);
  /// How many bytes behind a tile of pointers the next program's are; 0 if that
  /// is not known.
  int64_t distanceToNext(mlir::Value pointers);

  //===--- Aliasing.cpp: loads beside the store that they feed
  //-------------===//
  /// Where a load is from and a store goes to: the same place strip by strip;
  /// that or different arrays, unless those overlap; different arrays, unless
  /// those overlap; none of these.
  enum class Relation { InPlace, InPlaceOrApart, Apart, Unknown };
  Relation relationOf(tile::LoadOp load, tile::StoreOp store);
  /// The first byte that a tile of pointers points to, and the one behind the
  /// last.
  std::pair<mlir::Value, mlir::Value> extremes(mlir::Value pointers);
  /// Whether an argument that a store writes to is loaded from as well.
  bool isReadToo(tile::StoreOp store);
  /// An i1: whether a store overlaps what its operands load; null if they load
  /// nothing that it might.
  mlir::Value overlapsWhatFeeds(tile::StoreOp store);

  //===--- Loops.cpp: loop nests, materialisation
  //--------------------------===//
  using StripBody = llvm::function_ref<void(const Coords &)>;
  void forStrips(llvm::ArrayRef<int64_t> shape, int64_t vectorDim,
                 int64_t maxLanes, StripBody body, mlir::ValueRange roots = {});
  void loopOver(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> dims,
                Coords &at, StripBody body);
  /// The strips of a row. Of several rows that `body` reads, it gets the first.
  void stripLoop(int64_t extent, int64_t dim, int64_t maxLanes,
                 llvm::ArrayRef<Coords> rows, mlir::ValueRange roots,
                 StripBody body);
  /// Emits the loop over a row, or several that are read together, twice if
  /// there are facts that can be decided for all of it: once for where they
  /// hold, once for where they do not.
  llvm::SmallVector<mlir::Value>
  byRow(mlir::ValueRange roots, llvm::ArrayRef<Coords> rows, int64_t dim,
        int64_t extent, int64_t maxLanes, mlir::TypeRange types,
        llvm::function_ref<llvm::SmallVector<mlir::Value>()> emit);
  /// Tells a fresh cache what is known of the strip that starts at `base`.
  void knowRow(mlir::Value base);
  mlir::Value
  forLoop(int64_t from, int64_t to, int64_t step, mlir::ValueRange inits,
          llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value,
                                                            mlir::ValueRange)>
              body,
          llvm::SmallVectorImpl<mlir::Value> *results);
  int64_t lanesFor(mlir::ValueRange roots);
  Buffer allocate(mlir::Type element, llvm::ArrayRef<int64_t> shape,
                  int64_t innerDim, bool contiguous);
  /// A buffer in the order of rows, padded between them.
  Buffer allocateTile(mlir::Type type);
  mlir::Value allocateBytes(int64_t bytes);
  /// One nest over `shape` that first leaves `along` in buffers, then runs
  /// body.
  void emitNest(llvm::ArrayRef<int64_t> shape, mlir::ValueRange roots,
                StripBody body, int64_t preferredDim = -1);
  /// The same in pieces, for nests that are no plain walk.
  Nest openNest(llvm::ArrayRef<int64_t> shape, mlir::ValueRange roots,
                int64_t preferredDim = -1, int64_t forcedDim = -2);
  void leave(const Nest &nest, const Coords &at);
  void closeNest(const Nest &nest);
  void withFreshCache(llvm::function_ref<void()> body);
  Buffer materialize(mlir::Value tile, bool contiguous = false);
  /// Evaluates a tile now, if it is not as well evaluated where it is read.
  void keep(mlir::Value tile);
  void copyInto(mlir::Value tile, const Buffer &destination);
  bool isInBuffer(mlir::Value tile) const { return buffers.contains(tile); }

  //===--- Reduce.cpp
  //------------------------------------------------------===//
  llvm::LogicalResult lowerReduce(tile::ReduceOp op);
  llvm::LogicalResult lowerStrictReduce(tile::ReduceOp op);
  int64_t treeRound(tile::ReduceOp op, llvm::ArrayRef<Buffer> values,
                    int64_t vectorDim, int64_t maxLanes, int64_t present,
                    int64_t half);
  llvm::LogicalResult lowerScan(tile::ScanOp op);
  /// Where a recurrence has its values: the tiles among them; scalars are
  /// carried by the loop.
  struct Recurrence {
    llvm::SmallVector<Buffer> xs, ys, carried;
    llvm::SmallVector<mlir::Value> scalarInits;
  };
  llvm::LogicalResult lowerRecurrence(tile::RecurrenceOp op);
  Recurrence openRecurrence(tile::RecurrenceOp op);
  llvm::LogicalResult recurrenceStep(tile::RecurrenceOp op,
                                     const Recurrence &state, mlir::Value i);
  llvm::LogicalResult lowerHistogram(tile::HistogramOp op);
  llvm::LogicalResult lowerMap(tile::MapOp op);
  llvm::SmallVector<mlir::Value>
  combine(mlir::Region &region, mlir::ValueRange lhs, mlir::ValueRange rhs);
  llvm::SmallVector<mlir::Value>
  reduceLanes(mlir::Region &region, llvm::SmallVector<mlir::Value> vectors,
              bool inOrder);
  llvm::SmallVector<mlir::Value> reduceStrips(
      mlir::Region &region, int64_t start, int64_t count, int64_t sums,
      bool inOrder,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value)> strip);
  llvm::SmallVector<mlir::Value> reduceRow(tile::ReduceOp op, const Nest &nest,
                                           const Coords &row);
  void reduceAcross(tile::ReduceOp op, const Nest &nest,
                    llvm::ArrayRef<Buffer> out);
  llvm::SmallVector<mlir::Value> evalAll(mlir::ValueRange tiles,
                                         const Coords &at);

  //===--- Sort.cpp
  //--------------------------------------------------------===//
  /// A network over `size` elements along an axis of a buffer.
  struct Network {
    Buffer buffer;
    tile::SortOp op;
    int64_t axis, size;
    bool isDescending, isBitonic;
  };
  llvm::LogicalResult lowerSort(tile::SortOp op);
  void exchange(const Network &net, const Coords &low, const Coords &high,
                mlir::Value isOdd);
  mlir::Value exchangeLanes(const Network &net, mlir::Value x, int64_t distance,
                            int64_t block, mlir::Value isOdd);
  mlir::Value mergeLanes(const Network &net, mlir::Value x, int64_t distance,
                         int64_t block, mlir::Value isOdd);
  void mergeFar(const Network &net, const Coords &row, int64_t width,
                mlir::Value level, mlir::Value block);
  void
  forVectors(const Network &net, const Coords &row,
             llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> body);
  void sortRow(const Network &net, const Coords &row, bool isAlong);

  //===--- Dot.cpp
  //---------------------------------------------------------===//
  llvm::LogicalResult lowerDot(tile::DotOp op);
  Buffer packOperand(mlir::Value tile, mlir::Type compute, bool isUnsigned,
                     bool needsUnitLast);
  void transposeInto(const Buffer &source, const Buffer &destination,
                     llvm::ArrayRef<int64_t> shape);
  mlir::Value converted(mlir::Value value, mlir::Type compute, bool isUnsigned);
  void multiply(const Product &product);
  void panel(const Product &product, mlir::Value column,
             llvm::ArrayRef<int64_t> widths);
  void registerBlock(const Product &product, mlir::Value row,
                     mlir::Value column, int64_t rows,
                     llvm::ArrayRef<int64_t> widths);
  mlir::Value multiplyAdd(const Product &product, mlir::Value a, mlir::Value c,
                          mlir::Value sum);

  //===--- DotGroups.cpp: products of groups of narrow elements
  //---------------===//
  DotUnit pickUnit(tile::DotOp op);
  void packGroups(tile::DotOp op, Product &product);
  Buffer packRows(mlir::Value tile, int64_t rows, int64_t depth, bool flip);
  /// Sets lhs and its pitch to where a load of whole tiles has its rows, or,
  /// where these are not in order or not all to be read, to where it packs
  /// them; false if that cannot be decided at run time.
  bool takeRowsInPlace(mlir::Value tile, Product &product, int64_t depth);
  Buffer packColumns(mlir::Value tile, int64_t columns, int64_t depth,
                     bool flip);
  Buffer packNarrow(mlir::Value tile, llvm::ArrayRef<int64_t> padded,
                    int64_t inner, bool flip);
  /// Bytes moved by 128 if `flip`.
  mlir::Value flipped(mlir::Value bytes, bool flip);
  void interleaveInto(const Buffer &groups, mlir::Type element,
                      llvm::ArrayRef<int64_t> shape, mlir::ValueRange roots,
                      llvm::function_ref<mlir::Value(const Coords &)> read);
  void clearFrom(const Buffer &buffer, llvm::ArrayRef<int64_t> shape,
                 int64_t dim, int64_t start);
  Buffer excessOf(const Product &product, llvm::ArrayRef<int64_t> batch);
  mlir::Value multiplyGroups(const Product &product, mlir::Value a,
                             mlir::Value c, mlir::Value sum);

  //===--- DotAmx.cpp: products in tile registers
  //-----------------------------===//
  void multiplyTiles(const Product &product);
  /// Sets the tile registers up for the whole kernel, the first time.
  void configureTiles();
  void tileBlock(const Product &product, mlir::Value row, mlir::Value column,
                 int64_t rowTiles, int64_t columnTiles, int64_t rows,
                 int64_t columns);

  //===--- Control.cpp
  //-----------------------------------------------------===//
  llvm::LogicalResult lowerFor(mlir::scf::ForOp op);
  /// Emits what is done only if a loop has no turn.
  void ifNoTurn(mlir::scf::ForOp op, llvm::function_ref<void()> body);
  llvm::LogicalResult lowerIf(mlir::scf::IfOp op);
  llvm::LogicalResult lowerBranch(mlir::Region &from, mlir::Region &to,
                                  llvm::ArrayRef<Buffer> destinations);
  llvm::LogicalResult lowerWhile(mlir::scf::WhileOp op);
  /// Where a loop's tiles are: those that `before` is entered with, and those
  /// that it passes on.
  struct WhileTiles {
    llvm::SmallVector<Buffer> carried, passed;
    /// What each of `carried` holds while `after` runs.
    llvm::SmallVector<mlir::Value> leaves;
    bool alwaysCopy = false;
  };
  WhileTiles openWhile(mlir::scf::WhileOp op);
  llvm::LogicalResult lowerWhileRegions(mlir::scf::WhileOp op,
                                        const WhileTiles &tiles,
                                        mlir::scf::WhileOp &loop);
  /// The new values of the scalars among these.
  llvm::SmallVector<mlir::Value> scalarsOf(mlir::ValueRange values);
  void mapArguments(mlir::Block &block, mlir::ValueRange now);
  void emitCancelCheck();
  /// Lowers a block that runs conditionally: what it puts into buffers for
  /// values of outer blocks is forgotten behind it.
  llvm::LogicalResult lowerRegion(mlir::Block &block,
                                  llvm::function_ref<void()> finish);
  /// Writes the tiles among `values` to `destinations`, as if all at once.
  /// `leaves[i]` is the value that destination i holds until then.
  void carry(mlir::ValueRange values, mlir::ValueRange leaves,
             llvm::ArrayRef<Buffer> destinations, bool alwaysCopy);
  /// Whether evaluating `tile` reads `leaf`; `elsewhere` is set if it does so
  /// at other coordinates than its own.
  bool dependsOn(mlir::Value tile, mlir::Value leaf, bool &elsewhere);
  bool canWriteInPlace(mlir::Value value, mlir::Value argument);
  /// Whether nothing but a product in tile registers reads a sum that starts at
  /// zero: its first turn need not read that.
  bool canStartWithout(mlir::Value value, mlir::Value argument,
                       mlir::Value init);

  //===--- Debug.cpp
  //-------------------------------------------------------===//
  llvm::LogicalResult lowerPrint(tile::PrintOp op);
  llvm::LogicalResult lowerAssert(tile::AssertOp op);
  int32_t addLine(mlir::DictionaryAttr entry);
  void callContext(int64_t slot, mlir::ValueRange args);

  //===--- Shape.cpp
  //-------------------------------------------------------===//
  llvm::LogicalResult lowerShapeRoot(mlir::Operation *op);

  mlir::Value constant(int64_t value, mlir::Type type);
  mlir::Value index(int64_t value);
  mlir::Value zero(mlir::Type type);
  mlir::Value addIndex(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mulIndex(mlir::Value lhs, int64_t rhs);
  Coords identity(llvm::ArrayRef<int64_t> shape);

  mlir::ImplicitLocOpBuilder &b;
  ChipFacts chip;
  mlir::func::FuncOp function;
  mlir::IRMapping scalars;
  llvm::DenseMap<mlir::Value, Buffer> buffers;
  /// Virtual values that shall be left in memory by the first root.
  llvm::SetVector<mlir::Value> pending;
  /// Carried arguments whose new value may be written over the old one.
  llvm::DenseMap<mlir::Value, Buffer> inPlace;
  /// For products whose first turn does not read their sum, whether this is it.
  llvm::DenseMap<mlir::Value, mlir::Value> firstTurns;
  llvm::DenseMap<mlir::Value, Cost> costs;
  llvm::DenseMap<mlir::Value, Reach> reaches;
  /// Loads and pending values of the current block that a write may concern.
  llvm::SmallVector<mlir::Value> unsettled;
  /// Loads that some nest has read, and those that fetch ahead now, with how
  /// far.
  llvm::DenseSet<mlir::Operation *> readBefore;
  llvm::DenseMap<mlir::Operation *, int64_t> ahead;
  mlir::Operation *current = nullptr; ///< what is being lowered
  bool hasTiles = false;              ///< tile registers are configured
  bool hasFence = false; ///< the entry waits for stores around the caches
  /// Integers and pointers that are evaluated where they are needed, even if a
  /// buffer has them, too.
  llvm::DenseSet<mlir::Value> indices;

  int64_t lanes = 1;
  using Cache =
      llvm::DenseMap<mlir::Value, llvm::SmallVector<std::pair<Coords, Val>, 1>>;
  Cache cache;
  /// What holds all along the current row.
  llvm::ArrayRef<RowFact> rowFacts;
  /// Constants at the start of the function: coordinates are compared.
  llvm::DenseMap<int64_t, mlir::Value> indexConstants;
  /// While set, evaluation may assume what it adds here (conditions, all i1).
  llvm::SmallVector<mlir::Value> *assumptions = nullptr;
};

} // namespace terrazzo::cpu

#endif // TERRAZZO_LIB_CONVERSION_TILETOVECTOR_LOWERING_H
