//===- SimtToLLVM.cpp - From tiles with layouts to one thread -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowering.h has the idea. This file: the pass, the walk over blocks, and
// what a thread knows of its place.
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "terrazzo/Conversion/Passes.h"
#include "terrazzo/Dialect/Simt/IR/Layouts.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::thread;

//===----------------------------------------------------------------------===//
// Distribution
//===----------------------------------------------------------------------===//

namespace {

/// Elimination over GF(2). A vector's lowest bit that no earlier one has is
/// its pivot.
struct Elimination {
  struct Row {
    uint64_t vector, pivot;
    uint32_t combination;
  };
  SmallVector<Row> rows;

  /// Adds `vector`; false if it depends on earlier ones. `combination` becomes
  /// the sum of those of all vectors used.
  bool insert(uint64_t vector, uint32_t &combination) {
    for (const Row &row : rows)
      if (vector & row.pivot) {
        vector ^= row.vector;
        combination ^= row.combination;
      }
    if (vector == 0)
      return false;
    rows.push_back({vector, vector & -vector, combination});
    return true;
  }
};

} // namespace

static SmallVector<Coords> basesOf(const layout::LinearLayout &layout,
                                   StringRef in) {
  SmallVector<Coords> bases;
  for (int32_t bit = 0, end = layout.inBits(in); bit < end; ++bit)
    bases.push_back(layout.basis(in, bit));
  return bases;
}

Distribution::Distribution(const layout::LinearLayout &layout,
                           ArrayRef<Coords> loops)
    : lanes(basesOf(layout, simt::kLane)), warps(basesOf(layout, simt::kWarp)),
      loops(loops), looped(loops.size(), -1) {
  for (auto [bit, basis] : llvm::enumerate(basesOf(layout, simt::kRegister))) {
    const auto *loop = llvm::find(loops, basis);
    if (loop != loops.end()) {
      looped[loop - loops.begin()] = static_cast<int>(bit);
      continue;
    }
    registers.push_back(basis);
    kept.push_back(bit);
  }
  for (const auto &dim : layout.outDims())
    outBits.push_back(dim.bits);
  registerMask.assign(rank(), 0);
  threadMask.assign(rank(), 0);
  thread.assign(rank(), Value());

  Elimination elimination;
  SmallVector<uint32_t> same; // what stands for each register bit
  auto bitsOf = [&](ArrayRef<Coords> bases, Coords &mask, uint32_t &free,
                    bool isRegister) {
    for (auto [bit, basis] : llvm::enumerate(bases)) {
      for (int64_t d = 0; d < rank(); ++d)
        mask[d] |= basis[d];
      uint32_t own = isRegister ? uint32_t{1} << bit : 0, combination = own;
      bool isFree = !elimination.insert(pack(basis), combination);
      if (isFree)
        free |= uint32_t{1} << bit;
      if (isRegister)
        same.push_back(isFree ? combination ^ own : own);
    }
  };
  bitsOf(registers, registerMask, freeRegisters, true);
  uint32_t freeLoops = 0;
  bitsOf(loops, threadMask, freeLoops, false);
  bitsOf(lanes, threadMask, freeLanes, false);
  bitsOf(warps, threadMask, freeWarps, false);
  enumerateRegisters(same);
}

void Distribution::enumerateRegisters(ArrayRef<uint32_t> same) {
  coords.assign(numRegisters(), Coords(rank(), 0));
  canonical.assign(numRegisters(), 0);
  for (uint32_t r = 0; r < numRegisters(); ++r) {
    if (r != 0) {
      unsigned bit = llvm::Log2_32(r);
      uint32_t rest = r ^ (uint32_t{1} << bit);
      canonical[r] = canonical[rest] ^ same[bit];
      for (int64_t d = 0; d < rank(); ++d)
        coords[r][d] = coords[rest][d] ^ registers[bit][d];
    }
    if (canonical[r] == r) {
      unique.push_back(r);
      byCoords[pack(coords[r])] = r;
    }
  }
}

uint64_t Distribution::pack(ArrayRef<int32_t> coords) const {
  uint64_t packed = 0;
  for (auto [bits, coordinate] : llvm::zip_equal(outBits, coords))
    packed = packed << bits | static_cast<uint32_t>(coordinate);
  return packed;
}

