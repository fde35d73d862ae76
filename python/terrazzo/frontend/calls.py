# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls: of functions of the language, jit functions, Python's own functions, and methods of compile-time values."""

import ast
import contextlib
import enum
import inspect
import types

from ..errors import CompileError, CompileTimeAssertionFailure
from ..language import aggregates
from ..language.aggregates import Aggregate
from ..language.classes import MAKERS
from ..language.dtypes import dtype
from ..language.values import constexpr, tensor, unwrap
from ..language.values import tuple as tl_tuple
from .expressions import is_language_value
from .inlining import BoundMethod, NestedFunction, jit_of
from .patterns import describe_value
from .python_functions import PYTHON_FUNCTIONS
from .scope import is_static, wrap

_EVALUATED_MODULES = {"math", "operator", "builtins", "_operator", "functools", "itertools", "contextlib", "cmath"}
_MUTATORS = {"append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse"}


class Calls:
    """function(*args, **kwargs)"""

    def visit_call(self, node):
        """A call; arguments are evaluated from left to right."""
        function = self.visit(node.func)
        if node is self.dropped:
            self._check_dropped(function, node)
        args = self.elements(node.args)
        kwargs = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                kwargs.update(self._named_arguments(keyword.value))
            elif keyword.arg in kwargs:
                raise self.error(node, f"argument '{keyword.arg}' is given twice")
            else:
                kwargs[keyword.arg] = self.visit(keyword.value)
        self.at(node)
        return self.call(function, args, kwargs, node)

    def _check_dropped(self, function, node):
        """An error for a statement that is a call of a function whose result says all that it does."""
        plain = unwrap(function)
        advice = getattr(getattr(plain, "__func__", jit_of(plain) or plain), "__tz_must_use__", None)
        if advice:
            more = f"; {advice}" if isinstance(advice, str) else ""
            raise self.error(node, f"the result of {_name(plain)}() is not used, and the call does nothing else{more}")

    def _named_arguments(self, node):
        value = unwrap(self.visit(node))
        if not isinstance(value, (dict, types.MappingProxyType)):
            raise self.unsupported(node, f"** of {describe_value(value)}")
        return {name: wrap(v) for name, v in value.items()}

    def call(self, function, args, kwargs, node):
        """The value of a call."""
        function = function.value if isinstance(function, constexpr) else function
        jit = jit_of(function)
        if jit is not None:
            return self.inline(jit, args, kwargs, node)
        if isinstance(function, NestedFunction):
            return self.inline_nested(function, args, kwargs, node)
        if isinstance(function, BoundMethod):
            return self.inline(function.jit, [function.value, *args], kwargs, node)
        if isinstance(function, (types.BuiltinFunctionType, type)) and function in PYTHON_FUNCTIONS:
            self._check_called(function, [*args, *kwargs.values()], node)
            return wrap(self._checked(lambda: PYTHON_FUNCTIONS[function](self, node, *args, **kwargs), function, node))
        if isinstance(function, types.FunctionType) and function in PYTHON_FUNCTIONS:
            return wrap(PYTHON_FUNCTIONS[function](self, node, *args, **kwargs))
        if getattr(function, "__tl_builtin__", False) and callable(function):  # objects of its classes have it, too
            return self._call_language(function, args, kwargs, node)
        if isinstance(function, type):
            return self._make(function, args, kwargs, node)
        return self._evaluate(function, args, kwargs, node)

    def _check_called(self, function, args, node):
        """An error if a function that Python runs, or a method of what it is given, reads what no key knows."""
        self.check_known(_name(function), function, node, called=True)
        for value in map(unwrap, args):
            if not is_language_value(value) and jit_of(value) is None:
                if self.reach.runs(function):
                    self.check_known(type(value).__name__, value, node, called=True)
                else:
                    self.check_operators(value, node)

    def _call_language(self, function, args, kwargs, node):
        """Calls a function that emits operations itself; functions of the user become callables that inline."""
        self._check_called(function, [*args, *kwargs.values()], node)
        args = [self.callable(a, node) for a in args]
        kwargs = {k: self.callable(v, node) for k, v in kwargs.items()}
        try:
            return wrap(function(*args, **kwargs))
        except CompileError as error:
            if error.line is None and not isinstance(error, CompileTimeAssertionFailure):
                error.keep_reason()
            raise

    def callable(self, value, node):
        """A function of the user as a Python function that traces it in place; all else as it is."""
        if jit_of(value) is None and not isinstance(value, (NestedFunction, BoundMethod)):
            return value

        def traced(*args, **kwargs):
            return self.call(value, args, kwargs, node)

        traced.__name__ = value.__name__
        return traced

    def _make(self, function, args, kwargs, node):
        """An object of a class that kernels may use."""
        self._check_called(function, [*args, *kwargs.values()], node)
        if function is constexpr:
            return wrap(self._only_static(function, args, node)[0]) if args else constexpr(None)
        if function is slice:
            return slice(*self._only_static(function, args, node))
        if function is tl_tuple:
            return tl_tuple(self.items(args[0], node, "tl.tuple") if args else ())
        if issubclass(function, enum.Enum):
            return self._member(function, args, kwargs, node)
        if function in MAKERS:
            return wrap(MAKERS[function](*args, **kwargs))
        if issubclass(function, Aggregate):
            self.check_known(_name(function), function.__init__, node, called=True)
            return aggregates.make(function, args, kwargs)
        if issubclass(function, tuple) and hasattr(function, "_fields"):
            return wrap(self._checked(lambda: _construct(function, args, kwargs), function, node))
        if issubclass(function, contextlib.nullcontext):
            named = {name: unwrap(value) for name, value in kwargs.items()}
            return wrap(self._checked(lambda: _construct(function, map(unwrap, args), named), function, node))
        raise self.unsupported(node, f"making an object of the class {function.__qualname__}")

    def _member(self, function, args, kwargs, node):
        """The member of an enumeration that has a value."""
        if len(args) != 1 or kwargs:
            raise self.error(node, f"{_name(function)}() takes one value, found {len(args) + len(kwargs)}")
        plain = unwrap(args[0])
        try:
            return wrap(function(plain))
        except (ValueError, TypeError):
            raise self.error(node, f"{describe_value(args[0])} is no value of {_name(function)}") from None

    def _evaluate(self, function, args, kwargs, node):
        """Calls a Python function while compiling, if it is one that may be."""
        owner = getattr(function, "__self__", None)
        is_method = owner is not None and not isinstance(owner, types.ModuleType)
        if is_method and isinstance(owner, tensor):
            return self._call_language(function, args, kwargs, node)
        if isinstance(function, dtype):
            return self._convert(function, args, kwargs, node)
        if isinstance(owner, list) and getattr(function, "__name__", "") in _MUTATORS:
            self.check_list(owner, node)
            return wrap(self._checked(lambda: function(*args, **kwargs), function, node))
        if not callable(function):
            raise self.error(node, f"{describe_value(function)} is not a function")
        module = getattr(function, "__module__", None) or ""
        if not is_method and module.partition(".")[0] not in _EVALUATED_MODULES:
            raise self.error(
                node,
                f"{_name(function)}() is a Python function, which cannot be called in a kernel; decorate it with @jit, "
                "or with @constexpr_function if it is to run while the kernel is compiled",
            )
        self._check_called(function, [*args, *kwargs.values()], node)
        plain = self._only_static(function, [*args, *kwargs.values()], node)
        named = dict(zip(kwargs, plain[len(args) :]))
        return wrap(self._checked(lambda: function(*plain[: len(args)], **named), function, node))

    def _convert(self, function, args, kwargs, node):
        if len(args) != 1 or kwargs:
            raise self.error(node, f"{function}() takes one value to convert, found {len(args) + len(kwargs)}")
        from ..language.cast import cast

        return cast(args[0], function)

    def _only_static(self, function, values, node):
        for value in values:
            if not is_static(unwrap(value)):
                raise self.error(
                    node,
                    f"{_name(function)}() works on compile-time values only, found {describe_value(value)}"
                    + self._instead(function),
                )
        return [unwrap(v) for v in values]

    @staticmethod
    def _instead(function):
        from .. import language

        name = getattr(function, "__name__", "")
        return f"; use tl.{name}" if name in language.__all__ else ""

    def _checked(self, fn, function, node):
        """fn(), with what Python code raises as a CompileError."""
        try:
            return fn()
        except CompileError:
            raise
        except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as error:
            raise self.error(node, f"{_name(function)}(): {error}") from None

    def visit_lambda(self, node):
        """lambda a: b, a function that is inlined where it is called."""
        return NestedFunction(node, "<lambda>", self.frame, self._defaults(node))

    def visit_nested_function(self, node):
        """def inside of a kernel: a function that is inlined where it is called, and sees the kernel's variables."""
        for decorator in node.decorator_list:
            target = decorator.func if isinstance(decorator, ast.Call) else decorator
            if getattr(target, "attr", getattr(target, "id", None)) != "jit":
                raise self.unsupported(decorator, "a decorator on a nested function")
        self.bind(node.name, NestedFunction(node, node.name, self.frame, self._defaults(node)), node)

    def _defaults(self, node):
        arguments = node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        defaults = dict(
            zip([a.arg for a in positional[len(positional) - len(arguments.defaults) :]], arguments.defaults)
        )
        defaults.update({a.arg: d for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults) if d is not None})
        return {name: self.visit(value) for name, value in defaults.items()}


def _construct(cls, args, kwargs):
    """An object of a class. That the arguments fit is seen before: the class itself would speak of its __new__."""
    bound = inspect.signature(cls).bind(*args, **kwargs)
    return cls(*bound.args, **bound.kwargs)


def _name(function):
    return getattr(function, "__name__", None) or type(function).__name__
