# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""x[...] on tiles (new axes, static slices, elements and rows by index), functional update, and gather."""

import builtins

from ..errors import SemanticError
from . import kinds as k
from .arithmetic import binary
from .builder import builtin, emit, i32_array, method
from .cast import as_index, cast_to
from .comparison import compare_same, extreme_same, select
from .dtypes import int32, int64, type_of
from .promotion import broadcast_shape, constant, expand, to_tensor
from .shape import flip
from .values import describe, show, slice, static_axis, static_int, tensor


def slice_tile(value, offsets, sizes, strides, dropped):
    """A rectangle of a tile; offsets are ints or i32 scalars, `dropped` dimensions vanish."""
    dropped = builtins.tuple(dropped)
    handles = [(o if isinstance(o, tensor) else constant(o, int32)).handle for o in offsets]
    type = type_of(value.dtype, [s for i, s in enumerate(sizes) if i not in dropped])
    attributes = {"sizes": i32_array(sizes), "strides": i32_array(strides), "dropped": i32_array(dropped)}
    return tensor(emit("tile.slice", [value.handle, *handles], type.ir, attributes), type)


def _run_time_index(index, extent, axis):
    """A scalar index as i32 in [0, extent): negative ones count from the end, then it is clamped to the tile."""
    if index.shape or not index.dtype.is_int() or index.dtype.is_bool():
        raise SemanticError(
            f"index of dimension {axis} must be an integer, a slice, None or ..., found {index.type}; to pick "
            "elements by a tile of indices use tl.gather"
        )
    wide = index.dtype.int_bitwidth > 32 or (index.dtype.is_int_unsigned() and index.dtype.int_bitwidth == 32)
    dtype = int64 if wide else int32
    index = cast_to(index, dtype)
    zero, last = constant(0, dtype), constant(extent - 1, dtype)
    from_end = binary("arith.addi", index, constant(extent, dtype))
    index = select(compare_same("lt", index, zero), from_end, index)
    return cast_to(extreme_same("min", extreme_same("max", index, zero, False), last, False), int32)


def _static_index(index, extent, axis):
    if not -extent <= index < extent:
        raise SemanticError(f"index {show(index)} of dimension {axis} is out of range for an extent of {extent}")
    return index % extent


class _Rectangle:
    """What an index selects: offsets, sizes and strides per dimension, which ones vanish, which to reverse."""

    def __init__(self, shape):
        self.shape = shape
        self.offsets, self.sizes, self.strides = [], [], []
        self.dropped, self.reversed = [], []

    def add(self, index):
        """Takes the index of the next dimension."""
        axis = len(self.offsets)
        extent = self.shape[axis]
        if isinstance(index, slice):
            index = index.python()
        if isinstance(index, builtins.slice):
            return self._add_slice(index, axis, extent)
        if isinstance(index, tensor):
            offset = _run_time_index(index, extent, axis)
        else:
            offset = _static_index(static_int(index, f"index of dimension {axis}"), extent, axis)
        self.dropped.append(axis)
        self._append(offset, 1, 1)
        return None

    def _add_slice(self, index, axis, extent):
        bounds = [
            None if b is None else static_int(b, f"bound of the slice of dimension {axis}")
            for b in (index.start, index.stop, index.step)
        ]
        if bounds[2] == 0:
            raise SemanticError(f"step of the slice of dimension {axis} is 0")
        start, stop, step = builtins.slice(*bounds).indices(extent)
        size = len(range(start, stop, step))
        if size == 0:
            raise SemanticError(f"slice [{start}:{stop}:{step}] of dimension {axis} of extent {extent} is empty")
        if step < 0:
            self.reversed.append(axis)
            start, step = start + (size - 1) * step, -step
        self._append(start, size, step)

    def _append(self, offset, size, stride):
        self.offsets.append(offset)
        self.sizes.append(size)
        self.strides.append(stride)

    def is_whole(self):
        """Whether everything is selected."""
        return not self.dropped and builtins.tuple(self.sizes) == self.shape


def _as_tuple(index):
    return builtins.tuple(index) if isinstance(index, builtins.tuple) else (index,)


