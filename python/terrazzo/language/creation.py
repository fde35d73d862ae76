# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values from nothing: the program's index, ranges, constants."""

from ..errors import SemanticError
from . import kinds as k
from .builder import builtin, emit, method
from .cast import cast_to, literal_as
from .dtypes import block_type, int32
from .promotion import is_literal, splat
from .promotion import to_tensor as _to_tensor
from .values import static_dtype, static_int, static_shape, tensor


def _grid_axis(axis, name):
    axis = static_int(axis, f"axis of {name}")
    if axis not in (0, 1, 2):
        raise SemanticError(f"axis of {name} must be 0, 1 or 2, found {axis}")
    return axis


@builtin(axis=k.static_int(0, 2))
def program_id(axis):
    """The index of this program along an axis (0, 1 or 2) of the grid, an int32 scalar."""
    axis = _grid_axis(axis, "program_id")
    return tensor(emit("tile.program_id", [], "i32", {"axis": f"{axis} : i32"}), int32)


@builtin(axis=k.static_int(0, 2))
def num_programs(axis):
    """The extent of the grid along an axis (0, 1 or 2), an int32 scalar."""
    axis = _grid_axis(axis, "num_programs")
    return tensor(emit("tile.num_programs", [], "i32", {"axis": f"{axis} : i32"}), int32)


@builtin(x=k.VALUE)
def to_tensor(x):
    """A compile-time number as a run-time scalar; a run-time value as it is."""
    return _to_tensor(x)


def arange_tile(start, end):
    """The tile of int32 that counts from `start` up to but without `end`."""
    type = block_type(int32, (end - start,))
    return tensor(emit("tile.arange", [], type.ir, {"start": f"{start} : i32", "end": f"{end} : i32"}), type)


@builtin(start=k.ANY, end=k.ANY)
def arange(start, end=None):
    """The integers start, ..., end - 1 as a tile of int32; the bounds are compile-time constants, of any distance
    above 0.
    """
    if end is None:
        start, end = 0, start
    start, end = static_int(start, "start of arange"), static_int(end, "end of arange")
    if end <= start:
        raise SemanticError(f"end of arange must be greater than its start, found arange({start}, {end})")
    if start < int32.get_int_min_value() or end > int32.get_int_max_value():
        raise SemanticError(f"bounds of arange must fit in int32, found arange({start}, {end})")
    return arange_tile(start, end)


@builtin(shape=k.ANY, value=k.VALUE, dtype=k.TYPE)
def full(shape, value, dtype=None):
    """A tile of `shape` with `value`, a number or a run-time scalar, in each element.

    Without `dtype` a run-time scalar keeps its own. The shape () gives a scalar.
    """
    shape = static_shape(shape)
    if isinstance(value, tensor):
        if value.shape:
            raise SemanticError(f"full takes a scalar, found {value.type}")
        scalar = value if dtype is None else cast_to(value, static_dtype(dtype))
    elif not is_literal(value):
        scalar = _to_tensor(value, "value of full")
    elif dtype is None:
        raise SemanticError("full needs a dtype for a compile-time value")
    else:
        scalar = literal_as(value, static_dtype(dtype))
    return splat(scalar, shape)


@builtin(shape=k.ANY, dtype=k.TYPE)
def zeros(shape, dtype):
    """A tile of `shape` and `dtype` with 0 in each element."""
    return full(shape, 0, dtype)


@builtin(input=k.VALUE)
def zeros_like(input):
    """A tile of zeros with the shape and the dtype of another."""
    input = _to_tensor(input)
    return full(input.shape, 0, input.dtype)


method(zeros_like)
