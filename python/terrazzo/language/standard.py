# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The names that code written for other compilers of this language imports from `language.standard`."""

from . import kinds as k
from .builder import builtin
from .creation import zeros, zeros_like  # noqa: F401
from .math import cdiv, sigmoid, softmax  # noqa: F401
from .reduction import argmax, argmin, max, min, reduce_or, sum, xor_sum  # noqa: F401
from .scan import cumprod, cumsum  # noqa: F401
from .shape import flip, interleave, ravel, squeeze, swizzle2d, unsqueeze  # noqa: F401
from .sorting import bitonic_merge, sort, topk  # noqa: F401
from .values import constexpr, static_int


@builtin(i=k.AXIS)
def _log2(i):
    """The exponent of a compile-time power of 2."""
    return constexpr(static_int(i, "operand of _log2").bit_length() - 1)


@builtin(i=k.AXIS)
def _is_power_of_two(i):
    """Whether a compile-time integer is a power of 2."""
    i = static_int(i, "operand of _is_power_of_two")
    return constexpr(i > 0 and i & (i - 1) == 0)
