# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a kernel depends on outside of its arguments: texts of functions, and constants from around them.

Computed from the syntax alone, so that a key for the cache costs no tracing. `guards` say where each found object
lives; as long as the same objects are there, the digest need not be computed again.
"""

import ast
import builtins
import hashlib
import types
from dataclasses import dataclass, field

from ..language.dtypes import dtype
from ..language.values import constexpr
from .inlining import jit_of
from .names import bindings
from .scope import closure_values
from .source import source_of

_DEPTH = 8  # of containers in constants


@dataclass
class Dependencies:
    """`digest` changes with every text and constant that the kernel depends on, and with nothing else: not with line
    numbers or file names. `guards` are (dict, name, value), or (cell, None, value); without value where there is none.
    `constants` are (name, value) pairs and `functions` (name, text) pairs, for the reader.
    """

    digest: str = ""
    guards: list = field(default_factory=list)
    constants: list = field(default_factory=list)
    functions: list = field(default_factory=list)


def dependencies(jit):
    """The Dependencies of a jit function, those of all functions that it reaches included."""
    found = Dependencies()
    seen, todo = set(), [jit_of(jit) or jit]
    while todo:
        function = todo.pop(0)
        if id(function.fn) in seen:
            continue
        seen.add(id(function.fn))
        todo += _scan(function, found)
    digest = hashlib.sha256()
    for name, text in [*found.functions, *((n, constant_text(v)) for n, v in found.constants)]:
        digest.update(f"{name}\0{text}\0".encode("utf-8", "surrogatepass"))
    found.digest = digest.hexdigest()
    return found


def _scan(function, found):
    """Adds what one function refers to; gives the jit functions among it."""
    fn = function.fn
    source = source_of(fn)
    found.functions.append((function.__name__, source.text))
    reached = []
    for default in [*(fn.__defaults__ or ()), *(fn.__kwdefaults__ or {}).values()]:
        reached += _add_value("default", default, found)
    cells = closure_values(fn)
    for chain in _references(source, fn):
        reached += _follow(chain, fn.__globals__, cells, found)
    return reached


def _references(source, fn):
    """The chains of names (a, or a.b.c) by which a function refers to what is not its own, sorted."""
    facts = source.facts.setdefault("references", {})
    if not facts:
        node = source.node
        arguments = node.args
        own = {a.arg for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]}
        own |= {a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None} | bindings(node.body)
        chains = {c for statement in node.body for c in _chains(statement) if c[0] not in own}
        facts["chains"] = sorted(chains)
    return facts["chains"]


def _chains(statement):
    for node in ast.walk(statement):
        if isinstance(node, ast.Name):
            yield (node.id,)
        elif isinstance(node, ast.Attribute):
            names = []
            while isinstance(node, ast.Attribute):
                names.append(node.attr)
                node = node.value
            if isinstance(node, ast.Name):
                yield (node.id, *reversed(names))


def _follow(chain, scope, cells, found):
    """Resolves a chain of names; records where its parts were found, and what it means in the end."""
    name = chain[0]
    if name in cells:
        try:
            value = cells[name].cell_contents
        except ValueError:
            return []
        guard = (cells[name], None, value)
    elif name in scope:
        value = scope[name]
        guard = (scope, name, value)
    else:
        if not hasattr(builtins, name):
            found.guards.append((scope, name))
        return []
    for attribute in chain[1:]:
        if not isinstance(value, types.ModuleType) or _is_own_module(value):
            break
        members = vars(value)
        if attribute not in members:
            return []
        value = members[attribute]
        guard = (members, attribute, value)
    if isinstance(value, types.ModuleType) or (value is None and name not in cells and name not in scope):
        return []
    if _is_language(value):
        return []
    found.guards.append(guard)
    return _add_value(".".join(chain), value, found)


def _is_own_module(module):
    return module.__name__.partition(".")[0] in ("terrazzo", "triton")


def _is_language(value):
    if isinstance(value, (dtype, constexpr)) or jit_of(value) is not None:
        return False
    module = getattr(value, "__module__", None) or ""
    return (isinstance(value, type) or callable(value)) and module.partition(".")[0] in ("terrazzo", "builtins")


def _add_value(name, value, found):
    """Records a constant, or gives the jit function that a value is."""
    jit = jit_of(value)
    if jit is not None:
        return [jit]
    plain = value.value if isinstance(value, constexpr) else value
    jit = jit_of(plain)
    if jit is not None:
        return [jit]
    found.constants.append((name, value))
    if isinstance(plain, (tuple, list)):
        return [j for j in map(jit_of, plain) if j is not None]
    return []


def constant_text(value, depth=0):
    """Text for a constant: equal for equal values, in each process where that is possible."""
    if isinstance(value, constexpr):
        return f"constexpr({constant_text(value.value, depth)})"
    if isinstance(value, float):
        return f"float:{value.hex()}"
    if value is None or isinstance(value, (bool, int, str, bytes)):
        return f"{type(value).__name__}:{value!r}"
    if isinstance(value, dtype):
        return f"dtype:{value}"
    if depth < _DEPTH and isinstance(value, (tuple, list)):
        return f"{type(value).__name__}({','.join(constant_text(v, depth + 1) for v in value)})"
    if depth < _DEPTH and isinstance(value, dict):
        members = (f"{constant_text(k, depth + 1)}:{constant_text(v, depth + 1)}" for k, v in value.items())
        return f"dict({','.join(members)})"
    jit = jit_of(value)
    if jit is not None:
        return f"jit:{jit.__name__}"
    wrapped = getattr(value, "__wrapped__", value)
    code = getattr(wrapped, "__code__", None)
    if code is not None:
        return f"function:{code.co_name}:{code.co_code.hex()}:{_code_constants(code)}"
    if isinstance(value, type):
        return f"class:{value.__module__}.{value.__qualname__}"
    return f"{type(value).__module__}.{type(value).__qualname__}:{value!r}"


def _code_constants(code):
    """The constants of a code object, those of nested ones too, and the names that it uses."""
    parts = [_code_constants(c) if isinstance(c, types.CodeType) else repr(c) for c in code.co_consts]
    return f"({','.join(parts)};{','.join(code.co_names)})"
