# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops that run on the target: `for` over a range, and `while`.

The body is traced once, in the block of an scf.for or scf.while that carries the variables which the body assigns and
somebody reads later. If the body can break or return, the loop becomes an scf.while that also carries flags; what the
body leaves behind on each way (values first bound in it, a returned value) is carried as well.
"""

import ast
import builtins

from ..errors import CompileError
from ..language import iterators
from ..language.cast import cast_to
from ..language.comparison import where
from ..language.dtypes import int1, int32, int64
from ..language.promotion import constant, integer_type, literal_dtype
from ..language.values import tensor, unwrap
from .names import all_statements, bindings, bodies, is_name, jumps, own_bindings
from .patterns import ABSENT, MismatchError, changing, is_object
from .scope import EXIT, NOT_FOUND, Binding, Missing, is_missing

_PREDICATES = {"slt": "2 : i64", "ult": "6 : i64"}


class Loop:
    """A loop that is being traced. `heads` are the values that its variables have at the start of an iteration, `reads`
    the names of those that were read.
    """

    def __init__(self, node, is_endless=False):
        self.node = node
        self.is_endless = is_endless  # only break and return end it
        self.heads = {}
        self.reads = set()


class _Counter:
    """The bounds of an scf.for, and what the loop's variable is for a value of its counter."""

    def __init__(self, type, low, high, step, index):
        self.type, self.low, self.high, self.step, self.index = type, low, high, step, index


class Carried:
    """What a loop hands from one iteration to the next: `patterns` by name, and the flattened `inits`."""

    def __init__(self):
        self.patterns = {}
        self.inits = []
        self.origins = {}  # the bindings from before the loop

    @property
    def types(self):
        """The types of all parts."""
        return [t for p in self.patterns.values() for t in p.types]


