# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels of the comparison, in the language that the compilers share: one source, compiled by each.

`load("triton")` and `load("terrazzo")` give this module with the one or the other as its compiler, side by side.
"""

import importlib
import importlib.util
import types


def load(compiler: str) -> types.ModuleType:
    """This module, its kernels bound to the package `compiler`."""
    spec = importlib.util.spec_from_file_location(f"kernels_{compiler}", __file__)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    module.COMPILER = compiler
    spec.loader.exec_module(module)
    return module


COMPILER = globals().get("COMPILER", "terrazzo")
tz = importlib.import_module(COMPILER)
tl = importlib.import_module(f"{COMPILER}.language")


@tz.jit
def copy_kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.store(y + i, tl.load(x + i, mask=m), mask=m)


@tz.jit
def empty_kernel(x, y, n, a, b, BLOCK: tl.constexpr):
    pass


@tz.jit
def softmax_kernel(x, y, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + c, mask=c < n, other=-float("inf")).to(tl.float32)
    v = tl.exp(v - tl.max(v, 0))
    tl.store(y + row * stride + c, (v / tl.sum(v, 0)).to(y.dtype.element_ty), mask=c < n)


@tz.jit
def rmsnorm_kernel(x, w, y, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    m = c < n
    v = tl.load(x + row * n + c, mask=m, other=0.0).to(tl.float32)
    r = tl.rsqrt(tl.sum(v * v, 0) / n + eps)
    g = tl.load(w + c, mask=m).to(tl.float32)
    tl.store(y + row * n + c, (v * r * g).to(y.dtype.element_ty), mask=m)


@tz.jit
def cross_entropy_kernel(logits, labels, loss, stride, n, BLOCK: tl.constexpr):
    """The maximum and the sum of exponentials in one pass over the row (online softmax)."""
    row = tl.program_id(0).to(tl.int64)
    top = -float("inf")
    total = 0.0
    for start in range(0, n, BLOCK):
        c = start + tl.arange(0, BLOCK)
        v = tl.load(logits + row * stride + c, mask=c < n, other=-float("inf")).to(tl.float32)
        higher = tl.maximum(top, tl.max(v, 0))
        total = total * tl.exp(top - higher) + tl.sum(tl.exp(v - higher), 0)
        top = higher
    label = tl.load(labels + row)
    z = tl.load(logits + row * stride + label).to(tl.float32)
    tl.store(loss + row, top + tl.log(total) - z)


@tz.jit
def gelu(x):
    """By tanh, as the libraries' epilogues have it."""
    return x * tl.sigmoid(1.5957691216057308 * (x + 0.044715 * x * x * x))


