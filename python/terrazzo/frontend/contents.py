# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Texts and guards for values: numbers, containers, classes, objects, and functions that are known by their names.

One half of the walk in reach.py, which goes through functions; see there.
"""

import collections
import functools
import inspect
import re
import types

from .._terrazzo import runtime
from ..language.dtypes import dtype
from ..language.values import constexpr, key_text, show
from . import references, trust
from .inlining import jit_of

_MOST = 50_000  # values that one walk looks at
_CONSTANTS = (bool, int, str, bytes, complex, type(None), type(Ellipsis), type(NotImplemented), range)
SEQUENCES = (list, set, frozenset, dict, types.MappingProxyType, collections.OrderedDict, collections.defaultdict)
# Members of classes that say nothing of what code sees, or change when nobody changes anything.
_OF_CLASSES = {
    "__doc__",
    "__dict__",
    "__weakref__",
    "__module__",
    "__annotations__",
    "__annotate__",
    "__annotations_cache__",
}
_OF_CLASSES |= {"__abstractmethods__", "_abc_impl", "__orig_bases__", "__parameters__", "__type_params__"}
_OF_CLASSES |= {"__firstlineno__", "__static_attributes__", "_value2member_map_", "_hashable_values_"}
_OF_CLASSES |= {"_unhashable_values_", "_unhashable_values_map_"}
_DESCRIPTORS = (
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MethodWrapperType,
)
_LEAVES = (type(collections.namedtuple("_", "x").x), object)  # have no contents, or none that counts
_NUMBERS = (int, float, complex, str, bytes)


class Contents:
    """Writes what values hold; with `guard`, and `_node` and `_hide` for things with an identity, in Reach."""

    def value(self, path, value):
        """Writes a value."""
        kind = type(value)
        if kind in _CONSTANTS:
            self.text.append(key_text(value))
        elif kind is float:
            self.text.append(f"float:{value.hex()}")
        elif len(self.text) > _MOST:
            self._hide(path, value, f"one of more than {_MOST} values that are reached from here")
        elif kind is constexpr:
            self.text.append("constexpr")
            self.guard("entry", value.__dict__, "value", value.value)
            self.value(path, value.value)
        elif isinstance(value, dtype):
            self.text.append(f"dtype:{value}:{value.is_const()}")
        elif isinstance(value, types.ModuleType):
            self._module(path, value)
        elif (jit := self._jit_of(value)) is not None:
            self._jits[id(jit.fn)] = jit
            self.text.append("jit")
            self._node(path, jit.fn, is_code=True)
        elif isinstance(value, tuple):
            self._tuple(path, value)
        elif kind in SEQUENCES:
            self._node(path, value)
        elif isinstance(value, type):
            self._class(path, value)
        elif isinstance(value, types.FunctionType):
            self._function(path, value)
        else:
            self._other(path, value)

    @staticmethod
    def _jit_of(value):
        has_base = "base_fn" in getattr(type(value), "__dict__", ()) or "base_fn" in getattr(value, "__dict__", ())
        return jit_of(value) if has_base or getattr(type(value), "__tz_jit__", False) else None

    def _tuple(self, path, value):
        self.text.append(f"tuple {len(value)}")
        if type(value).__module__ != "builtins" and not trust.is_own(type(value).__module__):
            self.value(f"the class of {path}", type(value))
        for index, member in enumerate(tuple.__iter__(value)):
            self.value(f"{path}[{index}]", member)

    def _module(self, path, module):
        self.text.append(f"module {module.__name__}")
        # The frontend checks each attribute that kernels read; other code is not watched.
        if trust.version_of(module.__name__) is None and id(self._owner.value) not in self._jits:
            self._hide(
                path, (module,), f"the module '{module.__name__}' as a whole, of which no one can tell what is read"
            )

    def _known(self, what, module, name):
        """Writes a piece of code that is known by its name."""
        self.text.append(f"{what} {module}.{name} {trust.version_of(module)}")

    def _class(self, path, value):
        if trust.version_of(value.__module__) is not None:
            self._known("class", value.__module__, value.__qualname__)
        elif trust.is_python(value.__module__):
            self._hide(path, value, f"the class {value.__qualname__} of the module '{value.__module__}'", True)
        else:
            self._node(path, value, is_code=True)

    def _function(self, path, value):
        module = value.__globals__.get("__name__") or ""
        if trust.code_version_of(module) is not None:
            # Those that another function made have its name for a qualified one.
            self._known("function", module, f"{value.__qualname__} {value.__name__}")
            # A wrapper of ours holds the function of a user that it wraps.
            for held in parts_of(value):
                if callable(held):
                    self.value(path, held)
        elif trust.is_python(module) or trust.top(module) in trust.VERSIONED:
            self._hide(path, value, f"a function of the module '{module}' that may see more than its arguments", True)
        else:
            self._node(path, value, is_code=True)

    def _other(self, path, value):
        kind = type(value)
        if isinstance(value, (types.BuiltinFunctionType, *_DESCRIPTORS)):
            self._builtin(path, value)
        elif isinstance(value, types.MemberDescriptorType):
            self.text.append(f"slot {value.__name__}")
        elif isinstance(value, (types.MethodType, staticmethod, classmethod)):
            self.text.append(kind.__name__)
            self.value(path, value.__func__)
            if isinstance(value, types.MethodType):
                self.value(f"{path}.__self__", value.__self__)
        elif isinstance(value, (property, functools.cached_property, functools.partial, functools.partialmethod)):
            self._wrapping(path, value)
        elif isinstance(value, types.CodeType):
            self.text.append(references.code_text(value))
        elif kind in (re.Pattern, types.GenericAlias, types.UnionType):
            self.text.append(f"{kind.__name__}:{value!r}")
        elif trust.version_of(kind.__module__) is not None and trust.top(kind.__module__) in trust.VERSIONED:
            self._of_library(path, value)
        elif isinstance(value, functools._lru_cache_wrapper):
            self.text.append("cached")
            self.value(path, value.__wrapped__)
        elif kind in _LEAVES:
            self.text.append(f"{kind.__qualname__}")
        elif trust.is_python(kind.__module__) and trust.version_of(kind.__module__) is None:
            self._hide(path, value, f"an object of the class {kind.__qualname__} of the module '{kind.__module__}'")
        else:
            self._node(path, value)

    def _builtin(self, path, value):
        holder = getattr(value, "__self__", None)
        if isinstance(holder, (types.ModuleType, type)) or holder is None:
            owner = getattr(value, "__objclass__", holder if isinstance(holder, type) else None)
            module = getattr(owner or value, "__module__", None) or getattr(holder, "__name__", "builtins")
            if value in references.WORLDLY or trust.code_version_of(module) is None:
                why = f"a function of the module '{module}' that may see more than its arguments"
                self._hide(path, value, why, True)
            else:
                self._known("builtin", module, value.__qualname__)
            return
        self.text.append(f"builtin method {value.__name__}")
        self.value(f"{path}.__self__", holder)

    def _wrapping(self, path, value):
        """Objects that hold functions: property, partial."""
        self.text.append(type(value).__name__)
        for name in ("fget", "fset", "fdel", "func", "args", "keywords"):
            held = getattr(value, name, None)
            if held is not None:
                self.text.append(name)
                self.value(f"{path}.{name}", held)

    def _of_library(self, path, value):
        """An object of numpy or torch: scalars, types and functions; arrays can change unnoticed."""
        import numpy

        kind = type(value)
        if isinstance(value, numpy.generic):
            self.text.append(f"numpy {value.dtype!r}:{value.tobytes().hex()}")
        elif isinstance(value, numpy.dtype) or kind.__name__ in ("dtype", "device", "layout", "memory_format", "finfo"):
            self.text.append(f"{kind.__module__}.{kind.__qualname__}:{value!r}")
        elif isinstance(getattr(value, "__name__", None), str) and trust.code_version_of(kind.__module__) is not None:
            self._known("function", kind.__module__, value.__name__)
        else:
            self._hide(path, value, f"an object of the class {kind.__qualname__}, whose contents may change unnoticed")

    def _members(self, path, value):
        """What is in a dict, list or set, an object of a class of one of these included."""
        if isinstance(value, (dict, types.MappingProxyType)):
            items = [part for item in value.items() for part in item]
            self.text.append(f"dict {len(items) // 2}")
            if isinstance(value, dict):
                self.guard("items", value, None, tuple(items))
            for key, held in zip(items[::2], items[1::2]):
                self.value(path, key)
                self.value(f"{path}[{show(key)}]" if type(key) in (str, int) else path, held)
        elif isinstance(value, list):
            self.guard("list", value, None, tuple(value))
            self.text.append(f"list {len(value)}")
            for index, held in enumerate(tuple(value)):
                self.value(f"{path}[{index}]", held)
        else:
            self._set(path, value)

    def _set(self, path, value):
        members = tuple(value)
        if isinstance(value, set):
            self.guard("set", value, None, members)
        if not all(type(v) in (*_CONSTANTS, float) for v in members):
            self._hide(path, members, "a set of other things than numbers and strings")
            return
        self.text.append(f"set {sorted(map(key_text, members))}")

    def _class_contents(self, path, value):
        self.guard("type", value, None, runtime.type_version(value))
        self.text.append(f"class {value.__module__}.{value.__qualname__}")
        for base in value.__bases__:
            self.value(f"{path}.__bases__", base)
        if type(value) is not type:
            self.value(f"the class of {path}", type(value))
        for name, held in list(vars(value).items()):
            if name not in _OF_CLASSES:
                self.text.append(name)
                self.value(f"{value.__qualname__}.{name}", held)

    def _instance(self, node):
        value, path = node.value, node.path
        kind = type(value)
        is_container = isinstance(value, (list, dict, set, frozenset))
        if not is_container and not isinstance(value, _NUMBERS) and _has_hidden_memory(kind):
            node.hidden = f"an object of the class {kind.__qualname__}, whose contents cannot be seen"
            return
        self.text.append("object")
        self.guard("class", value, None, kind)
        self.value(f"the class of {path}", kind)
        for base in _NUMBERS:
            if isinstance(value, base):
                self.text.append(f"{base.__name__}:{base.__repr__(value)}")
        if is_container:
            self._members(path, value)
        held = getattr(value, "__dict__", None)
        if type(held) is dict:
            self._attributes(path, value, held)
        for name in _slots(kind):
            found = inspect.getattr_static(kind, name).__get__
            try:
                member = found(value)
            except AttributeError:
                self.guard("slot", value, name)
                continue
            self.guard("slot", value, name, member)
            self.text.append(name)
            self.value(f"{path}.{name}", member)

    def _attributes(self, path, value, held):
        items = [part for item in held.items() for part in item]
        self.guard("items", held, None, tuple(items))
        for name, member in zip(items[::2], items[1::2]):
            self.text.append(str(name))
            self.value(f"{path}.{name}", member)


def parts_of(value):
    """What a value is put together from that has no identity of its own: a tuple, a method, a wrapper of ours."""
    if isinstance(value, tuple):
        return tuple(tuple.__iter__(value))
    if isinstance(value, constexpr):
        return (value.value,)
    if isinstance(value, (types.MethodType, staticmethod, classmethod)):
        return (value.__func__, getattr(value, "__self__", None))
    if isinstance(value, (functools.partial, functools.partialmethod)):
        return (value.func, value.args, *value.keywords.values())
    if isinstance(value, property):
        return (value.fget,)
    if isinstance(value, functools._lru_cache_wrapper):
        return (value.__wrapped__,)
    if isinstance(value, types.FunctionType) and trust.is_own(value.__globals__.get("__name__") or ""):
        held = (cell.cell_contents for cell in value.__closure__ or () if _is_filled(cell))
        return tuple(part for part in held if part is not value)  # one that knows its own name holds itself
    return ()


def _is_filled(cell):
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def _slots(kind):
    """The names of the slots of a class and its bases."""
    return [
        name
        for base in kind.__mro__
        for name, held in vars(base).items()
        if isinstance(held, types.MemberDescriptorType) and base.__flags__ & (1 << 9)
    ]


def _has_hidden_memory(kind):
    """Whether objects of a class have memory besides their attributes, which a base in C may fill."""
    pointers = len(_slots(kind)) + (kind.__dictoffset__ > 0) + (kind.__weakrefoffset__ > 0)
    return kind.__itemsize__ != 0 or kind.__basicsize__ > object.__basicsize__ + 8 * pointers
