# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scans along an axis: associative_scan, cumsum, cumprod, and the sequential recurrence."""

import builtins

from ..errors import SemanticError
from . import kinds as k
from .arithmetic import add, mul
from .builder import block_of, builtin, current, method
from .dtypes import type_of
from .promotion import broadcast_shape, constant, is_literal, to_tensor
from .reduction import summand
from .regions import as_list, create_combining, same_shapes
from .values import describe, static_axis, tensor, tuple, unwrap


def scan_tiles(values, axis, fn, reverse, what):
    """Scans tiles of one shape together; returns the list of results."""
    shape = same_shapes(values, what)
    axis = static_axis(axis, len(shape), f"axis of {what}")
    attributes = {"axis": f"{axis} : i32"}
    if reverse:
        attributes["reverse"] = "unit"
    return create_combining("tile.scan", values, attributes, [v.type for v in values], fn, f"the function of {what}")


@method
@builtin(input=k.TENSORS, axis=k.AXIS, combine_fn=k.FUNCTION, reverse=k.FLAG)
def associative_scan(input, axis, combine_fn, reverse=False):
    """All prefixes of a tile, or of several of one shape together, along `axis`, combined by an associative function.

    combine_fn takes the accumulated scalars, one for each tile, then the next ones, and returns as many; it need not
    commute. `reverse` is flip, scan, flip: suffixes, the accumulated suffix first.
    """
    values, several = as_list(input, "input of associative_scan")
    results = scan_tiles(values, axis, combine_fn, reverse, "associative_scan")
    return tuple(results) if several else results[0]


@method
@builtin(input=k.NUMBER, axis=k.AXIS, reverse=k.FLAG, dtype=k.TYPE)
def cumsum(input, axis=0, reverse=False, dtype=None):
    """All sums of prefixes along `axis`, in the dtypes of sum; with `reverse`, of suffixes."""
    return scan_tiles([summand(input, dtype, "cumsum")], axis, add, reverse, "cumsum")[0]


@method
@builtin(input=k.NUMBER, axis=k.AXIS, reverse=k.FLAG, dtype=k.TYPE)
def cumprod(input, axis=0, reverse=False, dtype=None):
    """All products of prefixes along `axis`, in the dtypes of sum; with `reverse`, of suffixes."""
    return scan_tiles([summand(input, dtype, "cumprod")], axis, mul, reverse, "cumprod")[0]


def _values(given, what):
    """Tensors in a tuple or alone; literals become scalars."""
    several = isinstance(given, (list, builtins.tuple))
    values = list(given) if several else [given]
    for value in values:
        if not isinstance(value, tensor) and not is_literal(value):
            raise SemanticError(f"{what} must be a run-time value or a tuple of them, found {describe(value)}")
    return [to_tensor(v) for v in values], several


def _pack(values, several):
    return tuple(values) if several else values[0]


def _carried(value, init, i):
    """A value carried to the next step, as the type of `init`."""
    if is_literal(value):
        value = constant(value, init.dtype)
    if not isinstance(value, tensor):
        raise SemanticError(f"the step of recurrence must carry run-time values, found {describe(value)}")
    value = broadcast_shape(value, init.shape, f"carried value {i}")
    if value.type != init.type:
        raise SemanticError(f"the step of recurrence must carry {init.type} as value {i}, found {value.type}; cast it")
    return value


def _step_results(result, inits, several):
    """What a step returned, taken apart: the new carried values and the outputs (None for no outputs)."""
    result = unwrap(result)
    if not isinstance(result, (list, builtins.tuple)) or len(result) != 2:
        raise SemanticError(
            "the step of recurrence must return a pair (carry, outs), found "
            f"{describe(result) if not isinstance(result, builtins.tuple) else len(result)}"
        )
    carry, outs = result
    carried = list(carry) if isinstance(carry, (list, builtins.tuple)) else [carry]
    if len(carried) != len(inits) or isinstance(carry, (list, builtins.tuple)) != several:
        raise SemanticError(
            f"the step of recurrence must carry {len(inits)} values as `init` has, found {len(carried)}"
        )
    checked = [_carried(value, init, i) for i, (value, init) in enumerate(zip(carried, inits, strict=True))]
    if outs is None or (isinstance(outs, builtins.tuple) and not outs):
        return checked, [], True if outs is not None else None
    outs, outs_several = _values(outs, "outs returned by the step of recurrence")
    return checked, outs, outs_several


