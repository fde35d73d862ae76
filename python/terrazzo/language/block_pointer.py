# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ruff: noqa: N801
"""Block pointers: a window of fixed shape that slides over a strided tensor in memory.

They exist here only. A load or store expands them to a tile of pointers and a mask; what a loop has to carry are the
offsets (`flatten` and `unflatten`), since base, shape and strides seldom change.
"""

import builtins
import math

from ..errors import SemanticError
from . import kinds as k
from .arithmetic import binary, move_pointer
from .builder import builtin, must_use_result
from .cast import cast_to
from .comparison import compare_same
from .creation import arange_tile
from .dtypes import block_type, int64
from .promotion import along, broadcast_shape, constant, is_literal, splat
from .values import describe, static_axis, static_int, static_shape, tensor

_ADVICE = "assign it: p = tl.advance(p, offsets)"


def wide(value, what):
    """A scalar integer as int64."""
    if is_literal(value) and isinstance(value, int):
        return constant(int(value), int64)
    if not isinstance(value, tensor) or value.shape or not value.dtype.is_int():
        raise SemanticError(f"{what} must be an integer scalar, found {describe(value)}")
    return cast_to(value, int64)


def wide_list(values, what):
    """A tuple of scalar integers as int64."""
    if not isinstance(values, (list, builtins.tuple)):
        values = (values,)
    return [wide(v, f"element {i} of {what}") for i, v in enumerate(values)]


class block_pointer:
    """A window of `block_shape` at `offsets` into the tensor of `shape` and `strides` that starts at `base`.

    All lengths count elements. `shape`, `strides` and `offsets` are int64 scalars.
    """

    def __init__(self, base, shape, strides, offsets, block_shape, order, unit=()):
        self.base, self.tensor_shape, self.strides, self.offsets = base, shape, strides, offsets
        self.block_shape = block_shape
        self.order = order
        self.unit = unit

    @property
    def dtype(self):
        """The type of the pointers."""
        return self.base.dtype

    @property
    def type(self):
        """The type of a block that it points to."""
        return block_type(self.element_ty, self.block_shape)

    @property
    def element_ty(self):
        """The type of the elements."""
        return self.base.dtype.element_ty

    @property
    def shape(self):
        """The shape of the window."""
        return self.block_shape

    def flatten(self):
        """The scalars that `advance` changes: the offsets."""
        return list(self.offsets)

    def flatten_all(self):
        """All scalars: base, shape, strides, offsets; for joins of block pointers into different tensors."""
        return [self.base, *self.tensor_shape, *self.strides, *self.offsets]

    def unflatten(self, values):
        """The block pointer with other scalars, as flatten or flatten_all lists them."""
        rank = len(self.block_shape)
        values = list(values)
        if len(values) == rank:
            return block_pointer(
                self.base, self.tensor_shape, self.strides, values, self.block_shape, self.order, self.unit
            )
        base, shape, strides, offsets = (
            values[0],
            values[1 : 1 + rank],
            values[1 + rank : 1 + 2 * rank],
            values[1 + 2 * rank :],
        )
        return block_pointer(base, shape, strides, offsets, self.block_shape, self.order)

    def same_tensor(self, other):
        """Whether another block pointer has the very same base, shape, strides and block: offsets are all that
        differs.
        """
        if not isinstance(other, block_pointer) or self.type != other.type:
            return False
        mine, theirs = self.flatten_all(), other.flatten_all()
        fixed = len(mine) - len(self.block_shape)
        return all(a.handle == b.handle for a, b in zip(mine[:fixed], theirs[:fixed], strict=False))

    @must_use_result(_ADVICE)
    @builtin(offsets=k.OFFSETS)
    def advance(self, offsets):
        """The window moved by `offsets`, one for each dimension."""
        moves = wide_list(offsets, "offsets of advance")
        if len(moves) != len(self.block_shape):
            raise SemanticError(
                f"advance takes {len(self.block_shape)} offsets for a block of shape {list(self.block_shape)}, "
                f"found {len(moves)}"
            )
        return self.unflatten([binary("arith.addi", o, m) for o, m in zip(self.offsets, moves, strict=False)])

    def _step(self, axis):
        """What each index along `axis` adds to the address, in elements: a tile of int64 of rank 1."""
        index = cast_to(arange_tile(0, self.block_shape[axis]), int64)
        if axis in self.unit:
            return index
        return binary("arith.muli", index, splat(self.strides[axis], index.shape))

    def pointers(self):
        """The tile of pointers: a scalar base that holds the offsets, and a tile of small steps from it."""
        start, total = None, None
        rank = len(self.block_shape)
        for axis in range(rank):
            term = self.offsets[axis]
            term = term if axis in self.unit else binary("arith.muli", term, self.strides[axis])
            start = term if start is None else binary("arith.addi", start, term)
            step = broadcast_shape(along(self._step(axis), axis, rank), self.block_shape)
            total = step if total is None else binary("arith.addi", total, step)
        return move_pointer(move_pointer(self.base, start), total)

    def mask(self, axes):
        """Which elements lie inside of the tensor in each of `axes`; None for no axes."""
        result = None
        rank = len(self.block_shape)
        for axis in axes:
            index = cast_to(arange_tile(0, self.block_shape[axis]), int64)
            index = binary("arith.addi", index, splat(self.offsets[axis], index.shape))
            low = compare_same("ge", index, splat(constant(0, int64), index.shape))
            high = compare_same("lt", index, splat(self.tensor_shape[axis], index.shape))
            inside = binary("arith.andi", low, high)
            inside = broadcast_shape(along(inside, axis, rank), self.block_shape)
            result = inside if result is None else binary("arith.andi", result, inside)
        return result

    def expand(self, boundary_check, padding_option):
        """The pointers, mask and other of an access; mask and other may be None."""
        if boundary_check is None or not hasattr(boundary_check, "__iter__"):
            boundary_check = () if boundary_check is None else (boundary_check,)
        axes = [static_axis(a, len(self.block_shape), "axis of boundary_check") for a in boundary_check]
        mask = self.mask(sorted(set(axes)))
        if padding_option == "nan":
            if not self.element_ty.is_floating():
                raise SemanticError(f"padding_option 'nan' is for floats, found {self.element_ty}")
            return self.pointers(), mask, math.nan if mask is not None else None
        return self.pointers(), mask, None


