# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rotary embedding: values, gradient, strided views."""

import numpy as np
import pytest
import torch
from terrazzo.kernels import rope as R


def tables(T, half):
    angle = np.arange(T)[:, None] * 10000.0 ** (-np.arange(half) / half)
    return torch.tensor(np.cos(angle), dtype=torch.float32), torch.tensor(np.sin(angle), dtype=torch.float32)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize(("T", "D"), [(1, 2), (77, 48), (130, 64)])
def test_values_and_memory_order(T, D, dtype, normal, close):
    q, k = (normal(2, T, heads, D, dtype=dtype).transpose(1, 2) for heads in (3, 1))
    cos, sin = tables(T, D // 2)
    for have, x in zip(R.rope(q, k, cos, sin), (q, k)):
        close(have, R.reference(x.double(), cos, sin))
        assert have.transpose(1, 2).is_contiguous()


def test_gradient(normal, close, gradients):
    x, dy = normal(2, 3, 9, 10), normal(2, 9, 3, 10).transpose(1, 2)
    cos, sin = tables(9, 5)

    def rotate(x):
        x1, x2 = x.chunk(2, -1)
        return torch.cat([x1 * cos.double() - x2 * sin.double(), x2 * cos.double() + x1 * sin.double()], -1)

    have, _ = R.rope_backward(dy, dy, cos, sin)
    close(have, gradients(rotate, (x,), dy)[0])


def test_last_axis_with_a_stride(normal, close):
    x = normal(1, 2, 8, 5).transpose(2, 3)
    cos, sin = tables(5, 4)
    close(R.rotate(x, cos, sin), R.reference(x.double(), cos, sin))


def test_wrong_arguments_are_named(normal):
    with pytest.raises(ValueError, match="'x': expected an even last extent"):
        R.rotate(normal(1, 1, 2, 5), normal(2, 2), normal(2, 2))
    with pytest.raises(ValueError, match=r"'sin': expected shape \[2, 3\], found \[2, 2\]"):
        R.rotate(normal(1, 1, 2, 6), normal(2, 3), normal(2, 2))
