# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention without the matrix of scores in memory (FlashAttention-2, Dao 2023), forward and backward.

o = softmax(scale q k^T + bias) v for each head; q, o: [B, H, T, D], k, v: [B, K, S, D] with H a multiple of K (grouped
queries); lse: [B, H, T] fp32, the natural logarithm of each row's sum of exponentials. Query t sits at position t:
`causal` hides the keys behind it, a `window` all but the last so many of the keys it sees, and `alibi_slopes` [H] adds
-slope * |key - query| (Press et al. 2022). A query that sees no key gives 0. D may be any size, strides too, except
that the last axis is copied when it has gaps; results have the memory order of their operand.

Backward: one program a block of queries for dq, one a block of keys for dk and dv, which walks over the heads of the
group. No sums cross programs, so the bits are the same on every run.
"""

import numpy as np

import terrazzo as tz
import terrazzo.language as tl

from . import arrays

LOG2E = tl.constexpr(1.4426950408889634)
LN2 = tl.constexpr(0.6931471805599453)


@tz.jit
def scores(a, b, m, n, S, scale, slope, window, CAUSAL: tl.constexpr, MASKED: tl.constexpr):
    """scale q k^T + bias in base 2 for queries m and keys n; hidden ones are -inf if MASKED, else there are none.

    The product is that of a and b: q [BM, D] and k^T [D, BN] with m [BM, 1] and n [1, BN], or, for the transpose, k and
    q^T with m [1, BM] and n [BN, 1].
    """
    x = tl.dot(a, b, input_precision="ieee") * (scale * LOG2E)
    if slope is not None:
        x -= (slope * LOG2E) * tl.abs(n - m).to(tl.float32)
    if not MASKED:
        return x
    seen = n < S
    if CAUSAL:
        seen = seen & (n <= m)
    if window is not None:
        seen = seen & (n > m - window)
    return tl.where(seen, x, -float("inf"))


@tz.jit
def keys_of(first, S, window, CAUSAL: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """The range of keys, from a multiple of BN, that any of the queries [first, first + BM) sees."""
    begin = 0 if window is None else (tl.maximum(first - window + 1, 0) // BN) * BN
    return begin, tl.minimum(S, first + BM) if CAUSAL else S


@tz.jit
def forward_steps(
    acc, total, top, qt, pk, pv, begin, end, m, S, scale, slope, window, skt, svt,
    D: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    """The sums and maxima with the keys [begin, end), all of which all queries see unless MASKED."""
    n, d = tl.arange(0, BN), tl.arange(0, D)
    for s in range(begin, end, BN):
        at = tl.cast(s, tl.int64)
        ik = pk + at * skt + n[None, :] * skt + d[:, None]
        iv = pv + at * svt + n[:, None] * svt + d[None, :]
        if MASKED:
            inside = s + n < S
            kt = tl.load(ik, mask=inside[None, :], other=0.0)
            vt = tl.load(iv, mask=inside[:, None], other=0.0)
            x = scores(qt, kt, m[:, None], (s + n)[None, :], S, scale, slope, window, CAUSAL, True)
            new_top = tl.maximum(top, tl.max(x, 1))
            shift = tl.where(new_top == -float("inf"), 0.0, new_top)
        else:
            kt, vt = tl.load(ik), tl.load(iv)
            x = scores(qt, kt, m[:, None], (s + n)[None, :], S, scale, slope, window, CAUSAL, False)
            new_top = tl.maximum(top, tl.max(x, 1))
            shift = new_top
        p = tl.exp2(x - shift[:, None])
        decay = tl.exp2(top - shift)
        total = total * decay + tl.sum(p, 1)
        acc = tl.dot(p.to(vt.dtype), vt, acc * decay[:, None], input_precision="ieee")
        top = new_top
    return acc, total, top


@tz.jit
def attention_forward_kernel(
    q, k, v, o, lse, slopes, window, scale, T, S, H, GROUP,
    sqb, sqh, sqt, skb, skh, skt, svb, svh, svt, sob, soh, sot,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    b, h = (tl.program_id(1) // H).to(tl.int64), tl.program_id(1) % H
    slope = None if slopes is None else tl.load(slopes + h)
    first = (tl.num_programs(0) - 1 - tl.program_id(0)) * BM  # the longest rows of a causal head first
    r, d = tl.arange(0, BM), tl.arange(0, D)
    m = first + r
    live = (m < T)[:, None]
    pk = k + b * skb + (h // GROUP) * skh
    pv = v + b * svb + (h // GROUP) * svh
    start = b * sqb + h * sqh + first.to(tl.int64) * sqt
    qt = tl.load(q + start + r[:, None] * sqt + d[None, :], mask=live, other=0.0)
    top = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    begin, end = keys_of(first, S, window, CAUSAL, BM, BN)
    if window is None:
        # Whole blocks of keys that all queries see need no mask.
        middle = (tl.minimum(S, first) if CAUSAL else S) // BN * BN
        acc, total, top = forward_steps(
            acc, total, top, qt, pk, pv, begin, middle, m, S, scale, slope, window, skt, svt, D, BN, CAUSAL, False
        )
        begin = middle
    acc, total, top = forward_steps(
        acc, total, top, qt, pk, pv, begin, end, m, S, scale, slope, window, skt, svt, D, BN, CAUSAL, True
    )
    acc = acc / tl.where(total == 0.0, 1.0, total)[:, None]
    start = b * sob + h * soh + first.to(tl.int64) * sot
    tl.store(o + start + r[:, None] * sot + d[None, :], acc.to(o.dtype.element_ty), mask=live)
    tl.store(lse + tl.program_id(1).to(tl.int64) * T + m, (top + tl.log2(total)) * LN2, mask=m < T)


@tz.jit
def attention_dq_kernel(
    do, q, k, v, o, lse, delta, dq, slopes, window, scale, T, S, H, GROUP,
    sgb, sgh, sgt, sqb, sqh, sqt, skb, skh, skt, svb, svh, svt, sob, soh, sot, sxb, sxh, sxt,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """dq, and delta[t] = sum_d do[t, d] o[t, d] for the other kernel. Strides s_: g of do, x of dq."""
    b, h = (tl.program_id(1) // H).to(tl.int64), tl.program_id(1) % H
    slope = None if slopes is None else tl.load(slopes + h)
    first = (tl.num_programs(0) - 1 - tl.program_id(0)) * BM
    r, n, d = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    m, far = first + r, first.to(tl.int64)
    live = (m < T)[:, None]
    pk = k + b * skb + (h // GROUP) * skh
    pv = v + b * svb + (h // GROUP) * svh
    qt = tl.load(q + b * sqb + h * sqh + far * sqt + r[:, None] * sqt + d[None, :], mask=live, other=0.0)
    gt = tl.load(do + b * sgb + h * sgh + far * sgt + r[:, None] * sgt + d[None, :], mask=live, other=0.0)
    ot = tl.load(o + b * sob + h * soh + far * sot + r[:, None] * sot + d[None, :], mask=live, other=0.0)
    row = tl.program_id(1).to(tl.int64) * T + m
    shift = tl.sum(gt.to(tl.float32) * ot.to(tl.float32), 1)
    tl.store(delta + row, shift, mask=m < T)
    level = tl.load(lse + row, mask=m < T, other=float("inf")) * LOG2E
    level = tl.where(level == -float("inf"), float("inf"), level)
    acc = tl.zeros((BM, D), tl.float32)
    begin, end = keys_of(first, S, window, CAUSAL, BM, BN)
    for s in range(begin, end, BN):
        inside = (s + n < S)[:, None]
        at = tl.cast(s, tl.int64)
        kt = tl.load(pk + at * skt + n[:, None] * skt + d[None, :], mask=inside, other=0.0)
        vt = tl.load(pv + at * svt + n[:, None] * svt + d[None, :], mask=inside, other=0.0)
        x = scores(qt, tl.trans(kt), m[:, None], (s + n)[None, :], S, scale, slope, window, CAUSAL, True)
        p = tl.exp2(x - level[:, None])
        ds = p * (tl.dot(gt, tl.trans(vt), input_precision="ieee") - shift[:, None])
        acc = tl.dot(ds.to(kt.dtype), kt, acc, input_precision="ieee")
    start = b * sxb + h * sxh + far * sxt
    tl.store(dq + start + r[:, None] * sxt + d[None, :], (acc * scale).to(dq.dtype.element_ty), mask=live)


@tz.jit
def attention_dkv_kernel(
    do, q, k, v, lse, delta, dk, dv, slopes, window, scale, T, S, H, GROUP,
    sgb, sgh, sgt, sqb, sqh, sqt, skb, skh, skt, svb, svh, svt, sxb, sxh, sxt, syb, syh, syt,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """Strides s_: g of do, x of dk, y of dv."""
    heads = H // GROUP
    b, kv = (tl.program_id(1) // heads).to(tl.int64), tl.program_id(1) % heads
    first = tl.program_id(0) * BN
    r, c, d = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    n, far = first + c, first.to(tl.int64)
    inside = (n < S)[:, None]
    kt = tl.load(k + b * skb + kv * skh + far * skt + c[:, None] * skt + d[None, :], mask=inside, other=0.0)
    vt = tl.load(v + b * svb + kv * svh + far * svt + c[:, None] * svt + d[None, :], mask=inside, other=0.0)
    dkt = tl.zeros((BN, D), tl.float32)
    dvt = tl.zeros((BN, D), tl.float32)
    begin = (first // BM) * BM if CAUSAL else 0
    end = T if window is None else tl.minimum(T, first + BN + window - 1)
    for g in range(0, GROUP):
        h = kv * GROUP + g
        slope = None if slopes is None else tl.load(slopes + h)
        for t in range(begin, end, BM):
            m = t + r
            live = (m < T)[:, None]
            at = tl.cast(t, tl.int64)
            qt = tl.load(q + b * sqb + h * sqh + at * sqt + r[:, None] * sqt + d[None, :], mask=live, other=0.0)
            gt = tl.load(do + b * sgb + h * sgh + at * sgt + r[:, None] * sgt + d[None, :], mask=live, other=0.0)
            row = (b * H + h) * T + t
            level = tl.load(lse + row + r, mask=m < T, other=float("inf")) * LOG2E
            level = tl.where(level == -float("inf"), float("inf"), level)
            shift = tl.load(delta + row + r, mask=m < T, other=0.0)
            # Both transposed: what a matrix unit gives is then the left factor of the next product as it is.
            x = scores(kt, tl.trans(qt), m[None, :], n[:, None], S, scale, slope, window, CAUSAL, True)
            p = tl.exp2(x - level[None, :])
            dvt = tl.dot(p.to(gt.dtype), gt, dvt, input_precision="ieee")
            ds = p * (tl.dot(vt, tl.trans(gt), input_precision="ieee") - shift[None, :])
            dkt = tl.dot(ds.to(qt.dtype), qt, dkt, input_precision="ieee")
    at = b * sxb + kv * sxh + far * sxt + c[:, None] * sxt + d[None, :]
    tl.store(dk + at, (dkt * scale).to(dk.dtype.element_ty), mask=inside)
    at = b * syb + kv * syh + far * syt + c[:, None] * syt + d[None, :]
    tl.store(dv + at, dvt.to(dv.dtype.element_ty), mask=inside)


def _checked(q, k, v, causal, window, alibi_slopes):
    """The operands with dense last axes, and the slopes; raises ValueError naming the argument."""
    arrays.check("q", q, rank=4, dtypes=arrays.FLOATS)
    batch, heads, _, size = q.shape
    name = (arrays.dtype_name(q),)
    arrays.check("k", k, shape=(batch, None, None, size), dtypes=name)
    arrays.check("v", v, shape=tuple(k.shape), dtypes=name)
    if not k.shape[1] or heads % k.shape[1]:
        raise ValueError(f"'k': expected a number of heads that divides {heads}, found {k.shape[1]}")
    if window is not None and (not causal or window < 1):
        raise ValueError(f"'window': expected 1 or more keys, and causal attention, found {window}, causal={causal}")
    if alibi_slopes is not None:
        arrays.check("alibi_slopes", alibi_slopes, shape=(heads,), dtypes=("float32",))
        alibi_slopes = arrays.contiguous(alibi_slopes)
    return *(arrays.dense_rows(x) for x in (q, k, v)), alibi_slopes


def _steps(*xs):
    """The strides of all but the last axis of each."""
    return [stride for x in xs for stride in arrays.strides(x)[:3]]


# On an H200, bf16: (BM, BN, warps, stages) by what is computed, up to 64, 128 and 256 elements of D.
_WGMMA_BLOCKS = {
    "forward": ((64, 64, 4, 3), (64, 64, 4, 2), (128, 64, 8, 2)),
    "full": ((64, 64, 4, 3), (128, 128, 8, 2), (128, 64, 8, 2)),
    "dq": ((64, 64, 4, 3), (128, 64, 8, 2), (64, 64, 4, 2)),
    "dkv": ((64, 64, 4, 2), (64, 64, 4, 2), (64, 64, 8, 2)),
}


def _sizes(what, q, causal):
    """The block of queries and keys of a program, and how it runs."""
    t, d = q.shape[2:]
    if t >= 64 and 32 <= d <= 256 and d % 16 == 0 and arrays.has_wgmma(q):
        choices = _WGMMA_BLOCKS["full" if what == "forward" and not causal else what]
        names = ("BM", "BN", "num_warps", "num_stages")
        return dict(zip(names, choices[(d > 64) + (d > 128)], strict=True))
    return {"BM": 64 if t > 16 else 16 if t > 1 else 1, "BN": 64}


def attention_forward(q, k, v, causal=True, scale=None, alibi_slopes=None, window=None, out=None):
    """(o, lse); scale is 1 / sqrt(D) unless given. Raises ValueError naming the argument."""
    q, k, v, slopes = _checked(q, k, v, causal, window, alibi_slopes)
    b, h, t, d = q.shape
    o = arrays.empty_rows_like(q) if out is None else out
    arrays.check("out", o, shape=tuple(q.shape), dtypes=arrays.FLOATS)
    if arrays.strides(o)[3] != 1:
        raise ValueError(f"'out': expected a last axis without gaps, found strides {list(arrays.strides(o))}")
    lse = arrays.empty((b, h, t), q, "float32")
    sizes = _sizes("forward", q, causal)
    attention_forward_kernel[(tz.cdiv(t, sizes["BM"]), b * h)](
        q, k, v, o, lse, slopes, window, float(d**-0.5 if scale is None else scale), t, k.shape[2], h,
        h // k.shape[1], *_steps(q, k, v, o), D=d, CAUSAL=bool(causal), **sizes,
    )  # fmt: skip
    return o, lse


def attention_backward(do, q, k, v, o, lse, causal=True, scale=None, alibi_slopes=None, window=None):
    """(dq, dk, dv) from the forward's operands and results."""
    q, k, v, slopes = _checked(q, k, v, causal, window, alibi_slopes)
    arrays.check("do", do, shape=tuple(q.shape), dtypes=(arrays.dtype_name(q),))
    do, o = arrays.dense_rows(do), arrays.dense_rows(o)
    b, h, t, d = q.shape
    heads, s = k.shape[1], k.shape[2]
    delta = arrays.empty((b, h, t), q, "float32")
    dq, dk, dv = (arrays.empty_rows_like(x) for x in (q, k, v))
    common = (slopes, window, float(d**-0.5 if scale is None else scale), t, s, h, h // heads)
    sizes = _sizes("dq", q, causal)
    attention_dq_kernel[(tz.cdiv(t, sizes["BM"]), b * h)](
        do, q, k, v, o, lse, delta, dq, *common, *_steps(do, q, k, v, o, dq), D=d, CAUSAL=bool(causal), **sizes
    )
    sizes = _sizes("dkv", q, causal)
    attention_dkv_kernel[(tz.cdiv(s, sizes["BN"]), b * heads)](
        do, q, k, v, lse, delta, dk, dv, *common, *_steps(do, q, k, v, dk, dv), D=d, CAUSAL=bool(causal), **sizes
    )
    return dq, dk, dv


def reference(q, k, v, causal=True, scale=None, alibi_slopes=None, window=None):
    """o in fp64."""
    q, k, v = (np.asarray(x, np.float64) for x in (q, k, v))
    group = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, group, 1), np.repeat(v, group, 1)
    x = (q.shape[3] ** -0.5 if scale is None else scale) * q @ k.swapaxes(2, 3)
    m, n = np.arange(q.shape[2])[:, None], np.arange(k.shape[2])[None, :]
    if alibi_slopes is not None:
        x = x - np.asarray(alibi_slopes, np.float64)[None, :, None, None] * np.abs(n - m)
    seen = (n <= m) | (not causal)
    if window is not None:
        seen = seen & (n > m - window)
    p = np.where(seen, np.exp(x - x.max(-1, keepdims=True)), 0.0)
    return p / np.maximum(p.sum(-1, keepdims=True), 1e-300) @ v
