# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the functions of the language emit to: a stack of builders, one stack a thread.

The frontend pushes the builder of the kernel that it traces; every function of the language then appends its
operations to the current one. A stack, because compiling one kernel may have to compile another.
"""

import functools
import inspect
import threading
from contextlib import contextmanager
from dataclasses import dataclass

from .._terrazzo import ir
from ..errors import SemanticError


@dataclass(frozen=True)
class Options:
    """What the compilation asks of the functions of the language.

    `debug` arms `device_assert`, `strict` forbids to contract a multiplication and an addition, `target` is what
    `target_info` answers from ("cpu", "cuda:90", "hip:gfx942"), `dot_precision` how a dot may round float32 operands if
    it does not say it (None: not at all), `imprecise_acc` how many products of 8-bit floats may be summed with
    fewer bits than float32, `num_warps` the warps of a program on a GPU.
    """

    debug: bool = False
    strict: bool = False
    target: str = "cpu"
    dot_precision: str | None = None
    imprecise_acc: int = 0
    num_warps: int = 4


class _Stack(threading.local):
    def __init__(self):
        self.entries = []


_stack = _Stack()


def push(builder, options=Options()):
    """Makes `builder` the current one of this thread."""
    _stack.entries.append((builder, options))


def pop():
    """Takes the current builder away again, and returns it."""
    return _stack.entries.pop()[0]


def active():
    """Whether a kernel is being traced on this thread."""
    return bool(_stack.entries)


def current():
    """The builder that operations go to; an error outside of a kernel."""
    if not _stack.entries:
        raise SemanticError("functions of terrazzo.language can be called in a kernel only; is a @jit missing?")
    return _stack.entries[-1][0]


def options():
    """The options that the current builder was pushed with."""
    return _stack.entries[-1][1] if _stack.entries else Options()


def emit(name, operands, type, attributes=None):
    """Creates an operation with one result of the MLIR type `type` and returns that result."""
    return current().create(name, operands, attributes or {}, [type]).result


def emit_effect(name, operands, attributes=None):
    """Creates an operation without results."""
    current().create(name, operands, attributes or {}, [])


@contextmanager
def block_of(region, types):
    """A new block of `region` with arguments of these MLIR types; operations go there until the end of the `with`."""
    b = current()
    before = b.insertion_point
    block = b.append_block(region, types)
    b.set_insertion_point_to_end(block)
    try:
        yield block
    finally:
        b.set_insertion_point_to_end(before)


def i32_array(values):
    """The attribute text of a list of 32-bit integers."""
    inner = ", ".join(str(int(v)) for v in values)
    return f"array<i32: {inner}>" if inner else "array<i32>"


@functools.cache
def enum_attributes(name):
    """{case: its attribute as text} of an enumeration of the dialects: "2 : i64" for "slt" of "arith.CmpIPredicate"."""
    return ir.enum_attributes(name)


def string(text):
    """The attribute text of a string, whatever characters it has."""
    out = []
    for byte in str(text).encode():
        plain = 32 <= byte < 127 and byte not in (34, 92)
        out.append(chr(byte) if plain else f"\\{byte:02X}")
    return '"' + "".join(out) + '"'


# Arguments that compilers of this language pass to their own functions; wrappers of users forward them blindly.
_IGNORED_KEYWORDS = ("_semantic", "_builder", "_generator")


def builtin(fn=None, /, **kinds):
    """Marks a function of the language: the frontend calls it instead of tracing it.

    `kinds` declares what each parameter takes; without parameters the decorator is used bare. Arguments arrive with
    constexprs replaced by their values, in tuples and lists too, and of the declared kinds. A call that does not fit
    the signature or the kinds is a SemanticError; a default fits always.
    """
    if fn is None:
        return lambda function: _declared(function, kinds)
    return _declared(fn, kinds)


def _declared(fn, kinds):
    from .values import unwrap

    signature = inspect.signature(fn)
    undeclared = set(signature.parameters) ^ set(kinds)
    assert undeclared <= {"self"}, f"{fn.__qualname__} does not declare {undeclared}"
    checks = [(p, kinds[name].check) for name, p in signature.parameters.items() if name != "self"]
    variadic = inspect.Parameter.VAR_POSITIONAL

    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        name = wrapper.__name__
        for key in _IGNORED_KEYWORDS:
            kwargs.pop(key, None)
        try:
            bound = signature.bind(*map(unwrap, args), **{k: unwrap(v) for k, v in kwargs.items()})
        except TypeError as mismatch:
            raise SemanticError(f"{name}: {mismatch}") from None
        given = bound.arguments
        for parameter, check in checks:
            if parameter.name not in given:
                continue
            value = given[parameter.name]
            if parameter.kind is variadic:
                for i, member in enumerate(value):
                    check(member, f"argument {i} of {name}")
            elif value is not parameter.default:
                check(value, f"{parameter.name} of {name}")
        return fn(*bound.args, **bound.kwargs)

    wrapper.__tl_builtin__ = True
    return wrapper


def must_use_result(fn=None, message=True):
    """Marks a function whose result must not be dropped, with advice for those who do; a call for nothing is an error.

    Used bare, or with the advice: must_use_result("assign it").
    """
    if not callable(fn):
        return lambda function: must_use_result(function, fn if isinstance(fn, str) else message)
    fn.__tz_must_use__ = message
    return fn


def method(fn):
    """Makes a function of the language a method of tensors, too."""
    from .values import tensor

    setattr(tensor, fn.__name__, fn)
    return fn
