# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sorting and counting: sort, topk, bitonic_merge, histogram.

NaN counts as the greatest number; the order of equal elements cannot be told.
"""

from ..errors import SemanticError
from . import kinds as k
from .builder import builtin, emit, method
from .cast import as_index
from .dtypes import block_type, int32
from .indexing import slice_tile
from .promotion import to_tensor
from .regions import same_shapes
from .values import static_axis, static_int, tensor


def _sorted(x, dim, descending, name, bitonic=False):
    """x sorted along `dim`, and which dimension that is."""
    shape = same_shapes([x], name)
    if x.dtype.is_ptr():
        raise SemanticError(f"{name} takes numbers, found {x.type}")
    dim = static_axis(-1 if dim is None else dim, len(shape), f"dim of {name}")
    if bitonic and shape[dim] & (shape[dim] - 1):
        raise SemanticError(f"{name} takes an extent that is a power of 2, found {shape[dim]}")
    flags = {
        "descending": descending,
        "isUnsigned": x.dtype.is_int() and not x.dtype.is_int_signed(),
        "bitonic": bitonic,
    }
    attributes = {"axis": f"{dim} : i32", **{key: "unit" for key, value in flags.items() if value}}
    return tensor(emit("tile.sort", [x.handle], x.type.ir, attributes), x.type), dim


@method
@builtin(x=k.tiles(k.NUMBER), dim=k.AXIS, descending=k.FLAG)
def sort(x, dim=None, descending=False):
    """The elements sorted along `dim`, by default the last dimension."""
    return _sorted(to_tensor(x), dim, bool(descending), "sort")[0]


@method
@builtin(x=k.tiles(k.NUMBER), k=k.AXIS, dim=k.AXIS, descending=k.FLAG)
def topk(x, k, dim=None, descending=True):
    """The k greatest elements along `dim` (by default the last dimension) in descending order, or the k least ones."""
    result, dim = _sorted(to_tensor(x), dim, bool(descending), "topk")
    sizes = list(result.shape)
    k = static_int(k, "k of topk")
    if not 1 <= k <= sizes[dim]:
        raise SemanticError(f"k of topk must be in [1, {sizes[dim]}], found {k}")
    if k == sizes[dim]:
        return result
    sizes[dim] = k
    return slice_tile(result, [0] * len(sizes), sizes, [1] * len(sizes), [])


@builtin(x=k.tiles(k.NUMBER), dim=k.AXIS, descending=k.FLAG)
def bitonic_merge(x, dim=None, descending=False):
    """A tile whose elements along `dim` first rise, then fall (or the reverse), sorted; the extent is a power of 2."""
    return _sorted(to_tensor(x), dim, bool(descending), "bitonic_merge", bitonic=True)[0]


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
