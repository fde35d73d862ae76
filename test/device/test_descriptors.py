# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensor descriptors on the device: copies, transposes, products, of tensors for the copy engine and others."""

import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl
from terrazzo.tools.tensor_descriptor import TensorDescriptor


@tz.jit
def copied(x_ptr, y_ptr, M, N, stride, BM: tl.constexpr, BN: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [M, N], [stride, 1], [BM, BN])
    y = tl.make_tensor_descriptor(y_ptr, [M, N], [N, 1], [BM, BN])
    at = [tl.program_id(0) * BM, tl.program_id(1) * BN]
    y.store(at, x.load(at))


@tz.jit
def turned(x, y):
    i, j = tl.program_id(0) * x.block_shape[0], tl.program_id(1) * x.block_shape[1]
    y.store([j, i], tl.trans(x.load([i, j])))


@tz.jit
def product(
    a_ptr, b_ptr, c_ptr, M, N, K, lda, ldb,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, A_TURNED: tl.constexpr, B_TURNED: tl.constexpr,
):  # fmt: skip
    if A_TURNED:
        a = tl.make_tensor_descriptor(a_ptr, [K, M], [lda, 1], [BK, BM])
    else:
        a = tl.make_tensor_descriptor(a_ptr, [M, K], [lda, 1], [BM, BK])
    if B_TURNED:
        b = tl.make_tensor_descriptor(b_ptr, [N, K], [ldb, 1], [BN, BK])
    else:
        b = tl.make_tensor_descriptor(b_ptr, [K, N], [ldb, 1], [BK, BN])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.trans(a.load([k, m])) if A_TURNED else a.load([m, k])
        y = tl.trans(b.load([n, k])) if B_TURNED else b.load([k, n])
        acc = tl.dot(x, y, acc)
    c.store([m, n], acc)


@tz.jit
def host_product(a, b, c, K, outer):
    """`outer` times the same product: the barriers of the copies begin anew each time."""
    m, n = tl.program_id(0) * a.block_shape[0], tl.program_id(1) * b.block_shape[1]
    for _ in range(outer):
        acc = tl.zeros((a.block_shape[0], b.block_shape[1]), tl.float32)
        for k in range(0, K, a.block_shape[1]):
            acc = tl.dot(a.load([m, k]), b.load([k, n]), acc)
        c.store([m, n], acc)


def cdiv(a, b):
    return -(-a // b)


def whole(rng, *shape, dtype=np.float16):
    """Small integers, whose products and sums are exact."""
    return rng.integers(-8, 9, shape).astype(dtype)


@pytest.mark.parametrize(("m", "n", "stride"), [(64, 64, 64), (50, 100, 112), (33, 47, 47), (1, 8, 8)])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8])
def test_copy(m, n, stride, dtype):
    x = whole(np.random.default_rng(0), m, stride, dtype=dtype)
    y = tz.device_array(np.zeros((m, n), dtype))
    copied[(cdiv(m, 32), cdiv(n, 32))](tz.device_array(x), y, m, n, stride, BM=32, BN=32)
    np.testing.assert_array_equal(y.numpy(), x[:, :n])


@pytest.mark.parametrize(("m", "n"), [(64, 128), (40, 72)])
def test_transpose(m, n):
    x = whole(np.random.default_rng(0), m, n)
    y = tz.device_array(np.zeros((n, m), np.float16))
    source = TensorDescriptor(tz.device_array(x), [m, n], [n, 1], [32, 64])
    turned[(cdiv(m, 32), cdiv(n, 64))](source, TensorDescriptor(y, [n, m], [m, 1], [64, 32]))
    np.testing.assert_array_equal(y.numpy(), x.T)


SHAPES = [(128, 128, 64), (256, 256, 512), (144, 80, 208), (136, 72, 200), (130, 70, 199), (64, 64, 0), (128, 128, 32)]


@pytest.mark.parametrize("stages", [1, 2, 4])
@pytest.mark.parametrize("turned", [(False, False), (False, True), (True, False), (True, True)])
@pytest.mark.parametrize(("m", "n", "k"), SHAPES)
def test_product(m, n, k, turned, stages):
    rng = np.random.default_rng(m + k)
    a, b = whole(rng, m, k), whole(rng, k, n)
    x, y = a.T.copy() if turned[0] else a, b.T.copy() if turned[1] else b
    c = tz.device_array(np.full((m, n), 7, np.float32))
    product[(cdiv(m, 128), cdiv(n, 64))](
        tz.device_array(x), tz.device_array(y), c, m, n, k, m if turned[0] else k, k if turned[1] else n,
        BM=128, BN=64, BK=64, A_TURNED=turned[0], B_TURNED=turned[1], num_stages=stages,
    )  # fmt: skip
    np.testing.assert_array_equal(c.numpy(), a.astype(np.float32) @ b.astype(np.float32))


@pytest.mark.parametrize("block", [(64, 128, 32), (128, 256, 64), (128, 64, 128)])
@pytest.mark.parametrize("outer", [1, 3])
def test_product_of_host_descriptors(block, outer):
    bm, bn, bk = block
    m, n, k = 2 * bm - 16, 2 * bn + 16, 400
    rng = np.random.default_rng(bm)
    a, b = whole(rng, m, k), whole(rng, k, n)
    c = tz.device_array(np.zeros((m, n), np.float32))
    host_product[(cdiv(m, bm), cdiv(n, bn))](
        TensorDescriptor(tz.device_array(a), [m, k], [k, 1], [bm, bk]),
        TensorDescriptor(tz.device_array(b), [k, n], [n, 1], [bk, bn]),
        TensorDescriptor(c, [m, n], [n, 1], [bm, bn]),
        k, outer, num_warps=8 if bm * bn > 16384 else 4,
    )  # fmt: skip
    np.testing.assert_array_equal(c.numpy(), a.astype(np.float32) @ b.astype(np.float32))


def test_tensors_change_between_launches():
    """Maps are kept by base, shape and strides."""
    rng = np.random.default_rng(3)
    for m in (128, 112, 128):
        for _ in range(2):
            a, b = whole(rng, m, 256), whole(rng, 256, 64)
            c = tz.device_array(np.zeros((m, 64), np.float32))
            product[(1, 1)](
                tz.device_array(a), tz.device_array(b), c, m, 64, 256, 256, 64,
                BM=128, BN=64, BK=64, A_TURNED=False, B_TURNED=False,
            )  # fmt: skip
            np.testing.assert_array_equal(c.numpy(), a.astype(np.float32) @ b.astype(np.float32))
