# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Expressions: each method gives the value of a node."""

import ast
import operator

from .. import language as tl
from ..errors import SemanticError
from ..language import values as lang
from ..language.cast import to_bool
from ..language.promotion import is_literal, to_tensor
from ..language.values import constexpr, tensor, unwrap
from .structure import is_static

_BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
_COMPARE = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_SYMBOLS = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.MatMult: "@",
}


def wrap(value):
    """Python's own numbers and strings as constexprs; everything else as it is."""
    if isinstance(value, (bool, int, float, str)):
        return constexpr(value)
    return value


def has_effects(node):
    """Whether evaluating an expression may read memory or call anything."""
    return any(isinstance(n, (ast.Call, ast.NamedExpr)) for n in ast.walk(node))


class Expressions:
    """The part of the tracer that evaluates expressions."""

    def value(self, node):
        """The value of an expression."""
        method = getattr(self, "value_" + type(node).__name__, None)
        if method is None:
            raise self.unsupported(node, _NAMES.get(type(node), f"the expression '{type(node).__name__}'"))
        return self.guarded(node, lambda: method(node))

    def value_Constant(self, node):  # noqa: N802 (the methods are named like the nodes)
        if isinstance(node.value, (bytes, complex)):
            raise self.error(node, f"a constant of type {type(node.value).__name__} has no meaning in a kernel")
        return wrap(node.value)

    def value_Name(self, node):  # noqa: N802
        return wrap(self.look_up(node))

    def value_Tuple(self, node):  # noqa: N802
        return lang.tuple(self.items(node.elts))

    def value_List(self, node):  # noqa: N802
        return self.items(node.elts)

    def items(self, nodes):
        """The values of a list of nodes, starred ones spread."""
        out = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                out.extend(self.static_items(node.value))
            else:
                out.append(self.value(node))
        return out

    def value_Attribute(self, node):  # noqa: N802
        value = self.value(node.value)
        if isinstance(value, tensor) and node.attr == "shape":
            return lang.tuple([constexpr(n) for n in value.shape])
        try:
            found = getattr(value, node.attr)
        except AttributeError:
            owner = f"a value of type {value.type}" if isinstance(value, tensor) else f"{unwrap(value)!r}"
            raise self.error(node, f"{owner} has no attribute '{node.attr}'") from None
        if isinstance(found, tuple) and not isinstance(found, lang.tuple) and not hasattr(found, "_fields"):
            found = lang.tuple([wrap(v) for v in found])
        return wrap(found)

    def value_Subscript(self, node):  # noqa: N802
        value = self.value(node.value)
        index = self.index(node.slice)
        if isinstance(value, tensor):
            return value[index]
        if hasattr(value, "__getitem__") and not isinstance(value, type):
            plain = _static_index(index)
            if isinstance(plain, tensor):
                raise self.error(
                    node.slice, f"a tuple can be indexed by compile-time integers only, found a run-time {plain.type}"
                )
            found = value.value[plain] if isinstance(value, constexpr) else value[plain]
            return wrap(found)
        raise self.error(node, f"{_describe(value)} cannot be indexed")

    def index(self, node):
        """An index: slices as Python's own, tuples as tuples."""
        if isinstance(node, ast.Slice):
            parts = [None if part is None else unwrap(self.value(part)) for part in (node.lower, node.upper, node.step)]
            return slice(*parts)
        if isinstance(node, ast.Tuple):
            return tuple(self.index(element) for element in node.elts)
        return self.value(node)

    # ---------------------------------------------------------------- operators
    def value_BinOp(self, node):  # noqa: N802
        # Left-leaning chains are walked in a loop: a sum of a thousand terms is no deep recursion.
        chain = [node]
        while isinstance(chain[-1].left, ast.BinOp):
            chain.append(chain[-1].left)
        value = self.value(chain[-1].left)
        for step in reversed(chain):
            right = self.value(step.right)
            left, value = value, None
            value = self.guarded(step, lambda: self.binary(step, left, right))  # noqa: B023
        return value

    def binary(self, node, left, right):
        """left OP right."""
        fn = _BINARY.get(type(node.op))
        if fn is None:
            raise self.error(node, "the operator @ is not defined for tiles; use tl.dot")
        for side in (left, right):
            if unwrap(side) is None or (callable(unwrap(side)) and not isinstance(side, (tensor, constexpr))):
                raise self.error(node, f"operator {_SYMBOLS[type(node.op)]} does not take {_describe(side)}")
        if isinstance(left, (list, tuple)) and isinstance(right, constexpr):
            right = right.value
        if isinstance(right, (list, tuple)) and isinstance(left, constexpr):
            left = left.value
        return wrap(fn(left, right))

    def value_UnaryOp(self, node):  # noqa: N802
        value = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return self.negation(value)
        fn = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}[type(node.op)]
        return wrap(fn(value))

    def negation(self, value):
        """not value."""
        if isinstance(value, tensor):
            return tl.logical_not(value)
        return constexpr(not self.static_truth(value))

    def static_truth(self, value):
        """The truth of a compile-time value."""
        return bool(unwrap(value))

    def value_BoolOp(self, node):  # noqa: N802
        is_and = isinstance(node.op, ast.And)
        return self.bool_chain(node, node.values, is_and)

    def bool_chain(self, node, nodes, is_and):
        """a and b and ..., or the same with or: what the left side decides is not evaluated."""
        left = self.value(nodes[0])
        if len(nodes) == 1:
            return left
        if not isinstance(left, tensor):
            decided = self.static_truth(left) != is_and
            return left if decided else self.bool_chain(node, nodes[1:], is_and)
        rest = nodes[1:]
        if not left.shape and any(has_effects(n) for n in rest):
            condition = to_bool(left)
            if is_and:
                return self.choose(
                    node, condition, lambda: self.as_bool(self.bool_chain(node, rest, is_and)), lambda: to_tensor(False)
                )
            return self.choose(
                node, condition, lambda: to_tensor(True), lambda: self.as_bool(self.bool_chain(node, rest, is_and))
            )
        right = self.bool_chain(node, rest, is_and)
        if not isinstance(right, tensor):
            truth = self.static_truth(right)
            if truth == is_and:
                return to_bool(left)
            right = to_tensor(truth)
        combine = tl.logical_and if is_and else tl.logical_or
        return combine(left, right)

    def as_bool(self, value):
        """A value as a run-time boolean."""
        return to_bool(value) if isinstance(value, tensor) else to_tensor(self.static_truth(value))

    def value_Compare(self, node):  # noqa: N802
        left = self.value(node.left)
        result = None
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.value(right_node)
            one = self.compare(node, op, left, right)
            if result is None:
                result = one
            elif isinstance(result, tensor) or isinstance(one, tensor):
                result = tl.logical_and(result, one)
            else:
                result = constexpr(bool(unwrap(result)) and bool(unwrap(one)))
            if not isinstance(result, tensor) and not unwrap(result):
                return result
            left = right
        return result

    def compare(self, node, op, left, right):
        """One comparison."""
        if isinstance(op, (ast.Is, ast.IsNot)):
            a, b = unwrap(left), unwrap(right)
            same = a is b or (isinstance(a, (bool, int, str)) and type(a) is type(b) and a == b)
            return constexpr(same == isinstance(op, ast.Is))
        if isinstance(op, (ast.In, ast.NotIn)):
            if not is_static(left) or not is_static(right):
                raise self.error(node, "'in' takes compile-time values only")
            return constexpr((unwrap(left) in unwrap(right)) == isinstance(op, ast.In))
        fn = _COMPARE[type(op)]
        if isinstance(left, tensor) or isinstance(right, tensor):
            for side in (left, right):
                plain = unwrap(side)
                if not isinstance(plain, tensor) and not is_literal(plain):
                    if isinstance(op, (ast.Eq, ast.NotEq)):
                        return constexpr(isinstance(op, ast.NotEq))
                    raise self.error(node, f"a run-time value cannot be compared with {_describe(side)}")
            return fn(left, right)
        return constexpr(bool(fn(unwrap(left), unwrap(right))))

    def value_IfExp(self, node):  # noqa: N802
        condition = self.value(node.test)
        if not isinstance(condition, tensor):
            return self.value(node.body if self.static_truth(condition) else node.orelse)
        return self.choose(
            node,
            self.scalar_condition(node.test, condition),
            lambda: self.value(node.body),
            lambda: self.value(node.orelse),
        )

    def scalar_condition(self, node, condition):
        """A run-time condition as an int1 scalar."""
        if condition.shape:
            raise self.error(
                node, f"a condition must be a scalar, found a tile ({condition.type}); use tl.where, or reduce it"
            )
        return to_bool(condition)

    # ---------------------------------------------------------------- the rest
    def value_NamedExpr(self, node):  # noqa: N802
        value = self.value(node.value)
        self.assign(node.target.id, value, node)
        return value

    def value_JoinedStr(self, node):  # noqa: N802
        return constexpr("".join(self.format_part(part) for part in node.values))

    def format_part(self, node):
        """One part of an f-string."""
        if isinstance(node, ast.Constant):
            return str(node.value)
        value = self.value(node.value)
        if isinstance(value, tensor):
            return str(value.type)
        plain = unwrap(value)
        plain = {-1: plain, 115: str(plain), 114: repr(plain), 97: ascii(plain)}[node.conversion]
        spec = "" if node.format_spec is None else unwrap(self.value(node.format_spec))
        return format(plain, spec)

    def value_ListComp(self, node):  # noqa: N802
        return self.comprehension(node.elt, node.generators)

    value_GeneratorExp = value_ListComp  # noqa: N815

    def comprehension(self, element, generators):
        """The list that a comprehension over compile-time sequences makes."""
        out = []
        first, rest = generators[0], generators[1:]
        saved = dict(self.names)
        for item in self.static_items(first.iter):
            self.bind(first.target, item)
            if not all(self.static_condition(test) for test in first.ifs):
                continue
            if rest:
                out.extend(self.comprehension(element, rest))
            else:
                out.append(self.value(element))
        self.frame.names = saved
        return out

    def static_condition(self, node):
        """The truth of a condition that has to be known at compile time."""
        value = self.value(node)
        if isinstance(value, tensor):
            raise self.error(node, f"this condition must be known at compile time, found a run-time {value.type}")
        return self.static_truth(value)

    def static_items(self, node):
        """The members of a sequence known at compile time."""
        value = self.value(node)
        items = iterable_items(value)
        if items is None:
            raise self.error(node, f"expected a compile-time sequence, found {_describe(value)}")
        return items

    def value_Lambda(self, node):  # noqa: N802
        names = [a.arg for a in node.args.args]
        frame_names = dict(self.names)

        def call(*args):
            if len(args) != len(names):
                raise SemanticError(f"the lambda takes {len(names)} arguments, found {len(args)}")
            saved = self.frame.names
            self.frame.names = {**frame_names, **dict(zip(names, args, strict=True))}
            try:
                return self.value(node.body)
            finally:
                self.frame.names = saved

        call.__tz_local__ = True
        return call


