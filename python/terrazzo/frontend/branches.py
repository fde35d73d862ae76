# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Branches on run-time conditions: if, conditional expressions, `and` and `or`; and how ways through a kernel join.

A branch is traced in the block of an scf.if. When exactly one of its ways goes on (the other returned, or left the
loop), the rest of the statements is traced inside of it. When a way may or may not go on, an int1 scalar says so and
the rest is guarded by an scf.if on it.
"""

import ast

from ..language.cast import cast_to, to_bool
from ..language.dtypes import int1
from ..language.iterators import condition
from ..language.promotion import constant, literal_dtype, splat
from ..language.values import constexpr, tensor, unwrap
from .patterns import ABSENT, Leaf, MismatchError, is_number, joined
from .scope import EXIT, NOT_FOUND, VALUE, Binding, Missing, Path, is_missing


class _Slot:
    """A variable that a branch hands on: its pattern and its value on each way."""

    def __init__(self, pattern, values, put):
        self.pattern, self.values, self.put = pattern, values, put
        self.parts = []


class Branches:
    """if statements and all that is one in disguise."""

    def truth(self, value, node, what="a condition"):
        """A condition as a bool, or as an int1 scalar if it is known at run time only."""
        if isinstance(value, condition):
            value = value.condition
        value = unwrap(value)
        if not isinstance(value, tensor):
            return bool(value)
        if value.shape and value.numel.value == 1:
            self.at(node)
            value = value.item()
        if value.shape:
            raise self.error(
                node,
                f"{what} must be a scalar, found a tile ({value.type}); select elements with tl.where, or reduce the "
                "tile to one value",
            )
        self.at(node)
        return to_bool(value)

    def if_statement(self, statements, index, live):
        """Traces an if. Returns the index of the next statement to be traced."""
        node = statements[index]
        after = self.frame.liveness.after.get(id(node), live)
        while True:
            test = self.condition(node.test)
            if isinstance(test, tensor):
                break
            if test:
                self.run(node.body, after)
                return index + 1
            # Long chains of elif, iteratively.
            if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
                node = node.orelse[0]
                continue
            self.run(node.orelse, after)
            return index + 1
        arms = (lambda: self.run(node.body, after), lambda: self.run(node.orelse, after))
        is_done = self.fork(test, arms, node, after, rest=statements[index + 1 :], rest_live=live)
        return len(statements) if is_done else index + 1

    def guard(self, statements, live, node):
        """Traces statements for the ways that are still alive."""
        before = self.path

        def alive_arm():
            self.revive()
            self.run(statements, live)

        def dead_arm():
            self.path.alive = False

        self.fork(before.alive, (alive_arm, dead_arm), node, live)

    def revive(self):
        """Inside of a guard: this way is alive, so it has left nothing, and guarded values are there."""
        path = self.path
        path.alive = True
        path.flags = dict.fromkeys(path.flags, False)
        path.result = NOT_FOUND
        for name, binding in path.names.items():
            if binding.guard is not None:
                path.names[name] = Binding(binding.value, binding.node)

    def fork(self, test, arms, node, live, rest=(), rest_live=None):
        """Traces two ways, `arms`, and joins them; where one of them only goes on, with `rest` in it.

        Returns whether `rest` was traced (or can never run).
        """
        before = self.path
        self.at(node)
        op = self.builder.create("scf.if", [test.handle], {}, [], regions=2)
        blocks, paths = [], []
        for index, arm in enumerate(arms):
            block = self.builder.append_block(op.region(index), [])
            self.path = before.copy()
            with self.region(block):
                arm()
            blocks.append(block)
            paths.append(self.path)
        alive = [path.alive is not False for path in paths]
        is_done = not all(alive)
        if rest and sum(alive) == 1:
            on = alive.index(True)
            self.path = paths[on]
            with self.region(blocks[on]):
                self.run(rest, rest_live)
            paths[on] = self.path
        if is_done and rest:
            live = rest_live
        self.at(node)
        self.path = self.join(op, test, paths, blocks, node, live)
        return is_done

    def needed(self, live):
        """The names that may be read after this point, jumps out of it included; None if that is not known."""
        if live is None:
            return None
        liveness = self.frame.liveness
        names = set(live) | liveness.always
        for loop in self.frame.loops:
            names |= liveness.head.get(id(loop.node), frozenset()) | liveness.after.get(id(loop.node), frozenset())
        return names

    def join(self, op, test, paths, blocks, node, live):
        """The path after an scf.if whose arms ended in `paths`; gives the operation its results."""
        merged = Path(dict(paths[0].names))
        needed = self.needed(live)
        slots = []
        for name in sorted({*paths[0].names, *paths[1].names}):
            bindings = [path.names.get(name) for path in paths]
            if bindings[0] is bindings[1]:
                continue
            if needed is not None and name not in needed and not name.startswith("$"):
                merged.names[name] = Binding(Missing(f"'{name}' is not defined here"), node)
                continue
            self._join_name(name, bindings, paths, blocks, node, merged, slots)
        self._join_flags(paths, test, merged, slots)
        self._join_results(paths, blocks, merged, slots)
        self._close(op, test, blocks, slots, merged)
        return merged

    def _join_name(self, name, bindings, paths, blocks, node, merged, slots):
        if name.startswith(EXIT) and None in bindings:
            present = bindings[0] or bindings[1]
            if is_missing(present):
                merged.names[name] = present
                return
            values = [ABSENT if b is None else b.value for b in bindings]
            self._hand_on(name, values, present.node, None, merged, slots)
            return
        missing = [is_missing(b) for b in bindings]
        dead = [path.alive is False for path in paths]
        if all(missing):
            merged.names[name] = bindings[0] or bindings[1]
            return
        if any(missing):
            absent = missing.index(True)
            present = bindings[1 - absent]
            guard = self._one_sided(name, present, bindings[absent], node)
            if not dead[absent] or dead[1 - absent]:
                merged.names[name] = Binding(guard, present.node)
                return
            values = [present.value, present.value]
            values[absent] = ABSENT
            self._hand_on(name, values, present.node, guard, merged, slots)
            return
        guard = bindings[0].guard or bindings[1].guard
        values = [b.value for b in bindings]
        if name == VALUE:
            values = self._alike(values, blocks, isinstance(node, ast.BoolOp))
        try:
            pattern = joined(values)
            parts = self._flatten(pattern, values, blocks)
        except MismatchError as error:
            conflict = self._conflict(name, error, bindings, node)
            if dead[0] == dead[1]:
                merged.names[name] = Binding(conflict, bindings[1].node)
                return
            values[dead.index(True)] = ABSENT
            self._hand_on(name, values, bindings[dead.index(False)].node, conflict, merged, slots)
            return
        self._add_slot(name, pattern, values, parts, bindings[1].node, guard, merged, slots)

    def _hand_on(self, name, values, node, guard, merged, slots):
        pattern = joined(values)
        self._add_slot(name, pattern, values, None, node, guard, merged, slots)

    def _add_slot(self, name, pattern, values, parts, node, guard, merged, slots):
        def put(value):
            merged.names[name] = Binding(value, node, guard)

        for value in values:
            self.mark_read(self.frame, name, value)
        slot = _Slot(pattern, values, put)
        slot.parts = parts
        slots.append(slot)

    def _flatten(self, pattern, values, blocks):
        parts = []
        for value, block in zip(values, blocks):
            with self.region(block):
                parts.append(pattern.flatten(value))
        return parts

    def _one_sided(self, name, present, absent, node):
        if absent is not None and absent.value.notes:
            return absent.value
        where = self.place(present.node, file=False) if present.node is not None else "one branch"
        return Missing(
            f"variable '{name}' may have no value here: it is assigned in one branch of an 'if' only ({where}, of what "
            f"begins at {self.place(node, file=False)}); assign it before that, or in all branches"
        )

    def _conflict(self, name, error, bindings, node):
        lines = [self.place(b.node, file=False) if b.node is not None else "the start" for b in bindings]
        if name == VALUE:
            return Missing(f"both sides must have one type, found {error.first} and {error.second}", node)
        return Missing(
            f"variable '{name}' has two types after the branch at {self.place(node, file=False)}: {error.first} "
            f"(assigned at {lines[0]}) and {error.second} (assigned at {lines[1]}); cast one of them"
            + (f" ({error.hint})" if error.hint else ""),
            max((b.node for b in bindings if b.node is not None), key=lambda n: n.lineno, default=node),
            (f"{self.place(node)}: the branch",),
        )

    def _alike(self, values, blocks, takes_flags):
        """The results of a conditional expression, a literal in the type of the other one; with `takes_flags` also a
        bool, as 0 or 1.
        """
        for index, (value, other) in enumerate((values, values[::-1])):
            if not isinstance(other, tensor) or other.dtype.is_ptr():
                continue
            if takes_flags and isinstance(value, tensor) and value.dtype.is_bool() and not value.shape + other.shape:
                with self.region(blocks[index]):
                    values[index] = cast_to(value, other.dtype)
            if not is_number(value):
                continue
            if literal_dtype(value.value).kind().value <= other.dtype.kind().value:
                with self.region(blocks[index]):
                    values[index] = splat(constant(value.value, other.dtype), other.shape)
        return values

    def _join_flags(self, paths, test, merged, slots):
        def put_alive(value):
            merged.alive = value

        def put_flag(key):
            def put(value):
                merged.flags[key] = value

            return put

        columns = [(put_alive, [path.alive for path in paths])]
        columns += [(put_flag(key), [path.flags[key] for path in paths]) for key in merged.flags]
        for put, values in columns:
            if not any(isinstance(v, tensor) for v in values):
                if values[0] == values[1]:
                    put(values[0])
                else:
                    put(test if values[0] else _Negated)
                continue
            if values[0] is values[1]:
                put(values[0])
                continue
            values = [v if isinstance(v, tensor) else constexpr(v) for v in values]
            slots.append(_Slot(Leaf(int1), values, put))

    def _join_results(self, paths, blocks, merged, slots):
        results = [path.result for path in paths]
        found = [r for r in results if r is not NOT_FOUND]
        if not found:
            return
        values = [ABSENT if r is NOT_FOUND else r.value for r in results]
        node = found[-1].node

        def put(value):
            merged.result = Binding(value, node)

        slot = _Slot(None, values, put)
        try:
            slot.pattern = joined(values)
            slot.parts = self._flatten(slot.pattern, values, blocks)
        except MismatchError as error:
            raise self._return_mismatch(error, found) from None
        slots.append(slot)

    def _return_mismatch(self, error, found):
        first, last = found[0].node, found[-1].node
        return self.error(
            last,
            f"{self.frame.name}() returns {error.second} here and {error.first} at {self.place(first, file=False)}; "
            "all values that it returns must have one type",
        )

    def _close(self, op, test, blocks, slots, merged):
        """Ends both blocks, and replaces the operation by one with results if there are any."""
        yields = [[], []]
        for slot in slots:
            for index, block in enumerate(blocks):
                if slot.parts:
                    yields[index] += slot.parts[index]
                    continue
                with self.region(block):
                    yields[index] += slot.pattern.flatten(slot.values[index])
        for block, parts in zip(blocks, yields):
            with self.region(block):
                self.builder.create("scf.yield", [p.handle for p in parts], {}, [])
        types = [t for slot in slots for t in slot.pattern.types]
        results = iter(())
        if types:
            draft, op = op, self.builder.create("scf.if", [test.handle], {}, [t.ir for t in types], regions=2)
            for index in range(2):
                op.region(index).take_body(draft.region(index))
            draft.erase()
            results = iter([tensor(handle, type) for handle, type in zip(op.results, types)])
        for slot in slots:
            slot.put(slot.pattern.build(results))
        if merged.alive is _Negated:
            merged.alive = self.negated(test)
        for key, value in merged.flags.items():
            if value is _Negated:
                merged.flags[key] = self.negated(test)


class _Negated:
    """Marks a flag that is true on the second way."""
