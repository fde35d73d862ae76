# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sorting and counting: sort, topk, bitonic_merge, histogram.

Sorting is Batcher's bitonic network, made of shape operations and selections: a stage exchanges partners at a
distance d, which are the two halves of dimension 1 of [n / 2d, 2, d]. Extents that are no power of 2 are padded with
what sorts last. NaN counts as the greatest number; the order of equal elements cannot be told.
"""

import math

from ..errors import SemanticError
from . import kinds as k
from .arithmetic import binary
from .builder import builtin, emit, method
from .cast import as_index
from .comparison import compare_same, select
from .creation import arange_tile
from .dtypes import block_type, int1, int32
from .indexing import slice_tile
from .promotion import broadcast_shape, constant, splat, to_tensor
from .regions import same_shapes
from .shape import concatenated, halves, joined, reshaped, transposed
from .values import static_axis, static_int, tensor


def _greater(a, b):
    """Whether a > b, where NaN is greater than every number."""
    if not a.dtype.is_floating():
        return compare_same("gt", a, b)
    # The unordered comparison holds for a NaN in either; that `b` is a number leaves the one in `a`.
    return binary("arith.andi", compare_same("ugt", a, b), compare_same("eq", b, b))


def _exchange(x, distance, descending):
    """One stage: in x of shape [rows, n], partners at `distance` put in order; `descending` is i1 [1, n / 2d, 1] or
    None.
    """
    rows, n = x.shape
    groups = n // (2 * distance)
    pairs = transposed(reshaped(x, (rows, groups, 2, distance)), [0, 1, 3, 2])
    low, high = halves(pairs)
    swap = _greater(low, high)
    if descending is not None:
        swap = binary("arith.xori", swap, broadcast_shape(descending, swap.shape))
    pairs = joined(select(swap, high, low), select(swap, low, high))
    return reshaped(transposed(pairs, [0, 1, 3, 2]), (rows, n))


def _direction(n, distance, block, descending):
    """Which pairs sort downwards: blocks of `block` elements in turns, the first one upwards unless `descending`."""
    groups = n // (2 * distance)
    if block >= n:
        return splat(constant(True, int1), (1, groups, 1)) if descending else None
    group = reshaped(arange_tile(0, groups), (1, groups, 1))
    bit = splat(constant(block // (2 * distance), int32), group.shape)
    odd = binary("arith.andi", group, bit)
    return compare_same("eq" if descending else "ne", odd, splat(constant(0, int32), group.shape))


def _merge(x, block, descending):
    """Sorts each bitonic block of `block` elements of x, of shape [rows, n], in turns upwards and downwards."""
    n = x.shape[1]
    distance = block // 2
    while distance:
        x = _exchange(x, distance, _direction(n, distance, block, descending))
        distance //= 2
    return x


def _last_value(dtype, descending):
    """What sorts behind everything else."""
    if dtype.is_floating():
        return -math.inf if descending else math.nan
    return dtype.get_int_min_value() if descending else dtype.get_int_max_value()


def _as_rows(x, dim, name):
    """x as [rows, n] with `dim` the last dimension, and how to go back."""
    shape = same_shapes([x], name)
    if x.dtype.is_ptr():
        raise SemanticError(f"{name} takes numbers, found {x.type}")
    rank = len(shape)
    dim = static_axis(-1 if dim is None else dim, rank, f"dim of {name}")
    order = [i for i in range(rank) if i != dim] + [dim]
    moved = transposed(x, order)
    back = [order.index(i) for i in range(rank)]

    def restore(rows):
        return transposed(reshaped(rows, (*moved.shape[:-1], rows.shape[1])), back)

    n = shape[dim]
    return reshaped(moved, (x.numel.value // n, n)), restore


def _sorted(rows, descending):
    count, n = rows.shape
    size = 1 << (n - 1).bit_length()
    if size > n:
        padding = splat(constant(_last_value(rows.dtype, descending), rows.dtype), (count, size - n))
        rows = concatenated(rows, padding, 1)
    block = 2
    while block <= size:
        rows = _merge(rows, block, descending)
        block *= 2
    return rows


def _first(rows, count):
    if rows.shape[1] == count:
        return rows
    return slice_tile(rows, [0, 0], [rows.shape[0], count], [1, 1], [])


@method
@builtin(x=k.tiles(k.NUMBER), dim=k.AXIS, descending=k.FLAG)
def sort(x, dim=None, descending=False):
    """The elements sorted along `dim`, by default the last dimension."""
    x = to_tensor(x)
    rows, restore = _as_rows(x, dim, "sort")
    return restore(_first(_sorted(rows, bool(descending)), rows.shape[1]))


@method
@builtin(x=k.tiles(k.NUMBER), k=k.AXIS, dim=k.AXIS, descending=k.FLAG)
def topk(x, k, dim=None, descending=True):
    """The k greatest elements along `dim` (by default the last dimension) in descending order, or the k least ones."""
    x = to_tensor(x)
    rows, restore = _as_rows(x, dim, "topk")
    k = static_int(k, "k of topk")
    if not 1 <= k <= rows.shape[1]:
        raise SemanticError(f"k of topk must be in [1, {rows.shape[1]}], found {k}")
    return restore(_first(_sorted(rows, bool(descending)), k))


@builtin(x=k.tiles(k.NUMBER), dim=k.AXIS, descending=k.FLAG)
def bitonic_merge(x, dim=None, descending=False):
    """A tile whose elements along `dim` first rise, then fall (or the reverse), sorted; the extent is a power of 2."""
    x = to_tensor(x)
    rows, restore = _as_rows(x, dim, "bitonic_merge")
    n = rows.shape[1]
    if n & (n - 1):
        raise SemanticError(f"bitonic_merge takes an extent that is a power of 2, found {n}")
    return restore(_merge(rows, n, bool(descending)))


@method
@builtin(input=k.tiles(k.INTEGER), num_bins=k.static_int(1, k.INT32_MAX), mask=k.MASK)
def histogram(input, num_bins, mask=None):
    """How often each of 0, ..., num_bins - 1 occurs in a tile of integers of rank 1, as int32; others do not count."""
    input = to_tensor(input)
    if len(input.shape) != 1 or not input.dtype.is_int():
        raise SemanticError(f"histogram takes a tile of integers of rank 1, found {input.type}")
    num_bins = static_int(num_bins, "num_bins")
    if num_bins < 1:
        raise SemanticError(f"num_bins of histogram must be 1 or more, found {num_bins}")
    from .memory import check_mask

    mask = check_mask(mask, input, "histogram")
    input = as_index(input)
    type = block_type(int32, (num_bins,))
    operands = [v.handle for v in (input, mask) if v is not None]
    return tensor(emit("tile.histogram", operands, type.ir, {"bins": f"{num_bins} : i32"}), type)
