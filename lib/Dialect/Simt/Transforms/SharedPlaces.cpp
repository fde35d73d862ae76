//===- SharedPlaces.cpp - Who needs shared memory when --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SharedPlaces.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::simt;

/// Below this, memory is not reused: every reuse costs a barrier.
static constexpr int64_t kPlentyBytes = 4096;
static constexpr int64_t kAlignment = 16;

/// The outermost loop around `user` that `alloc` is outside of, or `user`.
static Operation *outermostLoop(Operation *user, Operation *alloc) {
  Operation *found = user;
  for (Operation *parent = user->getParentOp();
       parent && !parent->isAncestor(alloc); parent = parent->getParentOp())
    if (isa<scf::ForOp, scf::WhileOp>(parent))
      found = parent;
  return found;
}

/// Numbers ops in the order of the text; an op with regions spans them.
void TextOrder::number(Operation *op) {
  int64_t first = now++;
  if (auto alloc = dyn_cast<AllocOp>(op))
    buffers.push_back(alloc);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &inner : block)
        number(&inner);
  spans[op] = {first, now};
}

Lifetime TextOrder::lifetime(AllocOp alloc, int64_t bytes,
                             ArrayRef<Operation *> users) {
  Lifetime buffer{alloc};
  buffer.alignment = static_cast<int64_t>(alloc.getAlignment());
  buffer.bytes = static_cast<int64_t>(llvm::alignTo(bytes, kAlignment));
  buffer.first = INT64_MAX;
  for (Operation *user : users) {
    auto [first, last] = spans[outermostLoop(user, alloc)];
    buffer.first = std::min(buffer.first, first);
    buffer.last = std::max(buffer.last, last);
  }
  return buffer;
}

SmallVector<Lifetime> TextOrder::lifetimes() {
  SmallVector<Lifetime> all;
  for (AllocOp alloc : buffers)
    all.push_back(lifetime(alloc, static_cast<int64_t>(alloc.getBytes()),
                           llvm::to_vector(alloc->getUsers())));
  return all;
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
    if (place + buffer.bytes <= other->offset)
      break;
    place =
        std::max(place, static_cast<int64_t>(llvm::alignTo(
                            other->offset + other->bytes, buffer.alignment)));
  }
  return place;
}

int64_t simt::placeAll(MutableArrayRef<Lifetime> buffers,
                       std::optional<int64_t> limit) {
  int64_t sum = 0;
  for (const Lifetime &buffer : buffers)
    sum += buffer.bytes;
  if (sum <= std::min(kPlentyBytes, limit.value_or(kPlentyBytes)))
    for (Lifetime &buffer : buffers) {
      buffer.first = 0;
      buffer.last = INT64_MAX;
    }
  SmallVector<Lifetime *> order;
  for (Lifetime &buffer : buffers)
    order.push_back(&buffer);
  // Equal ones in their order (they lie in one vector).
  llvm::sort(order, [](const Lifetime *a, const Lifetime *b) {
    return a->bytes != b->bytes ? a->bytes > b->bytes : a < b;
  });
  int64_t total = 0;
  SmallVector<Lifetime *> placed;
  for (Lifetime *buffer : order) {
    buffer->offset = lowestPlace(*buffer, placed);
    placed.push_back(buffer);
    total = std::max(total, buffer->offset + buffer->bytes);
  }
  return total;
}

std::optional<int64_t> simt::sharedLimit(ModuleOp module) {
  auto target = tile::TargetAttr::of(module);
  if (!target || target.getSharedBytes() == 0)
    return std::nullopt;
  return target.getSharedBytes();
}
