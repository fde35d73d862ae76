# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rotary position embedding (Su et al. 2021), half-split: (x1, x2) -> (x1 cos - x2 sin, x2 cos + x1 sin).

x: [B, H, T, D], D even, any strides but 1 for the last axis; x1 and x2 are the halves of the last axis.
cos, sin: [T, D / 2]. The result has x's memory order. The gradient is the rotation by the opposite angle.
"""

import numpy as np

import terrazzo as tz
import terrazzo.language as tl

from . import arrays


@tz.jit
def rope_kernel(
    x, cos, sin, y, H, T, sxb, sxh, sxt, syb, syh, syt,
    HALF: tl.constexpr, BT: tl.constexpr, BACKWARD: tl.constexpr
):  # fmt: skip
    bh = tl.program_id(1).to(tl.int64)
    b = bh // H
    h = bh % H
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    d = tl.arange(0, HALF)
    live = (t < T)[:, None]
    angle = t[:, None] * HALF + d[None, :]
    c = tl.load(cos + angle, mask=live, other=0.0).to(tl.float32)
    s = tl.load(sin + angle, mask=live, other=0.0).to(tl.float32)
    if BACKWARD:
        s = -s
    at = x + b * sxb + h * sxh + t.to(tl.int64)[:, None] * sxt + d[None, :]
    x1 = tl.load(at, mask=live, other=0.0).to(tl.float32)
    x2 = tl.load(at + HALF, mask=live, other=0.0).to(tl.float32)
    to = y + b * syb + h * syh + t.to(tl.int64)[:, None] * syt + d[None, :]
    tl.store(to, (x1 * c - x2 * s).to(y.dtype.element_ty), mask=live)
    tl.store(to + HALF, (x2 * c + x1 * s).to(y.dtype.element_ty), mask=live)


def rotate(x, cos, sin, backward=False):
    """x rotated by the angles of its positions, or back."""
    arrays.check("x", x, rank=4, dtypes=arrays.FLOATS)
    B, H, T, D = x.shape
    if D % 2:
        raise ValueError(f"'x': expected an even last extent, found shape {list(x.shape)}")
    for name, table in (("cos", cos), ("sin", sin)):
        arrays.check(name, table, shape=(T, D // 2), dtypes=arrays.FLOATS)
    x = arrays.dense_rows(x)
    y = arrays.empty_rows_like(x)
    block = max(1, min(64, 2048 // D))
    rope_kernel[(tz.cdiv(T, block), B * H)](
        x,
        arrays.contiguous(cos),
        arrays.contiguous(sin),
        y,
        H,
        T,
        *arrays.strides(x)[:3],
        *arrays.strides(y)[:3],
        HALF=D // 2,
        BT=block,
        BACKWARD=backward,
    )
    return y


def rope(q, k, cos, sin):
    """(q, k), both rotated; their head counts may differ."""
    return rotate(q, cos, sin), rotate(k, cos, sin)


def rope_backward(dq, dk, cos, sin):
    """(dq, dk) with respect to the unrotated q and k."""
    return rotate(dq, cos, sin, backward=True), rotate(dk, cos, sin, backward=True)


def reference(x, cos, sin):
    """One tensor, rotated in fp64."""
    x, cos, sin = (np.asarray(a, np.float64) for a in (x, cos, sin))
    x1, x2 = np.split(x, 2, axis=-1)
    return np.concatenate([x1 * cos - x2 * sin, x2 * cos + x1 * sin], axis=-1)
