# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The names that code written for other compilers of this language imports from `language.standard`."""

import inspect

from . import comparison
from . import kinds as k
from .builder import builtin
from .creation import zeros, zeros_like  # noqa: F401
from .math import cdiv, sigmoid, softmax  # noqa: F401
from .reduction import argmax, argmin, max, min, reduce_or, sum, xor_sum  # noqa: F401
from .scan import cumprod, cumsum  # noqa: F401
from .shape import flip, interleave, ravel, squeeze, swizzle2d, unsqueeze  # noqa: F401
from .sorting import bitonic_merge, sort, topk  # noqa: F401
from .values import constexpr, static_int, tuple


def _combine(fn):
    """A function for tl.reduce and tl.associative_scan."""
    return builtin(**dict.fromkeys(inspect.signature(fn).parameters, k.NUMBER))(fn)


@_combine
def _sum_combine(a, b):
    return a + b


@_combine
def _prod_combine(a, b):
    return a * b


@_combine
def _xor_combine(a, b):
    return a ^ b


@_combine
def _or_combine(a, b):
    return a | b


@_combine
def _elementwise_max(a, b):
    return comparison.maximum(a, b)


@_combine
def _elementwise_min(a, b):
    return comparison.minimum(a, b)


def _better(value1, index1, value2, index2, first_is_better, tie_break_left):
    """The pair of the better value; of equal ones, of the lower index if that is asked for."""
    if tie_break_left:
        first_is_better = first_is_better | ((value1 == value2) & (index1 < index2))
    return tuple(
        (
            comparison.where(first_is_better, value1, value2),
            comparison.where(first_is_better, index1, index2),
        )
    )


@builtin(value1=k.NUMBER, index1=k.INTEGER, value2=k.NUMBER, index2=k.INTEGER, tie_break_left=k.FLAG)
def _argmax_combine(value1, index1, value2, index2, tie_break_left):
    return _better(value1, index1, value2, index2, value1 > value2, tie_break_left)


@builtin(value1=k.NUMBER, index1=k.INTEGER, value2=k.NUMBER, index2=k.INTEGER, tie_break_left=k.FLAG)
def _argmin_combine(value1, index1, value2, index2, tie_break_left):
    return _better(value1, index1, value2, index2, value1 < value2, tie_break_left)


@_combine
def _argmax_combine_tie_break_left(value1, index1, value2, index2):
    return _argmax_combine(value1, index1, value2, index2, True)


@_combine
def _argmax_combine_tie_break_fast(value1, index1, value2, index2):
    return _argmax_combine(value1, index1, value2, index2, False)


@_combine
def _argmin_combine_tie_break_left(value1, index1, value2, index2):
    return _argmin_combine(value1, index1, value2, index2, True)


@_combine
def _argmin_combine_tie_break_fast(value1, index1, value2, index2):
    return _argmin_combine(value1, index1, value2, index2, False)


@builtin(i=k.AXIS)
def _log2(i):
    """The exponent of a compile-time power of 2."""
    return constexpr(static_int(i, "operand of _log2").bit_length() - 1)


@builtin(i=k.AXIS)
def _is_power_of_two(i):
    """Whether a compile-time integer is a power of 2."""
    i = static_int(i, "operand of _is_power_of_two")
    return constexpr(i > 0 and i & (i - 1) == 0)
