# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls: of jit functions, which are traced in place, of functions of the language, and of a few of Python's own."""

import builtins
import inspect
import types

from .. import language as tl
from ..language import comparison, debug
from ..language import values as lang
from ..language.dtypes import dtype
from ..language.values import constexpr, tensor, unwrap
from .expressions import iterable_items, wrap
from .structure import type_text


def is_jit(value):
    """Whether it is a jit function, or one under heuristics or autotune."""
    return getattr(value, "__tz_jit__", False) or (hasattr(value, "base_fn") and hasattr(value, "arg_names"))


def python_function(jit_function):
    """The Python function in a jit function."""
    fn = jit_function.fn
    while not inspect.isfunction(fn):
        fn = fn.fn
    return fn


class Calls:
    """The part of the tracer that calls functions."""

    def value_Call(self, node):  # noqa: N802
        fn = self.value(node.func)
        if isinstance(fn, constexpr):
            fn = fn.value
        args = self.items(node.args)
        kwargs = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise self.error(keyword.value, "** in a call is not supported in kernels")
            if keyword.arg in kwargs:
                raise self.error(keyword.value, f"argument '{keyword.arg}' is given twice")
            kwargs[keyword.arg] = self.value(keyword.value)
        return self.guarded(node, lambda: self.call(node, fn, args, kwargs))

    def call(self, node, fn, args, kwargs):
        """fn(*args, **kwargs)."""
        if is_jit(fn):
            return self.call_jit(node, fn, args, kwargs)
        if getattr(fn, "__tz_local__", False):
            if kwargs:
                raise self.error(node, "a nested function takes positional arguments only")
            return fn(*args)
        if isinstance(fn, types.MethodType) and isinstance(fn.__self__, (tensor, constexpr)):
            return self.call_language(node, fn, args, kwargs)
        if getattr(fn, "__tl_builtin__", False) or isinstance(fn, dtype) or fn is tl.tensor:
            return self.call_language(node, fn, args, kwargs)
        special = _SPECIAL.get(fn) if _is_hashable(fn) else None
        if special is not None:
            return special(self, node, args, kwargs)
        if fn is constexpr:
            return constexpr(unwrap(args[0]))
        if isinstance(fn, type) and issubclass(fn, builtins.tuple):
            return fn(*args, **kwargs)
        owner = getattr(fn, "__self__", None)
        if isinstance(fn, (types.BuiltinMethodType, types.MethodType)) and not isinstance(owner, types.ModuleType):
            return self.call_language(node, fn, args, kwargs)
        if isinstance(fn, types.BuiltinFunctionType) and getattr(owner, "__name__", "") == "math":
            return wrap(fn(*[self.static(node, a, fn.__name__) for a in args]))
        name = getattr(fn, "__name__", None)
        if isinstance(fn, types.FunctionType):
            raise self.error(
                node,
                f"'{name}' is a plain Python function; decorate it with @jit to call it from a kernel, or "
                "with @constexpr_function to run it at compile time",
            )
        if isinstance(fn, type) or callable(fn):
            raise self.error(node, f"'{name or type(fn).__name__}' cannot be called in a kernel")
        raise self.error(node, f"{type_text(fn)} cannot be called")

    def static(self, node, value, what):
        """An argument that must be a compile-time value."""
        if isinstance(value, tensor):
            raise self.error(node, f"{what}() takes compile-time values, found a run-time {value.type}")
        return unwrap(value)

    def call_language(self, node, fn, args, kwargs):
        """Calls a function of the language; jit functions among the arguments become functions that it can call."""
        args = [self.as_callable(node, a) for a in args]
        kwargs = {k: self.as_callable(node, v) for k, v in kwargs.items()}
        if isinstance(fn, dtype):
            return tl.cast(args[0], fn)
        result = fn(*args, **kwargs)
        if type(result) is builtins.tuple:
            result = lang.tuple([wrap(v) for v in result])
        return wrap(result)

    def as_callable(self, node, value):
        """A jit function as a Python function that traces it."""
        inner = unwrap(value)
        if not is_jit(inner):
            return value

        def traced(*args):
            result = self.call_jit(node, inner, [wrap(a) for a in args], {})
            self.locate(node)
            return result

        traced.__name__ = python_function(inner).__name__
        return traced

    def call_jit(self, node, jit_function, args, kwargs):
        """Traces the body of a jit function in place of the call."""
        fn = python_function(jit_function)
        signature = inspect.signature(fn)
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise self.error(node, f"{fn.__name__}(): {error}") from None
        bound.apply_defaults()
        names = {}
        for parameter in jit_function.params:
            value = bound.arguments[parameter.name]
            if parameter.is_constexpr and isinstance(value, tensor):
                raise self.error(
                    node, f"parameter '{parameter.name}' of {fn.__name__}() is constexpr, found a run-time {value.type}"
                )
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                value = lang.tuple(value)
            names[parameter.name] = wrap(value) if not parameter.is_constexpr else _constant(value)
        try:
            return self.run(fn, names, node)
        finally:
            self.locate(node)


def _constant(value):
    if value is None or isinstance(value, (constexpr, builtins.tuple, list)) or is_jit(value):
        return value
    return constexpr(value)


