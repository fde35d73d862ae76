# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Expressions of which a part may not be evaluated: a if b else c, `and`, `or`."""

import ast

from ..language.cast import to_bool
from ..language.promotion import is_literal
from ..language.values import constexpr, tensor, unwrap
from .patterns import describe_value
from .scope import VALUE, Binding, is_missing

_IMPURE = (ast.Call, ast.FloorDiv, ast.Mod, ast.Div, ast.NamedExpr, ast.ListComp, ast.GeneratorExp, ast.Subscript)


def is_pure(node):
    """Whether an expression can be evaluated although Python would not: no calls, loads or divisions."""
    return not any(isinstance(n, _IMPURE) for n in ast.walk(node))


def _is_flag(value):
    return isinstance(value, tensor) and value.dtype.is_bool()


class Choices:
    """Conditional and boolean expressions."""

    def choice(self, test, then, orelse, node):
        """The value of then() or of orelse(), which are evaluated on their way only."""

        def arm(fn):
            def trace():
                self.path.names[VALUE] = Binding(fn(), node)

            return trace

        self.fork(test, (arm(then), arm(orelse)), node, None)
        binding = self.path.names.pop(VALUE)
        if is_missing(binding):
            raise self.error(node, binding.value.message)
        return binding.value

    def visit_conditional(self, node):
        """a if test else b"""
        test = self.condition(node.test)
        if not isinstance(test, tensor):
            return self.visit(node.body if test else node.orelse)
        return self.choice(test, lambda: self.visit(node.body), lambda: self.visit(node.orelse), node)

    def condition(self, node):
        """The truth of an expression whose value nobody needs: a bool, or an int1 scalar."""
        if not isinstance(node, ast.BoolOp):
            return self.truth(self.visit(node), node)
        is_and = isinstance(node.op, ast.And)
        result = self.condition(node.values[0])
        for operand in node.values[1:]:
            right = lambda operand=operand: self.condition(operand)  # noqa: E731
            if isinstance(result, tensor):
                result = self.truth(self.connect(result, is_and, right, operand, node), node)
            elif result == is_and:
                result = right()
        return result

    def tested(self, node):
        """What `truth` takes for a condition: its value, or of `and` and `or` the truth alone."""
        return self.condition(node) if isinstance(node, ast.BoolOp) else self.visit(node)

    def visit_boolean(self, node):
        """a and b and ..., or with `or`: the operand that decides, as in Python."""
        is_and = isinstance(node.op, ast.And)
        result = self.visit(node.values[0])
        for operand in node.values[1:]:
            if isinstance(unwrap(result), tensor):
                result = self._decide(unwrap(result), is_and, operand, node)
            elif bool(unwrap(result)) == is_and:
                result = self.visit(operand)
        return result

    def _decide(self, left, is_and, operand, node):
        """The value of `left and operand`, or with `or`, for a run-time `left`."""
        right = lambda: self.visit(operand)  # noqa: E731
        is_known = bool(left.shape) or is_pure(operand)
        if is_known:
            value = right()
        else:
            is_known, value = self.probe(right)
        if is_known:
            plain = unwrap(value)
            if left.shape or (isinstance(plain, tensor) and plain.shape):
                self._check_tiles((left, value), is_and, node)
                return self.logical(left, is_and, value, node)
            if left.dtype.is_bool() and (isinstance(plain, bool) or (_is_flag(plain))):
                return self.logical(left, is_and, value, node)
            right = lambda: value  # noqa: E731
        # A flag that decides is a constant on its way, and becomes the number that it is if the other one is a number.
        decided = (lambda: constexpr(not is_and)) if left.dtype.is_bool() else (lambda: left)
        return self.choice(self.truth(left, node), *((right, decided) if is_and else (decided, right)), node)

    def _check_tiles(self, operands, is_and, node):
        """Of tiles, `and` and `or` take bools alone: Python has no truth of many numbers."""
        if all(_is_flag(unwrap(v)) or isinstance(unwrap(v), bool) for v in operands):
            return
        word, sign = ("and", "&") if is_and else ("or", "|")
        raise self.error(
            node,
            f"'{word}' of tiles takes bools, found {describe_value(operands[0])} and {describe_value(operands[1])}; "
            f"write (a != 0) {sign} (b != 0) for the truth, or tl.where(a != 0, a, b) to choose elements",
        )

    def connect(self, left, is_and, right, operand, node):
        """left and right(), or with `or`; `left` is a run-time value, `operand` the syntax of the right side."""
        if left.shape:
            return self.logical(left, is_and, right(), node)
        if is_pure(operand):
            return self.logical(left, is_and, right(), node)
        is_static, value = self.probe(right)
        if is_static:
            return self.logical(left, is_and, value, node)
        test = self.truth(left, node)
        decided = lambda: constexpr(not is_and)  # noqa: E731
        asked = lambda: self._flag_of(right(), operand)  # noqa: E731
        return self.choice(test, asked if is_and else decided, decided if is_and else asked, node)

    def _flag_of(self, value, node):
        flag = self.truth(value, node, "an operand of 'and' or 'or' beside a run-time scalar")
        return flag if isinstance(flag, tensor) else constexpr(flag)

    def logical(self, left, is_and, right, node):
        """`and` or `or` of two values that are evaluated already, elementwise for tiles."""
        plain = unwrap(right)
        if not isinstance(plain, tensor) and not is_literal(plain):
            truth = bool(plain)
        elif isinstance(plain, tensor):
            self.at(node)
            if not left.shape and not plain.shape:
                combine = self.both if is_and else self.either
                return combine(to_bool(left), to_bool(plain))
            return left.logical_and(plain) if is_and else left.logical_or(plain)
        else:
            truth = bool(plain)
        if truth != is_and and not left.shape:
            return constexpr(truth)
        self.at(node)
        if truth == is_and:
            return to_bool(left)
        return left.logical_and(constexpr(truth)) if is_and else left.logical_or(constexpr(truth))
