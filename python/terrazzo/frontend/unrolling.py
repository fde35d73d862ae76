# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops that are unrolled: over static_range, tuples, lists and other sequences known at compile time."""

import enum

from ..language import iterators
from ..language.values import constexpr, tensor, unwrap
from .carrying import Loop
from .scope import Binding, wrap

_LIMIT = 1 << 16


_VIEWS = tuple(type(view) for view in ({}.keys(), {}.values(), {}.items()))


class Unrolling:
    """for over a sequence of known length."""

    def items(self, value, node, what="'for'"):
        """The members of a sequence that is known at compile time."""
        if isinstance(value, (tuple, list)):
            return list(value)
        if isinstance(value, iterators.range):
            bounds = [unwrap(b) for b in (value.start, value.end, value.step)]
            if any(isinstance(b, tensor) for b in bounds):
                raise self.error(node, f"{what} takes a range with compile-time bounds here, found run-time ones")
            value = range(*bounds)
        if isinstance(value, (iterators.static_range, range)):
            count = iterators.length(*map(unwrap, _bounds_of(value)))
            if count > _LIMIT:
                raise self.error(
                    node, f"{count} iterations are too many to be unrolled, at most {_LIMIT} are; use range"
                )
            return [constexpr(i) for i in value]
        plain = unwrap(value)
        if isinstance(plain, (tuple, list, str, dict, set, frozenset, *_VIEWS)):
            return [wrap(v) for v in plain]
        if isinstance(plain, tensor):
            raise self.error(
                node, f"{what} takes range, a tuple or a list, found a run-time value ({plain.type}); index it instead"
            )
        if isinstance(plain, enum.EnumMeta):
            return [wrap(v) for v in plain]
        raise self.error(
            node,
            f"{what} takes range, tl.static_range, a tuple or a list, found an object of type {type(plain).__name__}",
        )

    def unroll(self, node, iterable, live):
        """Traces the body once for each member."""
        items = self.items(iterable, node.iter)
        loop = Loop(node)
        loop.before = dict(self.path.names)
        liveness = self.frame.liveness
        inner = liveness.head[id(node)] | liveness.after[id(node)]
        outer_flags = dict(self.path.flags)
        self.frame.loops.append(loop)
        try:
            self._unroll_from(node, items, 0, inner)
        finally:
            self.frame.loops.pop()
        path = self.path
        broken, returned = path.flags["broken"], path.flags["returned"]
        path.flags = {**outer_flags, "returned": returned}
        self.settle()
        path.alive = self.negated(returned)
        self.else_clause(node, loop, broken, live)

    def _unroll_from(self, node, items, index, live):
        while index < len(items):
            self.at(node)
            self.assign(node.target, items[index], node)
            self.run(node.body, live)
            index += 1
            path = self.path
            if path.flags["broken"] is True or path.flags["returned"] is True:
                return
            self.settle()
            stopped = self.either(path.flags["broken"], path.flags["returned"])
            if isinstance(stopped, tensor):
                if index < len(items):
                    path.alive = self.negated(stopped)
                    self._rest(node, items, index, live)
                return
            path.alive = True

    def _rest(self, node, items, index, live):
        def on():
            self.revive()
            self._unroll_from(node, items, index, live)

        def off():
            self.path.alive = False

        self.fork(self.path.alive, (on, off), node, live)

    def settle(self):
        """Ways that left an iteration come back here: values that only the others have are no values any more."""
        for name, binding in self.path.names.items():
            if binding.guard is not None:
                self.path.names[name] = Binding(binding.guard, binding.node)


def _bounds_of(value):
    return value.start, value.stop if isinstance(value, range) else value.end, value.step
