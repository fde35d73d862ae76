# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Statements that are no control flow, and the sequence of statements in a block."""

import ast

from .. import language as tl
from ..errors import CompileError
from ..language.promotion import to_tensor
from ..language.values import constexpr, tensor, unwrap
from .expressions import _BINARY, iterable_items
from .structure import Unbound

EXIT, RESULT = "$exit", "$result"
LIVE, BREAK, CONTINUE, RETURN = 0, 1, 2, 3


class Statements:
    """The part of the tracer that executes statements."""

    def block(self, body):
        """Executes statements until one leaves the block for sure; behind one that may, the rest runs conditionally."""
        for position, node in enumerate(body):
            self.statement(node)
            code = self.names[EXIT]
            if isinstance(code, tensor):
                rest = body[position + 1 :]
                if rest:
                    self.if_live(rest[0], lambda: self.block(rest))  # noqa: B023
                return
            if unwrap(code) != LIVE:
                return

    def if_live(self, node, action):
        """Runs `action` under the condition that no exit has been taken."""
        live = self.guarded(node, lambda: self.names[EXIT] == constexpr(LIVE))
        ended = []

        def then():
            self.names[EXIT] = constexpr(LIVE)
            action()
            ended.append(self.names[EXIT])

        self.branches(node, live, then, lambda: None)
        if not self.frame.loops and not isinstance(ended[0], tensor) and unwrap(ended[0]) == RETURN:
            # Outside of loops the only other exit is a return, too.
            self.names[EXIT] = constexpr(RETURN)

    def statement(self, node):
        """Executes one statement."""
        method = getattr(self, "do_" + type(node).__name__, None)
        if method is None:
            raise self.unsupported(node, _NAMES.get(type(node), f"the statement '{type(node).__name__}'"))
        self.locate(node)
        method(node)

    # ---------------------------------------------------------------- assignments
    def do_Expr(self, node):  # noqa: N802
        if not isinstance(node.value, ast.Constant):
            self.value(node.value)

    def do_Pass(self, node):  # noqa: N802
        pass

    def do_Assign(self, node):  # noqa: N802
        value = self.value(node.value)
        for target in node.targets:
            self.bind(target, value)

    def do_AnnAssign(self, node):  # noqa: N802
        if node.value is None:
            return
        value = self.value(node.value)
        if self.is_constexpr_annotation(node.annotation):
            if isinstance(value, tensor):
                raise self.error(
                    node,
                    f"'{ast.unparse(node.target)}' is declared constexpr, but its value is a run-time {value.type}",
                )
            value = value if value is None or isinstance(value, (constexpr, tuple, list)) else constexpr(value)
        self.bind(node.target, value)

    def is_constexpr_annotation(self, annotation):
        """Whether an annotation says tl.constexpr."""
        text = annotation.value if isinstance(annotation, ast.Constant) else ast.unparse(annotation)
        return isinstance(text, str) and text.rpartition(".")[2] == "constexpr"

    def do_AugAssign(self, node):  # noqa: N802
        load = ast.copy_location(_as_load(node.target), node.target)
        left = self.value(load)
        right = self.value(node.value)
        if type(node.op) not in _BINARY:
            raise self.error(node, "the operator @ is not defined for tiles; use tl.dot")
        self.bind(node.target, self.guarded(node, lambda: self.binary(node, left, right)))

    def bind(self, target, value):
        """Binds a target of an assignment."""
        if isinstance(target, ast.Name):
            self.assign(target.id, value, target)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self.unpack(target, value)
        elif isinstance(target, ast.Subscript):
            self.bind_element(target, value)
        elif isinstance(target, ast.Attribute):
            raise self.unsupported(target, "assignment to an attribute")
        else:
            raise self.unsupported(target, "this target of an assignment")

    def unpack(self, target, value):
        """a, *b = value."""
        if isinstance(value, tensor):
            raise self.error(target, f"a run-time value ({value.type}) cannot be unpacked; index it, or use tl.split")
        items = iterable_items(value)
        if items is None:
            raise self.error(target, f"cannot unpack {unwrap(value)!r}: expected a tuple")
        stars = [i for i, e in enumerate(target.elts) if isinstance(e, ast.Starred)]
        count = len(target.elts)
        if stars:
            first, behind = stars[0], count - stars[0] - 1
            if len(items) < count - 1:
                raise self.error(target, f"expected at least {count - 1} values to unpack, found {len(items)}")
            middle = items[first : len(items) - behind]
            items = items[:first] + [tl.tuple(middle)] + (items[len(items) - behind :] if behind else [])
        elif len(items) != count:
            raise self.error(target, f"expected {count} values to unpack, found {len(items)}")
        for element, item in zip(target.elts, items, strict=True):
            self.bind(element.value if isinstance(element, ast.Starred) else element, item)

    def bind_element(self, target, value):
        """x[i] = value: x becomes a tile with that part replaced."""
        if not isinstance(target.value, ast.Name):
            raise self.unsupported(target, "assignment to a part of an expression")
        whole = self.value(target.value)
        index = self.index(target.slice)
        if not isinstance(whole, tensor):
            raise self.error(target, f"only tiles can be assigned to by index, found {unwrap(whole)!r}")
        self.assign(target.value.id, self.guarded(target, lambda: tl.insert(whole, index, value)), target)

    def do_Delete(self, node):  # noqa: N802
        for target in node.targets:
            if not isinstance(target, ast.Name):
                raise self.unsupported(target, "del of anything but a variable")
            self.names[target.id] = Unbound("was deleted")

    # ---------------------------------------------------------------- leaving
    def do_Return(self, node):  # noqa: N802
        value = None if node.value is None else self.value(node.value)
        if len(self.frames) == 1 and value is not None:
            raise self.error(node, "a kernel returns nothing; store the value through a pointer")
        self.assign(RESULT, value, node)
        self.names[EXIT] = constexpr(RETURN)

    def do_Break(self, node):  # noqa: N802
        self.names[EXIT] = constexpr(BREAK)

    def do_Continue(self, node):  # noqa: N802
        self.names[EXIT] = constexpr(CONTINUE)

    # ---------------------------------------------------------------- others
    def do_Assert(self, node):  # noqa: N802
        condition = self.value(node.test)
        message = "" if node.msg is None else str(unwrap(self.value(node.msg)))
        if isinstance(condition, tensor):
            self.guarded(node, lambda: tl.device_assert(condition, message))
        elif not self.static_truth(condition):
            self.guarded(node, lambda: tl.static_assert(False, message))

    def do_With(self, node):  # noqa: N802
        for item in node.items:
            value = self.value(item.context_expr)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, value)
        self.block(node.body)

    def do_FunctionDef(self, node):  # noqa: N802
        names = [a.arg for a in node.args.args]
        if node.args.vararg or node.args.kwarg or node.args.kwonlyargs or node.args.defaults:
            raise self.unsupported(node, "a nested function with default or variadic parameters")

        def call(*args):
            if len(args) != len(names):
                raise CompileError(f"{node.name}() takes {len(names)} arguments, found {len(args)}")
            saved = self.frame.names
            self.frame.names = {**saved, **dict(zip(names, args, strict=True)), EXIT: constexpr(LIVE), RESULT: None}
            try:
                self.block(node.body)
                if isinstance(self.frame.names[EXIT], tensor):
                    raise self.error(node, f"'{node.name}' must return at its end only, since it is a nested function")
                return self.frame.names[RESULT]
            finally:
                self.frame.names = saved

        call.__tz_local__ = True
        self.assign(node.name, call, node)


def _as_load(target):
    """A target of an assignment as the expression that reads it."""
    import copy

    load = copy.copy(target)
    load.ctx = ast.Load()
    return load


def as_scalar(value):
    """A number as a run-time scalar."""
    return to_tensor(value)


_NAMES = {
    ast.Try: "try",
    ast.Raise: "raise",
    ast.Global: "global",
    ast.Nonlocal: "nonlocal",
    ast.ClassDef: "a class",
    ast.Import: "import",
    ast.ImportFrom: "import",
    ast.AsyncFor: "async for",
    ast.AsyncWith: "async with",
    ast.AsyncFunctionDef: "async def",
    ast.Match: "match",
}
