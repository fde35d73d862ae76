# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Column sums and sums of squares."""

import numpy as np
import pytest
import torch
from terrazzo.kernels import reductions as R


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("shape", [(1, 1), (3, 50, 257), (2000, 31), (0, 5)], ids=str)
def test_column_sums(shape, dtype, normal, close):
    x = normal(*shape, dtype=dtype)
    close(R.column_sums(x), R.reference(x.double()), 4)


def test_sum_of_squares(normal):
    xs = [normal(300, 301), normal(1), normal(7, 5).T, normal(65536)]
    have = R.sum_of_squares(xs)
    want = sum(float((x.double() ** 2).sum()) for x in xs)
    assert abs(have - want) < 2e-6 * want
    assert have == R.sum_of_squares(xs)
    assert R.sum_of_squares([]) == 0.0
    assert R.sum_of_squares([np.full(3, 2, np.float32)]) == 12.0
