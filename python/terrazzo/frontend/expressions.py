# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Expressions: names, constants, operators, attributes."""

import ast
import builtins
import difflib
import enum
import inspect
import operator
import types

from ..errors import CompileError
from ..language.aggregates import Aggregate
from ..language.dtypes import dtype
from ..language.promotion import is_literal, to_tensor
from ..language.values import Shape, constexpr, show, tensor, unwrap
from .inlining import BoundMethod, jit_of
from .patterns import describe_value, is_object
from .scope import NOT_FOUND, admit, is_missing, is_static, outer_value, wrap

_BINARY = {
    ast.Add: (operator.add, "+"),
    ast.Sub: (operator.sub, "-"),
    ast.Mult: (operator.mul, "*"),
    ast.Div: (operator.truediv, "/"),
    ast.FloorDiv: (operator.floordiv, "//"),
    ast.Mod: (operator.mod, "%"),
    ast.Pow: (operator.pow, "**"),
    ast.BitAnd: (operator.and_, "&"),
    ast.BitOr: (operator.or_, "|"),
    ast.BitXor: (operator.xor, "^"),
    ast.LShift: (operator.lshift, "<<"),
    ast.RShift: (operator.rshift, ">>"),
    ast.MatMult: (operator.matmul, "@"),
}
_COMPARE = {
    ast.Eq: (operator.eq, "=="),
    ast.NotEq: (operator.ne, "!="),
    ast.Lt: (operator.lt, "<"),
    ast.LtE: (operator.le, "<="),
    ast.Gt: (operator.gt, ">"),
    ast.GtE: (operator.ge, ">="),
}
_UNARY = {ast.USub: (operator.neg, "-"), ast.UAdd: (operator.pos, "+"), ast.Invert: (operator.invert, "~")}
_CONTAINERS = (tuple, list, str, range, dict, set, frozenset, types.MappingProxyType, enum.EnumMeta)
_REFUSED = {
    ast.Await: "await",
    ast.Yield: "yield",
    ast.YieldFrom: "yield from",
    ast.Dict: "a dict",
    ast.DictComp: "a dict comprehension",
    ast.Set: "a set",
    ast.SetComp: "a set comprehension",
}
# Python's own limit on the digits of an int in text is no concern here; one on the work of x ** y is.
_POWER_BITS = 1 << 16


_CONTAINERS = (tuple, list, str, bytes, range, dict, types.MappingProxyType, set, frozenset)


