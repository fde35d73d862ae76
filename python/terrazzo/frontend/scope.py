# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What names mean while a function is traced: local variables on the current way, then closures, globals, builtins."""

import builtins
import types

from ..errors import CompileError
from ..language.aggregates import Aggregate, members_of
from ..language.dtypes import dtype
from ..language.values import constexpr, constexpr_function, constexpr_type, tensor
from ..language.values import tuple as tl_tuple
from .liveness import Liveness
from .names import bindings

NOT_FOUND = object()
VALUE = "$value"  # the pseudo-variable for the result of an expression with branches
EXIT = "$exit "  # before a name: its value at a break


class Binding:
    """What a name is bound to, and the node that bound it.

    With a `guard` the value exists on the ways that are still alive only; the guard is the error of reading it on
    another.
    """

    __slots__ = ("guard", "node", "value")

    def __init__(self, value, node, guard=None):
        self.value = value
        self.node = node
        self.guard = guard


class Missing:
    """In place of a value: reading the name is an error that says why."""

    def __init__(self, message, node=None, notes=()):
        self.message = message
        self.node = node
        self.notes = notes


def is_missing(binding):
    """Whether a name has no value that could be read."""
    return binding is None or isinstance(binding.value, Missing)


class Path:
    """The state on one way through a function.

    `names` are the bindings. `alive` says whether execution is still on this way, `flags` why not: "broken" out of the
    innermost loop, "returned", or "finished" when a loop's condition failed. Each is a bool, or an int1 scalar where it
    depends on run-time values. `result` is what was returned, once something was.
    """

    def __init__(self, names, alive=True, flags=None, result=NOT_FOUND):
        self.names = names
        self.alive = alive
        self.flags = {"broken": False, "returned": False, "finished": False} if flags is None else flags
        self.result = result

    def copy(self):
        """A path that starts in the same state."""
        return Path(dict(self.names), self.alive, dict(self.flags), self.result)


class Frame:
    """A function that is being traced: its source, its path, and where it was called."""

    def __init__(self, fn, name, source, node, parent=None):
        self.fn = fn
        self.name = name
        self.source = source
        self.node = node
        self.parent = parent  # the frame whose variables a nested function sees
        self.path = Path({})
        self.loops = []
        self.cells = closure_values(fn)
        self.globals = fn.__globals__
        body = getattr(node, "body", None)
        facts = source.facts.setdefault(id(node), {})
        if "liveness" not in facts:
            facts["liveness"] = Liveness(node)
            facts["locals"] = frozenset(bindings(body)) if isinstance(body, list) else frozenset()
        self.liveness = facts["liveness"]
        arguments = node.args
        self.parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        self.local_names = facts["locals"] | {p.arg for p in self.parameters}


def closure_values(fn):
    """{name: cell} of the variables of enclosing functions."""
    return dict(zip(fn.__code__.co_freevars, fn.__closure__ or ()))


def outer_value(frame, name):
    """The value of a name that is no local variable, and "closure", "global" or "builtin"; or NOT_FOUND."""
    cell = frame.cells.get(name)
    if cell is not None:
        try:
            return cell.cell_contents, "closure"
        except ValueError:
            return NOT_FOUND, None
    if name in frame.globals:
        return frame.globals[name], "global"
    if hasattr(builtins, name):
        return getattr(builtins, name), "builtin"
    return NOT_FOUND, None


def is_constexpr_annotation(annotation):
    """Whether an annotation, evaluated or as text, says constexpr."""
    if isinstance(annotation, str):
        return annotation.strip("'\" ").rpartition(".")[2] == "constexpr"
    return annotation is constexpr or isinstance(annotation, (constexpr, constexpr_type))


def is_fixed(value):
    """Whether a global value is usable as it is: it cannot change unnoticed, or is no data."""
    if value is None or value is Ellipsis or isinstance(value, (constexpr, dtype, types.ModuleType, type)):
        return True
    if isinstance(value, tuple):
        return all(map(is_fixed, value))
    return callable(value)


def admit(frame, name, value, kind):
    """A global or closure value as a kernel sees it; a CompileError for data that may change."""
    if is_fixed(value):
        return wrap(value)
    annotations = frame.globals.get("__annotations__", {}) if kind == "global" else {}
    if is_constexpr_annotation(annotations.get(name)):
        return wrap(value)
    where = "plain global variable" if kind == "global" else "plain variable of an enclosing function"
    shown = repr(value)
    remedy = (
        f"make it a constant: {name} = tl.constexpr({shown})"
        if isinstance(value, (int, float, str)) and len(shown) < 40
        else "pass it as an argument, or make it a tl.constexpr"
    )
    raise CompileError(
        f"'{name}' is a {where} ({type(value).__name__}), whose value could change after the kernel is "
        f"compiled; {remedy}"
    )


class List(list):
    """A list that a kernel made, one object wherever it goes, as in Python; `depth` is that of the region it is of."""

    def __init__(self, values=(), depth=0):
        super().__init__(values)
        self.depth = depth


def wrap(value):
    """A Python value as kernels hold it: numbers and strings as constexpr, in tuples and lists too."""
    if isinstance(value, constexpr):
        held = value.value
        if isinstance(held, types.FunctionType) and not getattr(held, "__tl_builtin__", False):
            return constexpr_function(held, is_unwrapping=False)  # tl.constexpr as a decorator
        return value if isinstance(value.value, (bool, int, float, str)) else wrap(value.value)
    if isinstance(value, (bool, int, float, str)):
        return constexpr(value)
    if type(value) is tuple:
        return tl_tuple([wrap(v) for v in value])
    if isinstance(value, tl_tuple):
        return tl_tuple([wrap(v) for v in value], value.__dict__.get("_type"))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[wrap(v) for v in value])
    if isinstance(value, List):
        return value
    if isinstance(value, list):
        return [wrap(v) for v in value]
    if type(value).__module__ == "numpy" and hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        return constexpr(value.item())
    return value


def is_static(value):
    """Whether a value holds nothing that is known at run time only."""
    if isinstance(value, (tuple, list)):
        return all(map(is_static, value))
    if isinstance(value, Aggregate):
        return all(map(is_static, members_of(value)))
    return not isinstance(value, tensor) and not (hasattr(value, "flatten") and hasattr(value, "unflatten"))
