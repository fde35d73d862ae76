# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The selective scan of Mamba-1 (Gu and Dao 2023), forward and backward.

    dt = softplus(delta + delta_bias)          (or without softplus, or without bias)
    h[t] = exp(dt[t] A) h[t-1] + dt[t] u[t] B[t],   y[t] = C[t] . h[t] + D u[t],   out = y silu(z)

u, delta, z, out: [Bt, L, E]; A: [E, N]; B, C: [Bt, L, N], or [Bt, L, G, N] when each of G runs of E / G channels has
its own; D, delta_bias: [E]; the state h: [Bt, E, N], fp32 as all arithmetic. D, z and delta_bias are optional.

A program walks one block of channels through time, a chunk at a time, by tl.recurrence with the state in the carry.
The state at the start of each chunk is saved; the backward pass recomputes a chunk's states from it and then walks the
chunk from its end. Gradients that sum over channels or batch go through partial sums of fixed order: no atomics, the
same bits on every run.
"""

import numpy as np

import terrazzo as tz
import terrazzo.language as tl
from terrazzo.language.extra import libdevice

from . import arrays, reductions

BLOCK_E, BLOCK_L = 32, 32
PARTIALS = 16  # the most partial sums of dB and dC
LOG2E = tl.constexpr(1.4426950408889634)
LN2 = tl.constexpr(0.6931471805599453)


@tz.jit
def load_block(p, r, c, rows, columns, width):
    """Rows r and columns c from p on in fp32, rows being `width` apart; 0 from row `rows` and column `columns` on."""
    mask = (r < rows)[:, None] & (c < columns)[None, :]
    return tl.load(p + r[:, None] * width + c[None, :], mask=mask, other=0.0).to(tl.float32)


@tz.jit
def load_row(p, c, columns):
    """Columns c of p in fp32; 0 from column `columns` on, and when there is no p."""
    if p is None:
        return tl.zeros((c.shape[0],), tl.float32)
    return tl.load(p + c, mask=c < columns, other=0.0).to(tl.float32)


@tz.jit
def load_parameters(A, D, bias, first, c, n, columns, N: tl.constexpr):
    """A in base 2, delta_bias and D of the channels from `first` on."""
    inside = (c < columns)[:, None]
    a = tl.load(A + first * N + c[:, None] * N + n[None, :], mask=inside, other=0.0).to(tl.float32) * LOG2E
    shift = load_row(None if bias is None else bias + first, c, columns)
    return a, shift, load_row(None if D is None else D + first, c, columns)


@tz.jit
def time_step(x, r, rows, SOFTPLUS: tl.constexpr):
    """dt of the sum x of delta and its bias; 0 from row `rows` on, where the state must stay."""
    if SOFTPLUS:
        x = tl.where(x > 20.0, x, libdevice.log1p(tl.exp(x)))
    return tl.where((r < rows)[:, None], x, 0.0)


@tz.jit
def forward_step(carry, now):
    h, a = carry
    dt, du, bt, ct = now
    h = tl.exp2(dt[:, None] * a) * h + du[:, None] * bt[None, :]
    return (h, a), tl.sum(h * ct[None, :], 1)


@tz.jit
def scan_forward_kernel(
    u, delta, A, B, C, D, z, bias, out, states, last, L, E, G,
    N: tl.constexpr, BL: tl.constexpr, BE: tl.constexpr, SOFTPLUS: tl.constexpr,
):  # fmt: skip
    b, g = (tl.program_id(1) // G).to(tl.int64), tl.program_id(1) % G
    first, columns = g * (E // G) + tl.program_id(0) * BE, E // G - tl.program_id(0) * BE
    r, c, n = tl.arange(0, BL), tl.arange(0, BE), tl.arange(0, N)
    cn = c[:, None] * N + n[None, :]
    inside = (c < columns)[:, None]
    a, shift, skip = load_parameters(A, D, bias, first, c, n, columns, N)
    h = tl.zeros((BE, N), tl.float32)
    chunks = tl.cdiv(L, BL)
    for chunk in range(0, chunks):
        rows = L - chunk * BL
        here = (b * L + chunk * BL) * E + first
        group = ((b * L + chunk * BL) * G + g) * N
        tl.store(states + ((b * chunks + chunk) * E + first) * N + cn, h, mask=inside)
        ut = load_block(u + here, r, c, rows, columns, E)
        dt = time_step(load_block(delta + here, r, c, rows, columns, E) + shift[None, :], r, rows, SOFTPLUS)
        bt = load_block(B + group, r, n, rows, N, G * N)
        ct = load_block(C + group, r, n, rows, N, G * N)
        (h, a), y = tl.recurrence(forward_step, (h, a), (dt, dt * ut, bt, ct))
        y += ut * skip[None, :]
        if z is not None:
            zt = load_block(z + here, r, c, rows, columns, E)
            y = y * zt * tl.sigmoid(zt)
        mask = (r < rows)[:, None] & (c < columns)[None, :]
        tl.store(out + here + r[:, None] * E + c[None, :], y.to(out.dtype.element_ty), mask=mask)
    tl.store(last + (b * E + first) * N + cn, h, mask=inside)


@tz.jit
def replay_step(carry, now):
    h, a = carry
    dt, du, bt = now
    return (tl.exp2(dt[:, None] * a) * h + du[:, None] * bt[None, :], a), h


@tz.jit
def backward_step(carry, now):
    dh, dA, a = carry
    before, dt, ut, bt, ct, dy = now
    du = dt * ut
    decay = tl.exp2(dt[:, None] * a)
    h = decay * before + du[:, None] * bt[None, :]
    dh = dh + dy[:, None] * ct[None, :]
    through = dh * before * decay
    along = tl.sum(dh * bt[None, :], 1)
    ddt = along * ut + tl.sum(through * a, 1) * LN2
    outs = (along * dt, ddt, tl.sum(dh * du[:, None], 0), tl.sum(dy[:, None] * h, 0), tl.sum(h * ct[None, :], 1))
    return (dh * decay, dA + through * dt[:, None], a), outs


@tz.jit
def scan_backward_kernel(
    dout, u, delta, A, B, C, D, z, bias, states, du, ddelta, dA, dB, dC, dD, dz, dbias, Bt, L, E, G,
    N: tl.constexpr, BL: tl.constexpr, BE: tl.constexpr, SOFTPLUS: tl.constexpr,
):  # fmt: skip
    """Program p takes the blocks p, p + P, ... of a group's channels and adds them up in its own slice of dB and dC."""
    b, g = (tl.program_id(1) // G).to(tl.int64), tl.program_id(1) % G
    r, c, n = tl.arange(0, BL), tl.arange(0, BE), tl.arange(0, N)
    cn = c[:, None] * N + n[None, :]
    chunks = tl.cdiv(L, BL)
    for block in range(tl.program_id(0), tl.cdiv(E // G, BE), tl.num_programs(0)):
        first, columns = g * (E // G) + block * BE, E // G - block * BE
        inside = (c < columns)[:, None]
        a, shift, skip = load_parameters(A, D, bias, first, c, n, columns, N)
        dh = tl.zeros((BE, N), tl.float32)
        dA_sum = tl.zeros((BE, N), tl.float32)
        dD_sum = tl.zeros((BE,), tl.float32)
        dbias_sum = tl.zeros((BE,), tl.float32)
        for step in range(0, chunks):
            chunk = chunks - 1 - step
            rows = L - chunk * BL
            here = (b * L + chunk * BL) * E + first
            group = ((b * L + chunk * BL) * G + g) * N
            ut = load_block(u + here, r, c, rows, columns, E)
            raw = load_block(delta + here, r, c, rows, columns, E) + shift[None, :]
            dt = time_step(raw, r, rows, SOFTPLUS)
            bt = load_block(B + group, r, n, rows, N, G * N)
            ct = load_block(C + group, r, n, rows, N, G * N)
            h = tl.load(states + ((b * chunks + chunk) * E + first) * N + cn, mask=inside, other=0.0)
            _, before = tl.recurrence(replay_step, (h, a), (dt, dt * ut, bt))
            dy = load_block(dout + here, r, c, rows, columns, E)
            if z is not None:
                do, zt = dy, load_block(z + here, r, c, rows, columns, E)
                s = tl.sigmoid(zt)
                dy = do * zt * s
            (dh, dA_sum, a), outs = tl.recurrence(
                backward_step, (dh, dA_sum, a), (before, dt, ut, bt, ct, dy), reverse=True
            )
            du_t, ddt, dB_t, dC_t, y = outs
            at = r[:, None] * E + c[None, :]
            mask = (r < rows)[:, None] & (c < columns)[None, :]
            if z is not None:
                dz_t = do * (y + ut * skip[None, :]) * s * (1.0 + zt * (1.0 - s))
                tl.store(dz + here + at, dz_t.to(dz.dtype.element_ty), mask=mask)
            if SOFTPLUS:
                ddt = ddt * tl.sigmoid(raw)
            tl.store(du + here + at, (du_t + dy * skip[None, :]).to(du.dtype.element_ty), mask=mask)
            tl.store(ddelta + here + at, ddt.to(ddelta.dtype.element_ty), mask=mask)
            dD_sum += tl.sum(dy * ut, 0)
            dbias_sum += tl.sum(ddt, 0)
            mine = tl.program_id(0).to(tl.int64) * Bt * L * G * N + group
            at = r[:, None] * (G * N) + n[None, :]
            live = (r < rows)[:, None]
            if block != tl.program_id(0):
                dB_t += tl.load(dB + mine + at, mask=live, other=0.0)
                dC_t += tl.load(dC + mine + at, mask=live, other=0.0)
            tl.store(dB + mine + at, dB_t, mask=live)
            tl.store(dC + mine + at, dC_t, mask=live)
        tl.store(dA + (b * E + first) * N + cn, dA_sum, mask=inside)
        tl.store(dD + b * E + first + c, dD_sum, mask=c < columns)
        tl.store(dbias + b * E + first + c, dbias_sum, mask=c < columns)


def _inputs(u, delta, A, B, C, D, z, delta_bias):
    """The operands, contiguous, and the number of groups; raises ValueError naming the argument."""
    arrays.check("u", u, rank=3, dtypes=arrays.FLOATS)
    batch, length, e = u.shape
    arrays.check("A", A, shape=(e, None), dtypes=arrays.FLOATS)
    grouped = len(B.shape) == 4
    shape = (batch, length, *((None,) if grouped else ()), A.shape[1])
    arrays.check("B", B, shape=shape, dtypes=arrays.FLOATS)
    arrays.check("C", C, shape=tuple(B.shape), dtypes=arrays.FLOATS)
    groups = B.shape[2] if grouped else 1
    if not groups or e % groups:
        raise ValueError(f"'B': expected a number of groups that divides {e} channels, found {groups}")
    optional = (("delta", delta, (batch, length, e)), ("D", D, (e,)), ("z", z, (batch, length, e)),
                ("delta_bias", delta_bias, (e,)))  # fmt: skip
    for name, value, shape in optional:
        if value is not None or name == "delta":
            arrays.check(name, value, shape=shape, dtypes=arrays.FLOATS)
    return [None if x is None else arrays.contiguous(x) for x in (u, delta, A, B, C, D, z, delta_bias)], groups


def selective_scan_forward(u, delta, A, B, C, D=None, z=None, delta_bias=None, delta_softplus=False, out=None):
    """(out, last, states): last is h[L], states what the backward pass needs. ValueErrors name the argument."""
    inputs, groups = _inputs(u, delta, A, B, C, D, z, delta_bias)
    (batch, length, e), n = u.shape, A.shape[1]
    out = arrays.output(out, u)
    states = arrays.empty((batch, tz.cdiv(length, BLOCK_L), e, n), u, "float32")
    last = arrays.empty((batch, e, n), u, "float32")
    scan_forward_kernel[(tz.cdiv(e // groups, BLOCK_E), batch * groups)](
        *inputs, out, states, last, length, e, groups, N=n, BL=BLOCK_L, BE=BLOCK_E, SOFTPLUS=bool(delta_softplus)
    )
    return out, last, states


def selective_scan_backward(
    dout, states, u, delta, A, B, C, D=None, z=None, delta_bias=None, delta_softplus=False
):  # fmt: skip
    """(du, ddelta, dA, dB, dC, dD, dz, ddelta_bias), None for what is not given; the state h[L] has no gradient."""
    inputs, groups = _inputs(u, delta, A, B, C, D, z, delta_bias)
    arrays.check("dout", dout, shape=tuple(u.shape), dtypes=arrays.FLOATS)
    (batch, length, e), n = u.shape, A.shape[1]
    programs = min(PARTIALS, tz.cdiv(e // groups, BLOCK_E))

    def partial(*shape):
        return arrays.empty(shape, u, "float32")

    du, ddelta = arrays.empty(u.shape, u), arrays.empty(u.shape, delta)
    dz = None if z is None else arrays.empty(u.shape, z)
    dA, dD, dbias = partial(batch, e * n), partial(batch, e), partial(batch, e)
    dB, dC = (partial(programs, batch * length * groups * n) for _ in range(2))
    scan_backward_kernel[(programs, batch * groups)](
        arrays.contiguous(dout), *inputs, states, du, ddelta, dA, dB, dC, dD, dz, dbias, batch, length, e, groups,
        N=n, BL=BLOCK_L, BE=BLOCK_E, SOFTPLUS=bool(delta_softplus),
    )  # fmt: skip
    sums = (
        None if like is None else reductions.sum_partials(parts, like.dtype).reshape(like.shape)
        for parts, like in ((dA, A), (dB, B), (dC, C), (dD, D), (dbias, delta_bias))
    )
    dA, dB, dC, dD, dbias = sums
    return du, ddelta, dA, dB, dC, dD, dz, dbias


def selective_scan(
    u, delta, A, B, C, D=None, z=None, delta_bias=None, delta_softplus=False, return_last_state=False, out=None
):  # fmt: skip
    """out, or with return_last_state (out, h[L])."""
    out, last, _ = selective_scan_forward(u, delta, A, B, C, D, z, delta_bias, delta_softplus, out)
    return (out, last) if return_last_state else out


def reference(u, delta, A, B, C, D=None, z=None, delta_bias=None, delta_softplus=False):
    """(out, h[L]) in fp64."""
    u, delta, A, B, C = (np.asarray(x, np.float64) for x in (u, delta, A, B, C))
    B, C = (np.repeat(x, u.shape[2] // x.shape[2], 2) if x.ndim == 4 else x[:, :, None, :] for x in (B, C))
    dt = delta if delta_bias is None else delta + np.asarray(delta_bias, np.float64)
    dt = np.logaddexp(0, dt) if delta_softplus else dt
    h, y = np.zeros((u.shape[0], *A.shape)), np.empty(u.shape)
    for t in range(u.shape[1]):
        h = np.exp(dt[:, t, :, None] * A) * h + (dt[:, t] * u[:, t])[:, :, None] * B[:, t]
        y[:, t] = (h * C[:, t]).sum(-1)
    y = y if D is None else y + u * np.asarray(D, np.float64)
    if z is not None:
        z = np.asarray(z, np.float64)
        y = y * z / (1 + np.exp(-z))
    return y, h
