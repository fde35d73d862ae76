# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exits from the inner of two run-time loops, executed: a lost exit would give a plausible wrong number."""

import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl


@tz.jit
def first_pair(n, m, limit):
    for i in range(n):
        for j in range(m):
            if i * 10 + j >= limit:
                return i * 10 + j
    return -1


@tz.jit
def return_kernel(out, n, m, limit):
    tl.store(out, first_pair(n, m, limit))


@tz.jit
def break_kernel(out, n):
    total = 0
    for i in range(n):
        for j in range(n):
            if j > i:
                break
            total += 1
        else:
            total += 100
    tl.store(out, total)


@pytest.mark.parametrize(("n", "m", "limit", "want"), [(3, 4, 12, 12), (1, 4, 12, -1), (3, 4, 0, 0), (0, 4, 0, -1)])
def test_return_from_the_inner_loop(n, m, limit, want):
    out = np.zeros(1, np.int32)
    return_kernel[(1,)](out, n, m, limit)
    assert out[0] == want


@pytest.mark.parametrize("n", [0, 1, 5])
def test_break_of_the_inner_loop_with_else(n):
    out = np.zeros(1, np.int32)
    break_kernel[(1,)](out, n)
    assert out[0] == n * (n + 1) // 2 + (100 if n else 0)
