//===- Schedule.h - When the parts of a loop's body run ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A modulo schedule of a loop whose products run beside its arithmetic. The
// body's ops are grouped to nodes: each product with what loads its factors,
// and arithmetic that waits for the same products. Node `v` of iteration `i`
// runs in step `i + stage(v)`, at its place in the step's order; a step is one
// iteration of the loop that is made.
//
// The search is exact over stages (all that dependences allow, up to a limit of
// nodes) and greedy over the order within a step: whatever may start first,
// does, products before arithmetic. What it minimises is the time of a step as
// a simulation of one instruction stream and one matrix unit gives it, then the
// registers that wait between steps.
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_LIB_DIALECT_SIMT_TRANSFORMS_SCHEDULE_H
#define TERRAZZO_LIB_DIALECT_SIMT_TRANSFORMS_SCHEDULE_H

#include "terrazzo/Dialect/Simt/IR/Simt.h"

namespace terrazzo::simt {

/// What ops cost, in cycles of a multiprocessor for a whole block.
struct Resources {
  double multiplyAdds = 2048; ///< of a matrix unit in a cycle, 16-bit factors
  double lanes = 128;         ///< elements that arithmetic has in a cycle
  double special = 16;        ///< elements of an exponential and the like
  double beside = 0.6;        ///< speed of arithmetic while the unit is busy
  double issue = 16;          ///< cycles until a product has been started
  double step = 64;           ///< of a step itself: barrier, copies
};

/// Ops of a loop's body that are scheduled as one.
struct Node {
  llvm::SmallVector<mlir::Operation *> ops;
  bool isProduct = false;
  bool runsOn = false; ///< a product that may run into the next step
  bool isHeld = false; ///< one with a factor in registers
  double cycles = 0;
  llvm::SmallVector<unsigned> before;  ///< nodes of the same iteration
  llvm::SmallVector<unsigned> carried; ///< nodes of the one before
};

/// One way to run a loop.
struct Schedule {
  llvm::SmallVector<unsigned> stages; ///< of each node
  llvm::SmallVector<unsigned> order;  ///< nodes, as a step runs them
  double cycles = 0;                  ///< of a step
  int64_t waitingBytes = 0;           ///< in each thread, between steps

  unsigned numStages() const;
};

/// Calls `visit` with each value that an op and those in its regions use.
void forEachOperand(mlir::Operation *op,
                    llvm::function_ref<void(mlir::Value)> visit);

/// The number of the carried value that an argument is, of a loop's body.
std::optional<unsigned> carriedNumber(mlir::Value value, mlir::scf::ForOp loop);

/// Whether a product runs beside the ops that follow.
bool isAsynchronous(mlir::Operation *op);

/// The nodes of a loop; none if its ops may not move past one another.
std::vector<Node> nodesOf(mlir::scf::ForOp loop, const Resources &resources);

/// The best schedule with up to `maxStages` stages and no more than `maxBytes`
/// of registers in each thread.
Schedule findSchedule(mlir::scf::ForOp loop, llvm::ArrayRef<Node> nodes,
                      const Resources &resources, unsigned maxStages,
                      int64_t maxBytes);

/// Rewrites a loop such that it runs by the schedule.
void applySchedule(mlir::scf::ForOp loop, llvm::ArrayRef<Node> nodes,
                   const Schedule &schedule);

} // namespace terrazzo::simt

#endif // TERRAZZO_LIB_DIALECT_SIMT_TRANSFORMS_SCHEDULE_H
