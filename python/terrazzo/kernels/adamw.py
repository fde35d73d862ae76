# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""AdamW (Loshchilov and Hutter 2019), one fused in-place update: decoupled weight decay, bias correction, and a factor
for the gradient (its clipping), which is read once and never written.

p, g, m, v have one shape; moments are fp32, arithmetic too. With g' = g grad_scale:
m = b1 m + (1 - b1) g'; v = b2 v + (1 - b2) g'^2;
p = p (1 - lr wd) - lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps).
"""

import math

import numpy as np

import terrazzo as tz
import terrazzo.language as tl

from . import arrays

BLOCK = 2048


@tz.jit
def adamw_kernel(p, g, m, v, n, grad_scale, b1, one_b1, b2, one_b2, root, eps, rate, keep, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    pi = tl.load(p + i, mask=inside, other=0.0).to(tl.float32)
    gi = tl.load(g + i, mask=inside, other=0.0).to(tl.float32) * grad_scale
    mi = b1 * tl.load(m + i, mask=inside, other=0.0) + one_b1 * gi
    vi = b2 * tl.load(v + i, mask=inside, other=0.0) + one_b2 * (gi * gi)
    pi = pi * keep - rate * mi / (tl.sqrt(vi) * root + eps)
    tl.store(p + i, pi.to(p.dtype.element_ty), mask=inside)
    tl.store(m + i, mi, mask=inside)
    tl.store(v + i, vi, mask=inside)


def adamw(p, g, m, v, *, step, lr, beta1=0.9, beta2=0.95, eps=1e-8, weight_decay=0.0, grad_scale=1.0):
    """Updates p, m and v in place; step counts from 1."""
    if step < 1:
        raise ValueError(f"'step': expected 1 or more, found {step}")
    arrays.check("p", p, dtypes=arrays.FLOATS)
    arrays.check("g", g, shape=p.shape, dtypes=arrays.FLOATS)
    for name, array in (("m", m), ("v", v)):
        arrays.check(name, array, shape=p.shape, dtypes=("float32",))
    for name, array in (("p", p), ("m", m), ("v", v)):
        if not arrays.is_contiguous(array):
            raise ValueError(f"'{name}': expected a contiguous array, found strides {list(arrays.strides(array))}")
    n = arrays.numel(p)
    adamw_kernel[(tz.cdiv(n, BLOCK),)](
        p,
        arrays.contiguous(g),
        m,
        v,
        n,
        float(grad_scale),
        beta1,
        1.0 - beta1,
        beta2,
        1.0 - beta2,
        1.0 / math.sqrt(1.0 - beta2**step),
        eps,
        lr / (1.0 - beta1**step),
        1.0 - lr * weight_decay,
        BLOCK=BLOCK,
    )


def reference(p, g, m, v, step, lr, beta1=0.9, beta2=0.95, eps=1e-8, weight_decay=0.0, grad_scale=1.0):
    """(p, m, v) after the update, in fp64."""
    p, g, m, v = (np.asarray(a, np.float64) for a in (p, g, m, v))
    g = g * grad_scale
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    p = p - lr * weight_decay * p
    return p - lr * (m / (1 - beta1**step)) / (np.sqrt(v / (1 - beta2**step)) + eps), m, v
