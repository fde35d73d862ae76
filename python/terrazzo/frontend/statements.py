# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Statements: assignments, jumps, assertions; what kernels cannot contain is refused here by name."""

import ast

from ..errors import CompileTimeAssertionFailure
from ..language.debug import device_assert
from ..language.indexing import insert
from ..language.values import tensor, unwrap
from .names import bindings, element_base
from .patterns import describe_value
from .scope import EXIT, Binding, List, Missing, is_missing, wrap

_REFUSED = {
    ast.Try: ("try", "kernels have no exceptions"),
    ast.Raise: ("raise", "use tl.static_assert or tl.device_assert"),
    ast.Global: ("global", "pass values as arguments and return them"),
    ast.Nonlocal: ("nonlocal", "pass values as arguments and return them"),
    ast.Import: ("import", "import modules outside of the kernel"),
    ast.ImportFrom: ("import", "import modules outside of the kernel"),
    ast.ClassDef: ("a class", ""),
    ast.Match: ("match", "use if and elif"),
    ast.AsyncFor: ("async for", ""),
    ast.AsyncWith: ("async with", ""),
    ast.AsyncFunctionDef: ("async def", ""),
}
if hasattr(ast, "TryStar"):
    _REFUSED[ast.TryStar] = ("try", "kernels have no exceptions")


