# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Causal depthwise convolution along time, y[t] = act(bias + sum_i w[i] x[t - W + 1 + i]), with SiLU or nothing.

x, y: [Bt, L, E]; w: [E, W] with W in 2..4; bias: [E]. It is the short convolution of Mamba (Gu and Dao 2023). Backward:
dx gathers the W later steps; dw and dbias are summed over time inside one program a batch and block of channels, then
over the batch, so the results are deterministic.
"""

import numpy as np

import terrazzo as tz
import terrazzo.language as tl

from . import arrays, reductions

BLOCK_L, BLOCK_E = 64, 64


@tz.jit
def pre_activation(x, w, bias, b, t, e, L, E, W: tl.constexpr):
    """The sum before the activation at steps t [BL] and channels e [BE]; zero outside of [0, L)."""
    inside = (t >= 0) & (t < L)
    acc = tl.zeros((t.shape[0], e.shape[0]), tl.float32)
    if bias is not None:
        acc += tl.load(bias + e, mask=e < E, other=0.0).to(tl.float32)[None, :]
    for i in tl.static_range(W):
        p = t + (i - (W - 1))
        mask = ((p >= 0) & inside)[:, None] & (e < E)[None, :]
        xv = tl.load(x + (b * L + p)[:, None] * E + e[None, :], mask=mask, other=0.0).to(tl.float32)
        acc += xv * tl.load(w + e * W + i, mask=e < E, other=0.0).to(tl.float32)[None, :]
    return acc


@tz.jit
def conv1d_kernel(x, w, bias, y, L, E, W: tl.constexpr, SILU: tl.constexpr, BL: tl.constexpr, BE: tl.constexpr):
    b = tl.program_id(2).to(tl.int64)
    e = tl.program_id(0) * BE + tl.arange(0, BE)
    t = tl.program_id(1) * BL + tl.arange(0, BL)
    acc = pre_activation(x, w, bias, b, t, e, L, E, W)
    if SILU:
        acc = acc * tl.sigmoid(acc)
    tl.store(
        y + (b * L + t)[:, None] * E + e[None, :], acc.to(y.dtype.element_ty), mask=(t < L)[:, None] & (e < E)[None, :]
    )


@tz.jit
def conv1d_dz_kernel(dy, x, w, bias, dz, L, E, W: tl.constexpr, SILU: tl.constexpr, BL: tl.constexpr, BE: tl.constexpr):
    """dz, the gradient before the activation, in fp32."""
    b = tl.program_id(2).to(tl.int64)
    e = tl.program_id(0) * BE + tl.arange(0, BE)
    t = tl.program_id(1) * BL + tl.arange(0, BL)
    mask = (t < L)[:, None] & (e < E)[None, :]
    at = (b * L + t)[:, None] * E + e[None, :]
    g = tl.load(dy + at, mask=mask, other=0.0).to(tl.float32)
    if SILU:
        z = pre_activation(x, w, bias, b, t, e, L, E, W)
        s = tl.sigmoid(z)
        g = g * s * (1.0 + z * (1.0 - s))
    tl.store(dz + at, g, mask=mask)


@tz.jit
def conv1d_dx_kernel(dz, w, dx, L, E, W: tl.constexpr, BL: tl.constexpr, BE: tl.constexpr):
    b = tl.program_id(2).to(tl.int64)
    e = tl.program_id(0) * BE + tl.arange(0, BE)
    t = tl.program_id(1) * BL + tl.arange(0, BL)
    acc = tl.zeros((BL, BE), tl.float32)
    for i in tl.static_range(W):
        p = t + (W - 1 - i)
        g = tl.load(dz + (b * L + p)[:, None] * E + e[None, :], mask=(p < L)[:, None] & (e < E)[None, :], other=0.0)
        acc += g * tl.load(w + e * W + i, mask=e < E, other=0.0).to(tl.float32)[None, :]
    tl.store(
        dx + (b * L + t)[:, None] * E + e[None, :],
        acc.to(dx.dtype.element_ty),
        mask=(t < L)[:, None] & (e < E)[None, :],
    )


@tz.jit
def conv1d_dw_kernel(dz, x, dw, L, E, W: tl.constexpr, BL: tl.constexpr, BE: tl.constexpr):
    """dw[b, i, e]: the sum over time of dz[t] x[t - W + 1 + i]; i == W is the bias, where x counts as 1."""
    b = tl.program_id(1).to(tl.int64)
    i = tl.program_id(2)
    e = tl.program_id(0) * BE + tl.arange(0, BE)
    acc = tl.zeros((BE,), tl.float32)
    for start in range(0, L, BL):
        t = start + tl.arange(0, BL)
        p = t + (i - (W - 1))
        g = tl.load(dz + (b * L + t)[:, None] * E + e[None, :], mask=(t < L)[:, None] & (e < E)[None, :], other=0.0)
        if i < W:
            mask = ((p >= 0) & (t < L))[:, None] & (e < E)[None, :]
            g = g * tl.load(x + (b * L + p)[:, None] * E + e[None, :], mask=mask, other=0.0).to(tl.float32)
        acc += tl.sum(g, 0)
    tl.store(dw + (b * (W + 1) + i) * E + e, acc, mask=e < E)


def _checked(x, w, bias, activation):
    arrays.check("x", x, rank=3, dtypes=arrays.FLOATS)
    arrays.check("w", w, shape=(x.shape[2], None), dtypes=arrays.FLOATS)
    if not 2 <= w.shape[1] <= 4:
        raise ValueError(f"'w': expected a width of 2 to 4, found {w.shape[1]}")
    if bias is not None:
        arrays.check("bias", bias, shape=(x.shape[2],), dtypes=arrays.FLOATS)
    if activation not in (None, "silu"):
        raise ValueError(f"'activation': expected None or 'silu', found {activation!r}")


def _grid(batch, length, channels):
    return (tz.cdiv(channels, BLOCK_E), tz.cdiv(length, BLOCK_L), batch)


def conv1d_forward(x, w, bias, activation):
    """y; raises ValueError naming the argument."""
    _checked(x, w, bias, activation)
    x, w = arrays.contiguous(x), arrays.contiguous(w)
    b, length, e = x.shape
    y = arrays.empty_like(x)
    conv1d_kernel[_grid(b, length, e)](
        x, w, bias, y, length, e, W=w.shape[1], SILU=activation == "silu", BL=BLOCK_L, BE=BLOCK_E
    )
    return y


def conv1d_backward(dy, x, w, bias, activation):
    """(dx, dw, dbias), dbias None without a bias."""
    _checked(x, w, bias, activation)
    arrays.check("dy", dy, shape=tuple(x.shape), dtypes=arrays.FLOATS)
    dy, x, w = arrays.contiguous(dy), arrays.contiguous(x), arrays.contiguous(w)
    b, length, e = x.shape
    width = w.shape[1]
    blocks = {"BL": BLOCK_L, "BE": BLOCK_E}
    dz = arrays.empty((b, length, e), like=x, dtype="float32")
    dx = arrays.empty_like(x)
    sums = arrays.empty((b, (width + 1) * e), like=x, dtype="float32")
    conv1d_dz_kernel[_grid(b, length, e)](dy, x, w, bias, dz, length, e, W=width, SILU=activation == "silu", **blocks)
    conv1d_dx_kernel[_grid(b, length, e)](dz, w, dx, length, e, W=width, **blocks)
    conv1d_dw_kernel[(tz.cdiv(e, BLOCK_E), b, width + 1)](dz, x, sums, length, e, W=width, **blocks)
    total = reductions.column_sums(sums).reshape(width + 1, e)
    dw = arrays.contiguous(total[:width].T)
    return dx, arrays.cast(dw, w), None if bias is None else arrays.cast(total[width], bias)


def reference(x, w, bias=None, activation=None):
    """y in fp64."""
    x, w = np.asarray(x, np.float64), np.asarray(w, np.float64)
    padded = np.concatenate([np.zeros((x.shape[0], w.shape[1] - 1, x.shape[2])), x], 1)
    y = sum(padded[:, i : i + x.shape[1]] * w[:, i] for i in range(w.shape[1]))
    y = y if bias is None else y + np.asarray(bias, np.float64)
    return y / (1 + np.exp(-y)) if activation == "silu" else y
