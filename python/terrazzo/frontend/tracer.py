# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Symbolic execution of one function: frames, names, locations, errors.

An early exit (break, continue, return) under a run-time condition is a value like any other: the hidden variable
EXIT, which branches join and loops carry. While it may be set, the rest of a block runs under `if EXIT == 0`.
"""

import builtins
import difflib
from dataclasses import dataclass, field

from .._terrazzo import ir
from ..errors import CompileError, UnsupportedLanguageConstruct
from ..language.values import constexpr, unwrap
from .calls import Calls
from .control_flow import ControlFlow
from .expressions import Expressions
from .source import source_of
from .statements import Statements
from .structure import Unbound

EXIT, RESULT = "$exit", "$result"
LIVE, BREAK, CONTINUE, RETURN = 0, 1, 2, 3


@dataclass
class Frame:
    """One call of a function: its variables and where they were last assigned."""

    function: object
    source: object
    names: dict = field(default_factory=dict)
    assigned_at: dict = field(default_factory=dict)
    loops: int = 0


class Tracer(Expressions, Statements, ControlFlow, Calls):
    """Executes the syntax tree of a kernel, and of the functions that it calls, with the builder `b`."""

    def __init__(self, b, options=None):
        self.b = b
        self.frames = []

    @property
    def frame(self):
        """The innermost call."""
        return self.frames[-1]

    @property
    def names(self):
        """The variables of the innermost call."""
        return self.frame.names

    # ---------------------------------------------------------------- locations and errors
    def locate(self, node):
        """Makes operations carry the place of a node from now on."""
        source = self.frame.source
        self.b.set_loc(source.file, source.line(node), source.column(node) + 1)

    def error(self, node, message, kind=CompileError):
        """A CompileError at a node."""
        source = self.frame.source
        return kind(message).at(source.file, source.line(node), source.column(node), source.line_text(node))

    def unsupported(self, node, what):
        """An error for Python that kernels cannot contain."""
        return self.error(node, f"{what} cannot be used in a kernel", UnsupportedLanguageConstruct)

    def guarded(self, node, action):
        """action(), where errors of the language and the compiler get the place of `node`."""
        self.locate(node)
        source = self.frame.source
        try:
            return action()
        except CompileError as error:
            raise error.at(source.file, source.line(node), source.column(node), source.line_text(node)) from None
        except ir.DiagnosticError as error:
            raise self.error(node, getattr(error, "message", None) or str(error)) from None
        except RecursionError:
            raise self.error(node, "the kernel is nested too deeply") from None
        except (TypeError, ValueError, AttributeError, IndexError, KeyError, ZeroDivisionError, OverflowError) as error:
            text = str(error) or type(error).__name__
            raise self.error(node, f"{text} ({type(error).__name__})") from error

    # ---------------------------------------------------------------- names
    def assign(self, name, value, node):
        """Binds a variable."""
        self.names[name] = value
        self.frame.assigned_at[name] = node

    def look_up(self, node):
        """The value of a name: a variable, a cell of the enclosing function, a global, a builtin."""
        name = node.id
        if name in self.names:
            value = self.names[name]
            if isinstance(value, Unbound):
                raise self.error(node, f"variable '{name}' {value.reason}")
            return value
        fn = self.frame.function
        cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or ()))
        if name in cells:
            try:
                return self.outer(node, name, cells[name].cell_contents, {})
            except ValueError:
                raise self.error(node, f"variable '{name}' of the enclosing function has no value yet") from None
        if name in fn.__globals__:
            annotations = fn.__globals__.get("__annotations__", {})
            return self.outer(node, name, fn.__globals__[name], annotations)
        if hasattr(builtins, name):
            return getattr(builtins, name)
        near = difflib.get_close_matches(name, [*self.names, *fn.__globals__], 1)
        hint = f"; did you mean '{near[0]}'?" if near and not near[0].startswith("$") else ""
        raise self.error(node, f"name '{name}' is not defined{hint}")

    def outer(self, node, name, value, annotations):
        """A value from outside of the kernel: constants must be marked, since a change would go unseen."""
        if isinstance(value, constexpr) or value is None:
            return value
        plain = isinstance(value, (bool, int, float, str, tuple, list, dict, set))
        if plain and "constexpr" in str(annotations.get(name, "")):
            return constexpr(value)
        if plain and not (isinstance(value, tuple) and value and all(isinstance(v, constexpr) for v in value)):
            raise self.error(
                node,
                f"'{name}' is a plain global variable ({type(value).__name__}); a kernel can read it only if it is "
                f"constant: make it {name} = tl.constexpr({value!r})",
            )
        return value

    # ---------------------------------------------------------------- calls of functions
    def run(self, fn, names, node=None):
        """Executes a function with its parameters bound, and gives what it returns."""
        if any(frame.function is fn for frame in self.frames):
            cycle = " -> ".join([f.function.__name__ for f in self.frames] + [fn.__name__])
            raise CompileError(f"recursion is not supported in kernels: {cycle}")
        frame = Frame(fn, source_of(fn), dict(names))
        caller = self.frames[-1] if self.frames else None
        self.frames.append(frame)
        try:
            frame.names[EXIT] = constexpr(LIVE)
            self.block(frame.source.tree.body)
            return self.result(frame)
        except CompileError as error:
            if caller is not None and node is not None:
                error.notes.append(
                    f"'{fn.__name__}' is called at {caller.source.file}:{caller.source.line(node)}: "
                    f"{caller.source.line_text(node).strip()}"
                )
            raise
        finally:
            self.frames.pop()

    def result(self, frame):
        """What a finished frame returns."""
        value = frame.names.get(RESULT)
        exit_code = unwrap(frame.names[EXIT])
        if isinstance(exit_code, int):
            return value if exit_code == RETURN else None
        if value is None:
            return None
        node = frame.assigned_at.get(RESULT, frame.source.tree)
        raise self.error(
            node, f"'{frame.function.__name__}' returns a value on some paths only; every path has to return one"
        )
