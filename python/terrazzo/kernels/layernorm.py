# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""LayerNorm (Ba, Kiros and Hinton 2016): y = (x - mean) / sqrt(variance + eps) * w + b over the last axis.

x, y: [..., N]; w, b: [N], b optional; mean and rstd: fp32, one number a row, kept for the gradient. With
h = (x - mean) * rstd and g = dy w: dx = rstd * (g - mean(g) - h mean(g h)), dw = sum of dy h, db = sum of dy.
The variance is that of the centred row (no difference of large sums). Arithmetic is fp32.
"""

import numpy as np

import terrazzo as tz
import terrazzo.language as tl

from . import arrays
from .reductions import WIDE, row_chunks, row_tile, sum_partials


@tz.jit
def layernorm_kernel(x, w, b, y, mean, rstd, M, eps, N: tl.constexpr, ROWS: tl.constexpr):
    r = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, N)
    at = r[:, None] * N + c[None, :]
    live = (r < M)[:, None]
    v = tl.load(x + at, mask=live, other=0.0).to(tl.float32)
    mu = tl.sum(v, 1) / N
    v = v - mu[:, None]
    s = tl.rsqrt(tl.sum(v * v, 1) / N + eps)
    out = v * s[:, None] * tl.load(w + c).to(tl.float32)[None, :]
    if b is not None:
        out += tl.load(b + c).to(tl.float32)[None, :]
    tl.store(y + at, out.to(y.dtype.element_ty), mask=live)
    tl.store(mean + r, mu, mask=r < M)
    tl.store(rstd + r, s, mask=r < M)


@tz.jit
def layernorm_wide_kernel(x, w, b, y, mean, rstd, N, eps, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N, BLOCK):
        c = start + tl.arange(0, BLOCK)
        total += tl.load(x + r * N + c, mask=c < N, other=0.0).to(tl.float32)
    mu = tl.sum(total, 0) / N
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N, BLOCK):
        c = start + tl.arange(0, BLOCK)
        v = tl.where(c < N, tl.load(x + r * N + c, mask=c < N, other=0.0).to(tl.float32) - mu, 0.0)
        squares += v * v
    s = tl.rsqrt(tl.sum(squares, 0) / N + eps)
    for start in range(0, N, BLOCK):
        c = start + tl.arange(0, BLOCK)
        v = tl.load(x + r * N + c, mask=c < N, other=0.0).to(tl.float32)
        out = (v - mu) * s * tl.load(w + c, mask=c < N, other=0.0).to(tl.float32)
        if b is not None:
            out += tl.load(b + c, mask=c < N, other=0.0).to(tl.float32)
        tl.store(y + r * N + c, out.to(y.dtype.element_ty), mask=c < N)
    tl.store(mean + r, mu)
    tl.store(rstd + r, s)


@tz.jit
def layernorm_backward_kernel(
    dy, x, w, mean, rstd, dx, partial_w, partial_b, M, chunk, N: tl.constexpr, ROWS: tl.constexpr
):
    p = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, N)
    g = tl.load(w + c).to(tl.float32)[None, :]
    dw = tl.zeros((ROWS, N), tl.float32)
    db = tl.zeros((ROWS, N), tl.float32)
    for start in range(p * chunk, tl.minimum(p * chunk + chunk, M), ROWS):
        r = start + tl.arange(0, ROWS)
        at = r[:, None] * N + c[None, :]
        live = (r < M)[:, None]
        d = tl.load(dy + at, mask=live, other=0.0).to(tl.float32)
        mu = tl.load(mean + r, mask=r < M, other=0.0)[:, None]
        s = tl.load(rstd + r, mask=r < M, other=0.0)[:, None]
        h = (tl.load(x + at, mask=live, other=0.0).to(tl.float32) - mu) * s
        dh = d * g
        m1 = tl.sum(dh, 1) / N
        m2 = tl.sum(dh * h, 1) / N
        tl.store(dx + at, (s * (dh - m1[:, None] - h * m2[:, None])).to(dx.dtype.element_ty), mask=live)
        dw += d * h
        db += d
    tl.store(partial_w + p * N + c, tl.sum(dw, 0))
    tl.store(partial_b + p * N + c, tl.sum(db, 0))


@tz.jit
def layernorm_wide_dx_kernel(dy, x, w, mean, rstd, dx, N, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    mu = tl.load(mean + r)
    s = tl.load(rstd + r)
    sums = tl.zeros((BLOCK,), tl.float32)
    products = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N, BLOCK):
        c = start + tl.arange(0, BLOCK)
        dh = tl.load(dy + r * N + c, mask=c < N, other=0.0).to(tl.float32) * tl.load(w + c, mask=c < N, other=0.0)
        sums += dh
        products += dh * ((tl.load(x + r * N + c, mask=c < N, other=0.0).to(tl.float32) - mu) * s)
    m1 = tl.sum(sums, 0) / N
    m2 = tl.sum(products, 0) / N
    for start in range(0, N, BLOCK):
        c = start + tl.arange(0, BLOCK)
        dh = tl.load(dy + r * N + c, mask=c < N, other=0.0).to(tl.float32) * tl.load(w + c, mask=c < N, other=0.0)
        h = (tl.load(x + r * N + c, mask=c < N, other=0.0).to(tl.float32) - mu) * s
        tl.store(dx + r * N + c, (s * (dh - m1 - h * m2)).to(dx.dtype.element_ty), mask=c < N)


@tz.jit
def layernorm_wide_dw_kernel(dy, x, mean, rstd, partial_w, partial_b, M, N, chunk, BLOCK: tl.constexpr):
    p = tl.program_id(1).to(tl.int64)
    c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    dw = tl.zeros((BLOCK,), tl.float32)
    db = tl.zeros((BLOCK,), tl.float32)
    for r in range(p * chunk, tl.minimum(p * chunk + chunk, M)):
        d = tl.load(dy + r * N + c, mask=c < N, other=0.0).to(tl.float32)
        v = tl.load(x + r * N + c, mask=c < N, other=0.0).to(tl.float32)
        dw += d * ((v - tl.load(mean + r)) * tl.load(rstd + r))
        db += d
    tl.store(partial_w + p * N + c, dw, mask=c < N)
    tl.store(partial_b + p * N + c, db, mask=c < N)


def layernorm_forward(x, w, b=None, eps=1e-5, out=None):
    """(y, mean, rstd) for x [..., N], w [N] and b [N] or None. Raises a ValueError that names the argument."""
    arrays.check("x", x, dtypes=arrays.FLOATS)
    arrays.check("w", w, shape=(x.shape[-1],), dtypes=arrays.FLOATS)
    if b is not None:
        arrays.check("b", b, shape=(x.shape[-1],), dtypes=arrays.FLOATS)
        b = arrays.contiguous(b)
    x, w = arrays.contiguous(x), arrays.contiguous(w)
    M, N = arrays.rows(x)
    y = arrays.output(out, x)
    mean, rstd = arrays.empty((M,), x, "float32"), arrays.empty((M,), x, "float32")
    if N > WIDE:
        layernorm_wide_kernel[(M,)](x, w, b, y, mean, rstd, N, eps, BLOCK=4096)
    else:
        rows = row_tile(N)
        layernorm_kernel[(tz.cdiv(M, rows),)](x, w, b, y, mean, rstd, M, eps, N=N, ROWS=rows)
    return y, mean, rstd


def layernorm_backward(dy, x, w, mean, rstd):
    """(dx, dw, db) from the forward's x, w, mean and rstd."""
    arrays.check("dy", dy, shape=x.shape, dtypes=arrays.FLOATS)
    dy, x, w = arrays.contiguous(dy), arrays.contiguous(x), arrays.contiguous(w)
    M, N = arrays.rows(x)
    dx = arrays.empty_like(x)
    rows = row_tile(N)
    chunk, programs = row_chunks(M, rows)
    partial_w, partial_b = (arrays.empty((programs, N), x, "float32") for _ in range(2))
    if N > WIDE:
        block = 4096
        grid = (tz.cdiv(N, block), programs)
        layernorm_wide_dx_kernel[(M,)](dy, x, w, mean, rstd, dx, N, BLOCK=block)
        layernorm_wide_dw_kernel[grid](dy, x, mean, rstd, partial_w, partial_b, M, N, chunk, BLOCK=block)
    else:
        layernorm_backward_kernel[(programs,)](dy, x, w, mean, rstd, dx, partial_w, partial_b, M, chunk, N=N, ROWS=rows)
    return dx, sum_partials(partial_w, w.dtype), sum_partials(partial_b, w.dtype)


def layernorm(x, w, b=None, eps=1e-5, out=None):
    """y alone, in `out` if given."""
    return layernorm_forward(x, w, b, eps, out)[0]


def reference(x, w, b=None, eps=1e-5):
    """y in fp64."""
    x = np.asarray(x, np.float64)
    x = x - x.mean(-1, keepdims=True)
    y = x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * np.asarray(w, np.float64)
    return y if b is None else y + np.asarray(b, np.float64)
