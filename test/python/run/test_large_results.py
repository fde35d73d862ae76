# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches that write more than the caches hold, which go around them where rows are aligned."""

import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl

BLOCK = 4096
BYTES = 36 << 20  # above the limit of 32 MiB


@tz.jit
def twice(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


@tz.jit
def exponentials(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.exp2(tl.load(x + i, mask=i < n)), mask=i < n)


# From the start of a line, within one, and aligned to elements only.
@pytest.mark.parametrize("offset", [0, 16, 4])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8])
def test_every_element_is_written_once(dtype, offset):
    size = np.dtype(dtype).itemsize
    n = BYTES // size - 5
    room = np.zeros(n * size + 128, np.uint8)
    start = -room.ctypes.data % 64 + offset // size * size
    y = room[start : start + n * size].view(dtype)
    x = (np.arange(n) % 50).astype(dtype)
    twice[(tz.cdiv(n, BLOCK),)](x, y, n, BLOCK=BLOCK)
    assert np.array_equal(y, x * 2)
    assert not room[:start].any() and not room[start + n * size :].any()


def test_functions_of_a_large_array():
    n = BYTES // 4
    x = (np.arange(n) % 64).astype(np.float32) - 32
    y = np.empty_like(x)
    exponentials[(n // BLOCK,)](x, y, n, BLOCK=BLOCK)
    assert np.array_equal(y, np.exp2(x))
