# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations whose region calls a function of the user: what reductions, scans, recurrences and maps share."""

import builtins

from ..errors import SemanticError
from .builder import block_of, current
from .cast import cast_to
from .promotion import constant, is_literal
from .values import describe, tensor, unwrap


def as_list(values, what):
    """Tensors given as one or as a tuple, and whether it was a tuple."""
    several = isinstance(values, (list, builtins.tuple))
    values = list(values) if several else [values]
    for value in values:
        if not isinstance(value, tensor):
            raise SemanticError(f"{what} must be a tile or a tuple of tiles, found {describe(value)}")
    if not values:
        raise SemanticError(f"{what} is an empty tuple, expected one tile at least")
    return values, several


def returned(result, dtypes, what):
    """The scalars that a combine function returned, checked against the dtypes that it has to return."""
    result = unwrap(result)
    results = list(result) if isinstance(result, (list, builtins.tuple)) else [result]
    if len(results) != len(dtypes):
        raise SemanticError(f"{what} must return {len(dtypes)} value{'s' * (len(dtypes) > 1)}, found {len(results)}")
    return [_as_result(value, dtype, i, what) for i, (value, dtype) in enumerate(zip(results, dtypes, strict=True))]


def _as_result(value, dtype, i, what):
    """One returned value as a scalar of `dtype`; conversions within a kind (bool, integer, float) are implicit."""
    if is_literal(value):
        value = constant(value, dtype)
    if not isinstance(value, tensor) or value.shape:
        raise SemanticError(f"{what} must return scalars, found {describe(value)} as result {i}")
    kinds = None if value.dtype.is_ptr() or dtype.is_ptr() else (value.dtype.kind(), dtype.kind())
    if kinds and (kinds[0] == kinds[1] or (value.dtype.is_bool() and dtype.is_int())):
        value = cast_to(value, dtype)
    if value.dtype != dtype:
        raise SemanticError(f"{what} must return {dtype} as result {i}, found {value.dtype}; cast it")
    return value


def create_combining(name, operands, attributes, result_types, fn, what):
    """Creates tile.reduce or tile.scan on tiles of one shape, with fn(*accumulated, *next) as its region."""
    dtypes = [o.dtype for o in operands]
    op = current().create(name, [o.handle for o in operands], attributes, [t.ir for t in result_types], regions=1)
    with block_of(op.region(0), [d.ir for d in dtypes] * 2) as block:
        arguments = [tensor(arg, dtype) for arg, dtype in zip(block.args, dtypes * 2, strict=False)]
        results = returned(fn(*arguments), dtypes, what)
        current().create("tile.yield", [r.handle for r in results], {}, [])
    return [tensor(result, type) for result, type in zip(op.results, result_types, strict=False)]


def same_shapes(values, what):
    """Checks that tiles have one shape of rank 1 at least, and returns it."""
    shape = values[0].shape
    for value in values:
        if not value.shape:
            raise SemanticError(f"{what} takes tiles, found a scalar ({value.type})")
        if value.shape != shape:
            raise SemanticError(f"{what} takes tiles of one shape, found {list(shape)} and {list(value.shape)}")
    return shape
