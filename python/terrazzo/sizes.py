# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes of grids and blocks, for hosts and kernels alike."""

import functools

from .language import builder, kinds
from .language import math as tl_math
from .language.values import constexpr, unwrap


def _power_of_2(n):
    return 1 if n <= 1 else 1 << (n - 1).bit_length()


@builder.builtin(n=kinds.static_int(-(2**63), 2**63 - 1))
def _static_power_of_2(n):
    return constexpr(_power_of_2(n))


@builder.builtin(x=kinds.INTEGER, y=kinds.INTEGER)
def _kernel_cdiv(x, y):
    return tl_math.cdiv(x, y)


def _of_hosts(in_kernels):
    """Makes a function that hosts call one that kernels call as the function `in_kernels` of the language."""

    def decorate(fn):
        in_kernels.__name__ = fn.__name__

        @functools.wraps(fn)
        def wrapper(*args, **kwargs):
            return (in_kernels if builder.active() else fn)(*args, **kwargs)

        wrapper.__tl_builtin__ = True
        return wrapper

    return decorate


@_of_hosts(_kernel_cdiv)
def cdiv(x, y):
    """x / y rounded up. In kernels it works on run-time values, too, as tl.cdiv does."""
    return -(-unwrap(x) // unwrap(y))


@_of_hosts(_static_power_of_2)
def next_power_of_2(n):
    """The least power of two that is not below n; in kernels of a compile-time value."""
    return _power_of_2(unwrap(n))
