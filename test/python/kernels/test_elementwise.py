# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums of several arrays, and -exp(x)."""

import pytest
import torch
from terrazzo.kernels import elementwise as E


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 8])
def test_add(count, normal, close):
    xs = [normal(3, 700) for _ in range(count)]
    close(E.add(*xs), E.reference(*xs))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_add_narrow(dtype, normal, close):
    x, y = normal(5, 9, dtype=dtype), normal(9, 5, dtype=dtype).T
    close(E.add(x, y), E.reference(x.double(), y.double()))


def test_negative_exp(normal, close, gradients):
    x, dy = normal(100, 16), normal(100, 16)
    y = E.negative_exp(x)
    close(y, -torch.exp(x.double()))
    close(E.negative_exp_backward(dy, y), gradients(lambda x: -torch.exp(x), (x,), dy)[0], 2)


def test_shapes_must_agree(normal):
    with pytest.raises(ValueError, match=r"'xs\[1\]': expected shape \[4\], found \[1\]"):
        E.add(normal(4), normal(1))
