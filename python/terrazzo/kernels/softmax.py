# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Softmax over the last axis, y = exp(x - max) / sum, and its gradient dx = y (dy - sum(dy y)).

x, y, dy: [..., N]. Rows longer than 16384 are walked in blocks with an online maximum (Milakov and Gimelshein 2018).
Arithmetic is fp32. Entries of -inf give 0, a row of nothing else gives NaN.
"""

import numpy as np

import terrazzo as tz
import terrazzo.language as tl

from . import arrays
from .reductions import WIDE, row_tile


@tz.jit
def softmax_kernel(x, y, M, N: tl.constexpr, ROWS: tl.constexpr):
    r = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    at = r[:, None] * N + tl.arange(0, N)[None, :]
    live = (r < M)[:, None]
    v = tl.load(x + at, mask=live, other=0.0).to(tl.float32)
    v = tl.exp(v - tl.max(v, 1)[:, None])
    tl.store(y + at, (v / tl.sum(v, 1)[:, None]).to(y.dtype.element_ty), mask=live)


@tz.jit
def softmax_wide_kernel(x, y, N, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    top = tl.full((BLOCK,), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N, BLOCK):
        c = start + tl.arange(0, BLOCK)
        v = tl.load(x + r * N + c, mask=c < N, other=float("-inf")).to(tl.float32)
        higher = tl.maximum(top, v)
        shift = tl.where(higher == float("-inf"), 0.0, higher)
        total = total * tl.exp(top - shift) + tl.exp(v - shift)
        top = higher
    peak = tl.max(top, 0)
    scale = 1.0 / tl.sum(total * tl.exp(top - peak), 0)
    for start in range(0, N, BLOCK):
        c = start + tl.arange(0, BLOCK)
        v = tl.load(x + r * N + c, mask=c < N, other=0.0).to(tl.float32)
        tl.store(y + r * N + c, (tl.exp(v - peak) * scale).to(y.dtype.element_ty), mask=c < N)


@tz.jit
def softmax_backward_kernel(dy, y, dx, M, N: tl.constexpr, ROWS: tl.constexpr):
    r = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    at = r[:, None] * N + tl.arange(0, N)[None, :]
    live = (r < M)[:, None]
    d = tl.load(dy + at, mask=live, other=0.0).to(tl.float32)
    p = tl.load(y + at, mask=live, other=0.0).to(tl.float32)
    tl.store(dx + at, (p * (d - tl.sum(d * p, 1)[:, None])).to(dx.dtype.element_ty), mask=live)


@tz.jit
def softmax_backward_wide_kernel(dy, y, dx, N, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    products = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N, BLOCK):
        c = start + tl.arange(0, BLOCK)
        d = tl.load(dy + r * N + c, mask=c < N, other=0.0).to(tl.float32)
        products += d * tl.load(y + r * N + c, mask=c < N, other=0.0).to(tl.float32)
    mean = tl.sum(products, 0)
    for start in range(0, N, BLOCK):
        c = start + tl.arange(0, BLOCK)
        d = tl.load(dy + r * N + c, mask=c < N, other=0.0).to(tl.float32)
        p = tl.load(y + r * N + c, mask=c < N, other=0.0).to(tl.float32)
        tl.store(dx + r * N + c, (p * (d - mean)).to(dx.dtype.element_ty), mask=c < N)


def softmax(x, out=None):
    """y of x's shape, in `out` or else in x's dtype. Raises a ValueError that names the argument."""
    arrays.check("x", x, dtypes=arrays.FLOATS)
    x = arrays.contiguous(x)
    M, N = arrays.rows(x)
    y = arrays.output(out, x)
    if N > WIDE:
        softmax_wide_kernel[(M,)](x, y, N, BLOCK=4096)
    else:
        rows = row_tile(N)
        softmax_kernel[(tz.cdiv(M, rows),)](x, y, M, N=N, ROWS=rows)
    return y


def softmax_backward(dy, y):
    """dx from the result y."""
    arrays.check("y", y, dtypes=arrays.FLOATS)
    arrays.check("dy", dy, shape=y.shape, dtypes=arrays.FLOATS)
    dy, y = arrays.contiguous(dy), arrays.contiguous(y)
    M, N = arrays.rows(y)
    dx = arrays.empty_like(y)
    if N > WIDE:
        softmax_backward_wide_kernel[(M,)](dy, y, dx, N, BLOCK=4096)
    else:
        rows = row_tile(N)
        softmax_backward_kernel[(tz.cdiv(M, rows),)](dy, y, dx, M, N=N, ROWS=rows)
    return dx


def reference(x):
    """y in fp64."""
    x = np.asarray(x, np.float64)
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)
