# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels that are measured: plain tile code that any compiler of the language takes, nothing tuned for one target.

The library's own kernels (terrazzo.kernels) do more (strides, epilogues, gradients); these are what a user would write.
"""

import terrazzo as tz
import terrazzo.language as tl


@tz.jit
def empty_kernel(a, b, c, d, e, f):
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
def layernorm_kernel(x, w, b, y, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    m = c < n
    v = tl.load(x + row * n + c, mask=m, other=0.0).to(tl.float32)
    mean = tl.sum(v, 0) / n
    d = tl.where(m, v - mean, 0.0)
    r = tl.rsqrt(tl.sum(d * d, 0) / n + eps)
    g = tl.load(w + c, mask=m).to(tl.float32)
    s = tl.load(b + c, mask=m).to(tl.float32)
    tl.store(y + row * n + c, (d * r * g + s).to(y.dtype.element_ty), mask=m)


@tz.jit
def gelu_kernel(x, y, n, BLOCK: tl.constexpr):
    """The exact GELU, x Φ(x)."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    v = tl.load(x + i, mask=m).to(tl.float32)
    tl.store(y + i, (0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476))).to(y.dtype.element_ty), mask=m)


@tz.jit
def matmul_kernel(
    a, b, c, M, N, K, sam, sak, sbk, sbn, scm, scn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, ACC: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0)
    nm = tl.cdiv(M, BM)
    nn = tl.cdiv(N, BN)
    per = GROUP * nn
    first = (pid // per) * GROUP
    size = min(nm - first, GROUP)
    pm = first + (pid % per) % size
    pn = (pid % per) // size
    rm = (pm * BM + tl.arange(0, BM)) % M
    rn = (pn * BN + tl.arange(0, BN)) % N
    rk = tl.arange(0, BK)
    pa = a + rm[:, None] * sam + rk[None, :] * sak
    pb = b + rk[:, None] * sbk + rn[None, :] * sbn
    acc = tl.zeros((BM, BN), dtype=ACC)
    for k in range(0, tl.cdiv(K, BK)):
        x = tl.load(pa, mask=rk[None, :] < K - k * BK, other=0.0)
        y = tl.load(pb, mask=rk[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(x, y, acc, out_dtype=ACC)
        pa += BK * sak
        pb += BK * sbk
    om = pm * BM + tl.arange(0, BM)
    on = pn * BN + tl.arange(0, BN)
    pc = c + om[:, None] * scm + on[None, :] * scn
    tl.store(pc, acc.to(c.dtype.element_ty), mask=(om[:, None] < M) & (on[None, :] < N))


@tz.jit
def int4_matmul_kernel(x, w, scales, y, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """y = x @ ((w - 8) scales): x [M, K] and scales [K / BK, N] bf16; w [K / 2, N], two a byte, the even below."""
    pid = tl.program_id(0)
    nn = tl.cdiv(N, BN)
    rm = (pid // nn) * BM + tl.arange(0, BM)
    rn = (pid % nn) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    px = x + rm[:, None] * K + rk[None, :]
    pw = w + (rk // 2)[:, None] * N + rn[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        q = (tl.load(pw) >> ((rk % 2) * 4)[:, None].to(tl.uint8)) & 15
        s = tl.load(scales + k * N + rn).to(tl.float32)
        v = (q.to(tl.float32) - 8.0) * s[None, :]
        acc = tl.dot(tl.load(px, mask=rm[:, None] < M, other=0.0), v.to(x.dtype.element_ty), acc)
        px += BK
        pw += BK // 2 * N
    tl.store(y + rm[:, None] * N + rn[None, :], acc.to(y.dtype.element_ty), mask=rm[:, None] < M)


@tz.jit
def attention_kernel(
    q, k, v, o, lse, scale, T, H, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr
):
    """Flash attention forward. q, k, v, o: [B, H, T, D] contiguous; lse: [B, H, T], the natural log of the sums."""
    pm = tl.program_id(0)
    bh = tl.program_id(1).to(tl.int64)
    base = bh * T * D
    om = pm * BM + tl.arange(0, BM)
    on = tl.arange(0, BN)
    d = tl.arange(0, D)
    qt = tl.load(q + base + om[:, None] * D + d[None, :])
    kp = k + base + on[None, :] * D + d[:, None]
    vp = v + base + on[:, None] * D + d[None, :]
    m = tl.full((BM,), -float("inf"), tl.float32)
    l = tl.zeros((BM,), tl.float32)  # noqa: E741
    acc = tl.zeros((BM, D), tl.float32)
    qs = scale * 1.4426950408889634
    full = (pm * BM // BN) * BN if CAUSAL else T
    for s in range(0, full, BN):
        x = tl.dot(qt, tl.load(kp)) * qs
        m2 = tl.maximum(m, tl.max(x, 1))
        p = tl.exp2(x - m2[:, None])
        a = tl.exp2(m - m2)
        l = l * a + tl.sum(p, 1)  # noqa: E741
        acc = acc * a[:, None]
        acc = tl.dot(p.to(q.dtype.element_ty), tl.load(vp), acc)
        m = m2
        kp += BN * D
        vp += BN * D
    if CAUSAL:
        for s in range(full, (pm + 1) * BM, BN):
            x = tl.dot(qt, tl.load(kp)) * qs
            x = tl.where(om[:, None] >= s + on[None, :], x, -float("inf"))
            m2 = tl.maximum(m, tl.max(x, 1))
            p = tl.exp2(x - m2[:, None])
            a = tl.exp2(m - m2)
            l = l * a + tl.sum(p, 1)  # noqa: E741
            acc = acc * a[:, None]
            acc = tl.dot(p.to(q.dtype.element_ty), tl.load(vp), acc)
            m = m2
            kp += BN * D
            vp += BN * D
    tl.store(o + base + om[:, None] * D + d[None, :], (acc / l[:, None]).to(o.dtype.element_ty))
    tl.store(lse + bh * T + om, (m + tl.log2(l)) * 0.6931471805599453)


@tz.jit
def _affine(a0, b0, a1, b1):
    return a1 * a0, a1 * b0 + b1


@tz.jit
def selective_scan_kernel(u, dt, A, B, C, Dp, y, L, E, N: tl.constexpr, BL: tl.constexpr, BE: tl.constexpr):
    """Mamba-1 forward. u, dt, y: [Bt, L, E]; A: [E, N]; B, C: [Bt, L, N]; Dp: [E]. One program has BE channels."""
    b = tl.program_id(1).to(tl.int64)
    e = tl.program_id(0) * BE + tl.arange(0, BE)
    n = tl.arange(0, N)
    a = tl.load(A + e[:, None] * N + n[None, :]).to(tl.float32) * 1.4426950408889634
    dp = tl.load(Dp + e).to(tl.float32)
    h = tl.zeros((BE, N), tl.float32)
    t = tl.arange(0, BL)
    for s in range(0, L, BL):
        pos = b * L + s + t
        ut = tl.load(u + pos[:, None] * E + e[None, :]).to(tl.float32)
        dtt = tl.load(dt + pos[:, None] * E + e[None, :]).to(tl.float32)
        bt = tl.load(B + pos[:, None] * N + n[None, :]).to(tl.float32)
        ct = tl.load(C + pos[:, None] * N + n[None, :]).to(tl.float32)
        da = tl.exp2(dtt[:, :, None] * a[None, :, :])
        db = (dtt * ut)[:, :, None] * bt[:, None, :]
        first = (t == 0)[:, None, None]
        db = tl.where(first, da * h[None, :, :] + db, db)
        _, gh = tl.associative_scan((da, db), 0, _affine)
        yt = tl.sum(gh * ct[:, None, :], 2) + ut * dp[None, :]
        tl.store(y + pos[:, None] * E + e[None, :], yt.to(y.dtype.element_ty))
        last = (t == BL - 1)[:, None, None]
        h = tl.sum(tl.where(last, gh, 0.0), 0)