class Statements:
    """run(statements) traces a block."""

    def run(self, statements, live=frozenset()):
        """Traces statements on the current path as long as it is alive. `live` are the names read behind them."""
        index = 0
        while index < len(statements):
            alive = self.path.alive
            if alive is False:
                return
            if isinstance(alive, tensor):
                self.guard(statements[index:], live, statements[index])
                return
            index = self.statement(statements, index, live)

    def statement(self, statements, index, live):
        """Traces one statement, and gives the index of the next."""
        node = statements[index]
        try:
            self.at(node)
            if isinstance(node, ast.If):
                return self.if_statement(statements, index, live)
            if isinstance(node, (ast.For, ast.While)):
                after = self.frame.liveness.after[id(node)]
                (self.visit_for if isinstance(node, ast.For) else self.visit_while)(node, after)
                return index + 1
            handler = _HANDLERS.get(type(node))
            if handler is None:
                what, instead = _REFUSED.get(type(node), (type(node).__name__, ""))
                raise self.unsupported(node, what, instead)
            handler(self, node, live)
        except Exception as error:
            found = self.located(error, node)
            if found is error:
                raise
            raise found from error
        return index + 1

    def bind(self, name, value, node):
        """Makes a name mean a value from here on."""
        self.path.names[name] = Binding(value, node)

    def assign(self, target, value, node):
        """target = value"""
        if isinstance(target, ast.Name):
            self.bind(target.id, value, node)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target, value, node)
        elif isinstance(target, ast.Subscript):
            self._assign_element(target, value, node)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, value, node)
        else:
            raise self.unsupported(target, "assignment to an attribute")

    def _unpack(self, target, value, node):
        if isinstance(unwrap(value), tensor):
            raise self.error(
                node, f"a run-time value ({unwrap(value).type}) cannot be unpacked; index it, or use tl.split"
            )
        values = self.items(value, node, "unpacking")
        count = len(target.elts)
        starred = [i for i, element in enumerate(target.elts) if isinstance(element, ast.Starred)]
        if len(values) != count and not (starred and len(values) >= count - 1):
            least = f"at least {count - 1}" if starred else count
            raise self.error(node, f"expected {least} values to unpack, found {len(values)}")
        if starred:
            at, extra = starred[0], len(values) - count + 1
            values[at : at + extra] = [self.keep_list(values[at : at + extra])]
        for element, member in zip(target.elts, values):
            self.assign(element, member, node)

    def _assign_element(self, target, value, node):
        base = element_base(target)
        if base is None or not isinstance(target.value, ast.Name):
            raise self.unsupported(target, "assignment to an element of an element")
        container = self.load(base, target.value)
        index = self.visit(target.slice)
        self.at(node)
        if isinstance(container, tensor):
            self.bind(base, insert(container, index, value), node)
            return
        if not isinstance(container, list):
            raise self.error(node, f"{describe_value(container)} does not support assignment to its elements")
        self.check_list(container, node)
        plain = unwrap(index)
        if isinstance(plain, tensor):
            raise self.error(node, f"the index of a list must be known at compile time, found a run-time {plain.type}")
        if not isinstance(plain, (int, slice)):
            raise self.error(node, f"the index of a list must be an integer, found {describe_value(plain)}")
        try:
            container[plain] = value
        except (IndexError, TypeError, ValueError) as error:
            raise self.error(node, f"{error}") from None

    def check_list(self, values, node):
        """An error if a list is changed in a branch or loop around which it lives."""
        if isinstance(values, List) and values.depth != self.depth:
            raise self.error(
                node,
                "a list cannot be changed in a branch or loop that depends on run-time values; make a new one with "
                "a = a + [x] in an unrolled loop, or use a tile",
            )

    def visit_assign(self, node, live):
        """a = b = value"""
        value = self.visit(node.value)
        for target in node.targets:
            self.assign(target, value, node)

    def visit_annotated(self, node, live):
        """a: T = value. With tl.constexpr as T it is a hint to readers: a value of run time stays one."""
        if node.value is not None:
            self.assign(node.target, self.visit(node.value), node)

    def visit_augmented(self, node, live):
        """a += value"""
        target = node.target
        if isinstance(target, ast.Name):
            old = self.load(target.id, target)
        elif isinstance(target, ast.Subscript):
            old = self.subscript(self.visit(target.value), self.visit(target.slice), target)
        else:
            raise self.unsupported(target, "assignment to an attribute")
        value = self.visit(node.value)
        self.at(node)
        result = self._extended(node, old, value) if isinstance(old, List) else None
        self.assign(target, self.binary(node.op, old, value, node) if result is None else result, node)

    def _extended(self, node, values, value):
        """A list after += or *=, which change it in place for all names that mean it; None for other operators."""
        if isinstance(node.op, ast.Add):
            self.check_list(values, node)
            values.extend(self.items(value, node, "+="))
            return values
        if isinstance(node.op, ast.Mult) and isinstance(unwrap(value), int):
            repeated = self.binary(node.op, values, value, node)
            self.check_list(values, node)
            values[:] = repeated
            return values
        return None

    def visit_return(self, node, live):
        """return value"""
        value = None if node.value is None else self.visit(node.value)
        path = self.path
        path.result = Binding(value, node)
        path.flags["returned"] = True
        path.alive = False

    def visit_break(self, node, live):
        """break"""
        loop = self.frame.loops[-1]
        path = self.path
        # Behind an endless loop, or one with an else clause, it can be known that a break was what ended it.
        if loop.is_endless or loop.node.orelse:
            for name in self.frame.liveness.after[id(loop.node)] & bindings([loop.node]):
                if not is_missing(loop.before.get(name)):
                    continue
                binding = path.names.get(name)
                if is_missing(binding) or binding.guard is not None:
                    message = f"variable '{name}' has no value at the break on line {node.lineno}"
                    binding = Binding(Missing(message, notes=(message,)), node)
                path.names[EXIT + name] = binding
        path.flags["broken"] = True
        path.alive = False

    def visit_continue(self, node, live):
        """continue"""
        self.path.alive = False

    def visit_expression(self, node, live):
        """An expression for its effect; a string is a docstring or a comment."""
        if not isinstance(node.value, ast.Constant):
            self.dropped = node.value
            self.visit(node.value)

    def visit_pass(self, node, live):
        """pass"""

    def visit_delete(self, node, live):
        """del name"""
        for target in node.targets:
            if not isinstance(target, ast.Name):
                raise self.unsupported(target, "del of anything but a variable")
            self.load(target.id, target)
            self.bind(target.id, Missing(f"'{target.id}' was deleted at line {node.lineno}"), node)

    def visit_assert(self, node, live):
        """assert test, message: checked now if that is possible, else by tl.device_assert."""
        test = unwrap(self.visit(node.test))
        message = "" if node.msg is None else unwrap(self.visit(node.msg))
        if not isinstance(message, str):
            raise self.error(node.msg, f"the message of assert must be a string, found {describe_value(message)}")
        self.at(node)
        if isinstance(test, tensor):
            device_assert(test, message or ast.unparse(node.test))
        elif not test:
            raise self.error(node, f"assertion failed{': ' * bool(message)}{message}", kind=CompileTimeAssertionFailure)

    def visit_with(self, node, live):
        """with context: entered and left while the kernel is compiled."""
        contexts = []
        for item in node.items:
            context = self.visit(item.context_expr)
            if not hasattr(context, "__enter__") or not hasattr(context, "__exit__"):
                raise self.error(item.context_expr, f"{describe_value(context)} is no context manager")
            contexts.append(context)
            entered = wrap(context.__enter__())
            if item.optional_vars is not None:
                self.assign(item.optional_vars, entered, node)
        self.run(node.body, live)
        for context in reversed(contexts):
            context.__exit__(None, None, None)


_HANDLERS = {
    ast.Assign: Statements.visit_assign,
    ast.AnnAssign: Statements.visit_annotated,
    ast.AugAssign: Statements.visit_augmented,
    ast.Return: Statements.visit_return,
    ast.Break: Statements.visit_break,
    ast.Continue: Statements.visit_continue,
    ast.Expr: Statements.visit_expression,
    ast.Pass: Statements.visit_pass,
    ast.Delete: Statements.visit_delete,
    ast.Assert: Statements.visit_assert,
    ast.With: Statements.visit_with,
    ast.FunctionDef: lambda tracer, node, live: tracer.visit_nested_function(node),
}
