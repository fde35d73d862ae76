# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops that run on the target: `for` over a range, and `while`.

The body is traced once, in the block of an scf.for or scf.while that carries the variables which the body assigns and
somebody reads later. If the body can break or return, the loop becomes an scf.while that also carries flags; what the
body leaves behind on each way (values first bound in it, a returned value) is carried as well.
"""

from ..language import iterators
from ..language.cast import cast_to
from ..language.comparison import where
from ..language.dtypes import int1, int32, int64, uint32, uint64
from ..language.promotion import constant, integer_type, literal_dtype
from ..language.values import tensor, unwrap
from .carrying import Carrying, Loop
from .exits import Exits
from .names import jumps, own_bindings
from .patterns import changing
from .scope import EXIT, Binding, is_missing


class _Counter:
    """The bounds of an scf.for, and what the loop's variable is for a value of its counter."""

    def __init__(self, type, low, high, step, index):
        self.type, self.low, self.high, self.step, self.index = type, low, high, step, index


class Loops(Carrying):
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
        trips = iterators.length(*bounds) if is_static else None
        if trips == 0:
            self.run(node.orelse, live)
            return
        counter = self._counter(bounds)
        hints = self._hints(iterable, counter)
        carried = self.carry(node)
        before = self.path
        operands = [counter.low, counter.high, counter.step, *carried.inits]
        types = [t.ir for t in carried.types]
        op = self.builder.create("scf.for", [o.handle for o in operands], hints, types, regions=1)
        block = self.builder.append_block(op.region(0), [counter.type.ir, *types])
        loop = Loop(node)
        with self.region(block):
            self.enter_body(loop, carried, block.args[1:])
            self.at(node)
            self.assign(node.target, counter.index(tensor(block.args[0], counter.type)), node)
            self._iterate(node.body, loop)
        exits = Exits(self, node, loop, carried, before, runs=trips is not None)
        after = exits.finish_for(op, block, operands, hints)
        self._leave(node, loop, before, after, live)

    def _counter(self, bounds):
        """How to count through a range. No counter passes the end of its type: an upward loop counts as it is written
        where its last sum is known to fit, in 64 bits where the bounds have 32; any other one counts its iterations,
        up to their number. The distance of the bounds fits as well: passes compute it from constants.
        """
        types = [v.dtype if isinstance(v, tensor) else literal_dtype(v) for v in bounds]
        type = types[0]
        for other in types[1:]:
            type = integer_type(type, other)
        low, high, step = bounds
        is_up = not isinstance(step, tensor) and step > 0
        if type.int_bitwidth < 32:
            type = int32
        if type == uint32 and not is_up:
            type = int64
        least, most = type.get_int_min_value(), type.get_int_max_value()
        first, last = (least if isinstance(low, tensor) else low), (most if isinstance(high, tensor) else high)
        fits = is_up and last + step - 1 <= most and last - first <= most
        if not is_up or (type.int_bitwidth == 64 and not fits):
            return self._by_number(bounds, type)
        # Counted in 64 bits, an unsigned 32-bit range needs no unsigned comparison.
        counted = type if fits and type != uint32 else int64
        low, high, by = (self._bits(v, counted) for v in bounds)
        return _Counter(counted, low, high, by, lambda index: cast_to(index, type))

    def _by_number(self, bounds, type):
        """Counts the iterations. Their number, (distance - 1) // |step| + 1, fits the unsigned type as the distance of
        two bounds does.
        """
        count = uint64 if type.int_bitwidth == 64 else uint32
        low, high, step = bounds
        low_bits, high_bits, by = (self._bits(v, count) for v in bounds)
        one, none = constant(1, count), constant(0, count)
        if isinstance(step, tensor):
            is_down = self._is_negative(step)
            runs = where(is_down, self._less(high, low, type), self._less(low, high, type))
            runs = runs & (by != none)
            distance = where(is_down, low_bits - high_bits, high_bits - low_bits)
            size = where(is_down, none - by, where(by == none, one, by))
        else:
            ends = (low, high) if step > 0 else (high, low)
            runs = self._less(*ends, type)
            distance = high_bits - low_bits if step > 0 else low_bits - high_bits
            size = constant(abs(step), count)
        trips = where(runs, (distance - one) // size + one, none)
        return _Counter(count, none, trips, one, lambda index: cast_to(low_bits + index * by, type))

    def _bits(self, value, type):
        """A bound in `type`, modulo its size."""
        if isinstance(value, tensor):
            return cast_to(value, type)
        low, size = type.get_int_min_value(), 1 << type.int_bitwidth
        return constant((value - low) % size + low, type)

    def _is_negative(self, value):
        """Whether a bound is below zero, a run-time truth."""
        if isinstance(value, tensor) and not value.dtype.is_int_unsigned():
            return value < constant(0, value.dtype)
        return constant(not isinstance(value, tensor) and value < 0, int1)

    def _less(self, a, b, type):
        """Whether bound `a` is below bound `b` as numbers, also where the type of the range cannot hold both."""
        less = self._bits(a, type) < self._bits(b, type)
        if type != uint64:
            return less
        a_negative, b_negative = self._is_negative(a), self._is_negative(b)
        return where(a_negative == b_negative, less, a_negative)

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

    def visit_while(self, node, live):
        """Traces a while statement."""
        hidden = self.loop_bindings(node)
        is_static, value = self.probe(lambda: self.static_truth(node.test), hidden)
        if is_static and not value:
            self.run(node.orelse, live)
            return
        # Guarded tests are for loops that end in another way too; the others have their test where scf.while wants it.
        if is_static or jumps(node.body) & {"break", "return"}:
            self._while_with_jumps(node, live, is_static)
        else:
            self._plain_while(node, live)

    def _plain_while(self, node, live):
        carried = self.carry(node)
        before = self.path
        self.at(node)
        types = [t.ir for t in carried.types]
        handles = [i.handle for i in carried.inits]
        op = self.builder.create("scf.while", handles, {}, types, regions=2)
        loop = Loop(node)
        block = self.builder.append_block(op.region(0), types)
        with self.region(block):
            self.enter_body(loop, carried, block.args)
            value, named = self._test(node, loop, carried)
        extra = [t for pattern, _ in named.values() for t in pattern.types]
        if extra:
            draft, op = op, self.builder.create("scf.while", handles, {}, [*types, *(t.ir for t in extra)], regions=2)
            op.region(0).take_body(draft.region(0))
            draft.erase()
        self._while_hints(op, value)
        first_reads = set(loop.reads)
        self.path = before
        block = self.builder.append_block(op.region(1), [*types, *(t.ir for t in extra)])
        with self.region(block):
            self.enter_body(loop, carried, block.args)
            loop.reads |= first_reads
            self._bind_named(named, [tensor(h, t) for h, t in zip(block.args[len(types) :], extra)])
            self._iterate(node.body, loop)
        exits = Exits(self, node, loop, carried, before, runs=False)
        after = exits.finish_plain(op, block)
        self.path = after
        self._bind_named(named, [tensor(h, t) for h, t in zip(op.results[len(types) :], extra)])
        self._leave(node, loop, before, after, live)

    def _test(self, node, loop, carried):
        """Traces the condition of a plain while in its block. Gives its value and, by name, the pattern and binding of
        what `:=` is the first to bind in it.
        """
        self.frame.loops.append(loop)
        value = self.tested(node.test)
        test = self.flag(self.truth(value, node.test))
        self.frame.loops.pop()
        parts = self.latch(loop, carried, {})
        named = {}
        for name in sorted(set(own_bindings(node)) - set(carried.patterns)):
            binding = self.path.names.get(name)
            if not is_missing(binding) and binding.guard is None:
                named[name] = changing(binding.value, numbers=False), binding
                parts += named[name][0].flatten(binding.value)
        self.at(node)
        self.builder.create("scf.condition", [test.handle, *(p.handle for p in parts)], {}, [])
        return value, named

    def _bind_named(self, named, values):
        parts = iter(values)
        for name, (pattern, binding) in named.items():
            self.path.names[name] = Binding(pattern.build(parts), binding.node)

    def _while_hints(self, op, value):
        if isinstance(value, iterators.condition) and value.disable_licm:
            op.set_attr("tile.disable_licm", "unit")

    def _while_with_jumps(self, node, live, is_endless):
        carried = self.carry(node)
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
            self.enter_body(loop, carried, block.args)
            if is_endless:
                self._iterate(node.body, loop)
            else:
                self.frame.loops.append(loop)
                value = self.tested(node.test)
                self._while_hints(op, value)
                test = self.flag(self.truth(value, node.test))
                head = self.frame.liveness.head[id(node)]
                self.fork(test, (lambda: self.run(node.body, head), stop), node, head)
                self.frame.loops.pop()
        exits = Exits(self, node, loop, carried, before, runs=True)
        after = exits.finish_while(op, block, is_endless)
        self._leave(node, loop, before, after, live)

    def _leave(self, node, loop, before, after, live):
        """Goes on behind a loop."""
        broken = after.flags["broken"]
        after.flags = {**before.flags, "returned": after.flags["returned"]}
        self.path = after
        self.else_clause(node, loop, broken, live)

    def else_clause(self, node, loop, broken, live):
        """Traces the else clause of a loop where it ended without break."""
        names = self.path.names
        exits = dict(loop.exits)
        exits.update({key[len(EXIT) :]: names.pop(key) for key in list(names) if key.startswith(EXIT)})
        if not node.orelse or self.path.alive is False:
            return
        stays = self.negated(broken)
        if not isinstance(stays, tensor):
            if stays:
                self.run(node.orelse, live)
            else:
                names.update(exits)
            return

        def ended():
            self.revive()
            self.run(node.orelse, live)

        self.fork(self.both(self.path.alive, stays), (ended, lambda: self.path.names.update(exits)), node, live)
