# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions along an axis, or over all elements: reduce with a function of the user, sum, max, min and their
indices, ...

An axis of None means all elements in row-major order. The result has the operand's shape without the axis; with
`keep_dims` its extent becomes 1; without dimensions left it is a scalar.
"""

from ..errors import SemanticError
from . import kinds as k
from .arithmetic import add, and_, binary, invert, mul, or_, xor_
from .builder import builtin, method
from .cast import cast_to
from .comparison import PROPAGATE, PropagateNan, compare_same, extreme_same, propagates, select
from .creation import arange_tile
from .dtypes import float32, int32, type_of, uint32
from .promotion import along, broadcast_shape, expand, splat, to_tensor
from .regions import as_list, create_combining, same_shapes
from .shape import reshaped
from .values import static_axis, static_dtype, tuple


def reduce_tiles(values, axis, fn, keep_dims, what):
    """Reduces tiles of one shape together; returns the list of results."""
    rank = len(same_shapes(values, what))
    where = None if axis is None else static_axis(axis, rank, f"axis of {what}")
    if where is None:
        values = [reshaped(v, (v.numel.value,)) for v in values]
    axis = where or 0
    rest = values[0].shape[:axis] + values[0].shape[axis + 1 :]
    types = [type_of(v.dtype, rest) for v in values]
    results = create_combining("tile.reduce", values, {"axis": f"{axis} : i32"}, types, fn, f"the function of {what}")
    return [_with_dims(r, rank, where) for r in results] if keep_dims else results


def _with_dims(result, rank, axis):
    """A result with the reduced `axis` put back; all of `rank` dimensions for None."""
    return splat(result, (1,) * rank) if axis is None else expand(result, axis)


@method
@builtin(input=k.TENSORS, axis=k.AXIS | k.NONE, combine_fn=k.FUNCTION, keep_dims=k.FLAG)
def reduce(input, axis, combine_fn, keep_dims=False):
    """Combines the elements of a tile, or of several of one shape together, along `axis` by an associative function.

    combine_fn takes the accumulated scalars, one for each tile, then the next ones, and returns as many; it need not
    commute.
    """
    values, several = as_list(input, "input of reduce")
    results = reduce_tiles(values, axis, combine_fn, keep_dims, "reduce")
    return tuple(results) if several else results[0]


def widened(dtype):
    """The dtype in which narrow integers are summed: int32, or uint32 for unsigned ones and bools; others as they
    are.
    """
    if dtype.is_int() and dtype.int_bitwidth < 32:
        return int32 if dtype.is_int_signed() else uint32
    return dtype


def summand(input, dtype, what):
    """The operand of a sum, converted to `dtype`, or widened if that is None."""
    input = to_tensor(input, f"input of {what}")
    if input.dtype.is_ptr():
        raise SemanticError(f"{what} takes numbers, found {input.type}")
    return cast_to(input, widened(input.dtype) if dtype is None else static_dtype(dtype, f"dtype of {what}"))


def _simple(input, axis, fn, keep_dims, what):
    if not input.shape:
        # A scalar is its own reduction: code that is generic in the rank relies on it.
        return input
    return reduce_tiles([input], axis, fn, keep_dims, what)[0]


@method
@builtin(input=k.NUMBER, axis=k.AXIS, keep_dims=k.FLAG, dtype=k.TYPE)
def sum(input, axis=None, keep_dims=False, dtype=None):
    """The sum; integers narrower than 32 bits are summed as int32 or uint32 (bools too), unless `dtype` says
    otherwise.
    """
    return _simple(summand(input, dtype, "sum"), axis, add, keep_dims, "sum")


@method
@builtin(input=k.NUMBER, axis=k.AXIS, keep_dims=k.FLAG, dtype=k.TYPE)
def prod(input, axis=None, keep_dims=False, dtype=None):
    """The product, with the dtypes of sum."""
    return _simple(summand(input, dtype, "prod"), axis, mul, keep_dims, "prod")


def _bitwise(input, axis, fn, keep_dims, what):
    input = to_tensor(input, f"input of {what}")
    if not input.dtype.is_int():
        raise SemanticError(f"{what} takes integers or bools, found {input.type}")
    return _simple(input, axis, fn, keep_dims, what)


@method
@builtin(input=k.INTEGER, axis=k.AXIS, keep_dims=k.FLAG)
def xor_sum(input, axis=None, keep_dims=False):
    """All elements combined by exclusive or."""
    return _bitwise(input, axis, xor_, keep_dims, "xor_sum")


@method
@builtin(input=k.INTEGER, axis=k.AXIS, keep_dims=k.FLAG)
def reduce_or(input, axis=None, keep_dims=False):
    """All elements combined by or."""
    return _bitwise(input, axis, or_, keep_dims, "reduce_or")


@method
@builtin(input=k.INTEGER, axis=k.AXIS, keep_dims=k.FLAG)
def reduce_and(input, axis=None, keep_dims=False):
    """All elements combined by and."""
    return _bitwise(input, axis, and_, keep_dims, "reduce_and")


def ahead(kind, a, b):
    """Whether `a` is ahead of `b` in value: greater for "max", less for "min"; numbers are ahead of NaN."""
    predicate = "gt" if kind == "max" else "lt"
    if not a.dtype.is_floating():
        return compare_same(predicate, a, b)
    # The unordered comparison holds for a NaN in either; that `a` is a number leaves the one in `b`.
    return binary("arith.andi", compare_same("u" + predicate, a, b), compare_same("eq", a, a))


def _indexed(kind, left):
    """The combine function of (value, index) pairs; it commutes, so that any order of evaluation gives one answer."""

    def combine(a, i, b, j):
        first = ahead(kind, a, b)
        if left:
            not_behind = invert(ahead(kind, b, a))
            first = select(compare_same("lt", i, j), not_behind, first)
        return tuple([select(first, a, b), select(first, i, j)])

    return combine


def _index_along(values, axis):
    """The indices (int32) along `axis`, as a tile of the shape of `values`."""
    shape = values.shape
    return broadcast_shape(along(arange_tile(0, shape[axis]), axis, len(shape)), shape)


def _pairs(input, axis, fn, keep_dims, what):
    """Reduces the pairs of an element and its index together."""
    rank = len(same_shapes([input], what))
    where = None if axis is None else static_axis(axis, rank, f"axis of {what}")
    values = reshaped(input, (input.numel.value,)) if where is None else input
    results = reduce_tiles([values, _index_along(values, where or 0)], where or 0, fn, False, what)
    return tuple([_with_dims(r, rank, where) for r in results] if keep_dims else results)


def _with_indices(kind, input, axis, left, keep_dims):
    return _pairs(to_tensor(input, f"input of {kind}"), axis, _indexed(kind, left), keep_dims, kind)


def _extreme(kind, input, axis, indices, left, keep_dims, propagate_nan):
    propagate = propagates(propagate_nan)
    input = to_tensor(input, f"input of {kind}")
    if input.dtype.is_ptr():
        raise SemanticError(f"{kind} takes numbers, found {input.type}")
    if indices:
        return _with_indices(kind, input, axis, left, keep_dims)
    if input.dtype.primitive_bitwidth < 32:
        input = cast_to(input, float32 if input.dtype.is_floating() else int32)

    def combine(a, b):
        return extreme_same(kind, a, b, propagate)

    return _simple(input, axis, combine, keep_dims, kind)


@method
@builtin(
    input=k.NUMBER,
    axis=k.AXIS,
    return_indices=k.FLAG,
    return_indices_tie_break_left=k.FLAG,
    keep_dims=k.FLAG,
    propagate_nan=PROPAGATE,
)
def max(
    input,
    axis=None,
    return_indices=False,
    return_indices_tie_break_left=True,
    keep_dims=False,
    propagate_nan=PropagateNan.NONE,
):
    """The greatest element; NaN is dropped unless `propagate_nan` says ALL.

    With `return_indices` a pair: the elements, and their indices (int32) along the axis. Elements narrower than 32
    bits give float32 or int32, except with indices.
    """
    return _extreme("max", input, axis, return_indices, return_indices_tie_break_left, keep_dims, propagate_nan)


@method
@builtin(
    input=k.NUMBER,
    axis=k.AXIS,
    return_indices=k.FLAG,
    return_indices_tie_break_left=k.FLAG,
    keep_dims=k.FLAG,
    propagate_nan=PROPAGATE,
)
def min(
    input,
    axis=None,
    return_indices=False,
    return_indices_tie_break_left=True,
    keep_dims=False,
    propagate_nan=PropagateNan.NONE,
):
    """The least element; see `max`."""
    return _extreme("min", input, axis, return_indices, return_indices_tie_break_left, keep_dims, propagate_nan)


@method
@builtin(input=k.tiles(k.NUMBER), axis=k.AXIS, tie_break_left=k.FLAG, keep_dims=k.FLAG)
def argmax(input, axis=None, tie_break_left=True, keep_dims=False):
    """The index (int32) of the greatest element along `axis`, the leftmost of equal ones; NaN is dropped."""
    return _with_indices("max", input, axis, tie_break_left, keep_dims)[1]


@method
@builtin(input=k.tiles(k.NUMBER), axis=k.AXIS, tie_break_left=k.FLAG, keep_dims=k.FLAG)
def argmin(input, axis=None, tie_break_left=True, keep_dims=False):
    """The index (int32) of the least element along `axis`, the leftmost of equal ones; NaN is dropped."""
    return _with_indices("min", input, axis, tie_break_left, keep_dims)[1]


@builtin(input=k.tiles(k.NUMBER), axis=k.AXIS | k.NONE, combine_fn=k.FUNCTION, keep_dims=k.FLAG)
def reduce_with_indices(input, axis, combine_fn, keep_dims=False):
    """Reduces pairs of an element and its index along `axis` by combine_fn(value, index, value, index)."""
    return _pairs(to_tensor(input), axis, combine_fn, keep_dims, "reduce")
