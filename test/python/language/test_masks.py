# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Masks of whole vectors, executed."""

import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl


@tz.jit
def rows_and_columns(x, y, n, COLUMNS: tl.constexpr, R: tl.constexpr, C: tl.constexpr):
    r, c = tl.arange(0, R)[:, None], tl.arange(0, C)[None, :]
    x = tl.load(x + r * C + c, mask=(r < n) & (c < COLUMNS), other=-1.0)
    tl.store(y + r * C + c, x + 1)


@pytest.mark.parametrize("columns", [1, 3, 8, 9, 17, 40])
@pytest.mark.parametrize("extent", [8, 16, 64])
def test_whole_vectors_that_a_mask_of_rows_and_columns_leaves_out(columns, extent):
    """On processors with AVX2, LLVM read what is left out of a strip of two vectors."""
    x, y = np.random.default_rng(0).standard_normal((16, extent)).astype(np.float32), np.zeros((16, extent), np.float32)
    rows_and_columns[(1,)](x, y, 11, COLUMNS=columns, R=16, C=extent)
    want = np.zeros_like(x)
    want[:11, :columns] = x[:11, :columns] + np.float32(1)
    np.testing.assert_array_equal(y, want)
