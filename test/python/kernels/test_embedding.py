# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Embedding and its deterministic gradient."""

import numpy as np
import pytest
import torch
from terrazzo.kernels import embedding as E


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize(("rows", "width"), [(1, 1), (264, 48), (70, 1500)])
def test_forward_and_gradient(rows, width, dtype, normal, close, gradients):
    weight = normal(rows, width, dtype=dtype)
    ids = (torch.arange(60) ** 2 % rows).view(4, 15)
    assert torch.equal(E.embedding(ids, weight), weight[ids])
    dy = normal(4, 15, width, dtype=dtype)
    have = E.embedding_backward(dy, ids, weight)
    close(have, gradients(lambda w: torch.nn.functional.embedding(ids, w), (weight,), dy)[0], 2)
    assert torch.equal(have, E.embedding_backward(dy, ids, weight))


def test_numpy_and_ids_outside():
    weight = np.arange(12, dtype=np.float32).reshape(4, 3)
    ids = np.array([3, -1, 4, 0], np.int32)
    y = E.embedding(ids, weight)
    np.testing.assert_array_equal(y[[0, 3]], weight[[3, 0]])
    assert np.isnan(y[1:3]).all()
    dw = E.embedding_backward(np.ones((4, 3), np.float32), ids, weight)
    np.testing.assert_array_equal(dw[:, 0], [1, 0, 0, 1])


def test_ids_must_be_integers(normal):
    with pytest.raises(ValueError, match="'ids': expected int32 or int64, found float32"):
        E.embedding(normal(3), normal(4, 4))
