# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a kernel depends on outside of its own text: constexpr globals and the functions it calls, transitively.

It is found without tracing, by the names in the syntax trees, since it is part of the key under which compiled kernels
are cached.
"""

import ast
import builtins
import hashlib
import inspect
import types
from dataclasses import dataclass

from ..language.dtypes import dtype
from ..language.values import constexpr
from .source import source_of


@dataclass(frozen=True)
class Dependencies:
    """`digest` is equal for equal texts and constants; `guards` are the places that must stay as they are for it to
    hold: (dict, name, value), (dict, name) for a name that is missing, and (cell, None, value)."""

    digest: str
    guards: tuple


_MISSING = object()


def _names(tree):
    """The dotted names that a tree reads, as tuples of their parts; those assigned in it are left out."""
    assigned = {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            assigned.add(node.id)
    for node in ast.walk(tree):
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if isinstance(node, ast.Name) and node.id not in assigned:
            found.add((node.id, *reversed(parts)))
    return sorted(found)


def _text(value):
    """Text that tells compile-time values apart."""
    if isinstance(value, constexpr):
        value = value.value
    if isinstance(value, float):
        return f"float:{value.hex()}"
    if value is None or isinstance(value, (bool, int, str, bytes, dtype)):
        return f"{type(value).__name__}:{value!r}"
    if isinstance(value, (tuple, list)):
        return f"{type(value).__name__}({','.join(_text(v) for v in value)})"
    name = getattr(value, "__qualname__", None)
    if name is not None:
        return f"{getattr(value, '__module__', '')}.{name}"
    return f"{type(value).__name__}:{value!r}"


class _Walk:
    def __init__(self):
        self.parts = []
        self.guards = {}
        self.seen = set()

    def function(self, jit_function):
        """Adds the text of a function and of what it reaches."""
        fn = jit_function.fn
        while getattr(fn, "__tz_jit__", False) or not inspect.isfunction(fn):
            fn = fn.fn  # a function under heuristics or autotune
        if fn in self.seen:
            return
        self.seen.add(fn)
        source = source_of(fn)
        self.parts.append(f"{fn.__name__}\n{source.text}")
        defaults = [_text(d) for d in fn.__defaults__ or ()]
        self.parts.append(f"defaults {defaults}")
        cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
        for name, *attributes in _names(source.tree):
            value = self.look_up(fn, cells, name)
            if value is not _MISSING:
                self.value(name, value, attributes)

    def look_up(self, fn, cells, name):
        """The value of a name, and a guard for it."""
        if name in cells:
            try:
                value = cells[name].cell_contents
            except ValueError:
                return _MISSING
            self.guards[(id(cells[name]), None)] = (cells[name], None, value)
            return value
        scope = fn.__globals__
        if name in scope:
            self.guards[(id(scope), name)] = (scope, name, scope[name])
            return scope[name]
        self.guards[(id(scope), name)] = (scope, name)
        return getattr(builtins, name, _MISSING)

    def value(self, name, value, attributes):
        """Adds what a name stands for."""
        for attribute in attributes:
            if not isinstance(value, (types.ModuleType, type)):
                break
            holder = vars(value)
            if attribute not in holder:
                break
            if isinstance(value, types.ModuleType) and not value.__name__.startswith("terrazzo."):
                self.guards[(id(holder), attribute)] = (holder, attribute, holder[attribute])
            value = holder[attribute]
        if getattr(value, "__tz_jit__", False) or hasattr(value, "arg_names"):
            self.function(value)
        elif isinstance(value, types.FunctionType) and not getattr(value, "__tl_builtin__", False):
            self.parts.append(f"{name}={value.__module__}.{value.__qualname__}")
        elif getattr(value, "__wrapped__", None) is not None and not value.__module__.startswith("terrazzo."):
            self.parts.append(f"{name}={inspect.getsource(value.__wrapped__)}")
        elif not isinstance(value, (types.ModuleType, types.BuiltinFunctionType)):
            self.parts.append(f"{name}={_text(value)}")


def dependencies(jit_function):
    """The Dependencies of a jit function. Raises CompileError where a source cannot be found."""
    walk = _Walk()
    walk.function(jit_function)
    digest = hashlib.sha256("\0".join(walk.parts).encode()).hexdigest()
    return Dependencies(digest, tuple(walk.guards.values()))