def _parse(shape, index):
    """The rectangle that an index selects, and where in the result its Nones put new axes."""
    index = list(_as_tuple(index))
    rank = len(shape)
    ellipses = [i for i, x in enumerate(index) if x is Ellipsis]
    given = sum(x is not None and x is not Ellipsis for x in index)
    if len(ellipses) > 1:
        raise SemanticError("an index holds one ... at most")
    if given > rank:
        raise SemanticError(f"too many indices: found {given} for a value of rank {rank} (shape {list(shape)})")
    at = ellipses[0] if ellipses else len(index)
    index[at : at + len(ellipses)] = [builtins.slice(None)] * (rank - given)
    rectangle, new_axes, place = _Rectangle(shape), [], 0
    for entry in index:
        if entry is None:
            new_axes.append(place)
        else:
            rectangle.add(entry)
        dropped = entry is not None and bool(rectangle.dropped) and rectangle.dropped[-1] == len(rectangle.offsets) - 1
        place += 0 if dropped else 1
    return rectangle, new_axes


@builtin(x=k.ANY, index=k.ANY)
def getitem(x, index):
    """x[index]: None and ... as in numpy, slices with constant bounds, integers constant or at run time.

    A run-time index is a scalar; negative ones count from the end, and it is clamped to the extent, so that nothing
    outside the tile is ever read.
    """
    rectangle, new_axes = _parse(x.shape, index)
    kept = [i for i in range(len(x.shape)) if i not in rectangle.dropped]
    if not rectangle.is_whole():
        x = slice_tile(x, rectangle.offsets, rectangle.sizes, rectangle.strides, rectangle.dropped)
    for axis in rectangle.reversed:
        x = flip(x, kept.index(axis))
    for axis in new_axes:
        x = expand(x, axis)
    return x


tensor.__getitem__ = getitem


@method
@builtin(x=k.TILE, index=k.ANY, value=k.VALUE)
def insert(x, index, value):
    """A copy of the tile x in which what x[index] selects is `value` (a scalar, or a tile that broadcasts to it).

    The functional form of `x[index] = value`. Indices are as in x[index], without None and steps.
    """
    x = to_tensor(x)
    if not x.shape:
        raise SemanticError(f"insert takes a tile, found a scalar ({x.type})")
    rectangle, new_axes = _parse(x.shape, index)
    if new_axes or rectangle.reversed or any(s != 1 for s in rectangle.strides):
        raise SemanticError("an index that is assigned to has no None and no step")
    value = constant(value, x.dtype) if not isinstance(value, tensor) else cast_to(value, x.dtype)
    shape = builtins.tuple(s for i, s in enumerate(rectangle.sizes) if i not in rectangle.dropped)
    value = broadcast_shape(value, shape, "inserted value")
    handles = [(o if isinstance(o, tensor) else constant(o, int32)).handle for o in rectangle.offsets]
    operands = [value.handle, x.handle, *handles]
    return tensor(emit("tile.insert", operands, x.type.ir, {"dropped": i32_array(rectangle.dropped)}), x.type)


@method
@builtin(src=k.TILE, index=k.tiles(k.INTEGER), axis=k.AXIS)
def gather(src, index, axis):
    """src[.., index[.., i, ..], ..] along `axis`; src and index agree in all other extents, index holds integers.

    An index outside of the axis gives an undefined element.
    """
    src, index = to_tensor(src), to_tensor(index)
    if not index.shape or not index.dtype.is_int():
        raise SemanticError(f"gather takes a tile of integers as index, found {describe(index)}")
    if len(src.shape) != len(index.shape):
        raise SemanticError(
            f"gather takes operands of one rank, found shapes {list(src.shape)} and {list(index.shape)}"
        )
    axis = static_axis(axis, len(src.shape), "axis of gather")
    for i, (a, b) in enumerate(zip(src.shape, index.shape, strict=False)):
        if i != axis and a != b:
            raise SemanticError(
                f"gather along {axis} takes operands that agree in all other extents, found shapes "
                f"{list(src.shape)} and {list(index.shape)}"
            )
    index = as_index(index)
    type = type_of(src.dtype, index.shape)
    return tensor(emit("tile.gather", [src.handle, index.handle], type.ir, {"axis": f"{axis} : i32"}), type)