def _is_hashable(value):
    try:
        hash(value)
    except TypeError:
        return False
    return True


# ---------------------------------------------------------------- Python's own functions
def _range(self, node, args, kwargs):
    return tl.range(*args, **kwargs)


def _len(self, node, args, kwargs):
    value = args[0]
    return constexpr(len(value if isinstance(value, tensor) else unwrap(value)))


def _isinstance(self, node, args, kwargs):
    value, kinds = args[0], unwrap(args[1])
    kinds = kinds if isinstance(kinds, builtins.tuple) else (kinds,)
    plain = unwrap(value) if not isinstance(value, constexpr) or constexpr not in kinds else value
    kinds = builtins.tuple(unwrap(k) for k in kinds)
    if isinstance(value, constexpr) and constexpr in kinds:
        return constexpr(True)
    return constexpr(isinstance(plain, builtins.tuple(k for k in kinds if isinstance(k, type))))


def _getattr(self, node, args, kwargs):
    name = self.static(node, args[1], "getattr")
    if len(args) > 2:
        return wrap(getattr(args[0], name, args[2]))
    return wrap(getattr(args[0], name))


def _hasattr(self, node, args, kwargs):
    return constexpr(hasattr(args[0], self.static(node, args[1], "hasattr")))


def _convert(kind, target):
    def convert(self, node, args, kwargs):
        if not args:
            return constexpr(kind())
        value = args[0]
        if isinstance(value, tensor):
            return tl.cast(value, target(value))
        return constexpr(kind(unwrap(value)))

    return convert


def _int_type(value):
    return value.dtype if value.dtype.is_int() and not value.dtype.is_bool() else tl.int32


def _float_type(value):
    return value.dtype if value.dtype.is_floating() else tl.float32


def _sequence(kind):
    def make(self, node, args, kwargs):
        items = iterable_items(args[0]) if args else []
        if items is None:
            raise self.error(node, f"{kind.__name__}() takes a compile-time sequence, found {type_text(args[0])}")
        return lang.tuple(items) if kind is builtins.tuple else items

    return make


def _zip(self, node, args, kwargs):
    return [lang.tuple(group) for group in zip(*[_members(self, node, a, "zip") for a in args])]


def _enumerate(self, node, args, kwargs):
    start = self.static(node, args[1], "enumerate") if len(args) > 1 else unwrap(kwargs.get("start", 0))
    return [
        lang.tuple([constexpr(i), v]) for i, v in builtins.enumerate(_members(self, node, args[0], "enumerate"), start)
    ]


def _reversed(self, node, args, kwargs):
    return list(builtins.reversed(_members(self, node, args[0], "reversed")))


def _members(self, node, value, what):
    items = iterable_items(value)
    if items is None:
        raise self.error(node, f"{what}() takes a compile-time sequence, found {type_text(value)}")
    return items


def _sum(self, node, args, kwargs):
    items = _members(self, node, args[0], "sum")
    total = args[1] if len(args) > 1 else constexpr(0)
    for item in items:
        total = wrap(total + item)
    return total


def _all_or_any(is_all):
    def fold(self, node, args, kwargs):
        result = constexpr(is_all)
        for item in _members(self, node, args[0], "all" if is_all else "any"):
            if isinstance(result, tensor) or isinstance(item, tensor):
                result = (tl.logical_and if is_all else tl.logical_or)(result, item)
            else:
                result = constexpr(
                    (bool(unwrap(result)) and bool(unwrap(item)))
                    if is_all
                    else (bool(unwrap(result)) or bool(unwrap(item)))
                )
        return result

    return fold


def _language(fn):
    return lambda self, node, args, kwargs: self.call_language(node, fn, args, kwargs)


def _static_call(fn):
    return lambda self, node, args, kwargs: wrap(fn(*[self.static(node, a, fn.__name__) for a in args]))


_SPECIAL = {
    builtins.range: _range,
    builtins.len: _len,
    builtins.isinstance: _isinstance,
    builtins.getattr: _getattr,
    builtins.hasattr: _hasattr,
    builtins.int: _convert(builtins.int, _int_type),
    builtins.float: _convert(builtins.float, _float_type),
    builtins.bool: _convert(builtins.bool, lambda value: tl.int1),
    builtins.tuple: _sequence(builtins.tuple),
    lang.tuple: _sequence(builtins.tuple),
    builtins.list: _sequence(builtins.list),
    builtins.zip: _zip,
    builtins.enumerate: _enumerate,
    builtins.reversed: _reversed,
    builtins.sum: _sum,
    builtins.all: _all_or_any(True),
    builtins.any: _all_or_any(False),
    builtins.min: _language(comparison.builtin_min),
    builtins.max: _language(comparison.builtin_max),
    builtins.abs: _language(tl.abs),
    builtins.print: _language(debug.print_),
    builtins.str: _static_call(builtins.str),
    builtins.repr: _static_call(builtins.repr),
    builtins.round: _static_call(builtins.round),
    builtins.type: lambda self, node, args, kwargs: (
        args[0].type if isinstance(args[0], tensor) else type(unwrap(args[0]))
    ),
}
