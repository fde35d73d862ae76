# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""dot_scaled: products of matrices of narrow floats with a common scale for each group along K (the OCP MX formats).

Operands are decoded and scaled, which is exact in bfloat16 for all 8- and 4-bit formats, and multiplied by `dot`.
"""

from ..errors import SemanticError
from .arithmetic import binary
from .builder import builtin
from .cast import bitcast_to, cast_to
from .comparison import where
from .dtypes import bfloat16, float8e4nv, float8e5, float16, float32, int32, uint8
from .linalg import dot
from .promotion import broadcast_shape, expand
from .shape import joined, reshaped, transposed
from .values import describe, tensor

_FORMATS = {"e2m1": uint8, "e4m3": float8e4nv, "e5m2": float8e5, "bf16": bfloat16, "fp16": float16}


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


def _scaled(value, scale, name):
    """Elements [.., rows, K] times scales [.., rows, K / group]."""
    if scale is None:
        return value
    if not isinstance(scale, tensor) or scale.shape[:-1] != value.shape[:-1] or value.shape[-1] % scale.shape[-1]:
        raise SemanticError(
            f"scale of the {name} of dot_scaled must have the shape [.., rows, groups] with groups dividing K; "
            f"elements are {list(value.shape)}, found {describe(scale)}"
        )
    groups = scale.shape[-1]
    wide = expand(_scale_factor(scale), len(scale.shape))
    wide = broadcast_shape(wide, (*scale.shape, value.shape[-1] // groups))
    return binary("arith.mulf", value, reshaped(wide, value.shape))


def _operand(value, scale, format, k_pack, is_left, name):
    """An operand decoded and scaled, as float32."""
    format = str(format).lower()
    if format not in _FORMATS:
        raise SemanticError(
            f"format of the {name} of dot_scaled must be one of {', '.join(_FORMATS)}, found {format!r}"
        )
    if not isinstance(value, tensor) or len(value.shape) not in (2, 3):
        raise SemanticError(f"{name} of dot_scaled must be a tile of rank 2 or 3, found {describe(value)}")
    wanted = _FORMATS[format]
    if value.dtype != wanted and value.dtype.primitive_bitwidth != wanted.primitive_bitwidth:
        raise SemanticError(f"{name} of dot_scaled of format {format!r} must be of {wanted}, found {value.dtype}")
    value = bitcast_to(value, wanted)
    rank = len(value.shape)
    swapped = [*range(rank - 2), rank - 1, rank - 2]
    if format == "e2m1":
        value = _unpack(value, k_pack == is_left)
    value = cast_to(value, float32)
    # Scales come as [rows of the result, groups of K] for both operands.
    return (
        _scaled(value, scale, name)
        if is_left
        else transposed(_scaled(transposed(value, swapped), scale, name), swapped)
    )


@builtin
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
    if "fp16" in (str(lhs_format).lower(), str(rhs_format).lower()):
        # The mantissa of a half does not fit into a bfloat16.
        return dot(a, b, acc, "ieee", out_dtype=out_dtype)
    return dot(cast_to(a, bfloat16), cast_to(b, bfloat16), acc, out_dtype=out_dtype)
