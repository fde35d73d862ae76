# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The walk over everything that a kernel can read from around it: what decides its key, and what each launch checks.

It starts at jit functions, or at compile-time arguments, and goes on from what their text names: globals, variables of
enclosing functions, defaults, attributes of modules and classes, and all that lies in those. Of each thing it writes a
text that is equal in all processes for equal contents, and a guard for each place whose contents may change. What it
cannot see into (an array, a function of a module in C that reads the clock) it marks as hidden; a kernel that reads
such a thing is refused (see `refusal`), one that merely could is not.

Nothing here depends on addresses, on the order of sets, or on the line that something stands on.
"""

import builtins
import collections
import types
from dataclasses import dataclass, field

from ..language.values import constexpr
from . import references, trust
from .contents import SEQUENCES, Contents, parts_of
from .scope import closure_values, is_constexpr_annotation, is_fixed
from .source import source_of

_MISSING = object()


@dataclass
class Node:
    """A thing that was met: what it leads to, and why its contents are not known, if they are not."""

    value: object
    path: str
    is_code: bool = False  # a function or class: reading it is not yet calling it
    hidden: str = ""
    number: int = 0
    inner: list = field(default_factory=list)


class Reach(Contents):
    """One walk. `text` are the pieces that make the key, `guards` what is checked at launches (see Guards.cpp);
    `steps` are the (id of a module, attribute) that were looked at one by one; `functions` (name, text) and `places`
    (file, line) of the jit functions, `constants` (name, value) of what else they name.
    """

    def __init__(self):
        self.text, self._guards = [], {}
        self.functions, self.constants, self.places = [], [], []
        self.steps = set()
        self._nodes = {}  # id -> Node; a node keeps its value alive
        self._owner = Node(None, "")  # the one whose contents are looked at
        self._todo = collections.deque()
        self._jits = {}  # id of a Python function -> the jit function that it is traced for

    @property
    def guards(self):
        """What launches check, each place once."""
        return list(self._guards.values())

    def guard(self, kind, holder, name, *value):
        """Adds a place whose contents may change; without a value where there is none now."""
        self._guards[kind, id(holder), name] = (kind, holder, name, *value)

    def start(self, path, value):
        """Walks from a value."""
        self._owner = Node(None, path)
        self.value(path, value)
        while self._todo:
            node = self._todo.popleft()
            self._owner = node
            self.text.append(f"#{node.number}")
            self._contents(node)

    def refusal(self, value, called=False):
        """Why a kernel may not read a value, or with `called`, run its code: text, or None where it may."""
        jit = self._jit_of(value)
        node = self._nodes.get(id(value if jit is None else jit.fn))
        if node is None and called and id(type(value)) in self._nodes:  # made while the kernel was traced
            node = self._nodes[id(type(value))]
        if node is None:
            return next(filter(None, (self.refusal(part, called) for part in parts_of(value))), None)
        if node.is_code and not called:
            return None
        seen, todo = set(), [node]
        while todo:
            node = todo.pop()
            if id(node) in seen or (node.is_code and not called):
                continue
            seen.add(id(node))
            if node.hidden:
                return f"{node.path}, {node.hidden}"
            todo += node.inner
        return None

    @staticmethod
    def runs(value):
        """Whether a function is code of a user, or holds some: what can call methods of its arguments."""
        if isinstance(value, types.FunctionType) and not trust.is_own(value.__globals__.get("__name__") or ""):
            return True
        return any(map(Reach.runs, parts_of(value))) if callable(value) else False

    def knows(self, module, name):
        """Whether an attribute of a module is part of the key."""
        return (id(module), name) in self.steps or trust.version_of(module.__name__) is not None

    def _hide(self, path, value, why, is_code=False):
        self._node(path, value, is_code=is_code, hidden=why)

    def _node(self, path, value, is_code=False, hidden=""):
        """Refers to a thing with an identity; its contents are written once, later."""
        node = self._nodes.get(id(value))
        if node is None:
            node = self._nodes[id(value)] = Node(value, path, is_code, hidden, len(self._nodes))
            if hidden:
                self.text.append(f"hidden {type(value).__module__}.{type(value).__qualname__}")
            else:
                self._todo.append(node)
        self._owner.inner.append(node)
        self.text.append(f"@{node.number}")

    def _contents(self, node):
        value, path = node.value, node.path
        if isinstance(value, types.FunctionType):
            jit = self._jits.get(id(value))
            self._python_contents(path, value) if jit is None else self._jit_contents(jit)
        elif isinstance(value, type):
            self._class_contents(path, value)
        elif type(value) in SEQUENCES:
            self._members(path, value)
        else:
            self._instance(node)

    def _jit_contents(self, jit):
        """A function that kernels are traced from."""
        fn = jit.fn
        source = source_of(fn)
        self.functions.append((jit.__name__, source.text))
        self.places.append((source.file, source.first_line))
        self.text += [jit.__name__, source.text]
        for p in jit.params:
            self.text.append(f"{p.name} {p.is_constexpr} {p.is_const} {p.fixed_type}")
        self._bound(fn.__qualname__, fn)
        for chain in references.of_syntax(source):
            self._follow(chain, fn, is_traced=True)

    def _python_contents(self, path, fn):
        """A function that Python runs while a kernel is compiled."""
        self.text += [fn.__qualname__, references.code_text(fn.__code__)]
        self._bound(fn.__qualname__, fn)
        chains, imported = references.of_code(fn.__code__)
        for chain in chains:
            self._follow(chain, fn, is_traced=False)
        for module in imported:
            if trust.version_of(module) is None:
                why = "a module that is imported when the function runs"
                self._hide(f"import {module}", (fn, module), why)
        attributes = fn.__dict__
        self.guard("items", attributes, None, tuple(part for item in attributes.items() for part in item))
        for name, value in attributes.items():
            if name != "__wrapped__":
                self.text.append(name)
                self.value(f"{fn.__qualname__}.{name}", value)

    def _bound(self, path, fn):
        """What was bound when a function was made: its defaults."""
        self.guard("function", fn, None, (fn.__code__, fn.__defaults__, fn.__kwdefaults__))
        for default in fn.__defaults__ or ():
            self.value(f"a default of {path}", default)
        if fn.__kwdefaults__:
            self.value(f"a default of {path}", fn.__kwdefaults__)

    def _cell(self, path, name, cell):
        try:
            held = cell.cell_contents
        except ValueError:
            self.guard("cell", cell, None)
            self.text.append("empty")
            return
        self.guard("cell", cell, None, held)
        self.value(name, held)

    def _follow(self, chain, fn, is_traced):
        """Resolves a reference, step by step where its parts are modules and classes."""
        name, scope = chain[0], fn.__globals__
        cell = closure_values(fn).get(name)
        self.text.append(".".join(chain))
        if cell is not None:
            try:
                value = cell.cell_contents
            except ValueError:
                self._cell(name, name, cell)
                return
            self.guard("cell", cell, None, value)
        elif name in scope:
            value = scope[name]
            self.guard("entry", scope, name, value)
            if is_traced and not is_fixed(value):
                self._annotation(scope, name)
        else:
            self.guard("entry", scope, name)
            found = getattr(builtins, name, None)
            if found in references.WORLDLY:
                self.value(name, found)
            return
        done = 1
        while done < len(chain):
            held = self._step(value, chain[done])
            if held is _MISSING:
                break
            value = held
            done += 1
        if done < len(chain) and isinstance(value, types.ModuleType):
            if "__getattr__" in vars(value) and not is_traced:
                self._hide(".".join(chain), (value, chain[done]), "an attribute that its module makes when it is read")
            return  # it has no such attribute now
        self._reached(".".join(chain[:done]), value)

    def _reached(self, path, value):
        if isinstance(value, types.ModuleType):
            self._module(path, value)
            return
        if isinstance(value, constexpr) or not callable(value):
            self.constants.append((path, value))
        self.value(path, value)

    def _annotation(self, scope, name):
        """Whether a global variable is declared constexpr decides whether a kernel may read it."""
        annotations = scope.get("__annotations__", _MISSING)
        if annotations is _MISSING:
            self.guard("entry", scope, "__annotations__")
            return
        self.guard("entry", scope, "__annotations__", annotations)
        if name in annotations:
            self.guard("entry", annotations, name, annotations[name])
        else:
            self.guard("entry", annotations, name)
        self.text.append(f"constexpr {is_constexpr_annotation(annotations.get(name))}")

    def _step(self, value, name):
        """The attribute of a module, or a plain one of a class; _MISSING where it is to be looked at as a whole."""
        if isinstance(value, constexpr):
            self.guard("entry", value.__dict__, "value", value.value)
            return self._step(value.value, name)
        if isinstance(value, types.ModuleType):
            return self._module_step(value, name)
        if not isinstance(value, type) or type(value) is not type or trust.version_of(value.__module__) is not None:
            return _MISSING
        found = next((vars(c)[name] for c in value.__mro__ if name in vars(c)), _MISSING)
        plain = found.__func__ if isinstance(found, staticmethod) else found
        if found is _MISSING or (plain is found and hasattr(type(found), "__get__")):
            return _MISSING
        self.guard("member", value, name, found)
        return plain

    def _module_step(self, module, name):
        members = vars(module)
        if name not in members and "__getattr__" in members and trust.version_of(module.__name__) is not None:
            getattr(module, name, None)  # a part that is imported when it is first used
        self.steps.add((id(module), name))
        if name not in members:
            self.guard("entry", members, name)
            return _MISSING
        held = members[name]
        is_own = trust.is_own(module.__name__)
        if not is_own or not trust.is_own(getattr(held, "__module__", None) or getattr(held, "__name__", None)):
            self.guard("entry", members, name, held)
        return held
