# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of the user: a call traces the body in place, in a frame of its own."""

import ast
import inspect

from ..errors import CompileError
from ..language.values import constexpr, tensor
from ..language.values import tuple as tl_tuple
from .patterns import describe_value
from .scope import NOT_FOUND, Binding, Frame, wrap
from .source import source_of


def jit_of(function):
    """The jit function that an object is or wraps, else None."""
    if getattr(function, "__tz_jit__", False):
        return function
    base = getattr(function, "base_fn", None)
    return base if getattr(base, "__tz_jit__", False) else None


class NestedFunction:
    """A function or lambda defined in a kernel; `frame` is where, `defaults` are values by parameter."""

    def __init__(self, node, name, frame, defaults):
        self.node, self.name, self.frame, self.defaults = node, name, frame, defaults

    @property
    def __name__(self):
        return self.name


class BoundMethod:
    """A jit function of a class, with the object that it was looked up on."""

    def __init__(self, jit, value):
        self.jit, self.value = jit, value

    @property
    def __name__(self):
        return self.jit.__name__


class Inlining:
    """Calls of jit functions and of functions nested in kernels."""

    def inline(self, jit, args, kwargs, node):
        """Traces a jit function for these arguments, and gives what it returns."""
        fn = jit.fn
        self._check_recursion(fn, jit.__name__, node)
        source = source_of(fn)
        if not isinstance(source.node, ast.FunctionDef):
            raise self.unsupported(node, "a call of an async function")
        frame = Frame(fn, jit.__name__, source, source.node)
        defaults = {
            name: wrap(p.default)
            for name, p in inspect.signature(fn).parameters.items()
            if p.default is not inspect.Parameter.empty
        }
        self._bind_arguments(frame, args, kwargs, defaults, node)
        return self._trace(frame, source.node.body, fn, node)

    def inline_nested(self, function, args, kwargs, node):
        """Traces a nested function or lambda."""
        self._check_recursion(function.node, function.name, node)
        home = function.frame
        frame = Frame(home.fn, function.name, home.source, function.node, parent=home)
        self._bind_arguments(frame, args, kwargs, function.defaults, node)
        body = function.node.body
        if isinstance(body, ast.expr):
            body = [ast.copy_location(ast.Return(value=body), body)]
        return self._trace(frame, body, function.node, node)

    def _check_recursion(self, key, name, node):
        keys = [k for k, _ in self.stack]
        if key in keys:
            cycle = [n for _, n in self.stack[keys.index(key) :]] + [name]
            raise self.error(node, f"recursion is not supported in kernels: {' -> '.join(cycle)}")

    def _trace(self, frame, body, key, node):
        """The value that a body returns. Errors in it note the call."""
        caller = self.frame
        self.frame = frame
        self.stack.append((key, frame.name))
        try:
            self.run(body)
            result = self.result(frame)
        except CompileError as error:
            error.keep_reason()
            source = caller.source
            text = (source.line(node.lineno) or "").strip()
            error.notes.append(f"'{frame.name}' is called at {source.file}:{node.lineno}: {text}")
            raise
        finally:
            self.stack.pop()
            self.frame = caller
        self.at(node)
        return result

    def result(self, frame):
        """What a function whose body was traced returned."""
        path = frame.path
        if path.result is NOT_FOUND:
            return None
        binding = path.result
        if isinstance(path.alive, tensor) or (path.alive and path.flags["returned"] is not False):
            if binding.value is None:
                return None
            raise self.error(
                binding.node,
                f"{frame.name}() returns {describe_value(binding.value)} here, but nothing on another way through it",
            )
        return binding.value

    def _bind_arguments(self, frame, args, kwargs, defaults, node):
        """Binds arguments to parameters by Python's rules; what they are annotated as is a hint to readers."""
        spec = frame.node.args
        positional = [a.arg for a in [*spec.posonlyargs, *spec.args]]
        named = dict(kwargs)
        bound = dict(zip(positional, args))
        rest = list(args[len(positional) :])
        if rest and spec.vararg is None:
            raise self.error(
                node, f"{_signature(frame)} takes {len(positional)} positional arguments, found {len(args)}"
            )
        for parameter in frame.parameters:
            name = parameter.arg
            if name in named and parameter not in spec.posonlyargs:
                if name in bound:
                    raise self.error(node, f"{_signature(frame)}: argument '{name}' is given twice")
                bound[name] = named.pop(name)
            elif name not in bound:
                if name not in defaults:
                    raise self.error(node, f"{_signature(frame)}: argument '{name}' is missing")
                bound[name] = defaults[name]
        if spec.vararg is not None:
            bound[spec.vararg.arg] = tl_tuple(rest)
        for ignored in ("_semantic", "_builder", "_generator"):
            named.pop(ignored, None)
        if spec.kwarg is not None:
            bound[spec.kwarg.arg] = Keywords({name: _argument(value) for name, value in named.items()})
        elif named:
            known = ", ".join(p.arg for p in frame.parameters)
            raise self.error(node, f"{frame.name}() has no parameter '{next(iter(named))}'; it has {known or 'none'}")
        for name, value in bound.items():
            frame.path.names[name] = Binding(_argument(value), frame.node)


class Keywords(dict):
    """What a parameter **kwargs holds."""


def _argument(value):
    """An argument as a kernel holds it."""
    return value if isinstance(value, (tensor, constexpr)) else wrap(value)


def _signature(frame):
    return f"{frame.name}({', '.join(p.arg for p in frame.parameters)})"
