# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tracer: walks the syntax tree of a function and emits IR, with the types of all values at hand.

Expressions, statements, branches, loops and calls are a module each, mixed in here. This one holds what they share:
the current frame, locations, errors, and blocks of operations.
"""

import contextlib

from .._terrazzo import ir
from ..errors import CompileError, UnsupportedLanguageConstruct, plain_diagnostic
from ..language import builder as builders
from ..language.dtypes import int1
from ..language.promotion import constant
from ..language.values import tensor
from .branches import Branches
from .calls import Calls
from .choices import Choices
from .containers import Containers
from .expressions import Expressions
from .inlining import Inlining
from .loops import Loops
from .statements import Statements
from .unrolling import Unrolling


class NotStaticError(Exception):
    """An expression that was tried at compile time needs an operation."""


class _NoBuilder:
    """Stands for the builder while nothing may be emitted."""

    def __getattr__(self, name):
        raise NotStaticError(name)


class Tracer(Expressions, Choices, Containers, Statements, Branches, Loops, Unrolling, Calls, Inlining):
    """Traces functions into the current function of `builder`."""

    def __init__(self, builder, options, reach):
        self.builder = builder
        self.options = options
        self.reach = reach  # what the kernel's key knows of all around it
        self.frame = None
        self.stack = []  # functions being traced, outermost first
        self.depth = 0  # of regions
        self.is_probing = False
        self.dropped = None  # the call that is a statement by itself

    @property
    def path(self):
        """The state on the way through the current function that is being traced."""
        return self.frame.path

    @path.setter
    def path(self, path):
        self.frame.path = path

    def at(self, node):
        """Gives operations from now on the location of a node."""
        if not self.is_probing:
            source = self.frame.source
            self.builder.set_loc(source.file, node.lineno, source.column(node) + 1)

    def error(self, node, message, notes=(), kind=CompileError):
        """A CompileError at a node of the current function."""
        source = self.frame.source
        where = (source.file, node.lineno, source.column(node), source.line(node.lineno))
        return kind(message, *where, list(notes)).of(node, source.text)

    def unsupported(self, node, what, instead=""):
        """The error for Python that kernels cannot contain."""
        message = f"{what} cannot be used in a kernel" + (f"; {instead}" if instead else "")
        return self.error(node, message, kind=UnsupportedLanguageConstruct)

    def place(self, node, file=True):
        """A node as "file:line", for notes."""
        source = self.frame.source
        return f"{source.file}:{node.lineno}" if file else f"line {node.lineno}"

    def located(self, error, node):
        """Any exception as a CompileError, at the node unless it knows better."""
        source = self.frame.source
        where = (source.file, node.lineno, source.column(node), source.line(node.lineno))
        if isinstance(error, CompileError):
            return error.at(*where).of(node, source.text)
        if isinstance(error, NotStaticError):
            return error
        if isinstance(error, ir.DiagnosticError):
            return CompileError(plain_diagnostic(error), *where).of(node, source.text)
        if isinstance(error, RecursionError):
            return CompileError("the kernel is nested too deeply", *where)
        return CompileError(f"internal error: {type(error).__name__}: {error}", *where)

    @contextlib.contextmanager
    def region(self, block):
        """Operations go to the end of a block until the end of the `with`."""
        before = self.builder.insertion_point
        self.builder.set_insertion_point_to_end(block)
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1
            self.builder.set_insertion_point_to_end(before)

    def flag(self, value):
        """A flag as an int1 scalar."""
        return value if isinstance(value, tensor) else constant(bool(value), int1)

    def both(self, a, b):
        """a and b, of two flags."""
        if not isinstance(a, tensor):
            return b if a else False
        if not isinstance(b, tensor):
            return a if b else False
        return tensor(self.builder.create("arith.andi", [a.handle, b.handle]).result, int1)

    def either(self, a, b):
        """a or b, of two flags."""
        if not isinstance(a, tensor):
            return True if a else b
        if not isinstance(b, tensor):
            return True if b else a
        return tensor(self.builder.create("arith.ori", [a.handle, b.handle]).result, int1)

    def negated(self, a):
        """not a, of a flag."""
        if not isinstance(a, tensor):
            return not a
        one = constant(True, int1)
        return tensor(self.builder.create("arith.xori", [a.handle, one.handle]).result, int1)

    def probe(self, fn, hidden=()):
        """(True, fn()) if that needs no operation and no name of `hidden`, else (False, None). Changes nothing."""
        from .scope import Binding, Missing

        frame, path, builder, was_probing, depth = self.frame, self.path, self.builder, self.is_probing, self.depth
        trial = path.copy()
        for name in hidden:
            trial.names[name] = Binding(Missing(f"'{name}' is not known here"), None)
        reads = [(loop, set(loop.reads)) for loop in frame.loops]
        self.path, self.builder, self.is_probing = trial, _NoBuilder(), True
        stack, loops = list(self.stack), list(frame.loops)
        builders.push(self.builder, builders.options())
        try:
            return True, fn()
        except (CompileError, NotStaticError):
            return False, None
        finally:
            builders.pop()
            self.frame, self.builder, self.is_probing, self.depth = frame, builder, was_probing, depth
            self.stack[:], frame.loops[:] = stack, loops
            self.path = path
            for loop, names in reads:
                loop.reads = names
