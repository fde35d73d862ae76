# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""RMSNorm (Zhang and Sennrich 2019): y = x / sqrt(mean(x^2) + eps) * w over the last axis.

x, y: [..., N]; w: [N]; rstd: fp32, one number a row, kept for the gradient. With h = x * rstd:
dx = rstd * (dy w - h mean(dy w h)), dw = the sum over rows of dy h. Arithmetic is fp32. A row of up to 16384 columns is
one tile, and short rows share one; a longer row is walked in blocks.
"""

import numpy as np

import terrazzo as tz
import terrazzo.language as tl

from . import arrays
from .reductions import WIDE, row_chunks, row_tile, sum_partials


@tz.jit
def rmsnorm_kernel(x, w, y, rstd, M, eps, N: tl.constexpr, ROWS: tl.constexpr):
    r = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, N)
    at = r[:, None] * N + c[None, :]
    live = (r < M)[:, None]
    v = tl.load(x + at, mask=live, other=0.0).to(tl.float32)
    s = tl.rsqrt(tl.sum(v * v, 1) / N + eps)
    g = tl.load(w + c).to(tl.float32)
    tl.store(y + at, (v * s[:, None] * g[None, :]).to(y.dtype.element_ty), mask=live)
    tl.store(rstd + r, s, mask=r < M)


@tz.jit
def rmsnorm_wide_kernel(x, w, y, rstd, N, eps, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N, BLOCK):
        c = start + tl.arange(0, BLOCK)
        v = tl.load(x + r * N + c, mask=c < N, other=0.0).to(tl.float32)
        squares += v * v
    s = tl.rsqrt(tl.sum(squares, 0) / N + eps)
    for start in range(0, N, BLOCK):
        c = start + tl.arange(0, BLOCK)
        v = tl.load(x + r * N + c, mask=c < N).to(tl.float32)
        g = tl.load(w + c, mask=c < N).to(tl.float32)
        tl.store(y + r * N + c, (v * s * g).to(y.dtype.element_ty), mask=c < N)
    tl.store(rstd + r, s)


@tz.jit
def rmsnorm_backward_kernel(dy, x, w, rstd, dx, partial, M, chunk, N: tl.constexpr, ROWS: tl.constexpr):
    p = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, N)
    g = tl.load(w + c).to(tl.float32)[None, :]
    dw = tl.zeros((ROWS, N), tl.float32)
    for start in range(p * chunk, tl.minimum(p * chunk + chunk, M), ROWS):
        r = start + tl.arange(0, ROWS)
        at = r[:, None] * N + c[None, :]
        live = (r < M)[:, None]
        d = tl.load(dy + at, mask=live, other=0.0).to(tl.float32)
        s = tl.load(rstd + r, mask=r < M, other=0.0)[:, None]
        h = tl.load(x + at, mask=live, other=0.0).to(tl.float32) * s
        dh = d * g
        mean = tl.sum(dh * h, 1) / N
        tl.store(dx + at, (s * (dh - h * mean[:, None])).to(dx.dtype.element_ty), mask=live)
        dw += d * h
    tl.store(partial + p * N + c, tl.sum(dw, 0))


@tz.jit
def rmsnorm_wide_dx_kernel(dy, x, w, rstd, dx, N, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    s = tl.load(rstd + r)
    products = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N, BLOCK):
        c = start + tl.arange(0, BLOCK)
        dh = tl.load(dy + r * N + c, mask=c < N, other=0.0).to(tl.float32) * tl.load(w + c, mask=c < N, other=0.0)
        products += dh * (tl.load(x + r * N + c, mask=c < N, other=0.0).to(tl.float32) * s)
    mean = tl.sum(products, 0) / N
    for start in range(0, N, BLOCK):
        c = start + tl.arange(0, BLOCK)
        dh = tl.load(dy + r * N + c, mask=c < N, other=0.0).to(tl.float32) * tl.load(w + c, mask=c < N, other=0.0)
        h = tl.load(x + r * N + c, mask=c < N, other=0.0).to(tl.float32) * s
        tl.store(dx + r * N + c, (s * (dh - h * mean)).to(dx.dtype.element_ty), mask=c < N)


@tz.jit
def rmsnorm_wide_dw_kernel(dy, x, rstd, partial, M, N, chunk, BLOCK: tl.constexpr):
    p = tl.program_id(1).to(tl.int64)
    c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    dw = tl.zeros((BLOCK,), tl.float32)
    for r in range(p * chunk, tl.minimum(p * chunk + chunk, M)):
        d = tl.load(dy + r * N + c, mask=c < N, other=0.0).to(tl.float32)
        dw += d * (tl.load(x + r * N + c, mask=c < N, other=0.0).to(tl.float32) * tl.load(rstd + r))
    tl.store(partial + p * N + c, dw, mask=c < N)


def rmsnorm_forward(x, w, eps=1e-6, out=None):
    """(y, rstd) for x [..., N] and w [N]. Raises a ValueError that names the argument."""
    arrays.check("x", x, dtypes=arrays.FLOATS)
    arrays.check("w", w, shape=(x.shape[-1],), dtypes=arrays.FLOATS)
    x, w = arrays.contiguous(x), arrays.contiguous(w)
    M, N = arrays.rows(x)
    y, rstd = arrays.output(out, x), arrays.empty((M,), x, "float32")
    if N > WIDE:
        rmsnorm_wide_kernel[(M,)](x, w, y, rstd, N, eps, BLOCK=4096)
    else:
        rows = row_tile(N)
        rmsnorm_kernel[(tz.cdiv(M, rows),)](x, w, y, rstd, M, eps, N=N, ROWS=rows)
    return y, rstd


def rmsnorm_backward(dy, x, w, rstd):
    """(dx, dw) from the forward's x, w and rstd."""
    arrays.check("dy", dy, shape=x.shape, dtypes=arrays.FLOATS)
    dy, x, w = arrays.contiguous(dy), arrays.contiguous(x), arrays.contiguous(w)
    M, N = arrays.rows(x)
    dx = arrays.empty_like(x)
    rows = row_tile(N)
    chunk, programs = row_chunks(M, rows)
    partial = arrays.empty((programs, N), x, "float32")
    if N > WIDE:
        block = 4096
        rmsnorm_wide_dx_kernel[(M,)](dy, x, w, rstd, dx, N, BLOCK=block)
        rmsnorm_wide_dw_kernel[(tz.cdiv(N, block), programs)](dy, x, rstd, partial, M, N, chunk, BLOCK=block)
    else:
        rmsnorm_backward_kernel[(programs,)](dy, x, w, rstd, dx, partial, M, chunk, N=N, ROWS=rows)
    return dx, sum_partials(partial, w.dtype)


def rmsnorm(x, w, eps=1e-6, out=None):
    """y alone, in `out` if given."""
    return rmsnorm_forward(x, w, eps, out)[0]


def reference(x, w, eps=1e-6):
    """y in fp64."""
    x = np.asarray(x, np.float64)
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * np.asarray(w, np.float64)
