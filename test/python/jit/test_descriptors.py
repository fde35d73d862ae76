# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""TensorDescriptor: an array with shape, strides and block shape as one argument."""

import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl
import torch
from terrazzo.tools.tensor_descriptor import TensorDescriptor


@tz.jit
def double(x, y):
    i = tl.program_id(0) * x.block_shape[0]
    y.store([i, 0], x.load([i, 0]) * 2)


@pytest.mark.parametrize("as_array", [np.asarray, torch.from_numpy])
def test_blocks_that_overhang(as_array):
    x = np.arange(35, dtype=np.float32).reshape(5, 7)
    y = np.zeros((5, 7), np.float32)
    double[(2,)](TensorDescriptor.from_tensor(as_array(x), [4, 8]), TensorDescriptor.from_tensor(as_array(y), [4, 8]))
    assert np.array_equal(y, 2 * x)


def test_what_compiles_again(builds):
    kernel = tz.jit(double.fn)
    for rows, block in ((5, 4), (6, 4), (5, 8)):
        x, y = np.ones((rows, 7), np.float32), np.zeros((rows, 7), np.float32)
        kernel[(2,)](TensorDescriptor.from_tensor(x, [block, 8]), TensorDescriptor.from_tensor(y, [block, 8]))
        assert (y == 2).all()
    assert len(builds) == 2


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (([], [], []), "has 1 to 5 dimensions, found 0"),
        (([4], [1, 1], [4]), "of 1 dimensions has 2 strides"),
        (([4], [1], [4, 4]), "of 1 dimensions has 2 block_shape"),
        (([4], [1], [4], "one"), "the padding of a tensor descriptor is 'one'"),
    ],
)
def test_bad_descriptors(fields, message):
    with pytest.raises(tz.LaunchError, match=message):
        TensorDescriptor(np.zeros(4, np.float32), *fields)


def test_bad_base():
    with pytest.raises(tz.LaunchError, match=r"argument 'x\[0\]': arrays of dtype complex64"):
        bad = TensorDescriptor(np.zeros(4, np.complex64), [4], [1], [4])
        double[(1,)](bad, bad)
