# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Branches and loops under run-time conditions, as scf operations."""

import ast
import builtins

from .. import language as tl
from ..language.cast import cast_to
from ..language.dtypes import int32, int64
from ..language.promotion import constant, is_literal, literal_dtype, to_tensor
from ..language.values import constexpr, tensor, unwrap
from .expressions import iterable_items
from .statements import BREAK, CONTINUE, EXIT, LIVE, RESULT, RETURN
from .structure import (
    Unbound,
    fits,
    flatten,
    is_static,
    materialize,
    same_static,
    same_types,
    type_text,
    unflatten,
)


def assigned_names(body):
    """The variables that statements assign, nested functions left out."""
    found = {}
    pending = list(body)
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            if isinstance(node, ast.FunctionDef):
                found[node.name] = node
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            found[node.id] = node
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
            found[node.value.id] = node
        if isinstance(node, ast.Return):
            found[RESULT] = node
        pending.extend(ast.iter_child_nodes(node))
    return found


def constexpr_names(body):
    """The variables that are assigned with a constexpr annotation."""
    return {
        n.target.id
        for s in body
        for n in ast.walk(s)
        if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name) and "constexpr" in ast.dump(n.annotation)
    }


def leaves_loop(body):
    """Whether statements of a loop may break out of it, or return."""
    pending = [(node, False) for node in body]
    while pending:
        node, nested = pending.pop()
        if isinstance(node, ast.Return) or (isinstance(node, ast.Break) and not nested):
            return True
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            continue
        inner = nested or isinstance(node, (ast.For, ast.While))
        pending.extend((child, inner) for child in ast.iter_child_nodes(node))
    return False


