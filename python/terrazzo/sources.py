# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What compile() takes: a kernel function with the types of its parameters, or a module of IR."""

import hashlib
import os
import re

from .errors import ArgumentError, CompileError
from .specialize import Specialization, short_name, spec_from_text, type_from_text


class AttrsDescriptor:
    """Facts about arguments by position: which 16 divides, which are 1."""

    def __init__(self, divisible_by_16=(), equal_to_1=()):
        self.arg_properties = {"tt.divisibility": tuple(divisible_by_16), "tt.equal_to": tuple(equal_to_1)}

    @property
    def divisible_by_16(self):
        """The positions of arguments that 16 divides."""
        return self.arg_properties["tt.divisibility"]

    @property
    def equal_to_1(self):
        """The positions of arguments that are 1."""
        return self.arg_properties["tt.equal_to"]

    @classmethod
    def from_dict(cls, data):
        """The descriptor that to_dict gave."""
        facts = data["arg_properties"]
        return cls(facts.get("tt.divisibility", ()), facts.get("tt.equal_to", ()))

    def to_dict(self):
        """As a dictionary of plain values."""
        return {"arg_properties": dict(self.arg_properties), "cls": type(self).__name__}

    def by_position(self):
        """{position: [[fact, number]]}, as ASTSource has it."""
        found = {position: [["tt.divisibility", 16]] for position in self.divisible_by_16}
        for position in self.equal_to_1:
            found.setdefault(position, []).append(["tt.equal_to", 1])
        return found

    def __eq__(self, other):
        return isinstance(other, AttrsDescriptor) and self.arg_properties == other.arg_properties

    def __hash__(self):
        return hash(tuple(self.arg_properties.values()))

    def __repr__(self):
        return f"AttrsDescriptor({self.arg_properties})"


class ASTSource:
    """A kernel function with a signature given as text, to be compiled ahead of time.

    `signature` maps parameter names to "*fp32", "i32" or "constexpr", or is their text, separated by commas;
    `constexprs` maps names (or positions, or 1-tuples of these) to values, `attrs` positions to lists such as
    [["tt.divisibility", 16]], or it is an AttrsDescriptor.
    """

    ext = "tile"

    def __init__(self, fn, signature, constexprs=None, attrs=None):
        self.fn = fn
        if isinstance(signature, str):
            signature = {i: text.strip() for i, text in enumerate(signature.split(","))}
        if isinstance(attrs, AttrsDescriptor):
            attrs = attrs.by_position()
        self.signature = {self._name(k): v for k, v in signature.items()}
        self.constants = {self._name(k): v for k, v in (constexprs or {}).items()}
        self.attrs = {self._name(k): v for k, v in (attrs or {}).items()}
        self.name = fn.__name__

    @classmethod
    def of(cls, fn, specialization):
        """The source that a specialisation of a function is, as hooks are told."""
        source = cls(fn, {})
        source.constants = dict(specialization.constexprs)
        source.signature = specialization.for_names().signature
        return source

    def hash(self):
        """A digest of the function and of all that it is compiled for."""
        parts = [self.fn.cache_key, *(repr(sorted(d.items(), key=str)) for d in self._maps())]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def _maps(self):
        return self.signature, self.constants, self.attrs

    def _name(self, key):
        while isinstance(key, tuple) and len(key) == 1:
            key = key[0]
        if isinstance(key, int):
            if key >= len(self.fn.arg_names):
                raise ArgumentError(
                    f"{self.fn.__name__}() has {len(self.fn.arg_names)} parameters, found position {key}"
                )
            return self.fn.arg_names[key]
        if key not in self.fn.arg_names:
            raise ArgumentError(f"{self.fn.__name__}() has no parameter '{key}'; it has {', '.join(self.fn.arg_names)}")
        return key

    def specs(self):
        """The descriptions of all parameters."""
        result = []
        for parameter in self.fn.params:
            name, text = parameter.name, self.signature.get(parameter.name)
            if name in self.constants:
                result.append(("const", self.constants[name]))
            elif text is None or text == "constexpr":
                if not parameter.has_default:
                    raise ArgumentError(f"{self.fn.__name__}(): parameter '{name}' has neither a type nor a value")
                result.append(("const", parameter.default))
            else:
                spec = spec_from_text(text, name)
                if any(list(a)[-1] == 16 for a in self.attrs.get(name, ())):
                    spec = (*spec[:2], True, *spec[3:])
                result.append(spec)
        return tuple(result)


_FUNCTION = re.compile(r"func\.func\s+(?:public\s+)?@(\w+)\(([^)]*)\)")


class IRSource:
    """A module in the IR of the first stage (a kernel's asm["tile"]), in a file; compiled, it is launched by position.

    `name` is that of its kernel, `signature` maps the positions of the parameters to their types as text.
    """

    ext = "tile"
    launch_metadata = None

    def __init__(self, path, context=None, backend=None):
        self.path = os.fspath(path)
        with open(self.path) as file:
            self.text = self.src = file.read()
        found = _FUNCTION.search(self.text)
        if found is None:
            raise CompileError("expected a module with a kernel (func.func), found none", self.path)
        self.name = self.__name__ = found[1]
        types = [_type_of(part, self.path) for part in _split(found[2])]
        self.signature = dict(enumerate(types))
        self.arg_names = [f"arg{i}" for i in self.signature]
        self.specialization = Specialization(
            {name: type_from_text(text) for name, text in zip(self.arg_names, types)}, parts=list(types)
        )

    def hash(self):
        """A digest of the module."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def _split(parameters):
    """The parameters of a function's text; commas in attributes do not part them."""
    parts, depth = [""], 0
    for letter in parameters:
        depth += (letter in "{<[") - (letter in "}>]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def _type_of(parameter, path):
    """The type of a parameter's text, "%x: !tile.ptr<f32> {...}", as signatures have it."""
    text = parameter.partition(":")[2].partition("{")[0].strip()
    pointee = re.fullmatch(r"!tile\.ptr<([\w]+)(?:,[^>]*)?>", text)
    name = re.sub(r"^f8\w+", "i8", pointee[1] if pointee else text)
    found = type_from_text(f"*{name}" if pointee else name)
    if found is None:
        raise CompileError(f"expected a parameter of a scalar or pointer type, found '{text}'", path)
    return short_name(found)