def _check_extents(tiles, axis):
    extents = []
    for tile in tiles:
        if not tile.shape:
            raise SemanticError(f"recurrence takes tiles as xs, found a scalar ({tile.type})")
        extents.append(tile.shape[static_axis(axis, len(tile.shape), "axis of recurrence")])
    if len(set(extents)) != 1:
        raise SemanticError(f"recurrence takes xs of one extent along axis {axis}, found {extents}")
    return extents[0]


@builtin(step=k.FUNCTION, init=k.VALUES, xs=k.TENSORS, axis=k.AXIS, reverse=k.FLAG)
def recurrence(step, init, xs, axis=0, reverse=False):
    """A sequential scan with a carried state, in exactly this order on every target.

    `step(carry, slices)` returns `(carry, outs)`. carry has the types of `init` (a value or a tuple of them); slices
    are those of `xs` (a tile or a tuple of them, of one extent along `axis`) with that axis removed, scalars for
    tiles of rank 1; outs is a value, a tuple of values, or None. Returns `(carry, ys)`: the last carry, and the outs
    stacked along `axis`. With `reverse` steps go from the last slice to the first; outs stay at the place that their
    step had.
    """
    inits, init_several = _values(init, "init of recurrence")
    tiles, xs_several = as_list(xs, "xs of recurrence")
    extent = _check_extents(tiles, axis)
    places = [static_axis(axis, len(t.shape)) for t in tiles]
    if len(set(places)) != 1:
        raise SemanticError(f"recurrence takes xs that agree on which dimension axis {axis} is, found {places}")
    place = places[0]
    slices = [type_of(t.dtype, t.shape[:place] + t.shape[place + 1 :]) for t in tiles]

    # The outputs' types are known only once the step is traced, but the operation needs them when it is made:
    # trace once
    # into an operation that is thrown away.
    def trace(result_types):
        attributes = {"axis": f"{place} : i32", "operandSegmentSizes": f"array<i32: {len(inits)}, {len(tiles)}>"}
        if reverse:
            attributes["reverse"] = "unit"
        operands = [v.handle for v in (*inits, *tiles)]
        op = current().create("tile.recurrence", operands, attributes, [t.ir for t in result_types], regions=1)
        with block_of(op.region(0), [v.type.ir for v in inits] + [s.ir for s in slices]) as block:
            args = [tensor(arg, type) for arg, type in zip(block.args, [v.type for v in inits] + slices, strict=False)]
            carry, parts = _pack(args[: len(inits)], init_several), _pack(args[len(inits) :], xs_several)
            carried, outs, outs_several = _step_results(step(carry, parts), inits, init_several)
            current().create("tile.yield", [v.handle for v in (*carried, *outs)], {}, [])
        return op, outs, outs_several

    draft, outs, outs_several = trace([v.type for v in inits])
    draft.erase()
    for out in outs:
        if len(out.shape) < place:
            raise SemanticError(
                f"outs of the step of recurrence along axis {axis} must have rank {place} at least, found {out.type}"
            )
    stacked = [type_of(o.dtype, (*o.shape[:place], extent, *o.shape[place:])) for o in outs]
    types = [v.type for v in inits] + stacked
    op, _, _ = trace(types)
    results = [tensor(result, type) for result, type in zip(op.results, types, strict=False)]
    carry, ys = _pack(results[: len(inits)], init_several), results[len(inits) :]
    return tuple([carry, None if outs_several is None else _pack(ys, outs_several)])
