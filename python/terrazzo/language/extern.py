# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""extern_elementwise: functions of the vendors' device libraries by their symbols, which every target has here."""

import re

from ..errors import SemanticError
from . import kinds as k
from .builder import builtin
from .cast import cast_to
from .promotion import broadcast_together, to_tensor

# Symbols whose functions are not called as the rest of them says.
_OTHER_NAMES = {"fabs": "abs", "fmin": "minimum", "fmax": "maximum", "min": "minimum", "max": "maximum"}
_OTHER_NAMES |= {"native_exp": "fast_expf", "native_log": "fast_logf", "native_sqrt": "sqrt", "native_rcp": "rcp_rn"}


def function_of(symbol):
    """The function that a symbol such as __nv_expf or __ocml_exp_f64 means; None where there is none."""
    from .extra import libdevice

    name = re.sub(r"^__(nv|ocml)_", "", symbol)
    name = re.sub(r"_f(16|32|64)$", "", name)
    for candidate in (name, name.removesuffix("f")):
        candidate = _OTHER_NAMES.get(candidate, candidate)
        found = vars(libdevice).get(candidate)
        if getattr(found, "__tl_builtin__", False):
            return found
    return None


@builtin(
    lib_name=k.TEXT,
    lib_path=k.TEXT,
    args=k.VALUES,
    arg_type_symbol_dict=k.Kind("a dictionary {(types): (symbol, type)}", lambda v: isinstance(v, dict)),
    is_pure=k.FLAG,
)
def extern_elementwise(lib_name, lib_path, args, arg_type_symbol_dict, is_pure=True):
    """The function of a device library on the elements of `args`, which broadcast together.

    `arg_type_symbol_dict` maps the types of the arguments to the symbol of the function and the type of its result.
    No library is linked: the function is one of tl.extra.libdevice, on every target.
    """
    operands = broadcast_together([to_tensor(value) for value in (args if isinstance(args, (list, tuple)) else [args])])
    types = tuple(operand.dtype for operand in operands)
    known = {tuple(key): value for key, value in arg_type_symbol_dict.items()}
    if types not in known:
        takes = " or ".join(f"({', '.join(map(str, key))})" for key in known)
        raise SemanticError(f"extern_elementwise takes {takes}, found ({', '.join(map(str, types))})")
    symbol, result = known[types]
    function = function_of(symbol)
    if function is None:
        raise SemanticError(f"extern_elementwise: no function '{symbol}', expected one of tl.extra.libdevice")
    return cast_to(to_tensor(function(*operands)), getattr(result, "value", result))
