/*===- kernels.c - Kernels as the compiler would emit them ----------------===
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Compiled to an object at build time and loaded by the driver's tests.
 *===----------------------------------------------------------------------===*/
#include "terrazzo/Runtime/CpuAbi.h"

#include <string.h>

#define KERNEL(name)                                                           \
  void name(void *const *args, KernelContext *context, int64_t begin,          \
            int64_t end)
#define ARG(type, index) (*(type *)args[index])

static void programId(const KernelContext *context, int64_t p, int32_t *pid) {
  pid[0] = (int32_t)(p % context->grid[0]);
  pid[1] = (int32_t)(p / context->grid[0] % context->grid[1]);
  pid[2] = (int32_t)(p / context->grid[0] / context->grid[1]);
}

KERNEL(empty) {}

/* (x, y, out, n): blocks of 64. */
KERNEL(add) {
  const float *x = ARG(float *, 0), *y = ARG(float *, 1);
  float *out = ARG(float *, 2);
  int32_t n = ARG(int32_t, 3);
  for (int64_t p = begin; p < end; ++p)
    for (int64_t i = 64 * p; i < 64 * (p + 1) && i < n; ++i)
      out[i] = x[i] + y[i];
}

/* (counts): how often each program ran; counts is i32[programs]. */
KERNEL(count) {
  int32_t *counts = ARG(int32_t *, 0);
  for (int64_t p = begin; p < end; ++p)
    __atomic_fetch_add(&counts[p], 1, __ATOMIC_RELAXED);
}

/* (out): out[p] = pid0 + 1000 * pid1 + 1000000 * pid2. */
KERNEL(identify) {
  int32_t *out = ARG(int32_t *, 0);
  for (int64_t p = begin; p < end; ++p) {
    int32_t pid[3];
    programId(context, p, pid);
    out[p] = pid[0] + 1000 * pid[1] + 1000000 * pid[2];
  }
}

/* (out, steps): a value that depends on the order of its additions. */
KERNEL(work) {
  float *out = ARG(float *, 0);
  int64_t steps = ARG(int64_t, 1);
  for (int64_t p = begin; p < end; ++p) {
    float sum = 0;
    for (int64_t i = 0; i < steps; ++i)
      sum = sum * 0.999f + (float)((i * 7 + p * 13) % 101) * 0.1f;
    out[p] = sum;
  }
}

/* (started): never ends by itself. */
KERNEL(spin) {
  int32_t *started = ARG(int32_t *, 0);
  __atomic_fetch_add(started, 1, __ATOMIC_RELAXED);
  for (;;)
    if (*context->cancel)
      context->stop(context);
}

/* (bad): program `bad` fails line 7. The others count in `ran`. */
KERNEL(check) {
  int64_t bad = ARG(int64_t, 0);
  for (int64_t p = begin; p < end; ++p)
    if (p == bad) {
      int32_t pid[3];
      programId(context, p, pid);
      context->fail(context, 7, pid[0], pid[1], pid[2]);
    }
}

/* (values f32[6], i): prints line 3 with two operands, then line 4 with none.
 */
KERNEL(print) {
  for (int64_t p = begin; p < end; ++p) {
    context->print(context, 3, (int32_t)p, 0, 0, 0, 6, ARG(float *, 0));
    context->print(context, 3, (int32_t)p, 0, 0, 1, 1, args[1]);
    context->print(context, 4, (int32_t)p, 0, 0, -1, 0, 0);
  }
}

/* (out, bytes): uses that much stack in each program. */
KERNEL(deep) {
  uint64_t *out = ARG(uint64_t *, 0);
  int64_t bytes = ARG(int64_t, 1);
  for (int64_t p = begin; p < end; ++p) {
    volatile char *scratch = __builtin_alloca((size_t)bytes);
    uint64_t sum = 0;
    for (int64_t i = 0; i < bytes; i += 4096)
      scratch[i] = (char)p;
    for (int64_t i = 0; i < bytes; i += 4096)
      sum += (uint64_t)scratch[i];
    out[p] = sum;
  }
}

/* (f32, f16 bits, bf16 bits, f64, i8, i1, out): copies the arguments' bytes. */
KERNEL(scalars) {
  char *out = ARG(char *, 6);
  memcpy(out, args[0], 4);
  memcpy(out + 4, args[1], 2);
  memcpy(out + 6, args[2], 2);
  memcpy(out + 8, args[3], 8);
  memcpy(out + 16, args[4], 1);
  memcpy(out + 17, args[5], 1);
}

/* (x, out): one denormal product. */
KERNEL(denormal) { *ARG(float *, 1) = *ARG(float *, 0) * 0.5f; }
