# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""dot_scaled: products of matrices of narrow floats with a common scale for each group along K (the OCP MX formats).

Operands are decoded and scaled, which is exact in bfloat16 for all 8- and 4-bit formats, and multiplied by `dot`.
Scales reach from 2**-127 to 2**127: what they make of an element may pass either end of the normal numbers, though the
product with the other operand does not, and processors take subnormal bfloat16 for zero. So on the CPU tiles in which
that happens are multiplied in float64, which holds all of these numbers.
"""

from ..errors import SemanticError
from . import kinds as k
from .arithmetic import binary
from .builder import block_of, builtin, current, options
from .cast import bitcast_to, cast_to
from .comparison import where
from .dtypes import bfloat16, float8e4nv, float8e5, float16, float32, float64, int32, type_of, uint8, uint32
from .linalg import dot
from .promotion import broadcast_shape, expand
from .reduction import max as largest
from .shape import joined, reshaped, transposed
from .values import describe, static_dtype, tensor

_FORMATS = {"e2m1": uint8, "e4m3": float8e4nv, "e5m2": float8e5, "bf16": bfloat16, "fp16": float16}


_FORMAT = k.Kind(f"one of {', '.join(map(repr, _FORMATS))}", lambda v: isinstance(v, str) and v.lower() in _FORMATS)


def _decode_e2m1(nibble):
    """Four-bit floats in the low bits of int32, as float32: sign, two bits of exponent, one of mantissa."""
    sign, exponent, mantissa = (nibble & 8) << 28, (nibble >> 1) & 3, nibble & 1
    normal = ((exponent + 126) << 23) | (mantissa << 22)
    # Without an exponent the value is 0 or 0.5.
    subnormal = mantissa * (126 << 23)
    return bitcast_to(where(exponent == 0, subnormal, normal) | sign, float32)


def _unpack(value, packed_k):
    """Bytes [.., n] of two nibbles each, the lower one first, as float32 [.., 2n], or the same with rows packed."""
    rank = len(value.shape)
    last_two_swapped = [*range(rank - 2), rank - 1, rank - 2]
    if not packed_k:
        value = transposed(value, last_two_swapped)
    bits = cast_to(value, int32)
    pairs = joined(_decode_e2m1(bits & 15), _decode_e2m1(bits >> 4))
    value = reshaped(pairs, (*value.shape[:-1], 2 * value.shape[-1]))
    return value if packed_k else transposed(value, last_two_swapped)


def _scale_factor(scale):
    """Powers of two from their biased exponents (a byte each, 255 is NaN), as float32."""
    bits = cast_to(bitcast_to(scale, uint8), int32)
    # 2**-127 is subnormal: its bits do not follow the rule of the others.
    bits = where(bits == 0, 1 << 22, where(bits == 255, 0x7FC00000, bits << 23))
    return bitcast_to(bits, float32)


def _magnitude(value):
    """The bits of float32 without the sign, as uint32, which are ordered as the numbers are."""
    return bitcast_to(value, uint32) & 0x7FFFFFFF


def _leaves_normals(value, scaled):
    """Whether a number other than zero becomes one that is no normal float32, for any element; an int32 scalar."""
    is_number = (_magnitude(value) - 1) < 0x7F7FFFFF
    is_normal = (_magnitude(scaled) - 0x00800000) < 0x7F000000
    left = where(is_number, where(is_normal, 0, 1), 0)
    while left.shape:
        left = largest(left, 0)
    return left


class _Operand:
    """Decoded elements and what to multiply them with, both float32 [.., rows, K] (K last also of the right one)."""

    def __init__(self, value, factor):
        self.value, self.factor = value, factor

    def scaled(self, dtype=float32):
        """The elements times their scales."""
        value = cast_to(self.value, dtype)
        return value if self.factor is None else binary("arith.mulf", value, cast_to(self.factor, dtype))


def _factors(value, scale, name):
    """Scales [.., rows, K / group] for each of the elements [.., rows, K]."""
    if scale is None:
        return None
    if not isinstance(scale, tensor) or scale.shape[:-1] != value.shape[:-1] or value.shape[-1] % scale.shape[-1]:
        raise SemanticError(
            f"scale of the {name} of dot_scaled must have the shape [.., rows, groups] with groups dividing K; "
            f"elements are {list(value.shape)}, found {describe(scale)}"
        )
    groups = scale.shape[-1]
    wide = expand(_scale_factor(scale), len(scale.shape))
    wide = broadcast_shape(wide, (*scale.shape, value.shape[-1] // groups))
    return reshaped(wide, value.shape)


def _operand(value, scale, format, k_pack, is_left, name):
    """An operand decoded, with its scales."""
    format = format.lower()
    if len(value.shape) not in (2, 3):
        raise SemanticError(f"{name} of dot_scaled must be a tile of rank 2 or 3, found {describe(value)}")
    wanted = _FORMATS[format]
    if value.dtype != wanted and value.dtype.primitive_bitwidth != wanted.primitive_bitwidth:
        raise SemanticError(f"{name} of dot_scaled of format {format!r} must be of {wanted}, found {value.dtype}")
    value = bitcast_to(value, wanted)
    if format == "e2m1":
        value = _unpack(value, k_pack == is_left)
    value = cast_to(value, float32)
    # Scales come as [rows of the result, groups of K] for both operands.
    if not is_left:
        value = _swapped(value)
    return _Operand(value, _factors(value, scale, name))


def _swapped(value):
    rank = len(value.shape)
    return transposed(value, [*range(rank - 2), rank - 1, rank - 2])


def _chosen(condition, type, yes, no):
    """yes() where the scalar `condition` holds, else no(): tiles of one type, of which one is computed."""
    op = current().create("scf.if", [condition.handle], {}, [type.ir], regions=2)
    for number, make in enumerate((yes, no)):
        with block_of(op.region(number), []):
            current().create("scf.yield", [make().handle], {}, [])
    return tensor(op.result, type)


@builtin(
    lhs=k.TILE,
    lhs_scale=k.TILE | k.NONE,
    lhs_format=_FORMAT,
    rhs=k.TILE,
    rhs_scale=k.TILE | k.NONE,
    rhs_format=_FORMAT,
    acc=k.VALUE,
    fast_math=k.FLAG,
    lhs_k_pack=k.FLAG,
    rhs_k_pack=k.FLAG,
    out_dtype=k.TYPE,
)
def dot_scaled(
    lhs,
    lhs_scale,
    lhs_format,
    rhs,
    rhs_scale,
    rhs_format,
    acc=None,
    fast_math=False,
    lhs_k_pack=True,
    rhs_k_pack=True,
    out_dtype=float32,
):
    """acc + (lhs * scales) @ (rhs * scales) for narrow floats with a scale for each group of elements along K.

    Formats are "e2m1" (two in a byte of uint8, along K unless the `k_pack` of the operand is False), "e4m3", "e5m2",
    "bf16" and "fp16". Scales are bytes, biased exponents of two, of shape [M, groups] for lhs [M, K] and [N, groups]
    for rhs [K, N], or None.
    """
    a = _operand(lhs, lhs_scale, lhs_format, lhs_k_pack, True, "first operand")
    b = _operand(rhs, rhs_scale, rhs_format, rhs_k_pack, False, "second operand")
    left, right = a.scaled(), b.scaled()

    def fast():
        if "fp16" in (str(lhs_format).lower(), str(rhs_format).lower()):
            # The mantissa of a half does not fit into a bfloat16.
            return dot(left, _swapped(right), acc, "ieee", out_dtype=out_dtype)
        return dot(cast_to(left, bfloat16), cast_to(_swapped(right), bfloat16), acc, out_dtype=out_dtype)

    def exact():
        start = None if acc is None else cast_to(acc, float64)
        product = dot(a.scaled(float64), _swapped(b.scaled(float64)), start, out_dtype=float64)
        return cast_to(product, dtype)

    scaled = [o for o in (a, b) if o.factor is not None]
    if not scaled or options().target != "cpu":
        return fast()
    doubts = [_leaves_normals(o.value, o.scaled()) for o in scaled]
    doubt = doubts[0] if len(doubts) == 1 else doubts[0] | doubts[1]
    dtype = acc.dtype if isinstance(acc, tensor) else static_dtype(out_dtype, "out_dtype of dot_scaled")
    type = type_of(dtype, (*left.shape[:-1], right.shape[-2]))
    return _chosen(doubt != 0, type, exact, fast)
