# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The names that code written for other compilers of this language imports from `language.core`."""

import abc
import inspect

from . import kinds
from .aggregates import Aggregate
from .builder import builtin as declared
from .comparison import builtin_max, builtin_min  # noqa: F401
from .extern import extern_elementwise  # noqa: F401
from .public import *  # noqa: F403
from .reduction import reduce_with_indices as _reduce_with_indices  # noqa: F401
from .values import constexpr_function, constexpr_type, unwrap  # noqa: F401

_aggregate = aggregate  # noqa: F405
CONSTEXPR_0 = constexpr(0)  # noqa: F405
_constexpr_to_value = unwrap
_unwrap_if_constexpr = unwrap


def builtin(fn):
    """Marks a function of the user as one that emits operations itself: it is called instead of traced."""
    return declared(**dict.fromkeys(inspect.signature(fn).parameters, kinds.ANY))(fn)


extern = builtin


def is_builtin(fn):
    """Whether `fn` is a function of the language, which is called instead of traced."""
    return getattr(fn, "__tl_builtin__", False)


class base_value(abc.ABC):  # noqa: B024, N801
    """What all values of the language are, for isinstance."""


class base_type(abc.ABC):  # noqa: B024, N801
    """What all types of the language are, for isinstance."""


for _class in (tensor, constexpr, tuple, tensor_descriptor, block_pointer, Aggregate):  # noqa: F405
    base_value.register(_class)
for _class in (dtype, constexpr_type, tuple_type):  # noqa: F405
    base_type.register(_class)
del _class