std::optional<uint32_t> Distribution::find(ArrayRef<int32_t> coords) const {
  auto it = byCoords.find(pack(coords));
  if (it == byCoords.end())
    return std::nullopt;
  return it->second;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Type thread::registerType(Type element) {
  if (isa<tile::PtrType>(element))
    return LLVM::LLVMPointerType::get(element.getContext(), 1);
  if (isa<tile::TensorMapType>(element))
    return LLVM::LLVMPointerType::get(element.getContext());
  return element;
}

Value Lowering::scalar(Value old) const {
  Value now = scalars.lookup(old);
  assert(now && "a scalar is lowered before its uses");
  return now;
}

ArrayRef<Value> Lowering::registersOf(Value tile) const {
  const auto &table = window ? window->tiles : tiles;
  auto it = table.find(tile);
  assert(it != table.end() && "a tile is lowered before its uses");
  return it->second;
}

void Lowering::setEach(Value tile, function_ref<Value(uint32_t)> compute) {
  Distribution &d = distribution(tile.getType());
  Registers now(d.numRegisters());
  for (uint32_t r = 0; r < d.numRegisters(); ++r)
    now[r] = d.canonical[r] == r ? compute(r) : now[d.canonical[r]];
  setRegisters(tile, std::move(now));
}

Distribution &Lowering::distribution(Type type) {
  Attribute encoding = cast<RankedTensorType>(type).getEncoding();
  std::unique_ptr<Distribution> &slot =
      (window ? window->distributions : distributions)[encoding];
  assert((slot || !window) && "a loop knows the tiles in it");
  if (!slot)
    slot = std::make_unique<Distribution>(
        cast<simt::LayoutAttr>(encoding).getLayout());
  return *slot;
}

void Lowering::before(Operation *place, function_ref<void()> emit) {
  OpBuilder::InsertionGuard guard(b);
  Location saved = b.getLoc();
  b.setInsertionPoint(place);
  b.setLoc(place->getLoc());
  emit();
  b.setLoc(saved);
}

void Lowering::atEntry(function_ref<void()> emit) { before(entry, emit); }

void Lowering::atHead(function_ref<void()> emit) {
  before(window ? window->head : entry, emit);
}

Value Lowering::constant(int64_t value, Type type) {
  Value &slot = constants[{type, value}];
  if (!slot)
    atEntry([&] {
      TypedAttr attribute = type.isInteger(1)
                                ? TypedAttr(b.getBoolAttr(value != 0))
                                : TypedAttr(b.getIntegerAttr(type, value));
      slot = arith::ConstantOp::create(b, attribute);
    });
  return slot;
}

Value Lowering::zero(Type type) {
  if (isa<IntegerType, IndexType>(type))
    return constant(0, type);
  Value &slot = constants[{type, 0}];
  if (!slot)
    atEntry([&] {
      if (isa<LLVM::LLVMPointerType>(type))
        slot = LLVM::ZeroOp::create(b, type);
      else
        slot = arith::ConstantOp::create(b, b.getZeroAttr(type));
    });
  return slot;
}

//===----------------------------------------------------------------------===//
// The place of a thread
//===----------------------------------------------------------------------===//

static constexpr auto kNoWrap =
    arith::IntegerOverflowFlags::nsw | arith::IntegerOverflowFlags::nuw;

Value Lowering::laneId() {
  if (!lane)
    atEntry([&] {
      if (!threadId)
        threadId = simt::ThreadIdOp::create(b, b.getI32Type());
      lane = machine.numWarps == 1
                 ? threadId
                 : arith::AndIOp::create(b, threadId, i32(machine.warpSize - 1))
                       .getResult();
    });
  return lane;
}

Value Lowering::warpId() {
  if (!warp)
    atEntry([&] { warp = simt::WarpIdOp::create(b, b.getI32Type()); });
  return warp;
}

Value Lowering::isFirstThread() {
  if (!firstThread)
    atEntry([&] {
      if (!threadId)
        threadId = simt::ThreadIdOp::create(b, b.getI32Type());
      firstThread = areClear(threadId, ~uint32_t{0});
    });
  return firstThread;
}

Value Lowering::isFirstLane() {
  Value index = laneId();
  if (!firstLane)
    atEntry([&] { firstLane = areClear(index, ~uint32_t{0}); });
  return firstLane;
}

Value Lowering::add(Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  return arith::AddIOp::create(b, lhs, rhs, kNoWrap);
}

Value Lowering::exclusiveOr(Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  return arith::XOrIOp::create(b, lhs, rhs);
}

Value Lowering::areClear(Value index, uint32_t mask) {
  Value bits = index;
  if (mask != ~uint32_t{0})
    bits = arith::AndIOp::create(b, index, i32(mask));
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, bits, i32(0));
}

