# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums over rows, in two stages whose order depends on the shape alone: the same bits on every run and thread count.

Stage one gives each program a chunk of rows (or elements) and one partial sum to store; stage two adds the partial sums
in order. Weight gradients of other kernels share the second stage.
"""

import numpy as np

import terrazzo as tz
import terrazzo.language as tl

from . import arrays

PROGRAMS = 128  # the most partial sums of a column
WIDE = 16384  # the longest row that is one tile
SPAN = 1 << 16  # elements of one partial sum of squares


@tz.jit
def sum_partials_kernel(partial, out, P, N, BLOCK: tl.constexpr):
    c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = partial + c
    total = tl.zeros((BLOCK,), tl.float32)
    for _ in range(0, P):
        total += tl.load(at, mask=c < N, other=0.0)
        at += N
    tl.store(out + c, total.to(out.dtype.element_ty), mask=c < N)


@tz.jit
def column_sums_kernel(x, partial, M, N, chunk, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    p = tl.program_id(1).to(tl.int64)
    c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(p * chunk, tl.minimum(p * chunk + chunk, M), ROWS):
        r = start + tl.arange(0, ROWS)
        inside = (r < M)[:, None] & (c < N)[None, :]
        total += tl.load(x + r[:, None] * N + c[None, :], mask=inside, other=0.0).to(tl.float32)
    tl.store(partial + p * N + c, tl.sum(total, 0), mask=c < N)


@tz.jit
def squares_kernel(x, partial, n, SPAN: tl.constexpr, BLOCK: tl.constexpr):
    p = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(p * SPAN, tl.minimum(p * SPAN + SPAN, n), BLOCK):
        i = start + tl.arange(0, BLOCK)
        v = tl.load(x + i, mask=i < n, other=0.0).to(tl.float32)
        total += v * v
    tl.store(partial + p, tl.sum(total, 0))


@tz.jit
def total_kernel(partial, out, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(partial + i, mask=i < n, other=0.0)
    tl.store(out, tl.sum(total, 0))


def row_tile(columns):
    """How many rows of that length share a tile."""
    return max(1, min(64, 2048 // max(columns, 1)))


def row_chunks(M, rows):
    """Rows of one program (a multiple of rows), and the number of programs that cover M."""
    chunk = rows * max(1, tz.cdiv(M, rows * PROGRAMS))
    return chunk, tz.cdiv(M, chunk)


def sum_partials(partial, dtype, out=None):
    """[P, N] fp32 to [N] of dtype, the P terms of each column added in order."""
    P, N = partial.shape
    out = arrays.empty((N,), partial, dtype) if out is None else out
    block = 256
    sum_partials_kernel[(tz.cdiv(N, block),)](partial, out, P, N, BLOCK=block)
    return out


def column_sums(x):
    """[..., N] to the [N] sums over everything else: the gradient of a bias."""
    arrays.check("x", x, dtypes=arrays.FLOATS)
    x = arrays.contiguous(x)
    M, N = arrays.rows(x)
    block, rows = 256, 8
    chunk, programs = row_chunks(M, rows)
    partial = arrays.empty((programs, N), x, "float32")
    column_sums_kernel[(tz.cdiv(N, block), programs)](x, partial, M, N, chunk, ROWS=rows, BLOCK=block)
    return sum_partials(partial, x.dtype)


def sum_of_squares(xs):
    """The sum of the squares of all elements of a list of arrays, a Python float."""
    if not xs:
        return 0.0
    counts = [tz.cdiv(arrays.numel(x), SPAN) for x in xs]
    partial = arrays.empty((sum(counts),), xs[0], "float32")
    at = 0
    for x, count in zip(xs, counts):
        arrays.check("xs", x, dtypes=arrays.FLOATS)
        x = arrays.contiguous(x)
        squares_kernel[(count,)](x, partial[at : at + count], arrays.numel(x), SPAN=SPAN, BLOCK=1024)
        at += count
    out = arrays.empty((1,), partial)
    total_kernel[(1,)](partial, out, sum(counts), BLOCK=256)
    return float(out[0])


def reference(x):
    """Column sums in fp64."""
    return np.asarray(x, np.float64).reshape(-1, x.shape[-1]).sum(0)
