# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GELU (Hendrycks and Gimpel 2016), elementwise: x Phi(x), with erf, or with the tanh approximation.

The approximation 0.5 x (1 + tanh(t)), t = sqrt(2 / pi) (x + 0.044715 x^3), is computed as x sigmoid(2 t), the same
function. Gradients: Phi(x) + x phi(x), and s + 2 x s (1 - s) t' with s = sigmoid(2 t). Arithmetic is fp32.
"""

import math

import numpy as np

import terrazzo as tz
import terrazzo.language as tl

from . import arrays

BLOCK = 2048


@tz.jit
def gelu_kernel(x, y, n, TANH: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0).to(tl.float32)
    if TANH:
        out = v * tl.sigmoid(1.5957691216057308 * v * (1.0 + 0.044715 * v * v))
    else:
        out = 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476))
    tl.store(y + i, out.to(y.dtype.element_ty), mask=i < n)


@tz.jit
def gelu_backward_kernel(dy, x, dx, n, TANH: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    d = tl.load(dy + i, mask=i < n, other=0.0).to(tl.float32)
    v = tl.load(x + i, mask=i < n, other=0.0).to(tl.float32)
    if TANH:
        s = tl.sigmoid(1.5957691216057308 * v * (1.0 + 0.044715 * v * v))
        slope = s * (1.0 + v * (1.0 - s) * 1.5957691216057308 * (1.0 + 0.134145 * v * v))
    else:
        density = 0.3989422804014327 * tl.exp(-0.5 * v * v)
        slope = 0.5 * (1.0 + tl.erf(v * 0.7071067811865476)) + v * density
    tl.store(dx + i, (d * slope).to(dx.dtype.element_ty), mask=i < n)


def _tanh(approximate):
    if approximate not in ("none", "tanh"):
        raise ValueError(f"'approximate': expected 'none' or 'tanh', found {approximate!r}")
    return approximate == "tanh"


def gelu(x, approximate="none", out=None):
    """GELU of each element, in `out` if given; approximate is "none" (erf) or "tanh". ValueErrors name the argument."""
    arrays.check("x", x, dtypes=arrays.FLOATS)
    x = arrays.contiguous(x)
    y, n = arrays.output(out, x), arrays.numel(x)
    gelu_kernel[(tz.cdiv(n, BLOCK),)](x, y, n, TANH=_tanh(approximate), BLOCK=BLOCK)
    return y


def gelu_backward(dy, x, approximate="none"):
    """dx."""
    arrays.check("x", x, dtypes=arrays.FLOATS)
    arrays.check("dy", dy, shape=x.shape, dtypes=arrays.FLOATS)
    dy, x = arrays.contiguous(dy), arrays.contiguous(x)
    dx, n = arrays.empty_like(x), arrays.numel(x)
    gelu_backward_kernel[(tz.cdiv(n, BLOCK),)](dy, x, dx, n, TANH=_tanh(approximate), BLOCK=BLOCK)
    return dx


def reference(x, approximate="none"):
    """y in fp64."""
    x = np.asarray(x, np.float64)
    if approximate == "tanh":
        return 0.5 * x * (1.0 + np.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1.0 + np.vectorize(math.erf, otypes=[float])(x / math.sqrt(2.0)))
