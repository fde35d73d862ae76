# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of indices with a remainder: where it starts again inside a row, at its ends, and not at all."""

import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl

BLOCK = 512


@tz.jit
def wrapped(x, y, total, start, n, left, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + (start + i) % n, mask=i < left, other=-1)
    tl.store(y + i, v)
    tl.store(total, tl.sum(v))


# Remainders have the sign of the dividend, as in C.
@pytest.mark.parametrize("start", [0, 1, 100, 488, 489, 999, 2000, -1, -511, -512, -900])
@pytest.mark.parametrize("n", [1, 7, 512, 1000])
@pytest.mark.parametrize("left", [BLOCK, 77])
def test_wrapped_rows(start, n, left):
    data = np.arange(2 * n, dtype=np.int32) * 3
    i = np.arange(BLOCK)
    wanted = np.where(i < left, data[n + np.fmod(start + i, n)], -1)
    found, total = np.empty(BLOCK, np.int32), np.empty(1, np.int32)
    wrapped[(1,)](data[n:], found, total, start, n, left, BLOCK=BLOCK)
    assert np.array_equal(found, wanted)
    assert total[0] == wanted.sum()