Value Lowering::laneBit(unsigned bit) {
  Value &slot = laneBits[bit];
  if (!slot) {
    Value index = laneId();
    atEntry([&] {
      Value masked = arith::AndIOp::create(b, index, i32(int64_t{1} << bit));
      slot = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, masked, i32(0));
    });
  }
  return slot;
}

Value Lowering::counterBit(unsigned bit) {
  Value &slot = window->counterBits[bit];
  if (!slot)
    atHead(
        [&] { slot = negated(areClear(window->counter, uint32_t{1} << bit)); });
  return slot;
}

static bool isPower(int32_t value) {
  return value > 0 && llvm::isPowerOf2_32(value);
}

/// `field` bits of `index` from bit `from` up, times `basis`.
static Value scaledField(ImplicitLocOpBuilder &b, Value index, unsigned from,
                         Value mask, Value shift, bool left, Value factor) {
  Value field = mask ? arith::AndIOp::create(b, index, mask) : index;
  if (shift)
    field = left ? arith::ShLIOp::create(b, field, shift, kNoWrap).getResult()
                 : arith::ShRUIOp::create(b, field, shift).getResult();
  if (factor)
    field = arith::MulIOp::create(b, field, factor);
  return field;
}

Value Lowering::linear(Value index, ArrayRef<int32_t> bases, bool isSum) {
  Value total;
  int32_t used = 0;
  for (unsigned from = 0, end = 0; from < bases.size(); from = end) {
    int32_t basis = bases[from], bits = basis;
    end = from + 1;
    if (basis == 0)
      continue;
    // A run of bits that each move twice as far as the one before.
    while (end < bases.size() && (isSum || isPower(basis)) &&
           bases[end] == 2 * bases[end - 1])
      bits |= bases[end++];
    uint32_t mask = ((uint32_t{1} << (end - from)) - 1) << from;
    bool isWhole = from == 0 && end == bases.size();
    Value maskValue = isWhole ? Value() : i32(mask);
    Value part;
    if (isPower(basis)) {
      int64_t shift = static_cast<int64_t>(llvm::Log2_32(basis)) - from;
      part = scaledField(b, index, from, maskValue,
                         shift ? i32(std::abs(shift)) : Value(), shift > 0, {});
    } else {
      part = scaledField(b, index, from, maskValue, from ? i32(from) : Value(),
                         false, i32(basis));
    }
    total = isSum || (used & bits) == 0 ? add(total, part)
                                        : exclusiveOr(total, part);
    used |= bits;
  }
  return total;
}

Value Lowering::threadPart(ArrayRef<int32_t> lanes, ArrayRef<int32_t> warps,
                           ArrayRef<int32_t> loops, bool isSum) {
  auto isZero = [](int32_t basis) { return basis == 0; };
  int32_t laneBits = 0, warpBits = 0, loopBits = 0;
  for (int32_t basis : lanes)
    laneBits |= basis;
  for (int32_t basis : warps)
    warpBits |= basis;
  for (int32_t basis : loops)
    loopBits |= basis;
  Value ofLane, ofWarp, total;
  if (!llvm::all_of(lanes, isZero))
    ofLane = laneId();
  if (!llvm::all_of(warps, isZero))
    ofWarp = warpId();
  atEntry([&] {
    if (ofLane)
      ofLane = linear(ofLane, lanes, isSum);
    if (ofWarp)
      ofWarp = linear(ofWarp, warps, isSum);
    total = isSum || (laneBits & warpBits) == 0 ? add(ofLane, ofWarp)
                                                : exclusiveOr(ofLane, ofWarp);
  });
  if (llvm::all_of(loops, isZero))
    return total;
  atHead([&] {
    Value ofLoop = linear(window->counter, loops, isSum);
    total = isSum || ((laneBits | warpBits) & loopBits) == 0
                ? add(total, ofLoop)
                : exclusiveOr(total, ofLoop);
  });
  return total;
}