class ControlFlow:
    """The part of the tracer that handles if, for and while."""

    # ---------------------------------------------------------------- branches
    def do_If(self, node):  # noqa: N802
        condition = self.value(node.test)
        if not isinstance(condition, tensor):
            self.block(node.body if self.static_truth(condition) else node.orelse)
            return
        condition = self.guarded(node.test, lambda: self.scalar_condition(node.test, condition))
        self.branches(node, condition, lambda: self.block(node.body), lambda: self.block(node.orelse))

    def in_block(self, region, action):
        """Runs `action` in a new block of a region; gives the block that it ends in, and the variables then."""
        before, names, places = self.b.insertion_point, dict(self.names), dict(self.frame.assigned_at)
        self.b.set_insertion_point_to_end(self.b.append_block(region, []))
        try:
            result = action()
            return self.b.insertion_point, self.names, dict(self.frame.assigned_at), result
        finally:
            self.frame.names, self.frame.assigned_at = names, places
            self.b.set_insertion_point_to_end(before)

    def branches(self, node, condition, then, otherwise):
        """scf.if: what the branches assign is joined."""
        self.locate(node)
        op = self.b.create("scf.if", [condition.handle], {}, [], regions=2)
        then_end, then_names, then_places, _ = self.in_block(op.region(0), then)
        else_end, else_names, else_places, _ = self.in_block(op.region(1), otherwise)
        changed = [
            name
            for name in {**then_names, **else_names}
            if then_names.get(name) is not else_names.get(name) or name not in then_names or name not in else_names
        ]
        joined, then_values, else_values = {}, [], []
        for name in changed:
            place = else_places.get(name) or then_places.get(name) or node
            if name in then_places and then_places.get(name) is not self.frame.assigned_at.get(name):
                place = then_places[name] if name not in else_places else else_places[name]
            a, c = self.join(name, then_names, else_names, then_end, else_end, place)
            joined[name] = a
            if not isinstance(a, Unbound):
                then_values.append((name, a))
                else_values.append((name, c))
        self.close_branches(op, condition, node, (then_end, then_values), (else_end, else_values), joined)
        for name, value in joined.items():
            self.names[name] = value
            self.frame.assigned_at[name] = else_places.get(name) or then_places.get(name) or node

    def close_branches(self, op, condition, node, then, otherwise, joined):
        """Gives a scf.if its yields and results, and puts the results into `joined`."""
        types = []
        for end, values in (then, otherwise):
            leaves = [leaf for _, value in values for leaf in flatten(value)]
            types = [leaf.type.ir for leaf in leaves]
            before = self.b.insertion_point
            self.b.set_insertion_point_to_end(end)
            self.locate(node)
            self.b.create("scf.yield", [leaf.handle for leaf in leaves], {}, [])
            self.b.set_insertion_point_to_end(before)
        self.locate(node)
        whole = self.b.create("scf.if", [condition.handle], {}, types, regions=2)
        for i in (0, 1):
            whole.region(i).take_body(op.region(i))
        op.erase()
        results = iter(whole.results)
        for name, value in then[1]:
            leaves = iter([tensor(next(results), leaf.type) for leaf in flatten(value)])
            joined[name] = unflatten(value, leaves)

    def join(self, name, then_names, else_names, then_end, else_end, place):
        """The values of a variable in both branches, of one structure and type; or an Unbound."""
        a, c = then_names.get(name), else_names.get(name)
        missing_a = name not in then_names or isinstance(a, Unbound)
        missing_c = name not in else_names or isinstance(c, Unbound)
        if name == RESULT and (missing_a or missing_c or a is None or c is None):
            # Read only where EXIT says that it was set.
            there = c if missing_a or a is None else a
            if there is None:
                return None, None
            filler_end = then_end if missing_a or a is None else else_end
            value = self.at_end(else_end if filler_end is then_end else then_end, lambda: materialize(there))
            filler = self.at_end(filler_end, lambda: self.zeros_like(value))
            return (filler, value) if filler_end is then_end else (value, filler)
        if missing_a or missing_c:
            unbound = Unbound("is assigned in one branch of an 'if' only, so it may have no value here")
            return unbound, unbound
        if is_static(a) and is_static(c) and same_static(a, c):
            return a, a
        a2 = self.at_end(then_end, lambda: materialize(a, c))
        c2 = self.at_end(else_end, lambda: materialize(c, a2))
        if same_types(a2, c2):
            return a2, c2
        if is_static(a2) or is_static(c2):
            unbound = Unbound(
                f"is {type_text(a)} in one branch of an 'if' and {type_text(c)} in the other, and which is "
                "known at run time only"
            )
            return unbound, unbound
        what = "the returned value" if name == RESULT else f"variable '{name}'"
        raise self.error(
            place, f"{what} has type {type_text(a2)} in one branch and {type_text(c2)} in the other; both must agree"
        )

    def at_end(self, block, action):
        """Runs `action` with operations going to the end of a block."""
        before = self.b.insertion_point
        self.b.set_insertion_point_to_end(block)
        try:
            return action()
        finally:
            self.b.set_insertion_point_to_end(before)

    def zeros_like(self, value):
        """A value of the same types that is never looked at."""
        leaves = []
        for leaf in flatten(value):
            dtype = leaf.dtype
            if dtype.is_ptr():
                zero = cast_to(constant(0, int64), dtype)
            else:
                zero = constant(0.0 if dtype.is_floating() else False if dtype.is_bool() else 0, dtype)
            leaves.append(tl.broadcast_to(zero, leaf.shape) if leaf.shape else zero)
        return unflatten(value, iter(leaves))

    def choose(self, node, condition, then, otherwise):
        """The value of `a if condition else b` for a run-time condition; only one side is evaluated."""
        op = self.b.create("scf.if", [condition.handle], {}, [], regions=2)
        then_end, then_names, _, a = self.in_block(op.region(0), then)
        else_end, else_names, _, c = self.in_block(op.region(1), otherwise)
        names_a, names_c = {**then_names, "$value": a}, {**else_names, "$value": c}
        x, y = self.join("$value", names_a, names_c, then_end, else_end, node)
        if isinstance(x, Unbound):
            raise self.error(
                node, f"the two sides are {type_text(a)} and {type_text(c)}; which is known at run time only"
            )
        joined = {}
        self.close_branches(op, condition, node, (then_end, [("$value", x)]), (else_end, [("$value", y)]), joined)
        return joined["$value"]

    # ---------------------------------------------------------------- loops over compile-time sequences
    def do_For(self, node):  # noqa: N802
        sequence = self.value(node.iter)
        if isinstance(sequence, tl.range):
            self.dynamic_for(node, sequence)
            return
        items = iterable_items(sequence)
        if items is None:
            what = f"a run-time value ({sequence.type})" if isinstance(sequence, tensor) else repr(unwrap(sequence))
            raise self.error(node.iter, f"'for' takes range(...), tl.static_range(...) or a tuple, found {what}")
        self.unrolled(node, items)
        self.after_loop(node)

    def loop_body(self, node):
        """Executes the body of a loop once."""
        self.frame.loops += 1
        self.block(node.body)
        self.frame.loops -= 1

    def unrolled(self, node, items):
        """One iteration behind the other."""
        for position, item in enumerate(items):
            self.bind(node.target, item)
            self.loop_body(node)
            code = self.names[EXIT]
            if not isinstance(code, tensor):
                if unwrap(code) in (BREAK, RETURN):
                    return
                self.names[EXIT] = constexpr(LIVE)
                continue
            self.names[EXIT] = self.without(node, CONTINUE)
            rest = items[position + 1 :]
            if rest:
                self.if_live(node, lambda: self.unrolled(node, rest))  # noqa: B023
            return

    def without(self, node, code):
        """The exit code, with one code turned into none."""
        now = self.names[EXIT]
        return self.guarded(node, lambda: tl.where(now == constexpr(code), constant(LIVE, int32), now))

    def after_loop(self, node):
        """Ends a loop: a break is over, a return goes on; else runs if there was no break."""
        code = self.names[EXIT]
        if node.orelse:
            if isinstance(code, tensor):
                self.if_live(node.orelse[0], lambda: self.block(node.orelse))
            elif unwrap(code) == LIVE:
                self.block(node.orelse)
            code = self.names[EXIT]
        if isinstance(code, tensor):
            self.names[EXIT] = self.without(node, BREAK) if _returns(node) else constexpr(LIVE)
        elif unwrap(code) == BREAK:
            self.names[EXIT] = constexpr(LIVE)

    # ---------------------------------------------------------------- run-time loops
    def dynamic_for(self, node, sequence):
        """for over range(start, end, step) with run-time bounds."""
        bounds = [unwrap(v) for v in (sequence.start, sequence.end, sequence.step)]
        static = all(isinstance(v, int) for v in bounds)
        trips = len(range(*bounds)) if static else None
        dtype = self.loop_dtype(bounds)
        start, end, step = (self.guarded(node.iter, lambda v=v: self.bound(v, dtype)) for v in bounds)
        count_up = isinstance(bounds[2], int) and bounds[2] > 0
        if not count_up:
            count = self.guarded(node.iter, lambda: self.trip_count(start, end, step, bounds[2]))
            first, last, by = constant(0, dtype), count, constant(1, dtype)
        else:
            first, last, by = start, end, step

        def induction(i):
            return i if count_up else start + i * step

        self.loop(node, (first, last, by), induction, sequence)
        self.forget_inner(node, trips, lambda: constexpr(range(*bounds)[-1]))

    def loop_dtype(self, bounds):
        """int32 unless a bound needs 64 bits."""
        for value in bounds:
            dtype = value.dtype if isinstance(value, tensor) else literal_dtype(value)
            if dtype.int_bitwidth == 64:
                return int64
        return int32

    def bound(self, value, dtype):
        """A bound of a loop as a scalar of the loop variable's type."""
        return cast_to(value, dtype) if isinstance(value, tensor) else constant(value, dtype)

    def trip_count(self, start, end, step, static_step):
        """How often a loop with a step of any sign runs."""
        if isinstance(static_step, int):
            return (start - end - constexpr(static_step + 1)) // constexpr(-static_step)
        tl.device_assert(step != 0, "the step of range must not be 0")
        up = (end - start + step - 1) // step
        down = (start - end - step - 1) // (-step)
        return tl.where(step > 0, up, tl.where(step < 0, down, 0))

    def do_While(self, node):  # noqa: N802
        self.while_loop(node, {}, lambda: self.value(node.test))
        self.forget_inner(node, None, None)

    def loop(self, node, bounds, induction, sequence):
        """A counted loop: scf.for, or scf.while if it may be left early."""
        first, last, by = bounds
        if leaves_loop(node.body):

            def enter():
                self.bind(node.target, self.guarded(node, lambda: induction(self.names["$index"])))

            self.while_loop(
                node, {"$index": first}, lambda: self.names["$index"] < last, enter, lambda: self.names["$index"] + by
            )
            return
        carried = self.carried_names(node, node.body)
        carried.pop(EXIT, None)
        values = {name: self.guarded(node, lambda v=v: materialize(v)) for name, v in carried.items()}
        leaves = [leaf for v in values.values() for leaf in flatten(v)]
        self.locate(node)
        op = self.b.create(
            "scf.for",
            [v.handle for v in (first, last, by, *leaves)],
            _hints(sequence),
            [leaf.type.ir for leaf in leaves],
            regions=1,
        )
        before, names = self.b.insertion_point, dict(self.names)
        block = self.b.append_block(op.region(0), [first.type.ir] + [leaf.type.ir for leaf in leaves])
        self.b.set_insertion_point_to_end(block)
        self.rebind(values, block.args[1:])
        index = tensor(block.args[0], first.type)
        self.bind(node.target, self.guarded(node, lambda: induction(index)))
        self.loop_body(node)
        self.names[EXIT] = constexpr(LIVE)  # only continue, which ends here
        out = self.next_values(node, values)
        self.locate(node)
        self.b.create("scf.yield", [leaf.handle for leaf in out], {}, [])
        self.b.set_insertion_point_to_end(before)
        self.leave(values, op.results, names, node.body)

    def while_loop(self, node, extra, test, enter=None, advance=None):
        """scf.while that carries what the body assigns, the exit code, and the values `extra`."""
        may_leave = leaves_loop(node.body)
        self.names.update(extra)
        carried = self.carried_names(node, node.body)
        carried.update(extra)
        if may_leave:
            carried[EXIT] = constant(LIVE, int32)
            self.names[EXIT] = carried[EXIT]
            if _returns(node):
                self.prepare_result(node, carried)
        else:
            carried.pop(EXIT, None)
        values = {name: self.guarded(node, lambda v=v: materialize(v)) for name, v in carried.items()}
        leaves = [leaf for v in values.values() for leaf in flatten(v)]
        types = [leaf.type.ir for leaf in leaves]
        self.locate(node)
        op = self.b.create("scf.while", [leaf.handle for leaf in leaves], {}, types, regions=2)
        before, names = self.b.insertion_point, dict(self.names)
        block = self.b.append_block(op.region(0), types)
        self.b.set_insertion_point_to_end(block)
        self.rebind(values, block.args)
        condition = self.loop_condition(node, test, may_leave)
        self.b.create("scf.condition", [condition.handle, *block.args], {}, [])
        self.frame.names = dict(names)
        block = self.b.append_block(op.region(1), types)
        self.b.set_insertion_point_to_end(block)
        self.rebind(values, block.args)
        self.names[EXIT] = constexpr(LIVE)
        if enter is not None:
            enter()
        self.loop_body(node)
        if may_leave:
            if isinstance(self.names[EXIT], tensor):
                self.names[EXIT] = self.without(node, CONTINUE)
            elif unwrap(self.names[EXIT]) == CONTINUE:
                self.names[EXIT] = constexpr(LIVE)
        else:
            self.names[EXIT] = constexpr(LIVE)
        if advance is not None:
            self.names["$index"] = self.guarded(node, advance)
        out = self.next_values(node, values)
        self.locate(node)
        self.b.create("scf.yield", [leaf.handle for leaf in out], {}, [])
        self.b.set_insertion_point_to_end(before)
        self.leave(values, op.results, names, node.body)
        if may_leave:
            self.after_loop(node)

    def prepare_result(self, node, carried):
        """Gives the value that `return` in a loop sets a place to be carried in, by a trial of the returns' types."""
        if self.names.get(RESULT) is not None:
            carried[RESULT] = self.names[RESULT]
            return
        returned = [n for s in node.body for n in ast.walk(s) if isinstance(n, ast.Return) and n.value is not None]
        if not returned:
            carried.pop(RESULT, None)
            return
        sample = self.trial(node)
        if sample is None:
            carried.pop(RESULT, None)
            return
        carried[RESULT] = self.guarded(node, lambda: self.zeros_like(materialize(sample)))
        self.names[RESULT] = carried[RESULT]

    def trial(self, node):
        """What the body of a loop returns, found by tracing it into operations that are thrown away."""
        op = self.b.create("scf.execute_region", [], {}, [], regions=1)
        found = []

        def body():
            for name in assigned_names(node.body):
                if name in self.names and not isinstance(self.names[name], Unbound) and name not in (EXIT, RESULT):
                    self.names[name] = materialize(self.names[name])
            if isinstance(node, ast.For):
                self.bind(node.target, self.names["$index"])
            self.names[EXIT] = constexpr(LIVE)
            self.names.pop(RESULT, None)
            self.loop_body(node)
            found.append(self.names.get(RESULT))

        self.in_block(op.region(0), body)
        value = found[0]
        saved = [leaf.type for leaf in flatten(value)] if value is not None else None
        if value is not None and saved:
            leaves = iter([_Typed(t) for t in saved])
            value = unflatten(value, leaves)
        op.erase()
        return value

    def loop_condition(self, node, test, may_leave):
        """The condition of a while loop as an int1 scalar."""
        place = getattr(node, "test", node)

        def evaluate():
            value = test()
            if isinstance(value, tl.condition):
                value = value.condition
            if isinstance(value, tensor):
                return self.scalar_condition(place, value)
            return to_tensor(self.static_truth(value))

        if not may_leave:
            return self.guarded(place, evaluate)
        live = self.guarded(place, lambda: self.names[EXIT] == constexpr(LIVE))
        return self.guarded(place, lambda: self.choose(place, live, evaluate, lambda: to_tensor(False)))

    # ---------------------------------------------------------------- what loops carry
    def carried_names(self, node, body):
        """The variables of the frame that the body assigns, with their values before the loop."""
        carried = {}
        targets = set(assigned_names([node.target])) if isinstance(node, ast.For) else set()
        fixed = constexpr_names(body)
        conditions = assigned_names([node.test]) if isinstance(node, ast.While) else {}
        for name in {**assigned_names(body), **conditions}:
            value = self.names.get(name)
            if name in targets or name in fixed or name not in self.names or isinstance(value, Unbound):
                continue
            if is_static(value) and not self.is_number(value):
                continue
            carried[name] = value
        return carried

    def is_number(self, value):
        """Whether a compile-time value can become a run-time scalar; of a tuple, whether a member can."""
        if isinstance(value, (builtins.tuple, list)):
            return any(self.is_number(v) for v in value)
        return is_literal(unwrap(value))

    def rebind(self, values, handles):
        """Gives carried variables the block's arguments as values."""
        handles = iter(handles)
        for name, value in values.items():
            leaves = iter([tensor(next(handles), leaf.type) for leaf in flatten(value)])
            self.names[name] = unflatten(value, leaves)

    def next_values(self, node, values):
        """The carried values at the end of the body; an error if a type changed."""
        out = []
        for name, old in values.items():
            new = self.names.get(name)
            place = self.frame.assigned_at.get(name, node)
            if isinstance(new, Unbound):
                raise self.error(place, f"variable '{name}' {new.reason}, and the loop carries it")
            if new is None and old is not None:
                raise self.error(place, f"variable '{name}' is {type_text(old)} before the loop and None at its end")
            new = self.guarded(place, lambda n=new, o=old: materialize(n, o))
            if not same_types(old, new):
                if isinstance(old, tensor) and isinstance(new, tensor) and not old.shape and not new.shape:
                    new = self.narrow_literal(name, old, new)
            if not same_types(old, new):
                label = "the returned value" if name == RESULT else f"variable '{name}'"
                raise self.error(
                    place,
                    f"{label} has type {type_text(old)} before the loop and {type_text(new)} at the end "
                    "of its body; a variable of a run-time loop keeps its type: cast one of them",
                )
            out.extend(flatten(new))
        return out

    def narrow_literal(self, name, old, new):
        """A constant assigned in the body takes the carried type if it fits."""
        value = unwrap(self.names.get(name))
        return constant(value, old.dtype) if is_literal(value) and fits(value, old.dtype) else new

    def leave(self, values, results, names, body):
        """The variables behind a loop."""
        places = dict(self.frame.assigned_at)
        inner = assigned_names(body)
        self.frame.names = names
        self.rebind(values, results)
        self.frame.assigned_at = places
        for name in inner:
            if name not in names and name not in (EXIT, RESULT):
                self.names[name] = Unbound(
                    "is first assigned inside a loop, so it may have no value behind it; assign it before the loop"
                )
            elif name in names and name not in values and name not in (EXIT, RESULT):
                self.check_unchanged(name, names[name], inner[name])

    def check_unchanged(self, name, before, place):
        """A compile-time variable that a run-time loop assigns is not usable behind it."""
        if isinstance(before, Unbound) or name in constexpr_names([place] if isinstance(place, ast.stmt) else []):
            return
        self.names[name] = Unbound(
            f"is {type_text(before)} before a loop that assigns it, so its value is not known behind the loop"
        )

    def forget_inner(self, node, trips, last):
        """The loop variable behind the loop: Python's value where the loop ran for sure."""
        if not isinstance(node, ast.For) or not isinstance(node.target, ast.Name):
            return
        if trips and not leaves_loop(node.body):
            self.names[node.target.id] = last()
        elif node.target.id != "_":
            self.names[node.target.id] = Unbound(
                "is the variable of a loop that may not have run, so it may have no value here"
            )


class _Typed(tensor):
    """A value of a trial: it has a type, but its operation is gone."""

    def __init__(self, type):
        super().__init__(None, type)


def _returns(node):
    return any(isinstance(n, ast.Return) for s in node.body for n in ast.walk(s))


def _hints(sequence):
    """The attributes of a loop that say how to schedule it."""
    attributes = {}
    if sequence.num_stages is not None:
        attributes["tile.num_stages"] = f"{int(sequence.num_stages)} : i32"
    if sequence.loop_unroll_factor is not None:
        attributes["tile.loop_unroll_factor"] = f"{int(sequence.loop_unroll_factor)} : i32"
    for name in ("disallow_acc_multi_buffer", "flatten", "warp_specialize", "disable_licm"):
        if getattr(sequence, name):
            attributes[f"tile.{name}"] = "unit"
    return attributes


__all__ = ["ControlFlow", "RETURN"]