BLOCK_POINTER = k.Kind("a block pointer", lambda v: isinstance(v, block_pointer))


@builtin(
    base=k.SCALAR_POINTER, shape=k.OFFSETS, strides=k.OFFSETS, offsets=k.OFFSETS, block_shape=k.ANY, order=k.STATIC_INTS
)
def make_block_ptr(base, shape, strides, offsets, block_shape, order):
    """A block pointer: a window of `block_shape` (compile-time) at `offsets` into a tensor of `shape` and `strides`.

    `base` is a scalar pointer; shape, strides and offsets are integer scalars, one for each dimension; `order` lists
    the dimensions from the fastest in memory on.
    """
    block_shape = static_shape(block_shape, "block_shape")
    rank = len(block_shape)
    lists = {"shape": shape, "strides": strides, "offsets": offsets, "order": order}
    for name, values in lists.items():
        count = len(values) if hasattr(values, "__len__") else 1
        if count != rank:
            raise SemanticError(f"{name} of make_block_ptr has {count} elements, expected {rank} as block_shape has")
    order = [static_int(o, "order") for o in (order if hasattr(order, "__iter__") else [order])]
    if sorted(order) != list(range(rank)):
        raise SemanticError(f"order of make_block_ptr must be a permutation of 0 to {rank - 1}, found {order}")
    plain = strides if hasattr(strides, "__iter__") else [strides]
    unit = [i for i, s in enumerate(plain) if is_literal(s) and s == 1]
    return block_pointer(
        base,
        wide_list(shape, "shape"),
        wide_list(strides, "strides"),
        wide_list(offsets, "offsets"),
        block_shape,
        order,
        unit,
    )


@must_use_result(_ADVICE)
@builtin(base=BLOCK_POINTER, offsets=k.OFFSETS)
def advance(base, offsets):
    """A block pointer moved by `offsets`, one integer for each dimension."""
    return base.advance(offsets)