void Lowering::computeThread(Distribution &d) {
  if (d.hasThread)
    return;
  d.hasThread = true;
  for (int64_t dim = 0; dim < d.rank(); ++dim) {
    auto along = [dim](const Coords &basis) { return basis[dim]; };
    d.thread[dim] = threadPart(llvm::map_to_vector(d.lanes, along),
                               llvm::map_to_vector(d.warps, along),
                               llvm::map_to_vector(d.loops, along), false);
  }
}

Value Lowering::coordinate(Distribution &d, uint32_t r, int64_t dim) {
  computeThread(d);
  int32_t own = d.coords[r][dim];
  Value thread = d.thread[dim];
  if (!thread)
    return i32(own);
  if (own == 0)
    return thread;
  return d.isDisjoint(dim) ? add(thread, i32(own))
                           : exclusiveOr(thread, i32(own));
}

Value Lowering::both(Value lhs, Value rhs) {
  // A mask may be a constant.
  Value always = constants.lookup({b.getI1Type(), 1});
  if (always && lhs == always)
    lhs = {};
  if (always && rhs == always)
    rhs = {};
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  if (lhs == never() || rhs == never())
    return never();
  if (lhs == rhs)
    return lhs;
  return arith::AndIOp::create(b, lhs, rhs);
}

Value Lowering::negated(Value condition) {
  return arith::XOrIOp::create(b, condition, constant(1, b.getI1Type()));
}

Value Lowering::inBoundsAlong(RankedTensorType type, uint32_t r, int64_t dim) {
  Distribution &d = distribution(type);
  auto extent = static_cast<int32_t>(type.getDimSize(dim));
  int32_t own = d.coords[r][dim];
  if (extent == int32_t{1} << d.outBits[dim] ||
      (own | d.threadMask[dim]) < extent)
    return {};
  if (!d.isDisjoint(dim))
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                 coordinate(d, r, dim), i32(extent));
  // thread + own < extent
  computeThread(d);
  if (own >= extent)
    return never();
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, d.thread[dim],
                               i32(extent - own));
}

Value Lowering::inBounds(RankedTensorType type, uint32_t r) {
  Value all;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    all = both(all, inBoundsAlong(type, r, dim));
  return all;
}

Value Lowering::isWriter(Distribution &d) {
  std::pair<uint32_t, uint32_t> key(d.freeLanes, d.freeWarps);
  auto it = writers.find(key);
  if (it != writers.end())
    return it->second;
  Value ofLane = d.freeLanes ? laneId() : Value();
  Value ofWarp = d.freeWarps ? warpId() : Value();
  Value result;
  // All bits of an index need no mask.
  auto bits = [](uint32_t free, size_t count) {
    return free == (uint32_t{1} << count) - 1 ? ~uint32_t{0} : free;
  };
  atEntry([&] {
    if (ofLane)
      result = areClear(ofLane, bits(d.freeLanes, d.lanes.size()));
    if (ofWarp)
      result =
          both(result, areClear(ofWarp, bits(d.freeWarps, d.warps.size())));
  });
  return writers[key] = result;
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

LogicalResult Lowering::lowerBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (!window && deferred.contains(&op))
      continue;
    bool isLoop = !window && looped.contains(&op);
    if (failed(isLoop ? lowerLoop(&op) : lowerOp(&op)))
      return failure();
  }
  return success();
}

/// Whether a reduction's elements may be combined in any order.
bool Lowering::commutes(tile::ReduceOp op) const {
  return tile::isCommutative(op.getCombine()) ||
         (!machine.strict && op->hasAttr("commutative"));
}

/// A scalar that an operation of the target's own dialect finds without
/// operands: a special register, which each thread reads for itself.
static bool readsRegister(Operation *op) {
  return op->getNumOperands() == 0 && op->getNumRegions() == 0 &&
         op->getNumResults() == 1 &&
         op->getResult(0).getType().isSignlessInteger();
}

