# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes of grids and blocks, for hosts and kernels alike."""

from .language import builder, kinds
from .language import math as tl_math
from .language.values import constexpr, unwrap


def _power_of_2(n):
    return 1 if n <= 1 else 1 << (n - 1).bit_length()


@builder.builtin(n=kinds.static_int(-(2**63), 2**63 - 1))
def _static_power_of_2(n):
    return constexpr(_power_of_2(n))


_static_power_of_2.__name__ = "next_power_of_2"


def cdiv(x, y):
    """x / y rounded up. In kernels it works on compile-time values; tl.cdiv also takes run-time ones."""
    if builder.active():
        return tl_math.cdiv(x, y)
    return -(-unwrap(x) // unwrap(y))


def next_power_of_2(n):
    """The least power of two that is not below n; in kernels of a compile-time value."""
    return _static_power_of_2(n) if builder.active() else _power_of_2(unwrap(n))


cdiv.__tl_builtin__ = next_power_of_2.__tl_builtin__ = True
