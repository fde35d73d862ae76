# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small elementwise kernels: sums of up to four arrays (residual streams and their gradients), and -exp(x).

All arrays have one shape. Terms are added in order, in fp32, so that a sum has the same bits on every run.
"""

import numpy as np

import terrazzo as tz
import terrazzo.language as tl

from . import arrays

BLOCK = 2048


@tz.jit
def add_kernel(a, b, c, d, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(a + i, mask=i < n, other=0.0).to(tl.float32)
    total += tl.load(b + i, mask=i < n, other=0.0).to(tl.float32)
    if c is not None:
        total += tl.load(c + i, mask=i < n, other=0.0).to(tl.float32)
    if d is not None:
        total += tl.load(d + i, mask=i < n, other=0.0).to(tl.float32)
    tl.store(y + i, total.to(y.dtype.element_ty), mask=i < n)


@tz.jit
def negative_exp_kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0).to(tl.float32)
    tl.store(y + i, (-tl.exp(v)).to(y.dtype.element_ty), mask=i < n)


@tz.jit
def multiply_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0).to(tl.float32)
    v = v * tl.load(y + i, mask=i < n, other=0.0).to(tl.float32)
    tl.store(out + i, v.to(out.dtype.element_ty), mask=i < n)


def add(*xs):
    """The sum of one or more arrays, left to right."""
    for number, x in enumerate(xs):
        arrays.check(f"xs[{number}]", x, shape=xs[0].shape, dtypes=arrays.FLOATS)
    rest = [arrays.contiguous(x) for x in xs]
    total, n = rest.pop(0), arrays.numel(xs[0])
    while rest:
        terms, rest = [*rest[:3], None, None][:3], rest[3:]
        y = arrays.empty_like(total)
        add_kernel[(tz.cdiv(n, BLOCK),)](total, *terms, y, n, BLOCK=BLOCK)
        total = y
    return total


def negative_exp(x):
    """-exp(x)."""
    arrays.check("x", x, dtypes=arrays.FLOATS)
    x = arrays.contiguous(x)
    y, n = arrays.empty_like(x), arrays.numel(x)
    negative_exp_kernel[(tz.cdiv(n, BLOCK),)](x, y, n, BLOCK=BLOCK)
    return y


def negative_exp_backward(dy, y):
    """dx = dy y, from the result y."""
    arrays.check("dy", dy, shape=y.shape, dtypes=arrays.FLOATS)
    dy, y = arrays.contiguous(dy), arrays.contiguous(y)
    dx, n = arrays.empty_like(y), arrays.numel(y)
    multiply_kernel[(tz.cdiv(n, BLOCK),)](dy, y, dx, n, BLOCK=BLOCK)
    return dx


def reference(*xs):
    """The sum in fp64."""
    return np.sum([np.asarray(x, np.float64) for x in xs], axis=0)