class Loops:
    """for over a range of run-time length, and while."""

    def visit_for(self, node, live):
        """Traces a for statement."""
        self.at(node)
        iterable = self.visit(node.iter)
        if isinstance(iterable, iterators.static_range) or not isinstance(iterable, iterators.range):
            self.unroll(node, iterable, live)
            return
        self._for_range(node, iterable, live)

    def _for_range(self, node, iterable, live):
        self.at(node.iter)
        bounds = [unwrap(b) for b in (iterable.start, iterable.end, iterable.step)]
        is_static = not any(isinstance(b, tensor) for b in bounds)
        trips = len(builtins.range(*bounds)) if is_static else None
        if trips == 0:
            self.run(node.orelse, live)
            return
        counter = self._counter(bounds)
        hints = self._hints(iterable, counter)
        carried = self._carry(node)
        before = self.path
        operands = [counter.low, counter.high, counter.step, *carried.inits]
        types = [t.ir for t in carried.types]
        op = self.builder.create("scf.for", [o.handle for o in operands], hints, types, regions=1)
        block = self.builder.append_block(op.region(0), [counter.type.ir, *types])
        loop = Loop(node)
        with self.region(block):
            self._enter(loop, carried, block.args[1:])
            self.at(node)
            self.assign(node.target, counter.index(tensor(block.args[0], counter.type)), node)
            self._iterate(node.body, loop)
        exits = _Exits(self, node, loop, carried, before, runs=trips is not None)
        after = exits.finish_for(op, block, operands, hints)
        self._leave(node, before, after, live)

    def _counter(self, bounds):
        """How to count through a range: upwards as it is, or by number where the step is or may be negative."""
        types = [v.dtype if isinstance(v, tensor) else literal_dtype(v) for v in bounds]
        type = types[0]
        for other in types[1:]:
            type = integer_type(type, other)
        step = bounds[2]
        is_up = step > 0 if not isinstance(step, tensor) else step.dtype.is_int_unsigned()
        if type.int_bitwidth < 32:
            type = int32
        if not is_up and type.is_int_unsigned():
            type = int64
        low, high, by = (cast_to(v, type) if isinstance(v, tensor) else constant(v, type) for v in bounds)
        if is_up:
            return _Counter(type, low, high, by, lambda index: index)
        one, none = constant(1, type), constant(0, type)
        if isinstance(step, tensor):
            sign = where(by > none, one, constant(-1, type))
            divisor = where(by == none, one, by)
            trips = where(by == none, none, (high - low + by - sign) // divisor)
        else:
            trips = (high - low + by + one) // by
        return _Counter(type, none, trips, one, lambda index: low + index * by)

    def _hints(self, iterable, counter):
        hints = {"unsignedCmp": "unit"} if counter.type.is_int_unsigned() else {}
        for name in ("num_stages", "loop_unroll_factor"):
            value = getattr(iterable, name, None)
            if value is not None:
                hints[f"tile.{name}"] = f"{int(value)} : i32"
        for name in ("disallow_acc_multi_buffer", "flatten", "warp_specialize", "disable_licm"):
            if getattr(iterable, name, False):
                hints[f"tile.{name}"] = "unit"
        return hints

    # What is carried.

    def reachable_bindings(self, statements, hidden=None):
        """The names that statements assign, without branches that compile-time conditions exclude."""
        hidden = bindings(statements) if hidden is None else hidden
        found = set()
        for statement in statements:
            found |= set(own_bindings(statement))
            if isinstance(statement, ast.If):
                is_known, value = self.probe(lambda s=statement: self._static_truth(s.test), hidden)
                if is_known:
                    found |= self.reachable_bindings(statement.body if value else statement.orelse, hidden)
                    continue
            for body in bodies(statement):
                found |= self.reachable_bindings(body, hidden)
            if isinstance(statement, (ast.Break, ast.Continue, ast.Return)):
                break
        return found

    def _static_truth(self, test):
        value = self.truth(self.visit(test), test)
        if isinstance(value, tensor):
            raise CompileError("not known at compile time")
        return value

    def _carry(self, node):
        """The variables from before the loop that it changes."""
        carried = Carried()
        names = self.reachable_bindings(node.body) | set(own_bindings(node))
        liveness = self.frame.liveness
        needed = liveness.head[id(node)] | liveness.after[id(node)] | liveness.always
        for name in sorted(names & needed):
            binding = self.path.names.get(name)
            if is_missing(binding):
                continue
            whole = not (is_object(binding.value) and self._only_advances(node, name))
            pattern = changing(binding.value, whole)
            carried.patterns[name] = pattern
            carried.origins[name] = binding
            carried.inits += pattern.flatten(binding.value)
            self.mark_read(self.frame, name, binding.value)
        return carried

    def _only_advances(self, node, name):
        """Whether all assignments to a name in a loop are `name = tl.advance(name, ...)` or `name.advance(...)`."""
        for statement in all_statements(node.body):
            if name not in own_bindings(statement):
                continue
            call = statement.value if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
            if not (isinstance(call, ast.Call) and is_name(statement.targets[0], name)):
                return False
            function = call.func
            called = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", None)
            moved = bool(call.args) and is_name(call.args[0], name)
            is_method = isinstance(function, ast.Attribute) and is_name(function.value, name)
            if called != "advance" or not (moved or is_method):
                return False
        return True

    def _enter(self, loop, carried, handles):
        """The path at the start of the body: carried variables are the arguments of its block."""
        path = self.path.copy()
        parts = iter([tensor(handle, type) for handle, type in zip(handles, carried.types)])
        for name, pattern in carried.patterns.items():
            value = pattern.build(parts)
            path.names[name] = Binding(value, carried.origins[name].node)
            loop.heads[name] = value
        path.alive = True
        path.flags = dict.fromkeys(path.flags, False)
        path.result = NOT_FOUND
        self.path = path

    def _iterate(self, body, loop):
        self.frame.loops.append(loop)
        try:
            liveness = self.frame.liveness
            self.run(body, liveness.head[id(loop.node)] | liveness.after[id(loop.node)])
        finally:
            self.frame.loops.pop()

    # while

    def visit_while(self, node, live):
        """Traces a while statement."""
        hidden = self.reachable_bindings(node.body) | set(own_bindings(node))
        is_static, value = self.probe(lambda: self._static_truth(node.test), hidden)
        if is_static and not value:
            self.run(node.orelse, live)
            return
        # Guarded tests are for loops that end in another way too; the others have their test where scf.while wants it.
        if is_static or jumps(node.body) & {"break", "return"}:
            self._while_with_jumps(node, live, is_static)
        else:
            self._plain_while(node, live)

    def _plain_while(self, node, live):
        carried = self._carry(node)
        before = self.path
        self.at(node)
        types = [t.ir for t in carried.types]
        op = self.builder.create("scf.while", [i.handle for i in carried.inits], {}, types, regions=2)
        loop = Loop(node)
        block = self.builder.append_block(op.region(0), types)
        with self.region(block):
            self._enter(loop, carried, block.args)
            self.frame.loops.append(loop)
            value = self.visit(node.test)
            self._while_hints(op, value)
            test = self.flag(self.truth(value, node.test, "the condition of while"))
            self.frame.loops.pop()
            parts = self.latch(loop, carried, {})
            self.at(node)
            self.builder.create("scf.condition", [test.handle, *(p.handle for p in parts)], {}, [])
        first_reads = set(loop.reads)
        self.path = before
        block = self.builder.append_block(op.region(1), types)
        with self.region(block):
            self._enter(loop, carried, block.args)
            loop.reads |= first_reads
            self._iterate(node.body, loop)
        exits = _Exits(self, node, loop, carried, before, runs=False)
        after = exits.finish_plain(op, block)
        self._leave(node, before, after, live)

    def _while_hints(self, op, value):
        if isinstance(value, iterators.condition) and value.disable_licm:
            op.set_attr("tile.disable_licm", "unit")

    def _while_with_jumps(self, node, live, is_endless):
        carried = self._carry(node)
        before = self.path
        self.at(node)
        types = [t.ir for t in carried.types]
        op = self.builder.create("scf.while", [i.handle for i in carried.inits], {}, types, regions=2)
        block = self.builder.append_block(op.region(1), types)
        loop = Loop(node, is_endless)

        def stop():
            self.path.alive = False
            self.path.flags["finished"] = True

        with self.region(block):
            self._enter(loop, carried, block.args)
            if is_endless:
                self._iterate(node.body, loop)
            else:
                self.frame.loops.append(loop)
                value = self.visit(node.test)
                self._while_hints(op, value)
                test = self.flag(self.truth(value, node.test, "the condition of while"))
                head = self.frame.liveness.head[id(node)]
                self.fork(test, (lambda: self.run(node.body, head), stop), node, head)
                self.frame.loops.pop()
        exits = _Exits(self, node, loop, carried, before, runs=True)
        after = exits.finish_while(op, block, is_endless)
        self._leave(node, before, after, live)

    # The ends of a loop.

    def latch(self, loop, carried, conflicts):
        """The carried values at the end of an iteration, flattened. Names whose type changed but that no iteration
        read go to `conflicts`, with the error of reading them after the loop.
        """
        parts = []
        for name, pattern in carried.patterns.items():
            binding = self.path.names.get(name)
            error = self._latch_error(loop, carried, name, binding)
            if error is None:
                try:
                    parts += pattern.flatten(binding.value)
                    continue
                except MismatchError as mismatch:
                    error = self._type_error(name, mismatch, carried, binding, loop)
            if name in loop.reads:
                raise self.error(error.node or loop.node, error.message, error.notes)
            conflicts[name] = error
            parts += pattern.flatten(loop.heads[name])
        return parts

    def _latch_error(self, loop, carried, name, binding):
        if is_missing(binding):
            return binding.value if binding is not None else Missing(f"'{name}' is deleted in the loop", loop.node)
        return binding.guard

    def _type_error(self, name, mismatch, carried, binding, loop):
        origin = carried.origins[name]
        where = f" ({self.place(origin.node, file=False)})" if origin.node is not None else ""
        return Missing(
            f"'{name}' is {mismatch.first} before the loop{where} but becomes {mismatch.second} here; a variable keeps "
            "its type in a loop, so start with a value of the right type, or cast"
            + (f" ({mismatch.hint})" if mismatch.hint else ""),
            binding.node,
            (f"{self.place(loop.node)}: the loop",),
        )

    def _leave(self, node, before, after, live):
        """Goes on behind a loop: the else clause where it ended without break, then what follows."""
        broken = after.flags["broken"]
        after.flags = {**before.flags, "returned": after.flags["returned"]}
        self.path = after
        if not node.orelse or after.alive is False:
            return
        stays = self.negated(broken)
        if not isinstance(stays, tensor):
            if stays:
                self.run(node.orelse, live)
            return
        test = self.both(after.alive, stays)
        arms = (lambda: (self.revive(), self.run(node.orelse, live)), lambda: None)
        self.fork(test, arms, node, live)


class _Exits:
    """Closes a loop whose body was traced: what it carries beside its variables, and the path behind it."""

    def __init__(self, tracer, node, loop, carried, before, runs):
        self.tracer, self.node, self.loop = tracer, node, loop
        self.carried, self.before = carried, before
        self.runs = runs  # whether the body runs once at least
        self.end = tracer.path
        self.conflicts = {}
        self.late = {}  # values first bound in the body: name -> (pattern, binding)
        self.missing = {}
        self.result = None
        self.extra_inits = []
        tracer.path = before
        self._find_late()

    def _find_late(self):
        """Values that the body is the first to bind and that are read behind the loop."""
        liveness = self.tracer.frame.liveness
        wanted = liveness.after[id(self.node)] | liveness.always
        for name in sorted(wanted):
            if name in self.carried.patterns:
                continue
            binding = self.end.names.get(EXIT + name) if self.loop.is_endless else self.end.names.get(name)
            old = self.before.names.get(name)
            if binding is old or binding is None:
                continue
            if is_missing(binding):
                self.missing[name] = binding
            elif binding.guard is not None:
                self.missing[name] = Binding(binding.guard, binding.node)
            elif not self.runs:
                self.missing[name] = Binding(self._may_not_run(name, binding), binding.node)
            else:
                self.late[name] = (changing(binding.value, numbers=False), binding)

    def _may_not_run(self, name, binding):
        place = self.tracer.place
        return Missing(
            f"'{name}' may have no value here: it is assigned in the loop at {place(self.node, file=False)} only "
            f"({place(binding.node, file=False)}), which may not run at all; assign it before the loop"
        )

    def _latch(self):
        """The values for the next iteration, in the body's block."""
        tracer = self.tracer
        tracer.path = self.end
        parts = tracer.latch(self.loop, self.carried, self.conflicts)
        for pattern, binding in self.late.values():
            parts += pattern.flatten(binding.value)
        if self.result is not None:
            parts += self.result.flatten(self.end.result.value)
        tracer.path = self.before
        return parts

    def _prepare_extra(self):
        """Values to start with, in front of the loop, for all that the body hands out beside its variables."""
        for pattern, _ in self.late.values():
            self.extra_inits += pattern.flatten(ABSENT)
        if self.end.result is not NOT_FOUND:
            self.result = changing(self.end.result.value, numbers=False)
            self.extra_inits += self.result.flatten(ABSENT)

    def _extra_types(self):
        types = [t for pattern, _ in self.late.values() for t in pattern.types]
        return types + list(self.result.types if self.result is not None else ())

    def _path(self, parts):
        """The path behind the loop, from the parts that it hands out in the order of _latch."""
        after = self.before.copy()
        for name, pattern in self.carried.patterns.items():
            value = pattern.build(parts)
            end = self.end.names.get(name)
            after.names[name] = Binding(value, end.node if end is not None else self.node)
        for name, (pattern, binding) in self.late.items():
            after.names[name] = Binding(pattern.build(parts), binding.node)
        for name, error in self.conflicts.items():
            after.names[name] = Binding(error, error.node)
        after.names.update(self.missing)
        after.flags = dict.fromkeys(after.flags, False)
        if self.result is not None:
            after.result = Binding(self.result.build(parts), self.end.result.node)
        return after

    def _results(self, op, types):
        return iter([tensor(handle, type) for handle, type in zip(op.results, types)])

    def _yield(self, block, parts):
        tracer = self.tracer
        with tracer.region(block):
            tracer.at(self.node)
            tracer.builder.create("scf.yield", [p.handle for p in parts], {}, [])

    def finish_for(self, op, block, operands, hints):
        """Closes the scf.for of a loop over a range."""
        flags = self._flags()
        self._prepare_extra()
        with self.tracer.region(block):
            parts = self._latch()
        types = self.carried.types + self._extra_types()
        if flags:
            return self._for_as_while(op, block, operands, hints, parts, flags)
        self._yield(block, parts)
        if self.extra_inits:
            draft = op
            handles = [o.handle for o in (*operands, *self.extra_inits)]
            op = self.tracer.builder.create("scf.for", handles, hints, [t.ir for t in types], regions=1)
            op.region(0).take_body(draft.region(0))
            for type in self._extra_types():
                block.add_arg(type.ir)
            draft.erase()
        return self._path(self._results(op, types))

    def finish_plain(self, op, block):
        """Closes an scf.while without break or return."""
        with self.tracer.region(block):
            parts = self._latch()
        self._yield(block, parts)
        return self._path(self._results(op, self.carried.types))

    def finish_while(self, draft, block, is_endless):
        """Closes a while loop that also ends by break or return."""
        flags = self._flags()
        self._prepare_extra()
        with self.tracer.region(block):
            parts = self._latch()
        inits = [*self.carried.inits, *self.extra_inits]
        after = self._emit_while(draft, draft.region(1), block, inits, parts, flags, {}, None)
        if is_endless and self.end.flags["broken"] is False:
            after.alive = False
            after.flags["returned"] = self.end.flags["returned"] is not False
        return after

    def _for_as_while(self, draft, block, operands, hints, parts, flags):
        """The scf.while of a loop over a range that also ends by break or return: it carries the index too."""
        low, high, step, *_ = operands
        tracer = self.tracer
        hints = {k: v for k, v in hints.items() if k.startswith("tile.")}
        with tracer.region(block):
            index = tensor(block.args[0], low.dtype)
            parts = [tensor(tracer.builder.create("arith.addi", [index.handle, step.handle]).result, low.dtype), *parts]
        inits = [low, *self.carried.inits, *self.extra_inits]
        return self._emit_while(draft, draft.region(0), block, inits, parts, flags, hints, high)

    def _flags(self):
        """The flags that the body sets, by name."""
        return {k: v for k, v in self.end.flags.items() if v is not False}

    def _emit_while(self, draft, body, block, inits, parts, flags, hints, high):
        """Builds the loop around the traced `body`; with `high` the first part is an index to be compared with it."""
        tracer, builder = self.tracer, self.tracer.builder
        tracer.at(self.node)
        start = [constant(False, int1) for _ in flags]
        inits = [*inits, *start]
        types = [i.type for i in inits]
        texts = [t.ir for t in types]
        op = builder.create("scf.while", [i.handle for i in inits], hints, texts, regions=2)
        test = builder.append_block(op.region(0), texts)
        with tracer.region(test):
            stopped = False
            for handle in test.args[len(types) - len(flags) :] if flags else ():
                stopped = tracer.either(stopped, tensor(handle, int1))
            goes_on = tracer.negated(stopped)
            if high is not None:
                goes_on = tracer.both(goes_on, self._less(tensor(test.args[0], high.dtype), high))
            goes_on = tracer.flag(goes_on)
            builder.create("scf.condition", [goes_on.handle, *test.args], {}, [])
        op.region(1).take_body(body)
        for type in texts[len(block.args) :]:
            block.add_arg(type)
        with tracer.region(block):
            ends = [tracer.flag(v) for v in flags.values()]
        self._yield(block, [*parts, *ends])
        draft.erase()
        results = [tensor(handle, type) for handle, type in zip(op.results, types)]
        after = self._path(iter(results[1:] if high is not None else results))
        for name, value in zip(flags, results[len(results) - len(flags) :] if flags else ()):
            after.flags[name] = value
        after.alive = tracer.negated(after.flags["returned"])
        return after

    def _less(self, index, high):
        predicate = _PREDICATES["ult" if high.dtype.is_int_unsigned() else "slt"]
        op = self.tracer.builder.create("arith.cmpi", [index.handle, high.handle], {"predicate": predicate})
        return tensor(op.result, int1)