LogicalResult Lowering::lowerOp(Operation *op) {
  b.setLoc(op->getLoc());
  if (isa<arith::ArithDialect, math::MathDialect>(op->getDialect())) {
    if (auto constantOp = dyn_cast<arith::ConstantOp>(op))
      return lowerConstant(constantOp);
    return lowerElementwise(op);
  }
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tile::LoadOp o) { return lowerLoad(o); })
      .Case([&](tile::StoreOp o) { return lowerStore(o); })
      .Case<tile::AtomicRMWOp, tile::AtomicCASOp>(
          [&](Operation *o) { return lowerAtomic(o); })
      .Case<tile::AddPtrOp, tile::PtrToIntOp, tile::IntToPtrOp>(
          [&](Operation *o) { return lowerPointerOp(o); })
      .Case<tile::HintOp, tile::PtrCastOp>(
          [&](Operation *o) { return lowerRenamed(o); })
      .Case([&](tile::ClampOp o) { return lowerClamp(o); })
      .Case([&](tile::ArangeOp o) { return lowerArange(o); })
      .Case<tile::SplatOp, tile::BroadcastOp, tile::ExpandDimsOp,
            tile::TransposeOp>([&](Operation *o) { return lowerShape(o); })
      .Case([&](tile::ReshapeOp o) { return lowerReshape(o); })
      .Case([&](tile::JoinOp o) { return lowerJoin(o); })
      .Case([&](tile::SplitOp o) { return lowerSplit(o); })
      .Case([&](tile::MapOp o) { return lowerMap(o); })
      .Case([&](tile::ReduceOp o) {
        return lowerReduce(o, o.getCombine(), o.getAxis(), commutes(o), false);
      })
      .Case([&](simt::WarpReduceOp o) {
        return lowerReduce(o, o.getCombine(), o.getAxis(), o.getCommutative(),
                           true);
      })
      .Case([&](tile::ScanOp o) { return lowerScan(o); })
      .Case([&](tile::SortOp o) { return lowerSort(o); })
      .Case([&](simt::ConvertLayoutOp o) { return lowerConvertLayout(o); })
      .Case([&](simt::AllocOp) { return success(); })
      .Case([&](simt::LocalStoreOp o) { return lowerLocalStore(o); })
      .Case([&](simt::LocalCopyOp o) { return lowerLocalCopy(o); })
      .Case<simt::CopyCommitOp, simt::CopyWaitOp, simt::LocalTensorCopyOp,
            simt::MbarrierInitOp, simt::MbarrierEndOp, simt::MbarrierArriveOp,
            simt::MbarrierWaitOp>([&](Operation *o) { return lowerRing(o); })
      .Case([&](simt::LocalLoadOp o) { return lowerLocalLoad(o); })
      .Case([&](simt::LocalGatherOp o) { return lowerLocalGather(o); })
      .Case([&](simt::LocalCountOp o) { return lowerLocalCount(o); })
      .Case([&](simt::LocalDotOp o) { return lowerLocalDot(o); })
      .Case([&](simt::MmaOp o) { return lowerMma(o); })
      .Case([&](simt::LocalMmaOp o) { return lowerLocalMma(o); })
      .Case([&](simt::MmaWaitOp o) { return lowerMmaWait(o); })
      .Case([&](scf::ForOp o) { return lowerFor(o); })
      .Case([&](scf::IfOp o) { return lowerIf(o); })
      .Case([&](scf::WhileOp o) { return lowerWhile(o); })
      .Case([&](scf::ExecuteRegionOp o) { return lowerExecuteRegion(o); })
      .Case([&](tile::PrintOp o) { return lowerPrint(o); })
      .Case([&](tile::AssertOp o) { return lowerAssert(o); })
      .Case<tile::BarrierOp, simt::BarrierOp>([&](Operation *o) {
        simt::BarrierOp::create(b, isa<simt::BarrierOp>(o) &&
                                       cast<simt::BarrierOp>(o).getUnits());
        return success();
      })
      .Case([&](tile::AssumeOp o) {
        LLVM::AssumeOp::create(b, scalar(o.getCondition()));
        return success();
      })
      .Case([&](tile::ProgramIdOp o) {
        setScalar(o, programId(static_cast<int32_t>(o.getAxis())));
        return success();
      })
      .Case([&](tile::NumProgramsOp o) {
        setScalar(o, b.clone(*o)->getResult(0));
        return success();
      })
      .Default([&](Operation *o) -> LogicalResult {
        if (!readsRegister(o))
          return o->emitOpError("has no form for one thread: it should have "
                                "been decomposed before this pass");
        setScalar(o->getResult(0), b.clone(*o)->getResult(0));
        return success();
      });
}

