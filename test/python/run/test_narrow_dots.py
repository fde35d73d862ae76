# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dots of bf16 and int8 as the host's chip multiplies them: AMX, AVX512-BF16 and -VNNI, or widened."""

import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl
import torch


@tz.jit
def product(
    a, b, c, M, N, K, sam, sak, sbk, sbn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WIDE: tl.constexpr
):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=WIDE)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        x = tl.load(a + rows[:, None] * sam + k[None, :] * sak, mask=(rows[:, None] < M) & (k[None, :] < K), other=0)
        y = tl.load(
            b + k[:, None] * sbk + columns[None, :] * sbn, mask=(k[:, None] < K) & (columns[None, :] < N), other=0
        )
        acc = tl.dot(x, y, acc)
    tl.store(c + rows[:, None] * N + columns[None, :], acc, mask=(rows[:, None] < M) & (columns[None, :] < N))


def multiply(a, b, block, strict=False):
    (M, K), N = a.shape, b.shape[1]
    exact = a.dtype != torch.bfloat16
    c = torch.zeros(M, N, dtype=torch.int32 if exact else torch.float32)
    grid = (tz.cdiv(M, block[0]), tz.cdiv(N, block[1]))
    wide = tl.int32 if exact else tl.float32
    product[grid](a, b, c, M, N, K, *a.stride(), *b.stride(), *block, wide, strict=strict)
    return c


def operand(rows, columns, dtype, transposed, seed):
    random = np.random.default_rng(seed)
    shape = (columns, rows) if transposed else (rows, columns)
    if dtype == torch.bfloat16:
        values = torch.from_numpy(random.standard_normal(shape, dtype=np.float32)).bfloat16()
    else:
        values = torch.from_numpy(random.integers(0, 256, shape, dtype=np.uint8)).view(dtype)
    return values.t() if transposed else values


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.int8, torch.uint8])
@pytest.mark.parametrize("transposed", [(False, False), (False, True), (True, False)])
@pytest.mark.parametrize(
    ("shape", "block"),
    [
        ((1, 7, 5), (1, 8, 4)),
        ((33, 70, 100), (16, 32, 32)),
        ((65, 17, 130), (32, 16, 64)),
        ((96, 96, 96), (64, 64, 32)),
    ],
)
def test_against_numpy(dtype, transposed, shape, block):
    M, N, K = shape
    a = operand(M, K, dtype, transposed[0], 1)
    b = operand(K, N, dtype, transposed[1], 2)
    found = multiply(a, b, block).double().numpy()
    wanted = a.double().numpy() @ b.double().numpy()
    if dtype == torch.bfloat16:
        size = np.abs(a.double().numpy()) @ np.abs(b.double().numpy())
        assert np.all(np.abs(found - wanted) <= size * K * 2.0**-24)
    else:
        assert np.array_equal(found, wanted)


def test_strict_is_the_chain_of_fp32_products():
    a, b = operand(32, 64, torch.bfloat16, False, 3), operand(64, 32, torch.bfloat16, False, 4)
    wanted = np.zeros((32, 32))
    for k in range(64):
        # One rounding each: products of bf16 are exact in fp64, and so is a sum before it is rounded, nearly always.
        wanted = (wanted + np.outer(a[:, k].double(), b[k].double())).astype(np.float32).astype(np.float64)
    assert np.array_equal(multiply(a, b, (32, 32, 64), strict=True).double().numpy(), wanted)


def test_strict_keeps_denormals():
    a, b = torch.zeros(16, 32, dtype=torch.bfloat16), torch.zeros(32, 16, dtype=torch.bfloat16)
    a[0, 0], b[0, 0] = 2.0**-130, 2.0**100
    assert multiply(a, b, (16, 16, 32), strict=True)[0, 0] == 2.0**-30


@pytest.mark.parametrize("transposed", [(False, False), (False, True), (True, False)])
@pytest.mark.parametrize(("dtype", "wide", "eps"), [
    (torch.float64, tl.float64, 2.0**-52), (torch.float32, tl.float32, 2.0**-23), (torch.float16, tl.float32, 2.0**-23),
])  # fmt: skip
def test_elements_that_make_no_groups(dtype, wide, eps, transposed):
    random, (M, N, K) = np.random.default_rng(5), (33, 40, 70)

    def operand(rows, columns, turned):
        values = torch.from_numpy(random.standard_normal((columns, rows) if turned else (rows, columns))).to(dtype)
        return values.t() if turned else values

    a, b = operand(M, K, transposed[0]), operand(K, N, transposed[1])
    c = torch.zeros(M, N, dtype=torch.float64 if dtype == torch.float64 else torch.float32)
    product[(3, 3)](a, b, c, M, N, K, *a.stride(), *b.stride(), 16, 16, 32, wide)
    # The products of doubles are rounded; long doubles tell.
    want = a.numpy().astype(np.longdouble) @ b.numpy().astype(np.longdouble)
    bound = K * eps * (np.abs(a.numpy().astype(float)) @ np.abs(b.numpy().astype(float)))
    assert (np.abs(c.numpy() - want) <= bound).all()
