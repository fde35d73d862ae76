# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""dot_scaled beside fp64, for every pair of formats, with scales up to both ends of E8M0.

The tolerance is that of a chain of fp32 additions, and what processors take for zero: 2**-126 a product.
"""

import itertools

import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl
from terrazzo import frontend
from terrazzo.specialize import type_from_text

FORMATS = ("e2m1", "e4m3", "e5m2", "bf16", "fp16")
M, N, K, GROUPS = 16, 32, 64, 2


@tz.jit
def _kernel(a, sa, b, sb, c, LEFT: tl.constexpr, RIGHT: tl.constexpr, KA: tl.constexpr, KB: tl.constexpr):
    m, n, g = tl.arange(0, 16), tl.arange(0, 32), tl.arange(0, 2)
    i, j = tl.arange(0, KA), tl.arange(0, KB)
    x = tl.load(a + m[:, None] * KA + i[None, :])
    y = tl.load(b + j[:, None] * 32 + n[None, :])
    s = tl.load(sa + m[:, None] * 2 + g[None, :]) if sa is not None else None
    t = tl.load(sb + n[:, None] * 2 + g[None, :]) if sb is not None else None
    r = tl.dot_scaled(x, s, LEFT, y, t, RIGHT, acc=tl.load(c + m[:, None] * 32 + n[None, :]))
    tl.store(c + m[:, None] * 32 + n[None, :], r)


def _decode(bits, format):
    """The numbers that small floats stand for, as fp64."""
    if format == "bf16":
        return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if format == "fp16":
        return bits.view(np.float16).astype(np.float64)
    exponents, mantissas = {"e2m1": (2, 1), "e4m3": (4, 3), "e5m2": (5, 2)}[format]
    sign, bias = bits >> (exponents + mantissas) & 1, (1 << (exponents - 1)) - 1
    exponent, mantissa = bits >> mantissas & ((1 << exponents) - 1), bits & ((1 << mantissas) - 1)
    fraction = mantissa / 2.0**mantissas + (exponent > 0)
    return np.where(sign == 1, -1, 1) * fraction * 2.0 ** (np.maximum(exponent, 1).astype(np.float64) - bias)


def _operand(rng, shape, format):
    """(bits as they are passed, numbers) of finite elements. Four-bit ones are packed along K by the caller."""
    if format in ("bf16", "fp16"):
        values = rng.standard_normal(shape).astype(np.float32)
        bits = (values.view(np.uint32) >> 16).astype(np.uint16) if format == "bf16" else values.astype(np.float16)
        return bits, _decode(bits.view(np.uint16), format)
    most = {"e2m1": 8, "e4m3": 127, "e5m2": 124}[format]  # magnitudes that are finite
    magnitude = rng.integers(0, most, shape)
    sign_bit = {"e2m1": 8, "e4m3": 128, "e5m2": 128}[format]
    bits = (magnitude | sign_bit * rng.integers(0, 2, shape)).astype(np.uint8)
    return bits, _decode(bits, format)


def _packed(bits, axis):
    """Pairs of nibbles along an axis, the first one below."""
    low, high = np.take(bits, range(0, K, 2), axis), np.take(bits, range(1, K, 2), axis)
    return (low | high << 4).astype(np.uint8)


def _passed(bits, format, axis):
    types = {"e4m3": "fp8e4nv", "e5m2": "fp8e5", "bf16": "bf16"}
    if format == "e2m1":
        bits = _packed(bits, axis)
    return tz.reinterpret(np.ascontiguousarray(bits), tl.dtype(types[format])) if format in types else bits


def _check(rng, left, right, sa, sb):
    a, x = _operand(rng, (M, K), left)
    b, y = _operand(rng, (K, N), right)
    c = rng.standard_normal((M, N)).astype(np.float32)
    x = x if sa is None else x * np.repeat(2.0 ** (sa.astype(np.float64) - 127), K // GROUPS, 1)
    y = y if sb is None else y * np.repeat(2.0 ** (sb.astype(np.float64) - 127), K // GROUPS, 1).T
    want, size = x @ y + c, np.abs(x) @ np.abs(y) + np.abs(c)
    got = c.copy()
    _kernel[(1,)](
        _passed(a, left, 1), sa, _passed(b, right, 0), sb, got, LEFT=left, RIGHT=right,
        KA=a.shape[1] // (2 if left == "e2m1" else 1), KB=b.shape[0] // (2 if right == "e2m1" else 1),
    )  # fmt: skip
    most = float(np.finfo(np.float32).max)
    inside = size < most
    error = np.abs(got - want)[inside]
    assert (error <= size[inside] * 2.0**-20 + K * 2.0**-126).all(), f"{left} x {right}: {error.max()}"
    return inside.mean()


def _scales(rng, shape, kind, other=None):
    """Bytes of one kind; of the kind "against" such that the products of groups are near one."""
    if kind == "against":
        return np.clip(254 - other + rng.integers(-2, 3, shape), 0, 254).astype(np.uint8)
    low, high = {"least": (0, 3), "most": (252, 255), "one": (120, 135), "any": (0, 255)}[kind]
    return rng.integers(low, high, shape, dtype=np.uint8)


@pytest.mark.parametrize(("left", "right"), list(itertools.product(FORMATS, FORMATS)))
def test_scales_at_both_ends(left, right):
    rng = np.random.default_rng(len(left) * 31 + len(right))
    for kind in ("least", "most", "any", "one"):
        # The scale of a group is the same for all rows, so that the other operand's can go against it.
        sa = np.repeat(_scales(rng, (1, GROUPS), kind), M, 0)
        sb = _scales(rng, (N, GROUPS), "against", np.repeat(sa[:1].astype(np.int64), N, 0))
        assert _check(rng, left, right, sa, sb) == 1, kind
        _check(rng, left, right, _scales(rng, (M, GROUPS), kind), _scales(rng, (N, GROUPS), "one"))
    if left != right:
        return
    for sa, sb in ((_scales(rng, (M, GROUPS), "least"), None), (None, _scales(rng, (N, GROUPS), "any"))):
        _check(rng, left, right, sa, sb)


def test_a_scale_that_is_no_number():
    rng = np.random.default_rng(0)
    a, b = (_operand(rng, shape, "e4m3")[0] for shape in ((M, K), (K, N)))
    sa, sb = np.full((M, GROUPS), 127, np.uint8), np.full((N, GROUPS), 127, np.uint8)
    sa[3, 1] = 255
    got = np.zeros((M, N), np.float32)
    _kernel[(1,)](_passed(a, "e4m3", 1), sa, _passed(b, "e4m3", 0), sb, got, LEFT="e4m3", RIGHT="e4m3", KA=K, KB=K)
    assert np.isnan(got[3]).all() and np.isfinite(np.delete(got, 3, 0)).all()


@pytest.mark.parametrize("format", ["e2m1", "e4m3", "e5m2", "bf16"])
def test_bfloat16_is_multiplied_only_where_all_numbers_are_normal(format):
    """Processors with AMX or AVX512-BF16 take others for zero: that dot is under a condition on all elements."""
    pointer = {"e2m1": "*u8", "e4m3": "*fp8e4nv", "e5m2": "*fp8e5", "bf16": "*bf16"}[format]
    types = {"a": pointer, "sa": "*u8", "b": pointer, "sb": "*u8", "c": "*fp32"}
    width = K // 2 if format == "e2m1" else K
    constants = {"LEFT": format, "RIGHT": format, "KA": width, "KB": width}
    types = {name: type_from_text(text) for name, text in types.items()}
    text = frontend.build_module(_kernel, types, constants, {}, {"target": "cpu"}).str()
    condition = text.index("scf.if")
    assert text.count("tile.dot ") == 2 and text.count("tile.reduce", 0, condition) == 4
    exact, fast = text[condition:].split("} else {")
    assert "tile.dot" in exact and "xf64>" in exact.partition("tile.dot")[2]
    assert "tile.dot" in fast and "xbf16>" in fast.partition("tile.dot")[2].split("\n")[0]
    gpu = frontend.build_module(_kernel, types, constants, {}, {"target": "cuda:90"}).str()
    assert gpu.count("tile.dot ") == 1 and "scf.if" not in gpu