LogicalResult Lowering::lowerKernel(func::FuncOp kernel, func::FuncOp now,
                                    bool hasDebug) {
  if (!llvm::hasSingleElement(kernel.getBody()))
    return kernel.emitError("a kernel's control flow must be structured (scf), "
                            "found several blocks");
  Block &block = now.getBody().front();
  b.setInsertionPointToEnd(&block);
  auto end = func::ReturnOp::create(b);
  b.setInsertionPoint(end);
  // Stands at the end of what is computed at the entry.
  entry = arith::ConstantOp::create(b, b.getBoolAttr(false));
  for (BlockArgument argument : kernel.getArguments()) {
    Value value = block.getArgument(argument.getArgNumber());
    if (argument.getType().isInteger(1))
      value = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, value,
                                    constant(0, b.getI8Type()));
    setScalar(argument, value);
  }
  if (hasDebug)
    debugBuffer = block.getArguments().back();
  planLoops(kernel);
  if (failed(lowerBlock(kernel.getBody().front())))
    return failure();
  entry->erase();
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace terrazzo {
#define GEN_PASS_DEF_SIMTTOLLVM
#include "terrazzo/Conversion/Passes.h.inc"

namespace {

Machine readMachine(ModuleOp module) {
  simt::BlockShape block = simt::blockShape(module);
  Machine machine;
  machine.warpSize = block.warpSize;
  machine.numWarps = block.numWarps;
  machine.strict = module->hasAttr("tile.strict");
  if (auto target = tile::TargetAttr::of(module))
    machine.privateSpace = static_cast<unsigned>(target.getPrivateSpace());
  return machine;
}

LogicalResult lowerKernel(func::FuncOp kernel, const Machine &machine,
                          SmallVectorImpl<Attribute> &lines) {
  ImplicitLocOpBuilder b(kernel.getLoc(), kernel);
  SmallVector<Type> types;
  SmallVector<Attribute> argumentAttributes;
  for (BlockArgument argument : kernel.getArguments()) {
    Type type = argument.getType();
    types.push_back(type.isInteger(1) ? b.getI8Type() : registerType(type));
    DictionaryAttr attributes = kernel.getArgAttrDict(argument.getArgNumber());
    argumentAttributes.push_back(attributes ? attributes
                                            : b.getDictionaryAttr({}));
  }
  bool hasDebug = kernel
                      ->walk([](Operation *op) {
                        return isa<tile::PrintOp, tile::AssertOp>(op)
                                   ? WalkResult::interrupt()
                                   : WalkResult::advance();
                      })
                      .wasInterrupted();
  if (hasDebug) {
    types.push_back(LLVM::LLVMPointerType::get(b.getContext(), 1));
    argumentAttributes.push_back(b.getDictionaryAttr({}));
  }
  std::string name = kernel.getSymName().str();
  kernel.setSymName(name + ".tile");
  auto now = func::FuncOp::create(b, name, b.getFunctionType(types, {}));
  // It is a kernel of the tile dialect no more.
  now->setDiscardableAttrs(kernel->getDiscardableAttrDictionary());
  now->removeDiscardableAttr(tile::kKernelAttr);
  now.setArgAttrsAttr(b.getArrayAttr(argumentAttributes));
  now.addEntryBlock();
  Lowering lowering(b, machine, lines);
  if (failed(lowering.lowerKernel(kernel, now, hasDebug)))
    return failure();
  kernel->getParentOfType<ModuleOp>()->setAttr("tile.entry",
                                               b.getStringAttr(name));
  kernel.erase();
  return success();
}

struct SimtToLLVM : impl::SimtToLLVMBase<SimtToLLVM> {
  using SimtToLLVMBase::SimtToLLVMBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> kernels;
    for (auto func : module.getOps<func::FuncOp>())
      if (func->hasAttr(tile::kKernelAttr))
        kernels.push_back(func);
    Machine machine = readMachine(module);
    machine.limit = limit;
    machine.fewest = fewest;
    machine.turn = turn;
    SmallVector<Attribute> lines;
    for (func::FuncOp kernel : kernels)
      if (failed(simt::checkLayouts(kernel, simt::blockShape(module))) ||
          failed(lowerKernel(kernel, machine, lines)))
        return signalPassFailure();
    module->setAttr(tile::kLinesAttr, ArrayAttr::get(&getContext(), lines));
  }
};

} // namespace
} // namespace terrazzo
