# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The selective scan of Mamba-1 (Gu and Dao 2023), forward and backward.

    dt = softplus(delta + delta_bias)          (or delta as it is)
    h[t] = exp(dt[t] A) h[t-1] + dt[t] u[t] B[t],   y[t] = C[t] . h[t] + D u[t],   out = y silu(z)

u, delta, z, out: [Bt, L, E]; A: [E, N]; B, C: [Bt, L, N]; D, delta_bias: [E]; states in fp32. Time is walked in chunks
by tl.recurrence with the state of a block of channels in the carry; the state at the start of each chunk is saved, and
the backward pass recomputes a chunk's states from it before it walks the chunk from its end. Sums over channels and
batch go through partial results of fixed order, so gradients are deterministic.
"""

import numpy as np

import terrazzo as tz
import terrazzo.language as tl

from . import arrays, reductions

BLOCK_E, BLOCK_L = 16, 32
LOG2E = tl.constexpr(1.4426950408889634)


@tz.jit
def softplus(x):
    return tl.where(x > 20.0, x, tl.log(1.0 + tl.exp(x)))


@tz.jit
def load_chunk(p, b, t, e, L, E):
    """Steps t [BL] of channels e [BE] in fp32, 0 outside."""
    mask = (t < L)[:, None] & (e < E)[None, :]
    return tl.load(p + (b * L + t)[:, None] * E + e[None, :], mask=mask, other=0.0).to(tl.float32)


@tz.jit
def time_step(delta, delta_bias, b, t, e, L, E, SOFTPLUS: tl.constexpr):
    """(dt, its argument) of a chunk; dt is 0 behind the end, where the state must stay."""
    x = load_chunk(delta, b, t, e, L, E)
    if delta_bias is not None:
        x += tl.load(delta_bias + e, mask=e < E, other=0.0).to(tl.float32)[None, :]
    dt = softplus(x) if SOFTPLUS else x
    return tl.where((t < L)[:, None], dt, 0.0), x


@tz.jit
def forward_step(carry, now):
    h, a = carry
    dt, du, bt, ct = now
    h = tl.exp2(dt[:, None] * a) * h + du[:, None] * bt[None, :]
    return (h, a), tl.sum(h * ct[None, :], 1)


@tz.jit
def scan_forward_kernel(
    u, delta, A, B, C, D, z, delta_bias, out, states, last, L, E,
    N: tl.constexpr, BL: tl.constexpr, BE: tl.constexpr, SOFTPLUS: tl.constexpr,
):  # fmt: skip
    b = tl.program_id(1).to(tl.int64)
    e = tl.program_id(0) * BE + tl.arange(0, BE)
    n = tl.arange(0, N)
    en = e[:, None] * N + n[None, :]
    inside = e[:, None] < E
    a = tl.load(A + en, mask=inside, other=0.0).to(tl.float32) * LOG2E
    h = tl.zeros((BE, N), tl.float32)
    chunks = tl.cdiv(L, BL)
    for chunk in range(0, chunks):
        t = chunk * BL + tl.arange(0, BL)
        tl.store(states + ((b * chunks + chunk) * E) * N + en, h, mask=inside)
        ut = load_chunk(u, b, t, e, L, E)
        dt, _ = time_step(delta, delta_bias, b, t, e, L, E, SOFTPLUS)
        bt = load_chunk(B, b, t, n, L, N)
        ct = load_chunk(C, b, t, n, L, N)
        (h, a), y = tl.recurrence(forward_step, (h, a), (dt, dt * ut, bt, ct))
        if D is not None:
            y += ut * tl.load(D + e, mask=e < E, other=0.0).to(tl.float32)[None, :]
        if z is not None:
            zt = load_chunk(z, b, t, e, L, E)
            y = y * zt * tl.sigmoid(zt)
        mask = (t < L)[:, None] & (e < E)[None, :]
        tl.store(out + (b * L + t)[:, None] * E + e[None, :], y.to(out.dtype.element_ty), mask=mask)
    tl.store(last + b * E * N + en, h, mask=inside)


@tz.jit
def replay_step(carry, now):
    h, a = carry
    dt, du, bt = now
    return (tl.exp2(dt[:, None] * a) * h + du[:, None] * bt[None, :], a), h


@tz.jit
def backward_step(carry, now):
    dh, dA, a = carry
    before, dt, ut, bt, ct, dy = now
    decay = tl.exp2(dt[:, None] * a)
    h = decay * before + (dt * ut)[:, None] * bt[None, :]
    dh = dh + dy[:, None] * ct[None, :]
    through = dh * before * decay
    du = tl.sum(dh * bt[None, :], 1)
    ddt = du * ut + tl.sum(through * a, 1) / LOG2E
    outs = (du * dt, ddt, tl.sum(dh * (dt * ut)[:, None], 0), tl.sum(dy[:, None] * h, 0), tl.sum(h * ct[None, :], 1))
    return (dh * decay, dA + through * dt[:, None], a), outs


@tz.jit
def scan_backward_kernel(
    dout, u, delta, A, B, C, D, z, delta_bias, states, du, ddelta, dA, dB, dC, dD, dz, dbias, L, E, rows,
    N: tl.constexpr, BL: tl.constexpr, BE: tl.constexpr, SOFTPLUS: tl.constexpr,
):  # fmt: skip
    b = tl.program_id(1).to(tl.int64)
    e = tl.program_id(0) * BE + tl.arange(0, BE)
    n = tl.arange(0, N)
    en = e[:, None] * N + n[None, :]
    inside = e[:, None] < E
    a = tl.load(A + en, mask=inside, other=0.0).to(tl.float32) * LOG2E
    dh = tl.zeros((BE, N), tl.float32)
    dA_sum = tl.zeros((BE, N), tl.float32)
    dD_sum = tl.zeros((BE,), tl.float32)
    dbias_sum = tl.zeros((BE,), tl.float32)
    skip = tl.zeros((BE,), tl.float32)
    if D is not None:
        skip = tl.load(D + e, mask=e < E, other=0.0).to(tl.float32)
    chunks = tl.cdiv(L, BL)
    for step in range(0, chunks):
        chunk = chunks - 1 - step
        t = chunk * BL + tl.arange(0, BL)
        at = (b * L + t)[:, None] * E + e[None, :]
        mask = (t < L)[:, None] & (e < E)[None, :]
        ut = load_chunk(u, b, t, e, L, E)
        dt, raw = time_step(delta, delta_bias, b, t, e, L, E, SOFTPLUS)
        bt = load_chunk(B, b, t, n, L, N)
        ct = load_chunk(C, b, t, n, L, N)
        dy = load_chunk(dout, b, t, e, L, E)
        g, zt, s = dy, dy, dy
        if z is not None:
            zt = load_chunk(z, b, t, e, L, E)
            s = tl.sigmoid(zt)
            dy = g * zt * s
        h = tl.load(states + ((b * chunks + chunk) * E) * N + en, mask=inside, other=0.0)
        _, before = tl.recurrence(replay_step, (h, a), (dt, dt * ut, bt))
        (dh, dA_sum, a), outs = tl.recurrence(
            backward_step, (dh, dA_sum, a), (before, dt, ut, bt, ct, dy), reverse=True
        )
        du_t, ddt, dB_t, dC_t, y = outs
        if z is not None:
            tl.store(
                dz + at, (g * (y + ut * skip[None, :]) * s * (1.0 + zt * (1.0 - s))).to(dz.dtype.element_ty), mask=mask
            )
        tl.store(du + at, (du_t + dy * skip[None, :]).to(du.dtype.element_ty), mask=mask)
        if SOFTPLUS:
            ddt = ddt * tl.sigmoid(raw)
        tl.store(ddelta + at, ddt.to(ddelta.dtype.element_ty), mask=mask)
        dD_sum += tl.sum(dy * ut, 0)
        dbias_sum += tl.sum(tl.where(mask, ddt, 0.0), 0)
        ln = tl.program_id(0).to(tl.int64) * rows * N + (b * L + t)[:, None] * N + n[None, :]
        tl.store(dB + ln, dB_t, mask=(t < L)[:, None])
        tl.store(dC + ln, dC_t, mask=(t < L)[:, None])
    tl.store(dA + b * E * N + en, dA_sum, mask=inside)
    tl.store(dD + b * E + e, dD_sum, mask=e < E)
    tl.store(dbias + b * E + e, dbias_sum, mask=e < E)


def _checked(u, delta, A, B, C, D, z, delta_bias):
    arrays.check("u", u, rank=3, dtypes=arrays.FLOATS)
    batch, length, e = u.shape
    arrays.check("delta", delta, shape=(batch, length, e), dtypes=arrays.FLOATS)
    arrays.check("A", A, shape=(e, None), dtypes=arrays.FLOATS)
    n = A.shape[1]
    for name, value in (("B", B), ("C", C)):
        arrays.check(name, value, shape=(batch, length, n), dtypes=arrays.FLOATS)
    for name, value, shape in (("D", D, (e,)), ("z", z, (batch, length, e)), ("delta_bias", delta_bias, (e,))):
        if value is not None:
            arrays.check(name, value, shape=shape, dtypes=arrays.FLOATS)


def selective_scan_forward(
    u, delta, A, B, C, D=None, z=None, delta_bias=None, delta_softplus=False, return_last_state=False
):
    """(out, saved), or with return_last_state (out, saved, h[L] as [Bt, E, N] fp32). ValueErrors name the argument."""
    _checked(u, delta, A, B, C, D, z, delta_bias)
    inputs = [None if x is None else arrays.contiguous(x) for x in (u, delta, A, B, C, D, z, delta_bias)]
    batch, length, e = u.shape
    n = A.shape[1]
    out = arrays.empty((batch, length, e), like=u)
    states = arrays.empty((batch, max(1, tz.cdiv(length, BLOCK_L)), e, n), like=u, dtype="float32")
    last = arrays.empty((batch, e, n), like=u, dtype="float32")
    scan_forward_kernel[(tz.cdiv(e, BLOCK_E), batch)](
        *inputs, out, states, last, length, e, N=n, BL=BLOCK_L, BE=BLOCK_E, SOFTPLUS=bool(delta_softplus)
    )
    saved = (inputs, states, bool(delta_softplus))
    return (out, saved, last) if return_last_state else (out, saved)


def selective_scan_backward(dout, saved):
    """Gradients by name (u, delta, A, B, C, D, z, delta_bias; None for what was not given)."""
    inputs, states, delta_softplus = saved
    u, delta, A, B, C, D, z, delta_bias = inputs
    arrays.check("dout", dout, shape=tuple(u.shape), dtypes=arrays.FLOATS)
    dout = arrays.contiguous(dout)
    batch, length, e = u.shape
    n, blocks, rows = A.shape[1], tz.cdiv(e, BLOCK_E), batch * length

    def partial(*shape):
        return arrays.empty(shape, like=u, dtype="float32")

    du, ddelta = arrays.empty_like(u), arrays.empty_like(delta)
    dz = None if z is None else arrays.empty_like(z)
    dA, dD, dbias = partial(batch, e * n), partial(batch, e), partial(batch, e)
    dB, dC = partial(blocks, rows * n), partial(blocks, rows * n)
    scan_backward_kernel[(blocks, batch)](
        dout, *inputs, states, du, ddelta, dA, dB, dC, dD, dz, dbias, length, e, rows,
        N=n, BL=BLOCK_L, BE=BLOCK_E, SOFTPLUS=delta_softplus,
    )  # fmt: skip

    def total(parts, like):
        return None if like is None else arrays.cast(reductions.column_sums(parts), like).reshape(like.shape)

    return {
        "u": du, "delta": ddelta, "A": total(dA, A), "B": total(dB, B), "C": total(dC, C), "D": total(dD, D), "z": dz,
        "delta_bias": total(dbias, delta_bias),
    }  # fmt: skip


def reference(u, delta, A, B, C, D=None, z=None, delta_bias=None, delta_softplus=False):
    """(out, h[L]) in fp64."""
    u, delta, A, B, C = (np.asarray(x, np.float64) for x in (u, delta, A, B, C))
    dt = delta if delta_bias is None else delta + np.asarray(delta_bias, np.float64)
    dt = np.logaddexp(0, dt) if delta_softplus else dt
    h, y = np.zeros((u.shape[0], *A.shape)), np.empty(u.shape)
    for t in range(u.shape[1]):
        h = np.exp(dt[:, t, :, None] * A) * h + (dt[:, t] * u[:, t])[:, :, None] * B[:, t, None, :]
        y[:, t] = (h * C[:, t, None, :]).sum(-1)
    y = y if D is None else y + u * np.asarray(D, np.float64)
    if z is not None:
        z = np.asarray(z, np.float64)
        y = y * z / (1 + np.exp(-z))
    return y, h
