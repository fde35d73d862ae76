//===- Loops.cpp - Loop nests and what goes into memory -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A nest walks a shape, one dimension of it in strips of up to `maxLanes`
// lanes; what a power of two leaves over is cut into smaller ones, so no strip
// reads past the end.
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::cpu;

Coords Lowering::identity(ArrayRef<int64_t> shape) {
  Coords at;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    at.push_back({index(0), 0});
  return at;
}

Value Lowering::forLoop(
    int64_t from, int64_t to, int64_t step, ValueRange inits,
    function_ref<SmallVector<Value>(Value, ValueRange)> body,
    SmallVectorImpl<Value> *results) {
  auto loop = scf::ForOp::create(b, index(from), index(to), index(step), inits);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> yields =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  // Without carried values the loop came with its terminator.
  if (!inits.empty())
    scf::YieldOp::create(b, yields);
  if (results)
    results->assign(loop.getResults().begin(), loop.getResults().end());
  return loop.getInductionVar();
}

SmallVector<Value> Lowering::byRow(ValueRange roots, ArrayRef<Coords> rows,
                                   int64_t dim, int64_t extent,
                                   int64_t maxLanes, TypeRange types,
                                   function_ref<SmallVector<Value>()> emit) {
  // A short row is over before the decision has paid.
  if (extent < 4 * maxLanes)
    return emit();
  SmallVector<RowFact> facts;
  for (const Coords &row : rows) {
    Coords at(row);
    at[dim] = {index(0), 1};
    collectRowFacts(roots, at, dim, facts);
  }
  Value all;
  int64_t saved = lanes;
  lanes = extent;
  withFreshCache([&] {
    llvm::erase_if(facts, [&](RowFact &fact) {
      Value isTrue = holds(fact);
      if (isTrue)
        all = all ? arith::AndIOp::create(b, all, isTrue) : isTrue;
      return !isTrue;
    });
  });
  lanes = saved;
  if (!all)
    return emit();
  auto version = scf::IfOp::create(b, types, all, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  for (bool isInside : {true, false}) {
    Region &region =
        isInside ? version.getThenRegion() : version.getElseRegion();
    b.setInsertionPointToStart(&region.front());
    ArrayRef<RowFact> outer =
        std::exchange(rowFacts, isInside ? facts : ArrayRef<RowFact>());
    SmallVector<Value> results = emit();
    rowFacts = outer;
    if (!types.empty())
      scf::YieldOp::create(b, results);
  }
  return llvm::to_vector(
      llvm::map_range(version.getResults(), [](Value v) { return v; }));
}

void Lowering::knowRow(Value base) {
  for (const RowFact &fact : rowFacts) {
    Coords at(fact.at);
    int64_t step = lanes == 1 ? 0 : 1;
    if (fact.dim >= 0)
      at[fact.dim] = {base, step};
    Val known{{}, step, false};
    if (fact.start)
      known.v =
          addIndex(fact.start,
                   b.createOrFold<arith::TruncIOp>(fact.start.getType(), base));
    else
      known = {constant(1, b.getI1Type()), 0, false};
    cache[fact.tile].push_back({at, known});
  }
}

void Lowering::stripLoop(int64_t extent, int64_t dim, int64_t maxLanes,
                         ArrayRef<Coords> rows, ValueRange roots,
                         StripBody body) {
  auto strip = [&](Value base, int64_t width) {
    lanes = width;
    withFreshCache([&] {
      knowRow(base);
      Coords here(rows.front());
      here[dim] = {base, width == 1 ? 0 : 1};
      body(here);
    });
  };
  byRow(roots, rows, dim, extent, maxLanes, {}, [&] {
    int64_t start = 0;
    for (int64_t width = maxLanes; width >= 1; width /= 2) {
      int64_t count = (extent - start) / width;
      if (count == 0)
        continue;
      if (count == 1) {
        strip(index(start), width);
      } else {
        forLoop(
            start, start + count * width, width, {},
            [&](Value base, ValueRange) {
              strip(base, width);
              return SmallVector<Value>();
            },
            nullptr);
      }
      start += count * width;
    }
    return SmallVector<Value>();
  });
}

void Lowering::loopOver(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims,
                        Coords &at, StripBody body) {
  if (dims.empty())
    return body(at);
  int64_t dim = dims.front();
  if (shape[dim] == 1) {
    at[dim] = {index(0), 0};
    return loopOver(shape, dims.drop_front(), at, body);
  }
  forLoop(
      0, shape[dim], 1, {},
      [&](Value i, ValueRange) {
        at[dim] = {i, 0};
        loopOver(shape, dims.drop_front(), at, body);
        return SmallVector<Value>();
      },
      nullptr);
}

void Lowering::forStrips(ArrayRef<int64_t> shape, int64_t vectorDim,
                         int64_t maxLanes, StripBody body, ValueRange roots) {
  int64_t savedLanes = lanes;
  SmallVector<int64_t> dims;
  for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim)
    if (dim != vectorDim)
      dims.push_back(dim);
  Coords at = identity(shape);
  loopOver(shape, dims, at, [&](const Coords &outer) {
    if (vectorDim >= 0)
      return stripLoop(shape[vectorDim], vectorDim, maxLanes, outer, roots,
                       body);
    lanes = 1;
    withFreshCache([&] { body(outer); });
  });
  lanes = savedLanes;
}

