//===- PrintLayout.cpp - Layouts as pictures ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For people: what a layout's matrix means is seen at once where each element
// of the tile shows who holds it. For each distinct layout, in the order in
// which the module uses them:
//
//   #simt.layout<register = [[1]], lane = [[2]], warp = [], dims = [4]>
//   2 values of tensor<4xf32>
//   r0 l0  r1 l0  r0 l1  r1 l1
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Dialect/Simt/IR/Simt.h"
#include "terrazzo/Dialect/Simt/Transforms/Passes.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace terrazzo {
#define GEN_PASS_DEF_SIMTPRINTLAYOUT
#include "terrazzo/Dialect/Simt/Transforms/Passes.h.inc"

namespace {

class SimtPrintLayoutPass
    : public impl::SimtPrintLayoutBase<SimtPrintLayoutPass> {
public:
  using SimtPrintLayoutBase::SimtPrintLayoutBase;

private:
  /// How many values of each type have a layout, and accesses have it as the
  /// swizzle of their buffer.
  struct Users {
    llvm::MapVector<Type, int64_t> values;
    int64_t swizzles = 0;
  };

  void runOnOperation() override {
    llvm::MapVector<Attribute, Users> layouts;
    auto addValue = [&](Value value) {
      if (simt::LayoutAttr layout = simt::getLayout(value.getType()))
        ++layouts[layout].values[simt::withLayout(
            cast<RankedTensorType>(value.getType()), {})];
    };
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      llvm::for_each(op->getResults(), addValue);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          llvm::for_each(block.getArguments(), addValue);
      for (NamedAttribute attribute : op->getAttrs())
        if (isa<simt::LayoutAttr>(attribute.getValue()))
          ++layouts[attribute.getValue()].swizzles;
    });

    raw_ostream &os = llvm::outs();
    auto count = [&](int64_t number, StringRef what) -> raw_ostream & {
      return os << number << ' ' << what << (number == 1 ? "" : "s");
    };
    for (auto &[layout, users] : layouts) {
      os << layout << '\n';
      for (auto &[type, number] : users.values)
        count(number, "value") << " of " << type << '\n';
      if (users.swizzles)
        count(users.swizzles, "swizzle") << '\n';
      os << cast<simt::LayoutAttr>(layout).getLayout().picture(cells) << '\n';
    }
    markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace terrazzo