@tz.jit
def matmul_kernel(
    a, b, c, bias, M, N, K, sam, sak, sbk, sbn, scm, scn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, GELU: tl.constexpr,
):  # fmt: skip
    """c = a b, with a bias for each column and GELU if they are asked for."""
    pid = tl.program_id(0)
    columns = tl.cdiv(N, BN)
    per_group = GROUP * columns
    first = (pid // per_group) * GROUP
    size = min(tl.cdiv(M, BM) - first, GROUP)
    pm = first + (pid % per_group) % size
    pn = (pid % per_group) // size
    rm = (pm * BM + tl.arange(0, BM)) % M
    rn = (pn * BN + tl.arange(0, BN)) % N
    rk = tl.arange(0, BK)
    pa = a + rm[:, None] * sam + rk[None, :] * sak
    pb = b + rk[:, None] * sbk + rn[None, :] * sbn
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        x = tl.load(pa, mask=rk[None, :] < K - k * BK, other=0.0)
        y = tl.load(pb, mask=rk[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(x, y, acc)
        pa += BK * sak
        pb += BK * sbk
    om = pm * BM + tl.arange(0, BM)
    on = pn * BN + tl.arange(0, BN)
    if bias is not None:
        acc += tl.load(bias + on, mask=on < N, other=0.0).to(tl.float32)[None, :]
    if GELU:
        acc = gelu(acc)
    pc = c + om[:, None] * scm + on[None, :] * scn
    tl.store(pc, acc.to(c.dtype.element_ty), mask=(om[:, None] < M) & (on[None, :] < N))


@tz.jit
def matmul_desc_kernel(
    a, b, c, bias, M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
    TURN_A: tl.constexpr, TURN_B: tl.constexpr, GELU: tl.constexpr,
):  # fmt: skip
    """The same by tensor descriptors: a, b and c are contiguous, or a and b transposes of what is."""
    pid = tl.program_id(0)
    columns = tl.cdiv(N, BN)
    per_group = GROUP * columns
    first = (pid // per_group) * GROUP
    size = min(tl.cdiv(M, BM) - first, GROUP)
    om = (first + (pid % per_group) % size) * BM
    on = ((pid % per_group) // size) * BN
    if TURN_A:
        da = tl.make_tensor_descriptor(a, [K, M], [M, 1], [BK, BM])
    else:
        da = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    if TURN_B:
        db = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    else:
        db = tl.make_tensor_descriptor(b, [K, N], [N, 1], [BK, BN])
    dc = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        x = tl.trans(da.load([k * BK, om])) if TURN_A else da.load([om, k * BK])
        y = tl.trans(db.load([on, k * BK])) if TURN_B else db.load([k * BK, on])
        acc = tl.dot(x, y, acc)
    if bias is not None:
        n = on + tl.arange(0, BN)
        acc += tl.load(bias + n, mask=n < N, other=0.0).to(tl.float32)[None, :]
    if GELU:
        acc = gelu(acc)
    dc.store([om, on], acc.to(c.dtype.element_ty))


@tz.jit
def attention_kernel(
    q, k, v, o, lse, scale, T,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """Flash attention, forward. q, k, v, o: [B, H, T, D], contiguous; lse: [B, H, T] (natural logarithm)."""
    pm = tl.program_id(0)
    head = tl.program_id(1).to(tl.int64)
    base = head * T * D
    om = pm * BM + tl.arange(0, BM)
    on = tl.arange(0, BN)
    d = tl.arange(0, D)
    qt = tl.load(q + base + om[:, None] * D + d[None, :])
    kp = k + base + on[None, :] * D + d[:, None]
    vp = v + base + on[:, None] * D + d[None, :]
    m = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    log2_scale = scale * 1.4426950408889634
    full = (pm * BM // BN) * BN if CAUSAL else T
    for start in range(0, full, BN):
        x = tl.dot(qt, tl.load(kp)) * log2_scale
        higher = tl.maximum(m, tl.max(x, 1))
        p = tl.exp2(x - higher[:, None])
        shrink = tl.exp2(m - higher)
        total = total * shrink + tl.sum(p, 1)
        acc = acc * shrink[:, None]
        acc = tl.dot(p.to(q.dtype.element_ty), tl.load(vp), acc)
        m = higher
        kp += BN * D
        vp += BN * D
    if CAUSAL:
        for start in range(full, (pm + 1) * BM, BN):
            x = tl.dot(qt, tl.load(kp)) * log2_scale
            x = tl.where(om[:, None] >= start + on[None, :], x, -float("inf"))
            higher = tl.maximum(m, tl.max(x, 1))
            p = tl.exp2(x - higher[:, None])
            shrink = tl.exp2(m - higher)
            total = total * shrink + tl.sum(p, 1)
            acc = acc * shrink[:, None]
            acc = tl.dot(p.to(q.dtype.element_ty), tl.load(vp), acc)
            m = higher
            kp += BN * D
            vp += BN * D
    tl.store(o + base + om[:, None] * D + d[None, :], (acc / total[:, None]).to(o.dtype.element_ty))
    tl.store(lse + head * T + om, (m + tl.log2(total)) * 0.6931471805599453)


@tz.jit
def _soften(x, m, total, acc):
    """A step of the online softmax: weights, and what is carried, rescaled."""
    higher = tl.maximum(m, tl.max(x, 1))
    p = tl.exp2(x - higher[:, None])
    shrink = tl.exp2(m - higher)
    return p, higher, total * shrink + tl.sum(p, 1), acc * shrink[:, None]


@tz.jit
def attention_desc_kernel(
    q, k, v, o, lse, scale, T, ROWS,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """The same by tensor descriptors of [ROWS, D]: ROWS = B * H * T."""
    pm = tl.program_id(0)
    first = tl.program_id(1) * T
    om = pm * BM + tl.arange(0, BM)
    on = tl.arange(0, BN)
    dq = tl.make_tensor_descriptor(q, [ROWS, D], [D, 1], [BM, D])
    dk = tl.make_tensor_descriptor(k, [ROWS, D], [D, 1], [BN, D])
    dv = tl.make_tensor_descriptor(v, [ROWS, D], [D, 1], [BN, D])
    do = tl.make_tensor_descriptor(o, [ROWS, D], [D, 1], [BM, D])
    qt = dq.load([first + pm * BM, 0])
    m = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    log2_scale = scale * 1.4426950408889634
    full = (pm * BM // BN) * BN if CAUSAL else T
    for start in range(0, full, BN):
        x = tl.dot(qt, dk.load([first + start, 0]).T) * log2_scale
        p, m, total, acc = _soften(x, m, total, acc)
        acc = tl.dot(p.to(q.dtype.element_ty), dv.load([first + start, 0]), acc)
    if CAUSAL:
        for start in range(full, (pm + 1) * BM, BN):
            x = tl.dot(qt, dk.load([first + start, 0]).T) * log2_scale
            x = tl.where(om[:, None] >= start + on[None, :], x, -float("inf"))
            p, m, total, acc = _soften(x, m, total, acc)
            acc = tl.dot(p.to(q.dtype.element_ty), dv.load([first + start, 0]), acc)
    do.store([first + pm * BM, 0], (acc / total[:, None]).to(o.dtype.element_ty))
    tl.store(lse + tl.program_id(1).to(tl.int64) * T + om, (m + tl.log2(total)) * 0.6931471805599453)


@tz.jit
def _affine(a0, b0, a1, b1):
    return a1 * a0, a1 * b0 + b1


@tz.jit
def selective_scan_kernel(
    u, dt, A, B, C, Dp, y, L, E,
    N: tl.constexpr, BL: tl.constexpr, BE: tl.constexpr,
):  # fmt: skip
    """Mamba's scan, forward; a program has BE channels. u, dt, y: [batch, L, E]; A: [E, N]; B, C: [batch, L, N]."""
    batch = tl.program_id(1).to(tl.int64)
    e = tl.program_id(0) * BE + tl.arange(0, BE)
    n = tl.arange(0, N)
    a = tl.load(A + e[:, None] * N + n[None, :]).to(tl.float32) * 1.4426950408889634
    dp = tl.load(Dp + e).to(tl.float32)
    h = tl.zeros((BE, N), tl.float32)
    t = tl.arange(0, BL)
    for start in range(0, L, BL):
        at = batch * L + start + t
        ut = tl.load(u + at[:, None] * E + e[None, :]).to(tl.float32)
        dtt = tl.load(dt + at[:, None] * E + e[None, :]).to(tl.float32)
        bt = tl.load(B + at[:, None] * N + n[None, :]).to(tl.float32)
        ct = tl.load(C + at[:, None] * N + n[None, :]).to(tl.float32)
        da = tl.exp2(dtt[:, :, None] * a[None, :, :])
        db = (dtt * ut)[:, :, None] * bt[:, None, :]
        first = (t == 0)[:, None, None]
        db = tl.where(first, da * h[None, :, :] + db, db)
        _, states = tl.associative_scan((da, db), 0, _affine)
        yt = tl.sum(states * ct[:, None, :], 2) + ut * dp[None, :]
        tl.store(y + at[:, None] * E + e[None, :], yt.to(y.dtype.element_ty))
        last = (t == BL - 1)[:, None, None]
        h = tl.sum(tl.where(last, states, 0.0), 0)


if hasattr(tl, "recurrence"):

    @tz.jit
    def recurrent_scan_kernel(
        u, dt, A, B, C, Dp, y, L, E,
        N: tl.constexpr, BL: tl.constexpr, BE: tl.constexpr,
    ):  # fmt: skip
        """selective_scan_kernel with the steps one after the other: `tl.recurrence` instead of an associative scan."""
        batch = tl.program_id(1).to(tl.int64)
        e = tl.program_id(0) * BE + tl.arange(0, BE)
        n = tl.arange(0, N)
        a = tl.load(A + e[:, None] * N + n[None, :]).to(tl.float32) * 1.4426950408889634
        dp = tl.load(Dp + e).to(tl.float32)
        h = tl.zeros((BE, N), tl.float32)
        t = tl.arange(0, BL)

        def step(h, now):
            ut, dtt, bt, ct = now
            h = tl.exp2(dtt[:, None] * a) * h + (dtt * ut)[:, None] * bt[None, :]
            return h, tl.sum(h * ct[None, :], 1) + ut * dp

        for start in range(0, L, BL):
            at = batch * L + start + t
            ut = tl.load(u + at[:, None] * E + e[None, :]).to(tl.float32)
            dtt = tl.load(dt + at[:, None] * E + e[None, :]).to(tl.float32)
            bt = tl.load(B + at[:, None] * N + n[None, :]).to(tl.float32)
            ct = tl.load(C + at[:, None] * N + n[None, :]).to(tl.float32)
            h, yt = tl.recurrence(step, h, (ut, dtt, bt, ct), 0)
            tl.store(y + at[:, None] * E + e[None, :], yt.to(y.dtype.element_ty))


@tz.jit
def conv1d_kernel(x, w, bias, y, L, E, W: tl.constexpr, BL: tl.constexpr, BE: tl.constexpr):
    """Causal depthwise convolution, then SiLU. x, y: [batch, L, E]; w: [E, W]; bias: [E]."""
    batch = tl.program_id(2).to(tl.int64)
    e = tl.program_id(0) * BE + tl.arange(0, BE)
    t = tl.program_id(1) * BL + tl.arange(0, BL)
    acc = tl.zeros((BL, BE), tl.float32) + tl.load(bias + e).to(tl.float32)[None, :]
    for i in tl.static_range(W):
        p = t + i - (W - 1)
        at = x + (batch * L + p[:, None]) * E + e[None, :]
        xv = tl.load(at, mask=(p >= 0)[:, None], other=0.0).to(tl.float32)
        acc += xv * tl.load(w + e * W + i).to(tl.float32)[None, :]
    acc = acc / (1.0 + tl.exp(-acc))
    tl.store(y + (batch * L + t[:, None]) * E + e[None, :], acc.to(y.dtype.element_ty))
