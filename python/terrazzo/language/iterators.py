# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ruff: noqa: N801
"""What `for` and `while` take beyond Python's own: range with hints, static_range, condition.

These are descriptions that the frontend reads; nothing here emits loops.
"""

import builtins

from ..errors import SemanticError
from . import kinds as k
from .builder import builtin
from .promotion import is_literal
from .values import constexpr, describe, tensor, unwrap


def _bounds(arg1, arg2, step, name):
    if arg2 is None:
        arg1, arg2 = constexpr(0), arg1
    step = constexpr(1) if step is None else step
    for value in (arg1, arg2, step):
        plain = unwrap(value)
        if isinstance(plain, bool) or not isinstance(plain, (int, tensor)):
            raise SemanticError(f"{name} takes integers, found {describe(value)}")
        if isinstance(plain, tensor) and (plain.shape or not plain.dtype.is_int()):
            raise SemanticError(f"{name} takes integer scalars, found {plain.type}")
    if unwrap(step) is not None and not isinstance(unwrap(step), tensor) and unwrap(step) == 0:
        raise SemanticError(f"the step of {name} must not be 0")
    return arg1, arg2, step


def length(start, end, step):
    """How many members a range of plain integers has; unlike len, of any size."""
    return max(0, (end - start + step - (1 if step > 0 else -1)) // step)


class static_range:
    """A range with compile-time bounds whose loop is unrolled."""

    def __init__(self, arg1, arg2=None, step=None):
        self.start, self.end, self.step = _bounds(arg1, arg2, step, "static_range")
        for value in (self.start, self.end, self.step):
            if isinstance(unwrap(value), tensor):
                raise SemanticError(f"static_range takes compile-time bounds, found a run-time {value.type}; use range")

    def __iter__(self):
        return iter(builtins.range(unwrap(self.start), unwrap(self.end), unwrap(self.step)))


class range:
    """A range whose bounds may be run-time integers, with hints for the compiler of its loop.

    `num_stages` is the depth of the software pipeline, `loop_unroll_factor` how many iterations become one,
    `disallow_acc_multi_buffer`, `flatten`, `warp_specialize` and `disable_licm` are switches.
    """

    def __init__(
        self,
        arg1,
        arg2=None,
        step=None,
        num_stages=None,
        loop_unroll_factor=None,
        disallow_acc_multi_buffer=False,
        flatten=False,
        warp_specialize=False,
        disable_licm=False,
    ):
        self.start, self.end, self.step = _bounds(arg1, arg2, step, "range")
        self.num_stages = unwrap(num_stages)
        self.loop_unroll_factor = unwrap(loop_unroll_factor)
        self.disallow_acc_multi_buffer = bool(unwrap(disallow_acc_multi_buffer))
        self.flatten = bool(unwrap(flatten))
        self.warp_specialize = bool(unwrap(warp_specialize))
        self.disable_licm = bool(unwrap(disable_licm))

    def __iter__(self):
        raise SemanticError("tl.range can be iterated over by a for statement in a kernel only")


class condition:
    """The condition of a while loop, with hints for the compiler."""

    def __init__(self, arg1, disable_licm=False):
        self.condition = constexpr(arg1) if is_literal(arg1) else arg1
        self.disable_licm = bool(unwrap(disable_licm))


def _declare(cls, **kinds):
    """Makes a class one that kernels call; `kinds` are those of what its objects are made of."""
    cls.__init__ = builtin(**kinds)(cls.__init__)
    cls.__init__.__name__ = cls.__name__
    cls.__tl_builtin__ = True


_BOUNDS = {"arg1": k.ANY, "arg2": k.ANY, "step": k.ANY}
_HINT = k.static_int(0, k.INT32_MAX)
_HINTS = {"num_stages": _HINT, "loop_unroll_factor": _HINT}
_SWITCHES = ("disallow_acc_multi_buffer", "flatten", "warp_specialize", "disable_licm")
_declare(static_range, **_BOUNDS)
_declare(range, **_BOUNDS, **_HINTS, **dict.fromkeys(_SWITCHES, k.FLAG))
_declare(condition, arg1=k.ANY, disable_licm=k.FLAG)