class Expressions:
    """visit(node) gives the value of an expression."""

    def visit(self, node):
        """The value of an expression; errors get its location."""
        try:
            handler = _HANDLERS.get(type(node))
            if handler is None:
                raise self.unsupported(node, _REFUSED.get(type(node), f"{type(node).__name__}"))
            value = handler(self, node)
            return self.keep_list(value) if type(value) is list else value
        except Exception as error:
            found = self.located(error, node)
            if found is error:
                raise
            raise found from error

    def visit_constant(self, node):
        """A literal."""
        if isinstance(node.value, (complex, bytes)):
            raise self.unsupported(node, f"a {type(node.value).__name__} literal")
        return wrap(node.value)

    def visit_name(self, node):
        """A variable, or what a name means outside of the function."""
        return self.load(node.id, node)

    def load(self, name, node):
        """The value of a name."""
        frame = outer = self.frame
        while frame is not None:
            outer = frame
            binding = frame.path.names.get(name)
            if binding is not None:
                if binding.guard is not None or is_missing(binding):
                    raise self._missing(binding.guard or binding.value, node)
                self.mark_read(frame, name, binding.value)
                return binding.value
            if name in frame.local_names:
                raise self.error(node, f"variable '{name}' has no value yet: it is assigned later in {frame.name}()")
            frame = frame.parent
        value, kind = outer_value(outer, name)
        if value is NOT_FOUND:
            raise self.error(node, f"name '{name}' is not defined{self._suggestion(name, outer)}")
        if kind == "builtin":
            return value
        admitted = admit(outer, name, value, kind)
        self.check_known(name, value, node)
        return admitted

    def check_known(self, name, value, node, called=False):
        """An error unless all that a value holds is in the kernel's key; with `called`, what its code reads too."""
        why = self.reach.refusal(value, called)
        if why is None:
            return
        subject = f"'{name}' reads" if called else f"'{name}' holds"
        raise self.error(
            node,
            f"{subject} {why}: it could change without the compiled kernel noticing; work its value out outside of the "
            "kernel, and pass it as an argument or keep it in a tl.constexpr",
        )

    def mark_read(self, frame, name, value):
        """Notes that a value from the start of an iteration was used, if it is one."""
        for loop in frame.loops:
            if loop.heads.get(name) is value:
                loop.reads.add(name)

    def _missing(self, missing, node):
        notes = list(missing.notes)
        if missing.node is not None and missing.node is not node:
            notes.append(f"{self.place(node)}: it is read here")
        return self.error(missing.node or node, missing.message, notes)

    def _suggestion(self, name, frame):
        known = [*frame.path.names, *frame.globals, *frame.cells, "tl", *dir(builtins)]
        close = difflib.get_close_matches(name, [k for k in known if not k.startswith(("$", "__"))], 1)
        return f"; did you mean '{close[0]}'?" if close else ""

    def visit_named(self, node):
        """name := value"""
        value = self.visit(node.value)
        self.bind(node.target.id, value, node)
        return value

    def visit_binary(self, node):
        """a + b; chains of the left operand are walked iteratively."""
        chain = []
        while isinstance(node, ast.BinOp):
            chain.append(node)
            node = node.left
        value = self.visit(node)
        for node in reversed(chain):
            try:
                right = self.visit(node.right)
                self.at(node)
                value = self.binary(node.op, value, right, node)
            except Exception as error:
                found = self.located(error, node)
                if found is error:
                    raise
                raise found from error
        return value

    def binary(self, op, left, right, node):
        """An operator on two values."""
        fn, sign = _BINARY[type(op)]
        if isinstance(op, ast.Pow) and not isinstance(left, tensor) and not isinstance(right, tensor):
            base, exponent = unwrap(left), unwrap(right)
            if isinstance(base, int) and isinstance(exponent, int) and exponent * base.bit_length() > _POWER_BITS:
                raise self.error(node, f"{show(base)} ** {show(exponent)} is too large a compile-time integer")
        self._check_size(op, unwrap(left), unwrap(right), node)
        return self.apply(fn, sign, (left, right), node)

    def _check_size(self, op, left, right, node):
        """An error for a shift or repetition whose result nobody can hold."""
        if isinstance(op, ast.LShift) and isinstance(left, int) and isinstance(right, int) and right > _POWER_BITS:
            raise self.error(node, f"{show(left)} << {show(right)} is too large a compile-time integer")
        if isinstance(op, ast.Mult):
            for sequence, count in ((left, right), (right, left)):
                is_sequence = isinstance(sequence, (tuple, list, str))
                if is_sequence and isinstance(count, int) and len(sequence) * count > _POWER_BITS:
                    raise self.error(
                        node, f"a {type(sequence).__name__} of {len(sequence) * count} elements is too long"
                    )

    def apply(self, fn, sign, operands, node):
        """A Python operator on values; what Python refuses is an error that names the operands."""
        if fn is operator.matmul:
            raise self.error(node, "operator @ does not work in kernels; use tl.dot")
        self._check_operands(sign, operands, node)
        for operand in operands:
            self.check_operators(unwrap(operand), node)
        try:
            result = fn(*operands)
        except CompileError:
            raise
        except (TypeError, ValueError, ArithmeticError, AttributeError) as error:
            shown = " and ".join(map(describe_value, operands))
            plural = "s" if len(operands) > 1 else ""
            # What Python says of types is about its own classes.
            why = "" if isinstance(error, (TypeError, AttributeError)) else f": {error}"
            raise self.error(node, f"operator {sign} does not take the operand{plural} {shown}{why}") from None
        return wrap(result)

    def _check_operands(self, sign, operands, node):
        if not any(isinstance(o, (tensor, Aggregate)) for o in operands):
            return
        for operand in operands:
            plain = unwrap(operand)
            if not isinstance(plain, tensor) and not is_literal(plain) and not hasattr(plain, "dtype"):
                shown = " and ".join(map(describe_value, operands))
                raise self.error(
                    node,
                    f"operator {sign} takes run-time values and numbers, found {shown}"
                    + ("; an argument that may be None needs a test `is not None`" if plain is None else ""),
                )

    def visit_unary(self, node):
        """-x, +x, ~x and not x."""
        value = self.visit(node.operand)
        if isinstance(node.op, ast.Not):
            if isinstance(unwrap(value), tensor) and unwrap(value).shape:
                self.at(node)
                return value.logical_not()
            flag = self.truth(value, node.operand, "the operand of not")
            self.at(node)
            return wrap(self.negated(flag))
        fn, sign = _UNARY[type(node.op)]
        self.at(node)
        return self.apply(fn, sign, (value,), node)

    def visit_compare(self, node):
        """a < b < c: each operand once, and the second comparison only if the first holds."""
        left = self.visit(node.left)
        right = self.visit(node.comparators[0])
        self.at(node)
        result = self.compare(node.ops[0], left, right, node)
        for index in range(1, len(node.ops)):
            if not isinstance(result, tensor) and not unwrap(result):
                return result
            left, following = right, node.comparators[index]
            held = {}

            def rest(op=node.ops[index], left=left, following=following, held=held):
                held["right"] = self.visit(following)
                self.at(node)
                return self.compare(op, left, held["right"], node)

            is_last = index == len(node.ops) - 1
            if not isinstance(result, tensor):
                result = rest()
            elif is_last:
                result = self.connect(result, True, rest, following, node)
            else:  # its operand is needed by the next comparison, which stands outside of a branch
                result = self.logical(result, True, rest(), node)
            right = held.get("right")
        return result

    def compare(self, op, left, right, node):
        """One comparison of two values."""
        if isinstance(op, (ast.Is, ast.IsNot)):
            return constexpr(self._is_same(left, right, node) == isinstance(op, ast.Is))
        if isinstance(op, (ast.In, ast.NotIn)):
            found = self._is_in(left, right, node)
            return wrap(found if isinstance(op, ast.In) else self.negated(found))
        fn, sign = _COMPARE[type(op)]
        if left is None or right is None:
            if isinstance(op, (ast.Eq, ast.NotEq)):
                return constexpr((left is right) == isinstance(op, ast.Eq))
            raise self.error(
                node, f"{sign} does not take None, found {describe_value(left)} and {describe_value(right)}"
            )
        if isinstance(unwrap(left), str) != isinstance(unwrap(right), str) and isinstance(op, (ast.Eq, ast.NotEq)):
            return constexpr(isinstance(op, ast.NotEq))
        return self.apply(fn, sign, (left, right), node)

    def _is_same(self, left, right, node):
        left, right = unwrap(left), unwrap(right)
        if left is None or right is None:
            return left is right
        if isinstance(left, (bool, dtype)) or isinstance(right, (bool, dtype)):
            return type(left) is type(right) and left == right
        if isinstance(left, tensor) or isinstance(right, tensor) or is_literal(left) or is_literal(right):
            raise self.error(
                node,
                f"'is' compares with None, True, False, types and functions, found {describe_value(left)} and "
                f"{describe_value(right)}; use ==",
            )
        return left is right or (isinstance(left, str) and left == right)

    def _is_in(self, left, right, node):
        container = unwrap(right)
        if not isinstance(container, _CONTAINERS) and getattr(type(container), "__contains__", None) is None:
            raise self.error(node, f"'in' takes a tuple, list, string, or dict, found {describe_value(right)}")
        if isinstance(container, (tuple, list)) and not (is_static(left) and is_static(container)):
            found = False
            for member in right:
                equal = self.compare(ast.Eq(), left, member, node)
                found = self.either(found, self.truth(equal, node))
            return found
        if not is_static(left) or not is_static(container):
            raise self.error(
                node, f"'in' takes compile-time values, found {describe_value(left)} and {describe_value(right)}"
            )
        # Objects of other classes may look like sequences without an end, as kernels do.
        try:
            if isinstance(container, _CONTAINERS):
                return unwrap(left) in container
        except TypeError:
            pass  # a string takes strings only
        raise self.error(node, f"'in' does not take the operands {describe_value(left)} and {describe_value(right)}")

    def visit_attribute(self, node):
        """value.name"""
        value = self.visit(node.value)
        self.at(node)
        return self.attribute(value, node.attr, node)

    def attribute(self, value, name, node):
        """An attribute of a value."""
        jit = jit_of(value)
        if jit is not None and name == "fn":
            return jit
        if isinstance(value, Aggregate):
            return self._field(value, name, node)
        self.check_attribute(value, name, node)
        if isinstance(value, constexpr):
            return self._constant_attribute(value, name, node)
        if name == "value" and isinstance(value, dtype):  # of a constexpr that held it
            return value
        try:
            found = getattr(value, name)
        except AttributeError:
            raise self.error(node, self._no_attribute(value, name)) from None
        if name in ("shape", "block_shape") and type(found) is tuple:
            return Shape([wrap(extent) for extent in found])
        if not is_language_value(found):
            self.check_known(name, found, node)
        if is_object(value) and callable(found) and not getattr(found, "__tl_builtin__", False):
            raise self.error(node, self._no_attribute(value, name))  # a method for the functions of the language
        return wrap(found)

    def _field(self, value, name, node):
        """A field, method or property of an aggregate."""
        found = vars(value).get(name)
        if found is not None or name in vars(value):
            return found
        member = inspect.getattr_static(type(value), name, None)
        if member is None and name != "type":
            known = ", ".join(field for field, _ in value.tz_fields)
            raise self.error(
                node, f"{type(value).__name__} has no attribute '{name}'; its fields are {known or 'none'}"
            )
        if isinstance(member, property) and jit_of(member.fget) is not None:
            return self.inline(member.fget, [value], {}, node)
        if jit_of(member) is not None:
            return BoundMethod(jit_of(member), value)
        if isinstance(member, (types.FunctionType, property)):
            self.check_known(f"{type(value).__name__}.{name}", getattr(member, "fget", member), node, called=True)
        return wrap(getattr(value, name))

    def check_operators(self, value, node):
        """An error if an operator that a class of a user defines reads what is not in the kernel's key."""
        if is_language_value(value):
            return
        for base in type(value).__mro__:
            for name, function in vars(base).items():
                if name.startswith("__") and isinstance(function, types.FunctionType):
                    self.check_known(f"{base.__name__}.{name}", function, node, called=True)

    def check_attribute(self, value, name, node):
        """An error if an attribute is not part of the kernel's key."""
        if isinstance(value, types.ModuleType):
            if not self.reach.knows(value, name):
                raise self.error(
                    node,
                    f"'{name}' of the module '{value.__name__}' is read in a way that hides its name when the kernel "
                    f"is looked up; write it out, as in {value.__name__.rpartition('.')[2]}.{name}",
                )
            return
        if isinstance(value, constexpr):
            self.check_attribute(value.value, name, node)
        if is_language_value(value):
            return
        if jit_of(value) is not None and name != "__name__":
            raise self.error(node, f"attribute '{name}' of a jit function cannot be read in a kernel")
        shown = name if isinstance(value, type) else f"{type(value).__name__}.{name}"
        self.check_known(shown, value, node)
        getter = inspect.getattr_static(type(value), name, None)
        if isinstance(getter, property):
            self.check_known(shown, getter.fget, node, called=True)

    def _constant_attribute(self, value, name, node):
        plain = value.value
        if name == "value":
            return value
        if name in ("to", "type", "logical_and", "logical_or"):
            return getattr(value, name)
        if hasattr(plain, name):
            return wrap(getattr(plain, name))
        if is_literal(plain) and hasattr(tensor, name):
            return wrap(getattr(to_tensor(plain), name))
        raise self.error(node, self._no_attribute(plain, name))

    def _no_attribute(self, value, name):
        close = difflib.get_close_matches(name, [n for n in dir(value) if not n.startswith("_")], 1)
        hint = f"; did you mean '{close[0]}'?" if close else ""
        if isinstance(value, types.ModuleType):
            return f"module '{value.__name__}' has no attribute '{name}'{hint}"
        if value is None:
            return f"None has no attribute '{name}'; an argument that may be None needs a test `is not None`"
        return f"{describe_value(value)} has no attribute '{name}'{hint}"


