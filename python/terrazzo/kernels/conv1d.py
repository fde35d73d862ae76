# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Causal depthwise convolution along time, y[t] = act(bias + sum_i w[i] x[t - W + 1 + i]), with SiLU or nothing.

x, y: [Bt, L, E]; w: [E, W] with W in 2..4; bias: [E] or None; arithmetic in fp32. It is the short convolution of Mamba
(Gu and Dao 2023). Backward: dz, the gradient before the activation, goes to memory; dx gathers it from the W steps that
saw x[t]; each block of time leaves its sums for dw and dbias, which are added up in fixed order: the same bits on every
run.
"""

import numpy as np

import terrazzo as tz
import terrazzo.language as tl

from . import arrays, reductions

BLOCK_L, BLOCK_E = 64, 64


@tz.jit
def load_steps(x, b, t, e, L, E):
    """Steps t and channels e of x [Bt, L, E] in fp32, 0 outside."""
    mask = ((t >= 0) & (t < L))[:, None] & (e < E)[None, :]
    return tl.load(x + (b * L + t)[:, None] * E + e[None, :], mask=mask, other=0.0).to(tl.float32)


@tz.jit
def load_tap(w, i, e, E, W: tl.constexpr):
    """Weight i of channels e as a row."""
    return tl.load(w + e * W + i, mask=e < E, other=0.0).to(tl.float32)[None, :]


@tz.jit
def load_taps(x, b, t, e, L, E, W: tl.constexpr):
    """What each weight meets at steps t: W tiles of x, the oldest first."""
    return [load_steps(x, b, t + (i - (W - 1)), e, L, E) for i in tl.static_range(W)]


@tz.jit
def pre_activation(taps, w, bias, e, E, W: tl.constexpr):
    """The sum before the activation."""
    acc = taps[0] * load_tap(w, 0, e, E, W)
    for i in tl.static_range(1, W):
        acc += taps[i] * load_tap(w, i, e, E, W)
    if bias is not None:
        acc += tl.load(bias + e, mask=e < E, other=0.0).to(tl.float32)[None, :]
    return acc


@tz.jit
def conv1d_kernel(x, w, bias, y, L, E, W: tl.constexpr, SILU: tl.constexpr, BL: tl.constexpr, BE: tl.constexpr):
    b = tl.program_id(2).to(tl.int64)
    t = tl.program_id(1) * BL + tl.arange(0, BL)
    e = tl.program_id(0) * BE + tl.arange(0, BE)
    acc = pre_activation(load_taps(x, b, t, e, L, E, W), w, bias, e, E, W)
    if SILU:
        acc = acc * tl.sigmoid(acc)
    mask = (t < L)[:, None] & (e < E)[None, :]
    tl.store(y + (b * L + t)[:, None] * E + e[None, :], acc.to(y.dtype.element_ty), mask=mask)


@tz.jit
def conv1d_dz_kernel(
    dy, x, w, bias, dz, partial, L, E,
    W: tl.constexpr, SILU: tl.constexpr, BL: tl.constexpr, BE: tl.constexpr,
):  # fmt: skip
    """dz, and the block's rows of partial [blocks, W + 1, E]: its sums for each tap of dw, and for dbias."""
    b = tl.program_id(2).to(tl.int64)
    t = tl.program_id(1) * BL + tl.arange(0, BL)
    e = tl.program_id(0) * BE + tl.arange(0, BE)
    taps = load_taps(x, b, t, e, L, E, W)
    g = load_steps(dy, b, t, e, L, E)
    if SILU:
        z = pre_activation(taps, w, bias, e, E, W)
        s = tl.sigmoid(z)
        g = g * s * (1.0 + z * (1.0 - s))
        tl.store(dz + (b * L + t)[:, None] * E + e[None, :], g, mask=(t < L)[:, None] & (e < E)[None, :])
    row = partial + (b * tl.num_programs(1) + tl.program_id(1)) * (W + 1) * E + e
    for i in tl.static_range(W):
        tl.store(row + i * E, tl.sum(g * taps[i], 0), mask=e < E)
    tl.store(row + W * E, tl.sum(g, 0), mask=e < E)


@tz.jit
def conv1d_dx_kernel(dz, w, dx, L, E, W: tl.constexpr, BL: tl.constexpr, BE: tl.constexpr):
    b = tl.program_id(2).to(tl.int64)
    t = tl.program_id(1) * BL + tl.arange(0, BL)
    e = tl.program_id(0) * BE + tl.arange(0, BE)
    acc = tl.zeros((BL, BE), tl.float32)
    for i in tl.static_range(W):
        acc += load_steps(dz, b, t + (W - 1 - i), e, L, E) * load_tap(w, i, e, E, W)
    mask = (t < L)[:, None] & (e < E)[None, :]
    tl.store(dx + (b * L + t)[:, None] * E + e[None, :], acc.to(dx.dtype.element_ty), mask=mask)


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


def conv1d_forward(x, w, bias=None, activation=None, out=None):
    """y, into `out` if given; activation is None or "silu". Raises ValueError naming the argument."""
    _checked(x, w, bias, activation)
    x, w, bias = (None if v is None else arrays.contiguous(v) for v in (x, w, bias))
    b, length, e = x.shape
    y = arrays.output(out, x)
    conv1d_kernel[_grid(b, length, e)](
        x, w, bias, y, length, e, W=w.shape[1], SILU=activation == "silu", BL=BLOCK_L, BE=BLOCK_E
    )
    return y


def conv1d_backward(dy, x, w, bias=None, activation=None):
    """(dx, dw, dbias), dbias None without a bias."""
    _checked(x, w, bias, activation)
    arrays.check("dy", dy, shape=tuple(x.shape), dtypes=arrays.FLOATS)
    dy, x, w, bias = (None if v is None else arrays.contiguous(v) for v in (dy, x, w, bias))
    (b, length, e), width = x.shape, w.shape[1]
    grid, blocks = _grid(b, length, e), {"W": width, "BL": BLOCK_L, "BE": BLOCK_E}
    silu = activation == "silu"
    dz = arrays.empty(x.shape, x, "float32") if silu else dy
    partial = arrays.empty((b * grid[1], (width + 1) * e), x, "float32")
    conv1d_dz_kernel[grid](dy, x, w, bias, dz, partial, length, e, SILU=silu, **blocks)
    dx = arrays.empty(x.shape, x)
    conv1d_dx_kernel[grid](dz, w, dx, length, e, **blocks)
    total = reductions.column_sums(partial).reshape(width + 1, e)
    dw = arrays.cast(arrays.contiguous(total[:width].T), w)
    return dx, dw, None if bias is None else arrays.cast(total[width], bias)


def reference(x, w, bias=None, activation=None):
    """y in fp64."""
    x, w = np.asarray(x, np.float64), np.asarray(w, np.float64)
    padded = np.concatenate([np.zeros((x.shape[0], w.shape[1] - 1, x.shape[2])), x], 1)
    y = sum(padded[:, i : i + x.shape[1]] * w[:, i] for i in range(w.shape[1]))
    y = y if bias is None else y + np.asarray(bias, np.float64)
    return y / (1 + np.exp(-y)) if activation == "silu" else y
