# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Expressions of which a part may not be evaluated: a if b else c, `and`, `or`."""

import ast

from ..language.cast import to_bool
from ..language.promotion import is_literal
from ..language.values import constexpr, tensor, unwrap
from .scope import VALUE, Binding, is_missing

_IMPURE = (ast.Call, ast.FloorDiv, ast.Mod, ast.Div, ast.NamedExpr, ast.ListComp, ast.GeneratorExp, ast.Subscript)


def is_pure(node):
    """Whether an expression can be evaluated although Python would not: no calls, loads or divisions."""
    return not any(isinstance(n, _IMPURE) for n in ast.walk(node))


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
        test = self.truth(self.visit(node.test), node.test)
        if not isinstance(test, tensor):
            return self.visit(node.body if test else node.orelse)
        return self.choice(test, lambda: self.visit(node.body), lambda: self.visit(node.orelse), node)

    def visit_boolean(self, node):
        """a and b and ..., or with `or`."""
        is_and = isinstance(node.op, ast.And)
        result = self.visit(node.values[0])
        for operand in node.values[1:]:
            if not isinstance(result, tensor):
                if bool(unwrap(result)) != is_and:
                    return result
                result = self.visit(operand)
            else:
                result = self.connect(result, is_and, lambda operand=operand: self.visit(operand), operand, node)
        return result

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