def is_language_value(value):
    """Whether it is a value of the language, a number, a string, or None: nothing that holds other things unseen."""
    kinds = (tensor, constexpr, dtype, bool, int, float, str, Aggregate)
    return value is None or (isinstance(value, kinds) and not isinstance(value, enum.Enum))


def _method(name):
    return lambda tracer, node: getattr(tracer, name)(node)


_HANDLERS = {
    kind: _method(name)
    for kind, name in {
        ast.Constant: "visit_constant",
        ast.Name: "visit_name",
        ast.NamedExpr: "visit_named",
        ast.BinOp: "visit_binary",
        ast.UnaryOp: "visit_unary",
        ast.BoolOp: "visit_boolean",
        ast.Compare: "visit_compare",
        ast.IfExp: "visit_conditional",
        ast.Attribute: "visit_attribute",
        ast.Subscript: "visit_subscript",
        ast.Slice: "visit_slice",
        ast.Tuple: "visit_tuple",
        ast.List: "visit_list",
        ast.ListComp: "visit_list_comprehension",
        ast.GeneratorExp: "visit_list_comprehension",
        ast.JoinedStr: "visit_format",
        ast.Lambda: "visit_lambda",
        ast.Call: "visit_call",
        ast.Starred: "visit_starred",
    }.items()
}
