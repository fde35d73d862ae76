# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Promises of the author about values. They may make code faster; broken ones make it wrong."""

import builtins

from ..errors import SemanticError
from . import kinds as k
from .builder import builtin, emit, emit_effect, i32_array
from .promotion import is_literal
from .values import constexpr, describe, tensor

_PROMISE = k.static_int(1, k.INT32_MAX)
_PROMISES = k.Kind(
    f"{_PROMISE.expected}, or a tuple of them",
    lambda v: all(map(_PROMISE.holds, v)) if isinstance(v, (list, builtins.tuple)) else _PROMISE.holds(v),
)


def _hint(input, values, attribute, name):
    if not isinstance(input, tensor):
        # A compile-time value: whatever is promised about it is known.
        return constexpr(input) if is_literal(input) else input
    values = list(values) if isinstance(values, (list, builtins.tuple)) else [values]
    rank = len(input.shape) or 1
    if len(values) != rank:
        raise SemanticError(f"{name} takes one value for each dimension, {rank} for {describe(input)}, found {values}")
    return tensor(emit("tile.hint", [input.handle], input.type.ir, {attribute: i32_array(values)}), input.type)


@builtin(input=k.ANY, values=_PROMISES)
def multiple_of(input, values):
    """`input`, with the promise that along each dimension runs start at multiples of `values`."""
    return _hint(input, values, "divisibility", "multiple_of")


@builtin(input=k.ANY, values=_PROMISES)
def max_contiguous(input, values):
    """`input`, with the promise that along each dimension `values` elements in a row count up by 1."""
    return _hint(input, values, "contiguity", "max_contiguous")


@builtin(input=k.ANY, values=_PROMISES)
def max_constancy(input, values):
    """`input`, with the promise that along each dimension `values` elements in a row are equal."""
    return _hint(input, values, "constancy", "max_constancy")


@builtin(cond=k.VALUE)
def assume(cond):
    """The promise that a scalar condition holds."""
    if not isinstance(cond, tensor):
        if not cond:
            raise SemanticError("assume was given a condition that is false at compile time")
        return
    if cond.shape or not cond.dtype.is_bool():
        raise SemanticError(f"assume takes a scalar condition, found {describe(cond)}")
    emit_effect("tile.assume", [cond.handle])


@builtin(x=k.NUMBER, mask=k.INTEGER)
def expect_zero(x, mask):
    """`x`, with the promise that it is 0 where `mask` is false; computed so, whether or not the promise is kept."""
    from .comparison import where

    return where(mask, x, 0)
