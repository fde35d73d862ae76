/*===- CpuAbi.h - What compiled CPU kernels and the driver agree on -*- C -*-===
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A kernel is one function:
 *
 *   void entry(void *const *args, KernelContext *context,
 *              int64_t begin, int64_t end);
 *
 * It runs the programs begin <= p < end of the grid, p counted with x fastest:
 *   pid0 = p % grid[0], pid1 = p / grid[0] % grid[1],
 *   pid2 = p / (grid[0] * grid[1])
 * args[i] points to the value of run-time parameter i: 8 bytes for a pointer,
 * the bytes of an integer or float, one byte for an i1.
 *
 * stop, fail leave entry by longjmp: nothing in generated code may need
 * clean-up. Generated code calls these three functions and no others. A kernel
 * of a chip with amx-tile may configure the tile registers for the time of a
 * call of entry: none of these functions may use them.
 *===------------------------------------------------------------------------===*/
#ifndef TERRAZZO_RUNTIME_CPUABI_H
#define TERRAZZO_RUNTIME_CPUABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
namespace terrazzo::runtime {
extern "C" {
#endif

typedef struct KernelContext KernelContext; /* NOLINT: this is C */

/** The offsets are part of the ABI. */
struct KernelContext {
  int32_t grid[3];
  /** Polled in loops of the user's code; non-zero: call stop. */
  volatile int32_t *cancel;
  /** Leaves the launch; does not return. */
  void (*stop)(KernelContext *);
  /** A device assertion failed; does not return. `line`: id in the artifact's
   *  line table. */
  void (*fail)(KernelContext *, uint32_t line, int32_t pid0, int32_t pid1,
               int32_t pid2);
  /** Prints one operand of a device print: `count` elements, row-major and
   *  packed (an i1 takes a byte). Metadata "print.<line>.<operand>" of the
   *  artifact says "<dtype> <shape> <hex>", for example "f32 4x8 0", with
   *  "scalar" as the shape of a scalar. A print without operands has operand -1
   *  and count 0. */
  void (*print)(KernelContext *, uint32_t line, int32_t pid0, int32_t pid1,
                int32_t pid2, int32_t operand, int32_t count, const void *data);
  /** The driver's own. */
  void *runtime;
};

/* NOLINTNEXTLINE: this is C */
typedef void (*KernelEntry)(void *const *args, KernelContext *context,
                            int64_t begin, int64_t end);

#ifdef __cplusplus
} // extern "C"

static_assert(offsetof(KernelContext, cancel) == 16);
static_assert(offsetof(KernelContext, stop) == 24);
static_assert(offsetof(KernelContext, fail) == 32);
static_assert(offsetof(KernelContext, print) == 40);
static_assert(offsetof(KernelContext, runtime) == 48);
} // namespace terrazzo::runtime
#endif

#endif /* TERRAZZO_RUNTIME_CPUABI_H */