def iterable_items(value):
    """The members of a compile-time sequence as values of the language; None if it is none."""
    if isinstance(value, tl.static_range):
        return [constexpr(i) for i in value]
    plain = value.value if isinstance(value, constexpr) else value
    if isinstance(plain, range):
        return [constexpr(i) for i in plain]
    if isinstance(plain, tl.range) and not any(
        isinstance(unwrap(v), tensor) for v in (plain.start, plain.end, plain.step)
    ):
        return [constexpr(i) for i in range(unwrap(plain.start), unwrap(plain.end), unwrap(plain.step))]
    if isinstance(plain, (list, tuple, str, set, zip, enumerate, reversed)):
        return [lang.tuple([wrap(v) for v in item]) if type(item) is tuple else wrap(item) for item in plain]
    return None


def _static_index(index):
    if isinstance(index, slice):
        return slice(unwrap(index.start), unwrap(index.stop), unwrap(index.step))
    return unwrap(index)


def _describe(value):
    from ..language.values import describe

    return "None" if unwrap(value) is None else describe(value)


_NAMES = {
    ast.Await: "await",
    ast.Dict: "a dict",
    ast.DictComp: "a dict comprehension",
    ast.Set: "a set",
    ast.SetComp: "a set comprehension",
    ast.Starred: "a starred expression here",
    ast.Yield: "yield",
    ast.YieldFrom: "yield from",
}
