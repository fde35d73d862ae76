# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cross-entropy of rows of logits: loss = log(sum(exp(logits))) - logits[target].

logits: [M, N]; targets: [M] integers; loss and lse (the log of the sum): [M] fp32. A row whose target is ignore_index
has loss and gradient 0; a target outside of [0, N) gives NaN. dlogits = (softmax(logits) - onehot(target)) * dloss.
Rows up to 16384 columns are one tile; longer ones are walked with an online maximum. Arithmetic is fp32.
"""

import numpy as np

import terrazzo as tz
import terrazzo.language as tl

from . import arrays
from .reductions import WIDE, row_tile


@tz.jit
def cross_entropy_kernel(logits, targets, loss, lse, M, ignore, N: tl.constexpr, ROWS: tl.constexpr):
    r = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    live = r < M
    v = tl.load(logits + r[:, None] * N + tl.arange(0, N)[None, :], mask=live[:, None], other=0.0).to(tl.float32)
    top = tl.max(v, 1)
    total = top + tl.log(tl.sum(tl.exp(v - top[:, None]), 1))
    t = tl.load(targets + r, mask=live, other=0).to(tl.int64)
    z = tl.load(logits + r * N + t, mask=live & (t >= 0) & (t < N), other=float("nan")).to(tl.float32)
    tl.store(lse + r, total, mask=live)
    tl.store(loss + r, tl.where(t == ignore, 0.0, total - z), mask=live)


@tz.jit
def cross_entropy_wide_kernel(logits, targets, loss, lse, ignore, N, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    top = tl.full((BLOCK,), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N, BLOCK):
        c = start + tl.arange(0, BLOCK)
        v = tl.load(logits + r * N + c, mask=c < N, other=float("-inf")).to(tl.float32)
        higher = tl.maximum(top, v)
        shift = tl.where(higher == float("-inf"), 0.0, higher)
        total = total * tl.exp(top - shift) + tl.exp(v - shift)
        top = higher
    peak = tl.max(top, 0)
    log_sum = peak + tl.log(tl.sum(total * tl.exp(top - peak), 0))
    t = tl.load(targets + r).to(tl.int64)
    z = tl.load(logits + r * N + t, mask=(t >= 0) & (t < N), other=float("nan")).to(tl.float32)
    tl.store(lse + r, log_sum)
    tl.store(loss + r, tl.where(t == ignore, 0.0, log_sum - z))


@tz.jit
def cross_entropy_backward_kernel(
    logits, targets, lse, dloss, scale, dlogits, M, N, ignore, stride, ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    r = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    live = r < M
    inside = live[:, None] & (c < N)[None, :]
    at = r[:, None] * N + c[None, :]
    t = tl.load(targets + r, mask=live, other=0).to(tl.int64)
    g = tl.load(dloss + r * stride, mask=live, other=0.0).to(tl.float32)
    if scale is not None:
        g = g * tl.load(scale)
    log_sum = tl.load(lse + r, mask=live, other=0.0)
    p = tl.exp(tl.load(logits + at, mask=inside, other=0.0).to(tl.float32) - log_sum[:, None])
    d = tl.where(c[None, :] == t[:, None], p - 1.0, p) * g[:, None]
    d = tl.where((t == ignore)[:, None], 0.0, d)
    tl.store(dlogits + at, d.to(dlogits.dtype.element_ty), mask=inside)


@tz.jit
def mean_kernel(loss, targets, mean, inverse, M, ignore, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    count = tl.zeros((BLOCK,), tl.int32)
    for start in range(0, M, BLOCK):
        i = start + tl.arange(0, BLOCK)
        t = tl.load(targets + i, mask=i < M, other=0).to(tl.int64)
        total += tl.load(loss + i, mask=i < M, other=0.0)
        count += ((i < M) & (t != ignore)).to(tl.int32)
    n = tl.sum(count, 0)
    scale = tl.where(n == 0, 0.0, 1.0 / tl.maximum(n, 1).to(tl.float32))
    tl.store(mean, tl.sum(total, 0) * scale)
    tl.store(inverse, scale)


def _check(logits, targets):
    arrays.check("logits", logits, rank=2, dtypes=arrays.FLOATS)
    arrays.check("targets", targets, shape=(logits.shape[0],), dtypes=arrays.INTEGERS)


def cross_entropy_forward(logits, targets, ignore_index=-100):
    """(loss, lse), both [M] fp32."""
    _check(logits, targets)
    logits, targets = arrays.contiguous(logits), arrays.contiguous(targets)
    M, N = logits.shape
    loss, lse = arrays.empty((M,), logits, "float32"), arrays.empty((M,), logits, "float32")
    if N > WIDE:
        cross_entropy_wide_kernel[(M,)](logits, targets, loss, lse, ignore_index, N, BLOCK=4096)
    else:
        rows = row_tile(N)
        grid = (tz.cdiv(M, rows),)
        cross_entropy_kernel[grid](logits, targets, loss, lse, M, ignore_index, N=N, ROWS=rows)
    return loss, lse


def cross_entropy_mean(loss, targets, ignore_index=-100):
    """(mean, 1 / count) over the rows that count, arrays of one fp32 element; without any, both are 0."""
    mean, inverse = arrays.empty((1,), loss, "float32"), arrays.empty((1,), loss, "float32")
    targets = arrays.contiguous(targets)
    mean_kernel[(1,)](loss, targets, mean, inverse, arrays.numel(loss), ignore_index, BLOCK=256)
    return mean, inverse


def cross_entropy_backward(dloss, logits, targets, lse, ignore_index=-100, scale=None):
    """dlogits. dloss is [M], or one element for all rows; scale, an array of one element, multiplies it."""
    _check(logits, targets)
    logits, targets, dloss = arrays.contiguous(logits), arrays.contiguous(targets), arrays.contiguous(dloss)
    M, N = logits.shape
    stride = 0 if arrays.numel(dloss) == 1 else 1
    if stride:
        arrays.check("dloss", dloss, shape=(M,))
    dlogits = arrays.empty_like(logits)
    block = min(N, 4096)
    rows = row_tile(block)
    cross_entropy_backward_kernel[(tz.cdiv(M, rows), tz.cdiv(N, block))](
        logits, targets, lse, dloss, scale, dlogits, M, N, ignore_index, stride, ROWS=rows, BLOCK=block
    )
    return dlogits


def reference(logits, targets, ignore_index=-100):
    """loss in fp64."""
    logits = np.asarray(logits, np.float64)
    top = logits.max(1)
    lse = top + np.log(np.exp(logits - top[:, None]).sum(1))
    counts = np.asarray(targets) != ignore_index
    z = logits[np.arange(len(logits)), np.where(counts, targets, 0)]
    return np.where(counts, lse - z, 0.0)
