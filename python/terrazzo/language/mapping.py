# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""map_elementwise: a function of scalars, with control flow of its own, on each element of tiles."""

import builtins

from ..errors import SemanticError
from . import kinds as k
from .builder import block_of, builtin, current
from .dtypes import type_of
from .promotion import broadcast_together, is_literal, to_tensor
from .shape import reshaped
from .values import describe, static_int, tensor, tuple, unwrap


def _map(fn, operands):
    """The results, one list of tiles, of fn on each element; the types are known once the function is traced."""
    shape = operands[0].shape

    def trace(types):
        op = current().create("tile.map", [o.handle for o in operands], {}, [t.ir for t in types], regions=1)
        with block_of(op.region(0), [o.dtype.ir for o in operands]) as block:
            result = unwrap(fn(*[tensor(arg, o.dtype) for arg, o in zip(block.args, operands, strict=False)]))
            several = isinstance(result, (list, builtins.tuple))
            values = [to_tensor(v) if is_literal(v) else v for v in (result if several else [result])]
            for value in values:
                if not isinstance(value, tensor) or value.shape:
                    raise SemanticError(f"the function of map_elementwise must return scalars, found {describe(value)}")
            current().create("tile.yield", [v.handle for v in values], {}, [])
        return op, [type_of(v.dtype, shape) for v in values], several

    draft, types, several = trace([])
    draft.erase()
    op, _, _ = trace(types)
    return [tensor(result, type) for result, type in zip(op.results, types, strict=False)], several


@builtin(scalar_fn=k.FUNCTION, args=k.VALUE, pack=k.static_int(1, k.INT32_MAX))
def map_elementwise(scalar_fn, *args, pack=1):
    """scalar_fn on each element of tiles that broadcast together, a tile for each value that it returns.

    With `pack` = p the function takes p neighbouring elements of the first tile, then p of the next, and so on, and
    returns p values for each result.
    """
    pack = static_int(pack, "pack")
    operands = broadcast_together([to_tensor(a) for a in args])
    if not operands or not operands[0].shape:
        raise SemanticError("map_elementwise takes one tile at least")
    shape = operands[0].shape
    if pack < 1 or operands[0].numel.value % pack:
        raise SemanticError(f"pack of map_elementwise must divide the {operands[0].numel.value} elements, found {pack}")
    if pack == 1:
        results, several = _map(scalar_fn, operands)
        return tuple(results) if several else results[0]
    parts = []
    for operand in operands:
        flat = reshaped(operand, (operand.numel.value // pack, pack))
        parts += [flat[:, i] for i in range(pack)]
    results, _ = _map(scalar_fn, parts)
    if len(results) % pack:
        raise SemanticError(
            f"the function of map_elementwise must return {pack} values for each result, found {len(results)}"
        )
    packed = [_interleaved(results[i : i + pack], shape) for i in range(0, len(results), pack)]
    return tuple(packed) if len(packed) > 1 else packed[0]


def _interleaved(columns, shape):
    from .shape import cat, expand_dims

    joint = expand_dims(columns[0], 1)
    for column in columns[1:]:
        joint = cat(joint, expand_dims(column, 1), dim=1)
    return reshaped(joint, shape)
