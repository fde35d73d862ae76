# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The microscaling formats on torch tensors."""

import pytest
import terrazzo as tz
import torch
from terrazzo.tools.mxfp import MXFP4Tensor, MXScaleTensor

E2M1 = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]


def test_elements_keep_what_the_format_has():
    values = torch.tensor(E2M1 + [-v for v in E2M1])
    made = MXFP4Tensor(data=values)
    assert made.data.tolist() == list(range(16))
    assert torch.equal(made.to(torch.float32), values)


def test_elements_round_to_nearest_even():
    values = torch.tensor([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0, 5.01, 100.0, -0.2])
    assert MXFP4Tensor(data=values).to(torch.float32).tolist() == [0.0, 1.0, 1.0, 2.0, 2.0, 4.0, 4.0, 6.0, 6.0, -0.0]


@pytest.mark.parametrize("dim", [0, 1])
def test_packing(dim):
    made = MXFP4Tensor(size=(6, 5)).random()
    packed = made.to_packed_tensor(dim)
    assert packed.shape[dim] == 3
    assert torch.equal(MXFP4Tensor.unpack_packed_tensor(packed, dim, (6, 5)), made.data)


def test_scales():
    made = MXScaleTensor(data=torch.tensor([1.0, 0.3, 8.0, -1.0, float("nan"), float("inf")]))
    assert made.data.tolist() == [127, 125, 130, 255, 255, 255]
    assert made.to(torch.float32)[:3].tolist() == [1.0, 0.25, 8.0]
    found = MXScaleTensor(size=(100,)).random(low=0.25, high=4.0).to(torch.float32)
    assert set(found.tolist()) <= {0.25, 0.5, 1.0, 2.0}
    with pytest.raises(tz.ArgumentError, match="either data or a size"):
        MXScaleTensor()
