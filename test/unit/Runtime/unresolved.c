/*===- unresolved.c - A kernel that calls what it may not -----------------===
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#include "terrazzo/Runtime/CpuAbi.h"

char *getenv(const char *);

void unresolved(void *const *args, KernelContext *context, int64_t begin,
                int64_t end) {
  *(char **)args[0] = getenv("HOME");
}
