# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What two operands become before an operation: one dtype (promotion) and one shape (broadcasting).

Literals are Python numbers. A literal takes the other operand's dtype where its kind (bool < integer < float) is not
above that one's, so it never widens a tile; an integer that does not fit is an error.
"""

import math

from ..errors import SemanticError
from .builder import current, emit
from .dtypes import bfloat16, float16, float32, float64, int1, int32, int64, type_of, uint64
from .values import describe, show, tensor, unwrap

_FLOAT32_MAX = (2 - 2**-23) * 2.0**127
_FLOAT32_MIN = 2.0**-126
_E4NV_MAX = 448.0


def is_literal(value):
    """Whether it is a Python number."""
    return isinstance(value, (bool, int, float))


def literal_dtype(value):
    """The dtype that a literal has by itself: int1, int32 or the first of int64, uint64 that holds it, float32 or
    float64.
    """
    if isinstance(value, bool):
        return int1
    if isinstance(value, int):
        for candidate in (int32, int64, uint64):
            if candidate.get_int_min_value() <= value <= candidate.get_int_max_value():
                return candidate
        raise SemanticError(f"integer literal {show(value)} does not fit in 64 bits")
    size = abs(value)
    fits = size == 0 or math.isinf(value) or math.isnan(value) or _FLOAT32_MIN <= size <= _FLOAT32_MAX
    return float32 if fits else float64


def constant(value, dtype):
    """A run-time scalar of `dtype` that holds a literal.

    An integer literal that does not fit an integer dtype, and a float literal for one, are errors.
    """
    b = current()
    if dtype.is_ptr():
        raise SemanticError(f"expected a pointer ({dtype}), found the literal {show(value)}")
    if dtype.is_floating():
        try:
            value = float(value)
        except OverflowError:
            raise SemanticError(f"integer literal {show(value)} does not fit in {dtype}") from None
        if dtype.name == "fp8e4nv" and abs(value) > _E4NV_MAX:  # saturates, as conversions at run time do
            value = math.copysign(_E4NV_MAX, value)
        return tensor(b.constant_float(value, dtype.ir), dtype)
    if isinstance(value, float):
        raise SemanticError(f"expected an integer for {dtype}, found the float literal {show(value)}")
    value = int(value)
    low, high = dtype.get_int_min_value(), dtype.get_int_max_value()
    if not low <= value <= high:
        raise SemanticError(
            f"integer literal {show(value)} does not fit in {dtype} ({low} to {high}); cast the operand to a "
            "wider type first"
        )
    if dtype.int_bitwidth > 1 and value >= 1 << (dtype.int_bitwidth - 1):
        value -= 1 << dtype.int_bitwidth
    return tensor(b.constant_int(value, dtype.ir), dtype)


def to_tensor(value, what="operand"):
    """A run-time value as it is, or a literal as a scalar of its own dtype."""
    value = unwrap(value)
    if isinstance(value, tensor):
        return value
    if is_literal(value):
        return constant(value, literal_dtype(value))
    raise SemanticError(f"{what} must be a number or a run-time value, found {describe(value)}")


def integer_type(a, b):
    """The dtype of an operation on two integer dtypes, by C's rules: the wider one, unsigned at equal width."""
    if a.int_signedness == b.int_signedness:
        return a if a.int_bitwidth > b.int_bitwidth else b
    unsigned, signed = (a, b) if a.is_int_unsigned() else (b, a)
    return unsigned if unsigned.int_bitwidth >= signed.int_bitwidth else signed


def computation_type(a, b, division=False):
    """The dtype in which an operation on the dtypes `a` and `b` is done.

    float64, then float32, win over all others. float16 and bfloat16 win over integers that they meet alone, but
    together give float32, as does bfloat16 with an integer. Divisions of floats are done in float32 at least.
    """
    for dtype in (a, b):
        if dtype.is_ptr():
            raise SemanticError(
                f"unexpected pointer: operands are {a} and {b}; load the value first, or cast the pointer to tl.int64"
            )
    if a == float64 or b == float64:
        return float64
    if a == float32 or b == float32 or (division and (a.is_floating() or b.is_floating())):
        return float32
    if float16 in (a, b) or bfloat16 in (a, b):
        if bfloat16 not in (a, b):
            return float16
        return bfloat16 if a == b else float32
    if a.is_fp8() or b.is_fp8():
        if a == b:
            return a
        if a.is_fp8() and b.is_fp8():
            return float16
        raise SemanticError(f"no common type of {a} and {b}; cast one of them")
    if division and a.int_signedness != b.int_signedness:
        raise SemanticError(f"division of {a} and {b}: operands of different signedness; cast one of them")
    return integer_type(a, b)


