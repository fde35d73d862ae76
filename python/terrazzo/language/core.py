# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The names that code written for other compilers of this language imports from `language.core`."""

import inspect

from . import kinds
from .builder import builtin as declared
from .comparison import builtin_max, builtin_min  # noqa: F401
from .public import *  # noqa: F403
from .reduction import reduce_with_indices as _reduce_with_indices  # noqa: F401
from .values import constexpr_function, constexpr_type, unwrap  # noqa: F401

_aggregate = aggregate  # noqa: F405
_constexpr_to_value = unwrap
_unwrap_if_constexpr = unwrap


def builtin(fn):
    """Marks a function of the user as one that emits operations itself: it is called instead of traced."""
    return declared(**dict.fromkeys(inspect.signature(fn).parameters, kinds.ANY))(fn)


extern = builtin


def is_builtin(fn):
    """Whether `fn` is a function of the language, which is called instead of traced."""
    return getattr(fn, "__tl_builtin__", False)


def must_use_result(fn, message=True):
    """Marks a function whose result should not be dropped; serves as a decorator with and without arguments."""
    return fn if callable(fn) else lambda actual: actual
