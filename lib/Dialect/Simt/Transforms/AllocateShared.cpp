//===- AllocateShared.cpp - A place in shared memory for every buffer -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SharedPlaces.h says how. What does not fit is the user's to change: the error
// is at the line that asked for the largest buffer.
//===----------------------------------------------------------------------===//

#include "SharedPlaces.h"
#include "terrazzo/Dialect/Simt/Transforms/Passes.h"

using namespace mlir;

namespace terrazzo {
#define GEN_PASS_DEF_ALLOCATESHARED
#include "terrazzo/Dialect/Simt/Transforms/Passes.h.inc"

namespace {

class AllocateSharedPass : public impl::AllocateSharedBase<AllocateSharedPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::optional<int64_t> limit = simt::sharedLimit(module);
    int64_t most = 0;
    for (auto kernel : module.getOps<func::FuncOp>()) {
      if (!kernel->hasAttr(tile::kKernelAttr))
        continue;
      SmallVector<simt::Lifetime> buffers = simt::TextOrder(kernel).lifetimes();
      int64_t total = simt::placeAll(buffers, limit);
      int64_t end = limit.value_or(simt::kSharedEnd);
      if (total > end) {
        refuse(buffers, total, end);
        return signalPassFailure();
      }
      for (simt::Lifetime &buffer : buffers)
        buffer.alloc.setOffset(buffer.offset);
      most = std::max(most, total);
    }
    Builder b(module.getContext());
    module->setAttr(simt::kSharedBytesAttr, b.getI64IntegerAttr(most));
  }

  /// The error is at the largest of the buffers that live when the highest
  /// does.
  static void refuse(ArrayRef<simt::Lifetime> buffers, int64_t total,
                     int64_t limit) {
    const simt::Lifetime *highest =
        llvm::find_if(buffers, [&](const simt::Lifetime &buffer) {
          return buffer.offset + buffer.bytes == total;
        });
    const simt::Lifetime *largest = highest;
    for (const simt::Lifetime &buffer : buffers)
      if (buffer.meets(*highest) && buffer.bytes > largest->bytes)
        largest = &buffer;
    simt::AllocOp alloc = largest->alloc;
    alloc->emitError() << "out of resources: shared memory: required " << total
                       << " bytes, the limit is " << limit << "; "
                       << largest->bytes
                       << " of them are for this, and smaller tiles need less";
  }
};

} // namespace
} // namespace terrazzo
