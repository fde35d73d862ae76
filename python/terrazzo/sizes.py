# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes of grids and blocks, for hosts and kernels alike."""

from .language.values import constexpr_function


@constexpr_function
def _cdiv(x, y):
    return -(-x // y)


@constexpr_function
def _next_power_of_2(n):
    return 1 if n <= 1 else 1 << (n - 1).bit_length()


def _plain(value):
    return getattr(value, "value", value)


def cdiv(x, y):
    """x / y rounded up. In kernels it works on compile-time values; tl.cdiv also takes run-time ones."""
    found = _cdiv(x, y)
    from .language import builder

    return found if builder.active() else _plain(found)


def next_power_of_2(n):
    """The least power of two that is not below n; in kernels of a compile-time value."""
    found = _next_power_of_2(n)
    from .language import builder

    return found if builder.active() else _plain(found)


cdiv.__tl_builtin__ = next_power_of_2.__tl_builtin__ = True
