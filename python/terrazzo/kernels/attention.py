# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention without the matrix of scores in memory (FlashAttention-2, Dao 2023), forward and backward.

o = softmax(scale q k^T + bias) v for each head; q, o: [B, H, T, D], k, v: [B, Hk, S, D] with H a multiple of Hk
(grouped queries); lse: [B, H, T], the natural logarithm of each row's sum. `causal` hides keys behind the query,
`alibi_slopes` [H] adds slope * (key - query) (Press et al. 2022). D may be any size. Backward: one kernel a block of
queries for dq, one a block of keys for dk and dv, so no sums across programs: the results are deterministic.
"""

import numpy as np

import terrazzo as tz
import terrazzo.language as tl

from . import arrays

BLOCK = 64
LOG2E = tl.constexpr(1.4426950408889634)
LN2 = tl.constexpr(0.6931471805599453)


@tz.jit
def scores(q, k, m, n, S, scale, slope, CAUSAL: tl.constexpr, ALIBI: tl.constexpr):
    """scale q k^T in base 2, for queries m [BM] and keys n [BN]; hidden ones are -inf. q: [BM, D], k: [D, BN]."""
    x = tl.dot(q, k) * (scale * LOG2E)
    if ALIBI:
        x += (slope * LOG2E) * (n[None, :] - m[:, None]).to(tl.float32)
    seen = n[None, :] < S
    if CAUSAL:
        seen = seen & (m[:, None] >= n[None, :])
    return tl.where(seen, x, -float("inf"))


@tz.jit
def attention_forward_kernel(
    q, k, v, o, lse, slopes, scale, T, S, H, GROUP,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    bh = tl.program_id(1).to(tl.int64)
    kv = (bh // H) * (H // GROUP) + (bh % H) // GROUP
    slope = 0.0 if slopes is None else tl.load(slopes + bh % H)
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n, d = tl.arange(0, BN), tl.arange(0, D)
    q += bh * T * D
    k += kv * S * D
    v += kv * S * D
    qt = tl.load(q + m[:, None] * D + d[None, :], mask=m[:, None] < T, other=0.0)
    top = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    end = min(S, (tl.program_id(0) + 1) * BM) if CAUSAL else S
    for s in range(0, end, BN):
        kt = tl.load(k + (s + n)[None, :] * D + d[:, None], mask=(s + n)[None, :] < S, other=0.0)
        x = scores(qt, kt, m, s + n, S, scale, slope, CAUSAL, slopes is not None)
        new_top = tl.maximum(top, tl.max(x, 1))
        p = tl.exp2(x - new_top[:, None])
        decay = tl.exp2(top - new_top)
        total = total * decay + tl.sum(p, 1)
        vt = tl.load(v + (s + n)[:, None] * D + d[None, :], mask=(s + n)[:, None] < S, other=0.0)
        acc = tl.dot(p.to(vt.dtype), vt, acc * decay[:, None])
        top = new_top
    tl.store(
        o + bh * T * D + m[:, None] * D + d[None, :], (acc / total[:, None]).to(o.dtype.element_ty), mask=m[:, None] < T
    )
    tl.store(lse + bh * T + m, (top + tl.log2(total)) * LN2, mask=m < T)


@tz.jit
def row_dot_kernel(do, o, delta, T, D: tl.constexpr, BM: tl.constexpr):
    """delta[t] = sum_d do[t, d] o[t, d]."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    at = tl.program_id(1).to(tl.int64) * T * D + m[:, None] * D + tl.arange(0, D)[None, :]
    x = tl.load(do + at, mask=m[:, None] < T, other=0.0).to(tl.float32)
    y = tl.load(o + at, mask=m[:, None] < T, other=0.0).to(tl.float32)
    tl.store(delta + tl.program_id(1).to(tl.int64) * T + m, tl.sum(x * y, 1), mask=m < T)


