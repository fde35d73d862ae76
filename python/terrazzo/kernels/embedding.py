# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Embedding: rows of a table by number, and the table's gradient.

ids: [...] integers in [0, V); weight: [V, E]; y: [..., E]. An id outside of the table gives a row of NaN and no
gradient. The gradient adds up dy row by row in fp32, in the order of ids: each table row belongs to one program (the
rows p, p + P, ... to program p of P), which looks at all ids, so no atomics are needed and the bits never change.
"""

import numpy as np

import terrazzo as tz
import terrazzo.language as tl

from . import arrays
from .reductions import sum_partials

OWNERS = 64


@tz.jit
def embedding_kernel(ids, weight, y, M, V, E, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = (r < M)[:, None] & (c < E)[None, :]
    row = tl.load(ids + r, mask=r < M, other=0).to(tl.int64)
    known = inside & ((row >= 0) & (row < V))[:, None]
    v = tl.load(weight + row[:, None] * E + c[None, :], mask=known, other=float("nan"))
    tl.store(y + r[:, None] * E + c[None, :], v, mask=inside)


@tz.jit
def embedding_gradient_kernel(ids, dy, dw, M, V, E, OWNERS: tl.constexpr, BLOCK: tl.constexpr):
    owner = tl.program_id(0)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    for i in range(0, M):
        row = tl.load(ids + i).to(tl.int64)
        if (row % OWNERS == owner) & (row >= 0) & (row < V):
            at = dw + row * E + c
            d = tl.load(dy + tl.cast(i, tl.int64) * E + c, mask=c < E, other=0.0).to(tl.float32)
            tl.store(at, tl.load(at, mask=c < E, other=0.0) + d, mask=c < E)


def embedding(ids, weight):
    """weight[ids]."""
    arrays.check("ids", ids, dtypes=arrays.INTEGERS)
    arrays.check("weight", weight, rank=2, dtypes=arrays.FLOATS)
    ids, weight = arrays.contiguous(ids), arrays.contiguous(weight)
    (V, E), M = weight.shape, arrays.numel(ids)
    y = arrays.empty((*ids.shape, E), weight)
    block = min(E, 1024)
    rows = max(1, 2048 // max(block, 1))
    embedding_kernel[(tz.cdiv(M, rows), tz.cdiv(E, block))](ids, weight, y, M, V, E, ROWS=rows, BLOCK=block)
    return y


def embedding_backward(dy, ids, weight):
    """The gradient of weight (of which only shape and dtype matter)."""
    arrays.check("dy", dy, shape=(*ids.shape, weight.shape[1]), dtypes=arrays.FLOATS)
    dy, ids = arrays.contiguous(dy), arrays.contiguous(ids)
    (V, E), M = weight.shape, arrays.numel(ids)
    dw = arrays.zeros((V, E), dy, "float32")
    block = min(E, 1024)
    embedding_gradient_kernel[(OWNERS, tz.cdiv(E, block))](ids, dy, dw, M, V, E, OWNERS=OWNERS, BLOCK=block)
    if arrays.dtype_name(weight) == "float32":
        return dw
    return sum_partials(dw.reshape(1, V * E), weight.dtype).reshape(V, E)


def reference(ids, weight):
    """y in fp64."""
    return np.asarray(weight, np.float64)[np.asarray(ids)]