int64_t Lowering::lanesFor(ValueRange roots) {
  int64_t widest = 1;
  for (Value root : roots) {
    Type element = tile::getElementType(root.getType());
    if (!isa<tile::PtrType>(element))
      widest = std::max(widest, byteSize(element));
  }
  // Two registers of the widest type hide latency; i1 and pointers do not
  // count.
  return std::min<int64_t>(
      64, std::max<int64_t>(4, 2 * chip.vectorBytes /
                                   std::max<int64_t>(4, widest)));
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Value Lowering::allocateBytes(int64_t bytes) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&function.getBody().front());
  Value count = arith::ConstantOp::create(b, b.getI64IntegerAttr(bytes));
  return LLVM::AllocaOp::create(b, LLVM::LLVMPointerType::get(b.getContext()),
                                b.getI8Type(), count, 64);
}

Buffer Lowering::allocate(Type element, ArrayRef<int64_t> shape,
                          int64_t innerDim, bool contiguous) {
  Buffer buffer;
  buffer.element = element;
  int64_t rank = shape.size();
  buffer.strides.assign(rank, 1);
  SmallVector<int64_t> order; // innermost first
  if (rank > 0)
    order.push_back(innerDim);
  for (int64_t dim = rank - 1; dim >= 0; --dim)
    if (dim != innerDim)
      order.push_back(dim);
  int64_t stride = 1, bytes = byteSize(element);
  for (auto [position, dim] : llvm::enumerate(order)) {
    buffer.strides[dim] = stride;
    stride *= shape[dim];
    // Rows a multiple of 512 bytes apart fall into the same few cache sets.
    if (position == 0 && rank > 1 && !contiguous && stride * bytes % 512 == 0)
      stride += 64 / bytes;
  }
  buffer.ptr = allocateBytes(std::max<int64_t>(1, stride) * bytes);
  return buffer;
}

Buffer Lowering::allocateTile(Type type) {
  ArrayRef<int64_t> shape = tile::getShape(type);
  int64_t inner = std::max<int64_t>(0, static_cast<int64_t>(shape.size()) - 1);
  return allocate(tile::getElementType(type), shape, inner, false);
}

Buffer Lowering::materialize(Value tile, bool contiguous) {
  auto type = cast<RankedTensorType>(tile.getType());
  int64_t rank = type.getRank();
  if (auto it = buffers.find(tile); it != buffers.end()) {
    if (!contiguous)
      return it->second;
    int64_t expected = 1;
    bool isContiguous = true;
    for (int64_t dim = rank - 1; dim >= 0; --dim) {
      isContiguous &=
          type.getDimSize(dim) == 1 || it->second.strides[dim] == expected;
      expected *= type.getDimSize(dim);
    }
    if (isContiguous)
      return it->second;
    Buffer packed =
        allocate(type.getElementType(), type.getShape(), rank - 1, true);
    copyInto(tile, packed);
    return packed;
  }
  pending.remove(tile);
  // What it reads comes first: where that lies decides this buffer's layout.
  prepare(tile, type.getShape());
  int64_t inner = rank == 0    ? 0
                  : contiguous ? rank - 1
                               : pickVectorDim(type.getShape(), tile);
  Buffer buffer =
      allocate(type.getElementType(), type.getShape(), inner, contiguous);
  copyInto(tile, buffer);
  buffers[tile] = buffer;
  return buffer;
}

void Lowering::keep(Value tile) {
  if (!indices.contains(tile))
    materialize(tile);
}

void Lowering::copyInto(Value tile, const Buffer &destination) {
  emitNest(tile::getShape(tile.getType()), tile, [&](const Coords &at) {
    storeBuffer(destination, at, eval(tile, at));
  });
}

Lowering::Nest Lowering::openNest(ArrayRef<int64_t> shape, ValueRange roots,
                                  int64_t preferredDim, int64_t forcedDim) {
  Nest nest;
  nest.along = prepare(roots, shape);
  nest.vectorDim = shape.empty()    ? -1
                   : forcedDim > -2 ? forcedDim
                                    : pickVectorDim(shape, roots, preferredDim);
  nest.roots.assign(roots.begin(), roots.end());
  for (Value tile : nest.along) {
    pending.remove(tile);
    nest.targets.push_back(allocate(tile::getElementType(tile.getType()), shape,
                                    std::max<int64_t>(nest.vectorDim, 0),
                                    false));
    nest.roots.push_back(tile);
  }
  noteReads(nest.roots);
  nest.maxLanes = nest.vectorDim < 0 ? 1 : lanesFor(nest.roots);
  return nest;
}

void Lowering::leave(const Nest &nest, const Coords &at) {
  for (auto [tile, buffer] : llvm::zip_equal(nest.along, nest.targets))
    storeBuffer(buffer, at, eval(tile, at));
}

void Lowering::closeNest(const Nest &nest) {
  for (auto [tile, buffer] : llvm::zip_equal(nest.along, nest.targets))
    buffers[tile] = buffer;
}

void Lowering::emitNest(ArrayRef<int64_t> shape, ValueRange roots,
                        StripBody body, int64_t preferredDim) {
  Nest nest = openNest(shape, roots, preferredDim);
  forStrips(
      shape, nest.vectorDim, nest.maxLanes,
      [&](const Coords &at) {
        leave(nest, at);
        body(at);
      },
      nest.roots);
  closeNest(nest);
}

void Lowering::withFreshCache(function_ref<void()> body) {
  Cache outer;
  std::swap(outer, cache);
  body();
  std::swap(outer, cache);
}
