# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""SwiGLU (Shazeer 2020): y = silu(gate) * up, elementwise, silu(g) = g sigmoid(g).

All arrays have one shape. With s = sigmoid(gate): dgate = dy up s (1 + gate (1 - s)), dup = dy gate s. fp32 arithmetic.
"""

import numpy as np

import terrazzo as tz
import terrazzo.language as tl

from . import arrays

BLOCK = 2048


@tz.jit
def swiglu_kernel(gate, up, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    g = tl.load(gate + i, mask=i < n, other=0.0).to(tl.float32)
    u = tl.load(up + i, mask=i < n, other=0.0).to(tl.float32)
    tl.store(y + i, (g * tl.sigmoid(g) * u).to(y.dtype.element_ty), mask=i < n)


@tz.jit
def swiglu_backward_kernel(dy, gate, up, dgate, dup, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    d = tl.load(dy + i, mask=i < n, other=0.0).to(tl.float32)
    g = tl.load(gate + i, mask=i < n, other=0.0).to(tl.float32)
    u = tl.load(up + i, mask=i < n, other=0.0).to(tl.float32)
    s = tl.sigmoid(g)
    tl.store(dgate + i, (d * u * s * (1.0 + g * (1.0 - s))).to(dgate.dtype.element_ty), mask=i < n)
    tl.store(dup + i, (d * g * s).to(dup.dtype.element_ty), mask=i < n)


def swiglu(gate, up, out=None):
    """silu(gate) * up, in `out` or else in gate's dtype. Raises a ValueError that names the argument."""
    arrays.check("gate", gate, dtypes=arrays.FLOATS)
    arrays.check("up", up, shape=gate.shape, dtypes=arrays.FLOATS)
    gate, up = arrays.contiguous(gate), arrays.contiguous(up)
    y, n = arrays.output(out, gate), arrays.numel(gate)
    swiglu_kernel[(tz.cdiv(n, BLOCK),)](gate, up, y, n, BLOCK=BLOCK)
    return y


def swiglu_backward(dy, gate, up):
    """(dgate, dup)."""
    arrays.check("dy", dy, shape=gate.shape, dtypes=arrays.FLOATS)
    dy, gate, up = arrays.contiguous(dy), arrays.contiguous(gate), arrays.contiguous(up)
    dgate, dup, n = arrays.empty_like(gate), arrays.empty_like(up), arrays.numel(gate)
    swiglu_backward_kernel[(tz.cdiv(n, BLOCK),)](dy, gate, up, dgate, dup, n, BLOCK=BLOCK)
    return dgate, dup


def reference(gate, up):
    """y in fp64."""
    gate, up = np.asarray(gate, np.float64), np.asarray(up, np.float64)
    return gate / (1.0 + np.exp(-gate)) * up
