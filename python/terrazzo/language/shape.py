# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The same elements under another shape: broadcasting, reshaping, permuting, joining, flipping.

Shapes are compile-time constants of any extents from 1 up. Functions that take a shape or an order take it as a tuple
or as separate arguments.
"""

import builtins
import math

from ..errors import SemanticError
from . import kinds as k
from .builder import builtin, current, emit, i32_array, method
from .dtypes import block_type, type_of
from .promotion import broadcast_shape, broadcast_together, expand, promote, splat, to_tensor
from .values import static_axis, static_int, static_shape, tensor, tuple


def _spread(args, what):
    """The one tuple among variadic arguments, or all of them; for f(x, (2, 3)) and f(x, 2, 3) alike."""
    if len(args) == 1 and isinstance(args[0], (list, builtins.tuple)):
        return args[0]
    if not args:
        raise SemanticError(f"{what} is missing")
    return args


def _tile(value, name):
    value = to_tensor(value, f"operand of {name}")
    if not value.shape:
        raise SemanticError(f"{name} takes a tile, found a scalar ({value.type})")
    return value


@builtin(input=k.VALUE, other=k.VALUE)
def broadcast(input, other):
    """Both operands, each repeated to the shape that they broadcast to."""
    return tuple(broadcast_together([to_tensor(input), to_tensor(other)]))


@method
@builtin(input=k.VALUE, shape=k.ANY)
def broadcast_to(input, *shape):
    """`input` repeated to `shape`: extents of 1, and missing ones on the left, are repeated."""
    return broadcast_shape(
        to_tensor(input), static_shape(_spread(shape, "shape of broadcast_to")), "broadcast_to: value"
    )


@method
@builtin(input=k.VALUE, axis=k.STATIC_INTS)
def expand_dims(input, axis):
    """The tile with new dimensions of extent 1 at `axis`, one position or several, counted in the result."""
    input = to_tensor(input)
    axes = list(axis) if isinstance(axis, (list, builtins.tuple)) else [axis]
    rank = len(input.shape) + len(axes)
    places = [static_axis(a, rank, "axis of expand_dims") for a in axes]
    if len(set(places)) != len(places):
        raise SemanticError(f"expand_dims names an axis twice, found {axes}")
    for place in sorted(places):
        input = expand(input, place)
    return input


@method
@builtin(x=k.VALUE, dim=k.STATIC_INTS)
def unsqueeze(x, dim):
    """The tile with a dimension of extent 1 at `dim`."""
    return expand_dims(x, dim)


@method
@builtin(x=k.TILE, dim=k.AXIS)
def squeeze(x, dim):
    """The tile without its dimension `dim`, which has the extent 1."""
    x = _tile(x, "squeeze")
    dim = static_axis(dim, len(x.shape), "dim of squeeze")
    if x.shape[dim] != 1:
        raise SemanticError(f"squeeze takes a dimension of extent 1, found {x.shape[dim]} at {dim} of {list(x.shape)}")
    return reshaped(x, x.shape[:dim] + x.shape[dim + 1 :])


def reshaped(value, shape):
    """The elements in row-major order under another shape with as many; () gives the scalar of a tile of one."""
    if value.shape == shape:
        return value
    if not value.shape:
        return splat(value, shape)
    if not shape:
        from .indexing import slice_tile

        rank = len(value.shape)
        return slice_tile(value, [0] * rank, [1] * rank, [1] * rank, range(rank))
    type = type_of(value.dtype, shape)
    return tensor(emit("tile.reshape", [value.handle], type.ir), type)


def _infer_extent(value, shape):
    """The shape with an extent of -1, one at most, replaced by what the number of elements leaves for it."""
    shape = [static_int(s, f"extent {i} of reshape") for i, s in enumerate(shape)]
    if shape.count(-1) > 1:
        raise SemanticError(f"reshape infers one extent of -1 at most, found {shape}")
    if -1 in shape:
        rest = -math.prod(shape)
        if rest <= 0 or value.numel.value % rest:
            raise SemanticError(
                f"cannot reshape {list(value.shape)} to {shape}: {value.numel.value} elements are no multiple of {rest}"
            )
        shape[shape.index(-1)] = value.numel.value // rest
    return static_shape(shape)


@method
@builtin(input=k.VALUE, shape=k.ANY, can_reorder=k.FLAG)
def reshape(input, *shape, can_reorder=False):
    """The elements in row-major order under another shape; one extent may be -1. `can_reorder` changes nothing."""
    input = to_tensor(input)
    shape = _infer_extent(input, _spread(shape, "shape of reshape"))
    if math.prod(shape) != input.numel.value:
        raise SemanticError(
            f"cannot reshape {list(input.shape)} to {list(shape)}: {input.numel.value} elements, expected "
            f"{math.prod(shape)}"
        )
    return reshaped(input, shape)


@method
@builtin(input=k.VALUE, shape=k.ANY)
def view(input, *shape):
    """The same as reshape."""
    return reshape(input, *shape)


@method
@builtin(x=k.VALUE, can_reorder=k.FLAG)
def ravel(x, can_reorder=False):
    """The elements in row-major order as a tile of rank 1."""
    return reshape(x, [to_tensor(x).numel])


@method
@builtin(input=k.VALUE)
def item(input):
    """The scalar in a tile of one element."""
    input = to_tensor(input)
    if input.numel.value != 1:
        raise SemanticError(f"item takes a tile of one element, found {input.type}")
    return reshaped(input, ())


def transposed(value, order):
    """The tile whose dimension i is dimension order[i] of `value`."""
    if list(order) == list(range(len(order))):
        return value
    type = type_of(value.dtype, [value.shape[i] for i in order])
    return tensor(emit("tile.transpose", [value.handle], type.ir, {"order": i32_array(order)}), type)


@method
@builtin(input=k.TILE, dims=k.STATIC_INTS)
def permute(input, *dims):
    """The tile whose dimension i is dimension dims[i] of `input`; `dims` names each dimension once."""
    input = _tile(input, "permute")
    dims = _spread(dims, "order of permute")
    rank = len(input.shape)
    order = [static_axis(d, rank, "dimension of permute") for d in dims]
    if sorted(order) != list(range(rank)):
        raise SemanticError(
            f"permute needs a permutation of the {rank} dimensions of {list(input.shape)}, found {list(dims)}"
        )
    return transposed(input, order)


@method
@builtin(input=k.TILE, dims=k.STATIC_INTS)
def trans(input, *dims):
    """The tile with its last two dimensions exchanged, or permuted by `dims`."""
    input = _tile(input, "trans")
    if dims:
        return permute(input, *dims)
    rank = len(input.shape)
    if rank < 2:
        raise SemanticError(f"trans takes a tile of rank 2 or more, found {input.type}")
    return transposed(input, [*range(rank - 2), rank - 1, rank - 2])


tensor.T = property(trans)


@builtin(a=k.VALUE, b=k.VALUE)
def join(a, b):
    """Two tiles of one shape side by side in a new last dimension of extent 2; two scalars give a tile of shape [2]."""
    if not (isinstance(a, tensor) and isinstance(b, tensor) and a.type == b.type):
        (a, b), _ = promote([a, b])
    if not a.shape:
        return reshaped(joined(splat(a, (1,)), splat(b, (1,))), (2,))
    return joined(a, b)


def joined(a, b):
    """`join` of two tiles of one type."""
    type = block_type(a.dtype, (*a.shape, 2))
    return tensor(emit("tile.join", [a.handle, b.handle], type.ir), type)


def halves(value):
    """The two tiles whose join `value` is."""
    type = type_of(value.dtype, value.shape[:-1])
    op = current().create("tile.split", [value.handle], {}, [type.ir, type.ir])
    return tuple([tensor(result, type) for result in op.results])


@method
@builtin(a=k.TILE)
def split(a):
    """The two tiles that join would make `a` of: its last dimension, of extent 2, taken apart."""
    a = _tile(a, "split")
    if a.shape[-1] != 2:
        raise SemanticError(f"split takes a tile whose last extent is 2, found {a.type}")
    if len(a.shape) == 1:
        return tuple([reshaped(half, ()) for half in halves(reshaped(a, (1, 2)))])
    return halves(a)


@builtin(a=k.VALUE, b=k.VALUE)
def interleave(a, b):
    """The elements of two tiles of one shape in turns along the last dimension."""
    joint = join(a, b)
    if len(joint.shape) == 1:
        return joint
    return reshaped(joint, (*joint.shape[:-2], 2 * joint.shape[-2]))


def concatenated(a, b, axis):
    """Two tiles that differ in the extent of `axis` at most, one behind the other."""
    shape = (*a.shape[:axis], a.shape[axis] + b.shape[axis], *a.shape[axis + 1 :])
    type = block_type(a.dtype, shape)
    return tensor(emit("tile.concat", [a.handle, b.handle], type.ir, {"axis": f"{axis} : i32"}), type)


@builtin(input=k.TILE, other=k.TILE, can_reorder=k.FLAG, dim=k.AXIS)
def cat(input, other, can_reorder=False, dim=0):
    """Two tiles one behind the other along `dim`, in order; the other extents are equal. `can_reorder` changes
    nothing.
    """
    a, b = _tile(input, "cat"), _tile(other, "cat")
    if len(a.shape) != len(b.shape):
        raise SemanticError(f"cat takes tiles of one rank, found shapes {list(a.shape)} and {list(b.shape)}")
    dim = static_axis(dim, len(a.shape), "dim of cat")
    if a.shape[:dim] + a.shape[dim + 1 :] != b.shape[:dim] + b.shape[dim + 1 :]:
        raise SemanticError(
            f"cat along {dim} takes tiles that agree in all other extents, found shapes {list(a.shape)} and "
            f"{list(b.shape)}"
        )
    if a.dtype != b.dtype:
        from .cast import cast_to
        from .promotion import computation_type

        dtype = computation_type(a.dtype, b.dtype)
        a, b = cast_to(a, dtype), cast_to(b, dtype)
    return concatenated(a, b, dim)


@method
@builtin(x=k.TILE, dim=k.AXIS)
def flip(x, dim=None):
    """The tile with the order of its elements along `dim` (by default the last dimension) reversed."""
    x = _tile(x, "flip")
    dim = static_axis(-1 if dim is None else dim, len(x.shape), "dim of flip")
    return tensor(emit("tile.flip", [x.handle], x.type.ir, {"axis": f"{dim} : i32"}), x.type)


@builtin(i=k.INTEGER, j=k.INTEGER, size_i=k.INTEGER, size_j=k.INTEGER, size_g=k.INTEGER)
def swizzle2d(i, j, size_i, size_j, size_g):
    """Row-major indices (i, j) of a size_i x size_j grid renumbered so that groups of size_g rows come one after
    another.
    """
    from .arithmetic import floordiv, mod
    from .comparison import minimum

    index = i * size_j + j
    per_group = size_g * size_j
    first = floordiv(index, per_group) * size_g
    rows = minimum(size_i - first, size_g)
    index = mod(index, per_group)
    return tuple([first + mod(index, rows), floordiv(index, rows)])
