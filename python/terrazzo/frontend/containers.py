# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tuples, lists, comprehensions, indices and formatted strings."""

import ast
import types

from ..language.values import constexpr, describe, show, tensor, unwrap
from ..language.values import tuple as tl_tuple
from .inlining import jit_of
from .names import target_names
from .patterns import describe_value
from .scope import List, is_static, wrap

_CONVERSIONS = {ord("s"): str, ord("r"): repr, ord("a"): ascii}


class Containers:
    """Expressions that build or take apart a compile-time structure."""

    def visit_tuple(self, node):
        """(a, *b)"""
        return tl_tuple(self.elements(node.elts))

    def visit_list(self, node):
        """[a, *b]"""
        return self.keep_list(self.elements(node.elts))

    def keep_list(self, values):
        """A new list; where it was made decides where it may be changed."""
        return List(values, self.depth)

    def elements(self, nodes):
        """The values of expressions, starred ones unpacked."""
        values = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                values += self.items(self.visit(node.value), node, "*")
            else:
                values.append(self.visit(node))
        return values

    def visit_starred(self, node):
        """*a where no sequence is built."""
        raise self.error(node, "a starred expression can stand in a call, tuple or list only")

    def visit_slice(self, node):
        """start:stop:step in an index"""
        parts = [None if part is None else self.visit(part) for part in (node.lower, node.upper, node.step)]
        for part in parts:
            if isinstance(unwrap(part), tensor):
                raise self.error(
                    node, f"bounds of a slice must be known at compile time, found a run-time {unwrap(part).type}"
                )
        return slice(*map(unwrap, parts))

    def visit_subscript(self, node):
        """value[index]"""
        value = self.visit(node.value)
        index = self.visit(node.slice)
        self.at(node)
        return self.subscript(value, index, node)

    def subscript(self, value, index, node):
        """An element or part of a value."""
        if isinstance(value, tensor):
            return value[index]
        if jit_of(value) is not None:
            raise self.error(node, "kernels cannot be launched from kernels; call the function without [grid]")
        plain = unwrap(index)
        container = value.value if isinstance(value, constexpr) else value
        if isinstance(container, (tuple, list, str, range)):
            if isinstance(plain, tensor):
                raise self.error(
                    node,
                    f"the index of a {_kind(container)} must be known at compile time, found a run-time {plain.type}",
                )
            if not isinstance(plain, (int, slice)):
                raise self.error(node, f"the index of a {_kind(container)} must be an integer, found {describe(plain)}")
            try:
                found = container[plain]
            except (IndexError, ValueError) as error:
                raise self.error(
                    node, f"index {show(plain)} is out of range: {error}, it has {len(container)}"
                ) from None
            return wrap(found)
        if isinstance(container, (dict, types.MappingProxyType, type)):
            try:
                return wrap(container[plain])
            except (KeyError, TypeError):
                raise self.error(node, f"no element {show(plain)} in {describe_value(container)}") from None
        if any("__getitem__" in vars(c) for c in type(container).__mro__) and type(container).__module__.startswith(
            "terrazzo."
        ):
            return wrap(container[plain])
        raise self.error(node, f"{describe_value(value)} cannot be indexed")

    def visit_list_comprehension(self, node):
        """[f(x) for x in xs if p(x)], of sequences that are known at compile time."""
        names = {name for g in node.generators for name in target_names(g.target)}
        outer = {name: self.path.names.get(name) for name in names}
        values = []
        self._generate(node, 0, values)
        for name, binding in outer.items():
            if binding is None:
                self.path.names.pop(name, None)
            else:
                self.path.names[name] = binding
        return self.keep_list(values)

    def _generate(self, node, level, values):
        if level == len(node.generators):
            values.append(self.visit(node.elt))
            return
        generator = node.generators[level]
        if generator.is_async:
            raise self.unsupported(node, "an asynchronous comprehension")
        for item in self.items(self.visit(generator.iter), generator.iter, "a comprehension"):
            self.assign(generator.target, item, node)
            if all(self._is_selected(test) for test in generator.ifs):
                self._generate(node, level + 1, values)

    def _is_selected(self, node):
        test = self.condition(node)
        if isinstance(test, tensor):
            raise self.error(node, "the condition of a comprehension must be known at compile time")
        return test

    def visit_format(self, node):
        """f"...", of compile-time values."""
        return constexpr("".join(self._formatted(part) for part in node.values))

    def _formatted(self, part):
        if isinstance(part, ast.Constant):
            return str(part.value)
        value = unwrap(self.visit(part.value))
        if not is_static(value):
            raise self.error(
                part.value,
                f"a string is formatted at compile time, found the run-time value {describe_value(value)}; print it "
                "with tl.device_print",
            )
        convert = _CONVERSIONS.get(part.conversion)
        spec = "" if part.format_spec is None else unwrap(self.visit_format(part.format_spec))
        try:
            return format(value if convert is None else convert(value), spec)
        except (TypeError, ValueError) as error:
            raise self.error(part.value, f"cannot format {describe_value(value)}: {error}") from None


def _kind(container):
    return "tuple" if isinstance(container, tuple) else type(container).__name__
