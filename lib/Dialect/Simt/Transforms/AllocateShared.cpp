//===- AllocateShared.cpp - A place in shared memory for every buffer -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A buffer lives from its first access to its last, in the order of the text;
// one that is made outside a loop and used in it lives as long as the loop.
// Buffers are placed largest first, each at the lowest place where it meets no
// other that lives at the same time.
//===----------------------------------------------------------------------===//

#include "terrazzo/Dialect/Simt/IR/Simt.h"
#include "terrazzo/Dialect/Simt/Transforms/Passes.h"

using namespace mlir;

namespace terrazzo {
#define GEN_PASS_DEF_ALLOCATESHARED
#include "terrazzo/Dialect/Simt/Transforms/Passes.h.inc"

namespace {

/// Below this, memory is not reused: every reuse costs a barrier.
constexpr int64_t kPlentyBytes = 4096;
constexpr int64_t kAlignment = 16;

struct Lifetime {
  mutable simt::AllocOp alloc;
  int64_t first = 0, last = 0;
  int64_t offset = 0;
  int64_t size() const {
    return static_cast<int64_t>(
        llvm::alignTo(alloc.getBytes(), static_cast<uint64_t>(kAlignment)));
  }
  bool meets(const Lifetime &other) const {
    return first <= other.last && other.first <= last;
  }
};

/// The outermost loop around `user` that `alloc` is outside of, or `user`.
Operation *outermostLoop(Operation *user, Operation *alloc) {
  Operation *found = user;
  for (Operation *parent = user->getParentOp();
       parent && !parent->isAncestor(alloc); parent = parent->getParentOp())
    if (isa<scf::ForOp, scf::WhileOp>(parent))
      found = parent;
  return found;
}

class AllocateSharedPass : public impl::AllocateSharedBase<AllocateSharedPass> {
  void runOnOperation() override {
    int64_t total = 0;
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (kernel->hasAttr(tile::kKernelAttr))
        total = std::max(total, allocate(kernel));
    ModuleOp module = getOperation();
    Builder b(module.getContext());
    module->setAttr(simt::kSharedBytesAttr, b.getI64IntegerAttr(total));
    auto target = module->getAttrOfType<DictionaryAttr>(tile::kTargetAttr);
    auto most = target ? target.getAs<IntegerAttr>("shared_bytes") : nullptr;
    if (most && total > most.getInt()) {
      module.emitError("out of resources: shared memory: required ")
          << total << " bytes, the limit is " << most.getInt();
      signalPassFailure();
    }
  }

  /// The bytes that the kernel needs.
  int64_t allocate(func::FuncOp kernel) {
    DenseMap<Operation *, std::pair<int64_t, int64_t>> spans;
    int64_t now = 0;
    SmallVector<Lifetime> buffers;
    number(kernel, now, spans, buffers);
    int64_t sum = 0;
    for (Lifetime &buffer : buffers) {
      buffer.first = INT64_MAX;
      for (Operation *user : buffer.alloc->getUsers()) {
        auto [first, last] = spans[outermostLoop(user, buffer.alloc)];
        buffer.first = std::min(buffer.first, first);
        buffer.last = std::max(buffer.last, last);
      }
      sum += buffer.size();
    }
    if (sum <= kPlentyBytes)
      for (Lifetime &buffer : buffers) {
        buffer.first = 0;
        buffer.last = now;
      }
    SmallVector<Lifetime *> order;
    for (Lifetime &buffer : buffers)
      order.push_back(&buffer);
    // Equal ones in their order (they lie in one vector).
    llvm::sort(order, [](const Lifetime *a, const Lifetime *b) {
      return a->size() != b->size() ? a->size() > b->size() : a < b;
    });
    int64_t total = 0;
    SmallVector<Lifetime *> placed;
    for (Lifetime *buffer : order) {
      buffer->offset = lowestPlace(*buffer, placed);
      placed.push_back(buffer);
      total = std::max(total, buffer->offset + buffer->size());
      buffer->alloc.setOffset(buffer->offset);
    }
    return total;
  }

  /// Numbers ops in the order of the text; an op with regions spans them.
  static void number(Operation *op, int64_t &now,
                     DenseMap<Operation *, std::pair<int64_t, int64_t>> &spans,
                     SmallVector<Lifetime> &buffers) {
    int64_t first = now++;
    if (auto alloc = dyn_cast<simt::AllocOp>(op))
      buffers.push_back({alloc});
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &inner : block)
          number(&inner, now, spans, buffers);
    spans[op] = {first, now};
  }

  static int64_t lowestPlace(const Lifetime &buffer,
                             ArrayRef<Lifetime *> placed) {
    SmallVector<const Lifetime *> others;
    for (const Lifetime *other : placed)
      if (buffer.meets(*other))
        others.push_back(other);
    llvm::sort(others, [](const Lifetime *a, const Lifetime *b) {
      return a->offset < b->offset;
    });
    int64_t place = 0;
    for (const Lifetime *other : others) {
      if (place + buffer.size() <= other->offset)
        break;
      place = std::max(place, other->offset + other->size());
    }
    return place;
  }
};

} // namespace
} // namespace terrazzo
