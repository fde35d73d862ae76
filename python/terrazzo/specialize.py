# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From the arguments of a launch, or the text of a signature, to what a kernel is compiled for.

A description says of each parameter what the compiler may know: ("ptr", dtype, divisible by 16, may overlap others that
say so), ("scalar", dtype, divisible by 16, is 1), ("const", value), or ("tuple", class or None, descriptions). Launches
get them from the extension module, ahead-of-time compilation from text such as "*bf16:16" or "i32:1".
"""

import inspect
import re
from collections import namedtuple
from dataclasses import dataclass, field
from typing import Any

from . import language as tl
from .errors import ArgumentError
from .language.dtypes import dtype, pointer_type
from .language.values import constexpr, constexpr_type, key_text, tuple_type

_SHORT = {"i1": "int1", "u1": "int1", "B": "int1"}
_SHORT.update({f"i{n}": f"int{n}" for n in (8, 16, 32, 64)})
_SHORT.update({f"u{n}": f"uint{n}" for n in (8, 16, 32, 64)})
_SHORT.update({"bool": "int1", "float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64"})
_SHORT.update({f"f{n}": f"fp{n}" for n in (16, 32, 64)})
_SHORT.update({f"float8{v}": f"fp8{v}" for v in ("e4nv", "e5", "e4b8", "e5b16", "e4b15")})


# What the text of a pointer says of an array that may share memory with others.
OVERLAPS = "overlaps"


def type_from_text(text):
    """The dtype or pointer type of "i32", "fp16", "*fp32", "tl.int64" and the like; None if the text names no type."""
    text = text.strip()
    if text.startswith("*"):
        is_const = text.startswith("*k")
        element = type_from_text(text[2 if is_const else 1 :])
        return None if element is None or element.is_ptr() else pointer_type(element, const=is_const)
    name = text.rpartition(".")[2]
    name = _SHORT.get(name, name)
    return dtype(name) if dtype.is_dtype(name) and name != "void" else None


def short_name(ty):
    """The text that type_from_text takes back: "*fp32", "i32"."""
    if ty.is_ptr():
        return ("*k" if ty.is_const() else "*") + short_name(ty.element_ty)
    return re.sub(r"^(u?)int(\d+)$", lambda m: ("u" if m[1] else "i") + m[2], ty.name)


@dataclass
class Parameter:
    """A parameter of a kernel function."""

    index: int
    name: str
    kind: Any
    annotation: Any = inspect.Parameter.empty
    default: Any = inspect.Parameter.empty
    is_constexpr: bool = False
    is_const: bool = False
    do_not_specialize: bool = False
    do_not_specialize_on_alignment: bool = False
    fixed_type: Any = None  # of the annotation: a dtype or pointer_type

    @property
    def num(self):
        """The position, by the name that other tools know it by."""
        return self.index

    @property
    def has_default(self):
        """Whether calls may leave it out."""
        return self.default is not inspect.Parameter.empty

    @property
    def is_variadic(self):
        """Whether it is *args or **kwargs."""
        return self.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)

    def for_dispatcher(self):
        """What the dispatcher has to know, as the tuple that it takes."""
        specialize = self.fixed_type is None and not self.do_not_specialize
        ty = self.fixed_type
        is_pointer = ty is not None and ty.is_ptr()
        name = None if ty is None else (ty.element_ty.name if is_pointer else ty.name)
        alignment = (
            specialize or (is_pointer and not self.do_not_specialize)
        ) and not self.do_not_specialize_on_alignment
        return (
            self.name,
            self.default if self.has_default else None,
            self.has_default,
            self.is_constexpr,
            specialize,
            alignment,
            name,
            is_pointer,
        )


def _evaluate(annotation, fn):
    """A textual annotation as the object that it names, if it names one now."""
    scope = dict(zip(fn.__code__.co_freevars, fn.__closure__ or ()))
    cells = {}
    for name, cell in scope.items():
        try:
            cells[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    try:
        return eval(annotation, fn.__globals__, cells)
    except Exception:
        return annotation


def _read_annotation(parameter, fn):
    annotation = parameter.annotation
    if isinstance(annotation, str):
        annotation = _evaluate(annotation, fn)
    if isinstance(annotation, str):
        parameter.is_constexpr = "constexpr" in annotation
        parameter.fixed_type = None if parameter.is_constexpr else type_from_text(annotation)
        return
    if annotation is constexpr or isinstance(annotation, (constexpr, constexpr_type)):
        parameter.is_constexpr = True
    elif annotation is tl.const:
        parameter.is_const = True
    elif annotation is bool:
        parameter.fixed_type = tl.int1
    elif isinstance(annotation, dtype) and not annotation.is_block() and not annotation.is_void():
        parameter.fixed_type = annotation


def parameters_of(fn, do_not_specialize=(), do_not_specialize_on_alignment=()):
    """The parameters of a Python function; those two are names or positions. Public kernels also name parameters that
    they no longer have, which is harmless.
    """
    result = []
    for index, (name, p) in enumerate(inspect.signature(fn).parameters.items()):
        parameter = Parameter(index, name, p.kind, p.annotation, p.default)
        parameter.do_not_specialize = index in do_not_specialize or name in do_not_specialize
        parameter.do_not_specialize_on_alignment = (
            index in do_not_specialize_on_alignment or name in do_not_specialize_on_alignment
        )
        _read_annotation(parameter, fn)
        result.append(parameter)
    return result


class UnstableConstantError(Exception):
    """A constant whose text does not tell it from others in another process."""


_PLAIN = (type(None), bool, int, str, bytes, float)


def stable_text(value, reach=None):
    """Text that is equal in all processes for equal constants only.

    `reach` gives the dependencies of an object that is more than a number, a string, a type, or a tuple of these.
    """
    if isinstance(value, float) and type(value) is float:
        return f"float:{value.hex()}"
    if type(value) in _PLAIN:
        return key_text(value)
    if isinstance(value, dtype):
        return f"dtype:{value}"
    if isinstance(value, (tuple, list)):
        fields = getattr(value, "_fields", None)
        of = f":{stable_text(type(value), reach)}" if fields and type(value).__module__ != "builtins" else ""
        return f"{type(value).__name__}{of}({','.join(stable_text(v, reach) for v in value)})"
    if isinstance(value, constexpr):
        return stable_text(value.value, reach)
    if reach is None:
        from .frontend import dependencies as reach
    found = reach(value)
    if found.hidden:
        raise UnstableConstantError(found.hidden)
    return f"{type(value).__name__}:{found.digest}"


NamedSpecialization = namedtuple("NamedSpecialization", ["constants", "signature"])


@dataclass
class Specialization:
    """What one kernel is compiled for, in the form that the frontend takes."""

    arg_types: dict = field(default_factory=dict)
    constexprs: dict = field(default_factory=dict)
    arg_attrs: dict = field(default_factory=dict)
    parts: list = field(default_factory=list)
    members: dict = field(default_factory=dict)  # constants in tuples, and classes of tuples, by path

    @property
    def text(self):
        """The signature as text, facts about the arguments included."""
        return ", ".join(self.parts)

    def for_names(self):
        """What the `repr` of a jit function is given: `constants` and `signature`, by parameter."""
        signature = dict.fromkeys(self.constexprs, "constexpr")
        signature |= {name: short_name(ty) if hasattr(ty, "is_ptr") else str(ty) for name, ty in self.arg_types.items()}
        return NamedSpecialization(dict(self.constexprs), signature)

    def stable_constants(self, reach):
        """The constants as text, see stable_text; raises UnstableConstantError."""
        named = {**self.constexprs, **self.members}
        return ", ".join(f"{name}={stable_text(value, reach)}" for name, value in named.items())


def _leaf(spec, is_const, path, result):
    """(type, text) of a description; facts and constants go to `result` by path."""
    kind = spec[0]
    if kind == "const":
        result.members[path] = spec[1]
        shown = f"={stable_text(spec[1])}" if type(spec[1]) in _PLAIN else ""
        return constexpr_type(spec[1]), f"constexpr{shown}"
    if kind == "tuple":
        members = [_leaf(s, is_const, f"{path}.{i}", result) for i, s in enumerate(spec[2])]
        text = ",".join(m[1] for m in members)
        if hasattr(spec[1], "__tz_type__"):
            result.members[f"{path}.__class__"] = spec[1]  # its code runs when the kernel is traced
            return spec[1].__tz_type__([m[0] for m in members]), f"{spec[1].__name__}({text})"
        fields = getattr(spec[1], "_fields", None)
        return tuple_type([m[0] for m in members], fields), f"({text}){list(fields) if fields else ''}"
    ty = dtype(spec[1])
    facts, said = {}, []
    if spec[2]:
        facts["tile.divisibility"] = 16
        said.append("16")
    if kind == "ptr":
        ty = pointer_type(ty, const=is_const)
        if spec[3]:
            facts["tile.overlaps"] = True
            said.append(OVERLAPS)
    elif spec[3]:
        facts, said = {"equal_to": 1}, ["1"]
    if facts:
        result.arg_attrs[path] = facts
    return ty, short_name(ty) + "".join(f":{fact}" for fact in said)


def specialization(parameters, specs):
    """The specialisation that descriptions of all parameters mean."""
    result = Specialization()
    for parameter, spec in zip(parameters, specs):
        if spec[0] == "const":
            result.constexprs[parameter.name] = spec[1]
            result.parts.append("constexpr")
            continue
        ty, text = _leaf(spec, parameter.is_const, parameter.name, result)
        result.arg_types[parameter.name] = ty
        result.parts.append(text)
    return result


def spec_from_text(text, name):
    """The description that "*fp32:16", "*fp32:16:overlaps", "i32:1" or "fp32" means; an error names the parameter."""
    body, _, fact = text.strip().partition(":")
    ty = type_from_text(body)
    expected = (
        "a type such as i32, fp32 or *bf16, with :16 if 16 divides the value or address, :1 if the value is 1, or "
        f":{OVERLAPS} if the array may share memory with others that say so"
    )
    if ty is None:
        raise ArgumentError(f"parameter '{name}': '{text.strip()}' is no type, expected {expected}")
    is_int = ty.is_int() and not ty.is_bool()
    facts = [part.strip() for part in fact.split(":")] if ":" in text else []
    allowed = ("16", OVERLAPS) if ty.is_ptr() else ("16", "1") if is_int else ()
    if any(part not in allowed for part in facts) or (len(facts) > 1 and not ty.is_ptr()):
        raise ArgumentError(
            f"parameter '{name}': '{text.strip()}' says what a {body.strip()} cannot have, expected {expected}"
        )
    if ty.is_ptr():
        return ("ptr", ty.element_ty.name, "16" in facts, OVERLAPS in facts)
    return ("scalar", ty.name, "16" in facts, "1" in facts)
