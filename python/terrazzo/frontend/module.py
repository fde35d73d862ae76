# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The module of one kernel: its signature, and the trace of its body."""

import sys
import threading

from .._terrazzo import ir
from ..errors import CompileError
from ..language import builder as language_builder
from ..language import values as lang
from ..language.promotion import constant
from ..language.values import constexpr, constexpr_type, tensor, tuple_type
from .calls import is_jit, python_function
from .tracer import Tracer

_STACK_BYTES = 256 << 20
_RECURSION_LIMIT = 100_000


def build_module(fn, arg_types, constexprs, arg_attrs, options):
    """Traces a kernel and gives the ir.Builder of its module.

    `arg_types` maps run-time parameters to dtypes, pointer types, or tuple types of them; `constexprs` maps the others
    to their values; `arg_attrs` maps parameters ("name", or "name.0" for members of tuples) to facts, which are
    {"tile.divisibility": 16} or {"equal_to": 1}; `options` is a dict in which "debug" arms device_assert. Raises
    CompileError.
    """
    outcome = {}

    def work():
        try:
            outcome["result"] = _trace(fn, arg_types, constexprs, arg_attrs, options)
        except BaseException as error:
            outcome["error"] = error

    # Deep kernels (a chain of 200 elifs) need more stack than the caller may have left.
    limit = sys.getrecursionlimit()
    size = threading.stack_size(_STACK_BYTES)
    try:
        thread = threading.Thread(target=work, name="terrazzo-frontend")
        sys.setrecursionlimit(max(limit, _RECURSION_LIMIT))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(size)
        sys.setrecursionlimit(limit)
    if "error" in outcome:
        raise outcome["error"]
    return outcome["result"]


class _Signature:
    """The leaves of a kernel's parameters in order."""

    def __init__(self, attrs):
        self.attrs = attrs
        self.types, self.attributes, self.facts = [], [], []

    def add(self, path, ty):
        """Adds a parameter, or the members of a tuple."""
        if isinstance(ty, constexpr_type):
            return
        if isinstance(ty, tuple_type):
            for i, member in enumerate(ty.types):
                self.add(f"{path}.{i}", member)
            return
        facts = self.attrs.get(path, {})
        self.types.append(ty.ir)
        attributes = {"tile.name": language_builder.string(path)}
        if "tile.divisibility" in facts:
            attributes["tile.divisibility"] = f"{facts['tile.divisibility']} : i32"
        self.attributes.append(attributes)


def _value(path, ty, handles, attrs):
    """The value of a parameter in the kernel."""
    if isinstance(ty, constexpr_type):
        return constexpr(ty.value) if ty.value is not None else None
    if isinstance(ty, tuple_type):
        members = [_value(f"{path}.{i}", t, handles, attrs) for i, t in enumerate(ty.types)]
        make = getattr(ty, "make", None)
        return make(members) if make is not None else lang.tuple(members, ty)
    handle = next(handles)
    if "equal_to" in attrs.get(path, {}):
        return constant(attrs[path]["equal_to"], ty)
    return tensor(handle, ty)


def _constant_value(value):
    if value is None or isinstance(value, constexpr) or is_jit(value):
        return value
    if type(value) in (tuple, list):
        return lang.tuple([_constant_value(v) for v in value])
    return constexpr(value)


def _trace(fn, arg_types, constexprs, arg_attrs, options):
    b = ir.Builder()
    function = python_function(fn)
    lang_options = language_builder.Options(
        debug=bool(options.get("debug")), strict=bool(options.get("strict")), target=options.get("target") or "cpu"
    )
    language_builder.push(b, lang_options)
    try:
        return _traced_kernel(b, fn, function, arg_types, constexprs, arg_attrs)
    except ir.DiagnosticError as error:
        file, line, col = (getattr(error, k, None) for k in ("file", "line", "col"))
        message = getattr(error, "message", None) or str(error)
        raise CompileError(message, file, line, max((col or 1) - 1, 0) if line else None) from None
    finally:
        language_builder.pop()


def _traced_kernel(b, fn, function, arg_types, constexprs, arg_attrs):
    tracer = Tracer(b)
    signature = _Signature(arg_attrs)
    for parameter in fn.params:
        if parameter.name in arg_types:
            signature.add(parameter.name, arg_types[parameter.name])
    b.set_loc(function.__code__.co_filename, function.__code__.co_firstlineno, 1)
    block = b.func(function.__name__, signature.types, signature.attributes)
    handles = iter(block.args)
    names = {}
    for parameter in fn.params:
        name = parameter.name
        if name in arg_types:
            names[name] = _value(name, arg_types[name], handles, arg_attrs)
        elif name in constexprs:
            names[name] = _constant_value(constexprs[name])
        else:
            raise CompileError(f"{function.__name__}(): parameter '{name}' has neither a type nor a value")
    tracer.run(function, names)
    b.set_loc(function.__code__.co_filename, function.__code__.co_firstlineno, 1)
    b.create("func.return", [], {}, [])
    b.verify()
    return b