@tz.jit
def attention_dq_kernel(
    do, q, k, v, lse, delta, dq, slopes, scale, T, S, H, GROUP,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    bh = tl.program_id(1).to(tl.int64)
    kv = (bh // H) * (H // GROUP) + (bh % H) // GROUP
    slope = 0.0 if slopes is None else tl.load(slopes + bh % H)
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n, d = tl.arange(0, BN), tl.arange(0, D)
    at = bh * T * D + m[:, None] * D + d[None, :]
    k += kv * S * D
    v += kv * S * D
    qt = tl.load(q + at, mask=m[:, None] < T, other=0.0)
    dot = tl.load(do + at, mask=m[:, None] < T, other=0.0)
    row = tl.load(lse + bh * T + m, mask=m < T, other=0.0) * LOG2E
    shift = tl.load(delta + bh * T + m, mask=m < T, other=0.0)
    acc = tl.zeros((BM, D), tl.float32)
    end = min(S, (tl.program_id(0) + 1) * BM) if CAUSAL else S
    for s in range(0, end, BN):
        inside = (s + n)[:, None] < S
        kt = tl.load(k + (s + n)[:, None] * D + d[None, :], mask=inside, other=0.0)
        vt = tl.load(v + (s + n)[:, None] * D + d[None, :], mask=inside, other=0.0)
        p = tl.exp2(scores(qt, tl.trans(kt), m, s + n, S, scale, slope, CAUSAL, slopes is not None) - row[:, None])
        ds = p * (tl.dot(dot, tl.trans(vt)) - shift[:, None]) * scale
        acc = tl.dot(ds.to(kt.dtype), kt, acc)
    tl.store(dq + at, acc.to(dq.dtype.element_ty), mask=m[:, None] < T)


@tz.jit
def attention_dkv_kernel(
    do, q, k, v, lse, delta, dk, dv, slopes, scale, T, S, H, GROUP,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    kv = tl.program_id(1).to(tl.int64)
    heads = H // GROUP
    first = (kv // heads) * H + (kv % heads) * GROUP
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    r, d = tl.arange(0, BM), tl.arange(0, D)
    at = kv * S * D + n[:, None] * D + d[None, :]
    kt = tl.load(k + at, mask=n[:, None] < S, other=0.0)
    vt = tl.load(v + at, mask=n[:, None] < S, other=0.0)
    dk_acc = tl.zeros((BN, D), tl.float32)
    dv_acc = tl.zeros((BN, D), tl.float32)
    begin = (tl.program_id(0) * BN // BM) * BM if CAUSAL else 0
    for g in range(0, GROUP):
        bh = first + g
        slope = 0.0 if slopes is None else tl.load(slopes + bh % H)
        for t in range(begin, T, BM):
            m = t + r
            rows = bh * T * D + m[:, None] * D + d[None, :]
            qt = tl.load(q + rows, mask=m[:, None] < T, other=0.0)
            dot = tl.load(do + rows, mask=m[:, None] < T, other=0.0)
            row = tl.load(lse + bh * T + m, mask=m < T, other=float("inf")) * LOG2E
            shift = tl.load(delta + bh * T + m, mask=m < T, other=0.0)
            p = tl.exp2(scores(qt, tl.trans(kt), m, n, S, scale, slope, CAUSAL, slopes is not None) - row[:, None])
            dv_acc = tl.dot(tl.trans(p.to(dot.dtype)), dot, dv_acc)
            ds = p * (tl.dot(dot, tl.trans(vt)) - shift[:, None]) * scale
            dk_acc = tl.dot(tl.trans(ds.to(qt.dtype)), qt, dk_acc)
    tl.store(dk + at, dk_acc.to(dk.dtype.element_ty), mask=n[:, None] < S)
    tl.store(dv + at, dv_acc.to(dv.dtype.element_ty), mask=n[:, None] < S)


def _checked(q, k, v, alibi_slopes):
    arrays.check("q", q, rank=4, dtypes=arrays.FLOATS)
    batch, heads, _, size = q.shape
    name = (arrays.dtype_name(q),)
    arrays.check("k", k, shape=(batch, None, None, size), dtypes=name)
    arrays.check("v", v, shape=tuple(k.shape), dtypes=name)
    if heads % k.shape[1]:
        raise ValueError(f"'k': expected a number of heads that divides {heads}, found {k.shape[1]}")
    if alibi_slopes is not None:
        arrays.check("alibi_slopes", alibi_slopes, shape=(heads,), dtypes=("float32",))


def attention_forward(q, k, v, causal, scale, alibi_slopes=None):
    """(o, lse); raises ValueError naming the argument. A causal row t sees keys 0..t, so S must be T or more."""
    _checked(q, k, v, alibi_slopes)
    q, k, v = arrays.contiguous(q), arrays.contiguous(k), arrays.contiguous(v)
    b, h, t, d = q.shape
    hk, s = k.shape[1], k.shape[2]
    o, lse = arrays.empty_like(q), arrays.empty((b, h, t), like=q, dtype="float32")
    attention_forward_kernel[(tz.cdiv(t, BLOCK), b * h)](
        q, k, v, o, lse, alibi_slopes, float(scale), t, s, h, h // hk, D=d, BM=BLOCK, BN=BLOCK, CAUSAL=bool(causal)
    )
    return o, lse


def attention_backward(do, q, k, v, o, lse, causal, scale, alibi_slopes=None):
    """(dq, dk, dv)."""
    _checked(q, k, v, alibi_slopes)
    arrays.check("do", do, shape=tuple(q.shape), dtypes=arrays.FLOATS)
    do, q, k, v, o = (arrays.contiguous(x) for x in (do, q, k, v, o))
    b, h, t, d = q.shape
    hk, s = k.shape[1], k.shape[2]
    delta = arrays.empty((b, h, t), like=q, dtype="float32")
    dq, dk, dv = arrays.empty_like(q), arrays.empty_like(k), arrays.empty_like(v)
    row_dot_kernel[(tz.cdiv(t, BLOCK), b * h)](do, o, delta, t, D=d, BM=BLOCK)
    options = {"D": d, "BM": BLOCK, "BN": BLOCK, "CAUSAL": bool(causal)}
    common = (alibi_slopes, float(scale), t, s, h, h // hk)
    attention_dq_kernel[(tz.cdiv(t, BLOCK), b * h)](do, q, k, v, lse, delta, dq, *common, **options)
    attention_dkv_kernel[(tz.cdiv(s, BLOCK), b * hk)](do, q, k, v, lse, delta, dk, dv, *common, **options)
    return dq, dk, dv


def reference(q, k, v, causal, scale, alibi_slopes=None):
    """o in fp64."""
    q, k, v = (np.asarray(x, np.float64) for x in (q, k, v))
    group = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, group, 1), np.repeat(v, group, 1)
    x = scale * q @ k.swapaxes(2, 3)
    m, n = np.arange(q.shape[2])[:, None], np.arange(k.shape[2])[None, :]
    if alibi_slopes is not None:
        x = x + np.asarray(alibi_slopes, np.float64)[None, :, None, None] * (n - m)
    if causal:
        x = np.where(m >= n, x, -np.inf)
    p = np.exp(x - x.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True) @ v
