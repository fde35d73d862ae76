# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix product c = act(op(a) @ op(b) + bias), op(x) = x or its transpose.

Blocks of BM x BN of the result, summed over K in steps of BK in fp32; programs are ordered in groups of rows so that
neighbours share their panels of b (the order of Goto and van de Geijn 2008, and of Triton's tutorial). a: [M, K], b:
[K, N], c: [M, N], bias: [N]; fp32, bf16 or fp16.
"""

import functools
import math

import numpy as np

import terrazzo as tz
import terrazzo.language as tl

from .. import devices
from .._terrazzo import runtime
from ..targets import host_chip
from . import arrays

ACTIVATIONS = (None, "relu", "silu", "gelu")


@tz.jit
def matmul_kernel(
    a, b, c, bias, M, N, K, sam, sak, sbk, sbn, scm, scn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, ACTIVATION: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0)
    rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
    first = (pid // (GROUP * columns)) * GROUP
    size = min(rows - first, GROUP)
    pm = first + (pid % (GROUP * columns)) % size
    pn = (pid % (GROUP * columns)) // size
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    m_left, n_left = M - pm * BM, N - pn * BN
    pa = a + (pm * BM).to(tl.int64) * sam + m[:, None] * sam + k[None, :] * sak
    pb = b + (pn * BN).to(tl.int64) * sbn + k[:, None] * sbk + n[None, :] * sbn
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        k_left = K - start
        x = tl.load(pa, mask=(m[:, None] < m_left) & (k[None, :] < k_left), other=0.0)
        y = tl.load(pb, mask=(k[:, None] < k_left) & (n[None, :] < n_left), other=0.0)
        acc = tl.dot(x, y, acc, input_precision="ieee")
        pa += BK * sak
        pb += BK * sbk
    if bias is not None:
        acc += tl.load(bias + pn * BN + n, mask=n < n_left, other=0.0).to(tl.float32)[None, :]
    if ACTIVATION == "relu":
        acc = tl.maximum(acc, 0.0)
    elif ACTIVATION == "silu":
        acc = acc * tl.sigmoid(acc)
    elif ACTIVATION == "gelu":
        acc = 0.5 * acc * (1.0 + tl.erf(acc * 0.7071067811865476))
    pc = c + (pm * BM).to(tl.int64) * scm + (pn * BN).to(tl.int64) * scn + m[:, None] * scm + n[None, :] * scn
    tl.store(pc, acc.to(c.dtype.element_ty), mask=(m[:, None] < m_left) & (n[None, :] < n_left))


def _even(extent, parts, step):
    """The size of a block, a multiple of step, of which `parts` cover the extent; small extents are one exact block."""
    return extent if extent < step else tz.cdiv(tz.cdiv(extent, parts), step) * step


@functools.cache
def has_tiles(dtype):
    """Whether the host multiplies elements of a dtype in tile registers."""
    return dtype == "bfloat16" and "amx-bf16" in host_chip().split("+")


@functools.cache
def blocks(m, n, k, threads, tiles=False):
    """(BM, BN, BK): panels that stay in the second-level cache, cut evenly so that the threads finish together.

    Products in tile registers take so little time that few programs shall read and pack the same factor. Each
    element's sum over K has the same order, and so the same bits, with every BM and BN.
    """
    most, step, edges = ((512, 256), (16, 16, 32), (96, 96)) if tiles else ((128, 256), (8, 16, 16), (8, 16))

    def time(size):
        rounds = tz.cdiv(tz.cdiv(m, size[0]) * tz.cdiv(n, size[1]), threads)
        # What each program spends on fetching and packing grows with the edges.
        return rounds * (size[0] + edges[0]) * (size[1] + edges[1])

    least_m, least_n = tz.cdiv(m, most[0]), tz.cdiv(n, most[1])
    cuts = range(1, 17 if tiles else 5)
    sizes = [
        (_even(m, least_m * i, step[0]), _even(n, least_n * j, step[1]))
        for i in cuts
        for j in cuts
        if i * j <= 2 * cuts[-1]
    ]
    return *min(sizes, key=time), _even(k, tz.cdiv(k, 256), step[2])


def gpu_blocks(m, n, k):
    """The block of a program: its accumulators stay in registers, its factors in shared memory."""
    sizes = (min(most, max(16, tz.next_power_of_2(extent))) for extent, most in ((m, 64), (n, 64), (k, 32)))
    return dict(zip(("BM", "BN", "BK"), sizes, strict=True))


# (BM, BN, warps, stages), and the TFLOP/s of an H200 in bf16 with many blocks: rows of b along N, and along K.
_WGMMA_BLOCKS = (
    ((64, 64, 4, 4), (336, 317)),
    ((64, 128, 4, 4), (517, 406)),
    ((128, 128, 8, 4), (672, 463)),
    ((128, 256, 8, 3), (748, 574)),
)


@functools.cache
def wgmma_blocks(m, n, multiprocessors, is_turned):
    """The same where wgmma multiplies: the block with the least work for the multiprocessor that has most of it."""

    def time(choice):
        (bm, bn, *_), rates = choice
        return tz.cdiv(tz.cdiv(m, bm) * tz.cdiv(n, bn), multiprocessors) * bm * bn / rates[is_turned]

    bm, bn, warps, stages = min(_WGMMA_BLOCKS, key=time)[0]
    return {"BM": bm, "BN": bn, "BK": 64, "num_warps": warps, "num_stages": stages}


def matmul(a, b, *, out=None, bias=None, activation=None, trans_a=False, trans_b=False):
    """act(op(a) @ op(b) + bias) in the dtype of a, or in `out`, of any strides and dtype.

    The activation is None, "relu", "silu" or "gelu" (with erf), computed in fp32. Raises a ValueError that names the
    argument whose shape or dtype does not fit.
    """
    arrays.check("a", a, rank=2, dtypes=arrays.FLOATS)
    arrays.check("b", b, rank=2)
    sam, sak = arrays.strides(a)
    sbk, sbn = arrays.strides(b)
    m, k = a.shape
    if trans_a:
        m, k, sam, sak = k, m, sak, sam
    if trans_b:
        sbk, sbn = sbn, sbk
    arrays.check("b", b, shape=(None, k) if trans_b else (k, None), dtypes=(arrays.dtype_name(a),))
    n = b.shape[0] if trans_b else b.shape[1]
    if activation not in ACTIVATIONS:
        raise ValueError(f"'activation': expected one of {ACTIVATIONS}, found {activation!r}")
    if bias is not None:
        arrays.check("bias", bias, shape=(n,), dtypes=arrays.FLOATS)
        bias = arrays.contiguous(bias)
    c = arrays.empty((m, n), like=a) if out is None else out
    arrays.check("out", c, shape=(m, n), dtypes=arrays.FLOATS)
    if m == 0 or n == 0:
        return c
    depth = max(k, 1)
    if arrays.is_on_cpu(a):
        sizes = blocks(m, n, depth, runtime.threads(), has_tiles(arrays.dtype_name(a)))
        sizes = dict(zip(("BM", "BN", "BK"), sizes, strict=True))
    elif arrays.has_wgmma(a):
        sizes = wgmma_blocks(m, n, devices.properties("cuda", a.device.index or 0)["units"], sbk == 1)
    else:
        sizes = gpu_blocks(m, n, depth)
    grid = (tz.cdiv(m, sizes["BM"]) * tz.cdiv(n, sizes["BN"]),)
    matmul_kernel[grid](
        a, b, c, bias, m, n, k, sam, sak, sbk, sbn, *arrays.strides(c), GROUP=4, ACTIVATION=activation, **sizes
    )
    return c


def reference(a, b, bias=None, activation=None):
    """c in fp64."""
    c = np.asarray(a, np.float64) @ np.asarray(b, np.float64)
    c = c if bias is None else c + np.asarray(bias, np.float64)
    if activation == "relu":
        return np.maximum(c, 0)
    if activation == "silu":
        return c / (1 + np.exp(-c))
    if activation == "gelu":
        return 0.5 * c * (1 + np.vectorize(math.erf, otypes=[float])(c / np.sqrt(2)))
    return c
