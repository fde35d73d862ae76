# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The classes of the language that kernels make objects of, with the kinds of their arguments.

They are declared here and not where they are defined: the compiler itself makes many types, and needs no checks.
"""

import inspect

from . import dtypes
from . import kinds as k
from .builder import builtin
from .dtypes import block_type, dtype, pointer_type
from .values import constexpr_type, slice


def _maker(cls, **declared):
    def make(*args, **kwargs):
        return cls(*args, **kwargs)

    make.__name__ = make.__qualname__ = cls.__name__
    make.__signature__ = inspect.signature(cls)
    return builtin(**declared)(make)


get_int_dtype = builtin(bitwidth=k.AXIS, signed=k.FLAG)(dtypes.get_int_dtype)

MAKERS = {  # class -> the function that makes one
    dtype: _maker(dtype, name=k.TEXT),
    pointer_type: _maker(
        pointer_type, element_ty=k.SCALAR_TYPE, address_space=k.static_int(0, k.INT32_MAX), const=k.FLAG
    ),
    block_type: _maker(block_type, element_ty=k.SCALAR_TYPE, shape=k.STATIC_INTS),
    constexpr_type: _maker(constexpr_type, value=k.ANY),
    slice: _maker(slice, start=k.BOUND, stop=k.BOUND, step=k.BOUND),
}