def promoted_type(values, division=False):
    """The dtype of an operation on several operands, each a tensor or a literal."""
    tensors, literals = None, None
    for value in values:
        if isinstance(value, tensor):
            tensors = value.dtype if tensors is None else computation_type(tensors, value.dtype, division)
        elif is_literal(value):
            own = literal_dtype(value)
            literals = own if literals is None else computation_type(literals, own)
        else:
            raise SemanticError(f"operand must be a number or a run-time value, found {describe(value)}")
    if tensors is None:
        return computation_type(literals, literals, division)
    if literals is None or (not tensors.is_ptr() and literals.kind().value <= tensors.kind().value):
        return computation_type(tensors, tensors, division)
    return computation_type(tensors, literals, division)


def promote(values, division=False, dtype=None):
    """Operands of one dtype (`dtype`, or what promotion says) and one shape.

    Returns the tensors and the dtype.
    """
    from .cast import cast_to

    values = [unwrap(v) for v in values]
    dtype = dtype or promoted_type(values, division)
    made = [cast_to(v, dtype) if isinstance(v, tensor) else constant(v, dtype) for v in values]
    return broadcast_together(made), dtype


def splat(value, shape):
    """A tile of `shape` with a scalar in every element; the scalar itself where there is no shape."""
    if not shape:
        return value
    type = type_of(value.dtype, shape)
    return tensor(emit("tile.splat", [value.handle], type.ir), type)


def common_shape(a, b):
    """The shape that two shapes broadcast to, as in numpy: aligned at the right, extents equal or 1."""
    rank = max(len(a), len(b))
    left, right = (1,) * (rank - len(a)) + tuple(a), (1,) * (rank - len(b)) + tuple(b)
    if any(x != y and x != 1 and y != 1 for x, y in zip(left, right, strict=False)):
        axis = next(i for i, (x, y) in enumerate(zip(left, right, strict=False)) if x != y and x != 1 and y != 1)
        raise SemanticError(
            f"shapes {list(a)} and {list(b)} do not broadcast: extents {left[axis]} and {right[axis]} of "
            f"dimension {axis} must be equal, or one of them 1"
        )
    return tuple(max(x, y) for x, y in zip(left, right, strict=False))


def expand(value, axis):
    """The tile with a dimension of extent 1 put in at `axis`."""
    if not value.shape:
        return splat(value, (1,))
    type = type_of(value.dtype, (*value.shape[:axis], 1, *value.shape[axis:]))
    return tensor(emit("tile.expand_dims", [value.handle], type.ir, {"axis": f"{axis} : i32"}), type)


def along(vector, axis, rank):
    """A tile of rank 1 as one of `rank` with all extents but that of `axis` 1."""
    for i in range(rank):
        if i != axis:
            vector = expand(vector, i)
    return vector


def broadcast_shape(value, shape, what="value"):
    """The value with its elements repeated to exactly `shape`."""
    shape = tuple(shape)
    if value.shape == shape:
        return value
    if not value.shape:
        return splat(value, shape)
    if common_shape(value.shape, shape) != shape:
        raise SemanticError(f"{what} of shape {list(value.shape)} does not broadcast to {list(shape)}")
    while len(value.shape) < len(shape):
        value = expand(value, 0)
    if value.shape == shape:
        return value
    type = type_of(value.dtype, shape)
    return tensor(emit("tile.broadcast", [value.handle], type.ir), type)


def broadcast_together(values):
    """The values, all of the shape that they broadcast to together; scalars alone stay scalars."""
    shape = ()
    for value in values:
        shape = common_shape(shape, value.shape)
    return [broadcast_shape(value, shape) for value in values]
