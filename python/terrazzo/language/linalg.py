# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of matrices."""

from ..errors import SemanticError
from . import kinds as k
from .builder import builtin, emit, enum_attributes, options
from .dtypes import block_type, float32, float64, int32
from .promotion import constant, splat
from .values import describe, static_dtype, static_int, tensor


def _operand(value, name):
    if not isinstance(value, tensor) or not value.shape:
        raise SemanticError(f"{name} of dot must be a tile, found {describe(value)}")
    dtype = value.dtype
    fits = dtype.is_floating() or (dtype.is_int() and dtype.int_bitwidth == 8)
    if not fits:
        raise SemanticError(f"{name} of dot must be of floats or 8-bit integers, found {value.type}")
    return value


def _check_shapes(a, b):
    """The shape of the product."""
    rank = len(a.shape)
    if rank != len(b.shape) or rank not in (2, 3):
        raise SemanticError(
            f"dot takes two tiles of rank 2, or two of rank 3, found shapes {list(a.shape)} and {list(b.shape)}"
        )
    if a.shape[-1] != b.shape[-2]:
        raise SemanticError(
            f"dot of shapes {list(a.shape)} and {list(b.shape)}: the last extent of the first, {a.shape[-1]}, "
            f"must equal the last but one of the second, {b.shape[-2]}"
        )
    if a.shape[:-2] != b.shape[:-2]:
        raise SemanticError(f"dot of shapes {list(a.shape)} and {list(b.shape)}: the batch extents must be equal")
    return (*a.shape[:-1], b.shape[-1])


def _check_dtypes(a, b):
    """The dtype of the product where nobody asks for another."""
    if a.dtype != b.dtype and not (a.dtype.is_fp8() and b.dtype.is_fp8()):
        raise SemanticError(
            f"dot takes operands of one dtype (or two of 8-bit floats), found {a.dtype} and {b.dtype}; cast one of them"
        )
    if a.dtype.is_int():
        return int32
    return float64 if a.dtype == float64 else float32


def _precision(a, input_precision, allow_tf32):
    if allow_tf32 is not None:
        if input_precision is not None:
            raise SemanticError("dot takes either input_precision or allow_tf32, found both")
        input_precision = "tf32" if allow_tf32 else "ieee"
    if input_precision is None:
        input_precision = options().dot_precision or "default"
    precisions = enum_attributes("tile.Precision")
    name = input_precision.lower() if isinstance(input_precision, str) else None
    if name not in precisions:
        raise SemanticError(
            f"input_precision must be 'tf32', 'tf32x3', 'ieee', 'bf16x3' or 'bf16x6', found {describe(input_precision)}"
        )
    return {"precision": precisions[name]} if name != "default" and a.dtype == float32 else {}


def _imprecision(a, given):
    most = options().imprecise_acc if given is None else static_int(given, "max_num_imprecise_acc")
    if most < 0:
        raise SemanticError(f"max_num_imprecise_acc must not be negative, found {most}")
    return {"maxNumImpreciseAcc": f"{min(most, 2**31 - 1)} : i32"} if most and a.dtype.is_fp8() else {}


def _accumulator(acc, shape, natural, out_dtype):
    if out_dtype is not None:
        out_dtype = static_dtype(out_dtype, "out_dtype of dot")
        if natural == int32 and out_dtype == float32:
            out_dtype = None  # What peers have as the default of this parameter; integers sum in int32.
        elif natural == float64 and out_dtype == float32:
            out_dtype = None
        elif (natural == int32) != (out_dtype == int32) or not (out_dtype == int32 or out_dtype.is_standard_floating()):
            raise SemanticError(
                f"out_dtype of dot must be {'tl.int32' if natural == int32 else 'a float of 16 bits or more'}, "
                f"found {out_dtype}"
            )
    if acc is None or (not isinstance(acc, tensor) and acc == 0):
        dtype = out_dtype or natural
        return splat(constant(0, dtype), shape)
    if not isinstance(acc, tensor) or acc.shape != shape:
        found = list(acc.shape) if isinstance(acc, tensor) else describe(acc)
        raise SemanticError(f"acc of dot must have the shape {list(shape)} of the product, found {found}")
    if (natural == int32) != (acc.dtype == int32) or not (acc.dtype == int32 or acc.dtype.is_standard_floating()):
        raise SemanticError(
            f"acc of dot must be of {'int32' if natural == int32 else 'floats of 16 bits or more'}, found {acc.dtype}"
        )
    if out_dtype is not None and out_dtype != acc.dtype and out_dtype != float32:
        raise SemanticError(f"acc of dot is of {acc.dtype}, out_dtype is {out_dtype}; they must be equal")
    return acc


@builtin(
    input=k.TILE,
    other=k.TILE,
    acc=k.VALUE,
    input_precision=k.ANY,
    allow_tf32=k.FLAG,
    max_num_imprecise_acc=k.ANY,
    out_dtype=k.TYPE,
)
def dot(input, other, acc=None, input_precision=None, allow_tf32=None, max_num_imprecise_acc=None, out_dtype=None):
    """acc + input @ other for tiles [M, K] and [K, N], or [B, M, K] and [B, K, N], of any extents from 1 up.

    Operands are of one float dtype, of 8-bit floats of any kind, or of int8 or uint8. The result has the dtype of
    `acc`, or `out_dtype`, or by default float32 (float64 for float64, int32 for integers). `input_precision` says how
    float32 operands may be rounded: "tf32", "tf32x3", "ieee", "bf16x3", "bf16x6". By default that is "tf32" on GPUs, or
    what the launch option `default_dot_input_precision` or TERRAZZO_F32_DEFAULT says; other targets never round them,
    nor do strict kernels. Sums of up to `max_num_imprecise_acc` products of 8-bit floats may have fewer bits than
    float32, where a matrix unit is faster so; by default that is what the launch option
    `max_num_imprecise_acc_default` says, or 2**30.
    """
    a, b = _operand(input, "first operand"), _operand(other, "second operand")
    shape = _check_shapes(a, b)
    acc = _accumulator(acc, shape, _check_dtypes(a, b), out_dtype)
    attributes = _precision(a, input_precision, allow_tf32) | _imprecision(a, max_num_imprecise_acc)
    if a.dtype.is_int_unsigned():
        attributes["isUnsigned"] = "unit"
    type = block_type(acc.dtype, shape)
    return tensor(emit("tile.dot", [a.handle, b.handle, acc.handle], type.ir, attributes), type)
