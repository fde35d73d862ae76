# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The end of a loop whose body was traced: what it hands out beside its variables, its final operation, and the path
behind it.
"""

from ..language.builder import enum_attributes
from ..language.dtypes import int1
from ..language.promotion import constant
from ..language.values import tensor
from .names import bindings, own_bindings
from .patterns import ABSENT, changing
from .scope import EXIT, NOT_FOUND, Binding, Missing, is_missing


class Exits:
    """Closes a loop whose body was traced: what it carries beside its variables, and the path behind it."""

    def __init__(self, tracer, node, loop, carried, before, runs):
        self.tracer, self.node, self.loop = tracer, node, loop
        self.carried, self.before = carried, before
        self.runs = runs  # whether the body runs once at least
        self.end = tracer.path
        self.conflicts = {}
        self.late = {}  # values first bound in the body: name -> (pattern, binding)
        self.at_break = {}  # the same of values at a break, where an else clause tells the ways out apart
        self.missing = {}
        self.result = None
        self.extra_inits = []
        tracer.path = before
        self._find_late()
        if node.orelse and not loop.is_endless:
            self._find_at_break()

    def _find_late(self):
        """Values that the body is the first to bind and that are read behind the loop."""
        liveness = self.tracer.frame.liveness
        wanted = liveness.after[id(self.node)] | liveness.always
        for name in sorted(wanted & (bindings(self.node.body) | set(own_bindings(self.node)))):
            if name in self.carried.patterns:
                continue
            binding = self.end.names.get(EXIT + name) if self.loop.is_endless else self.end.names.get(name)
            if binding is None or not is_missing(self.before.names.get(name)):
                continue
            if is_missing(binding):
                self.missing[name] = binding
            elif binding.guard is not None:
                self.missing[name] = Binding(binding.guard, binding.node)
            elif not self.runs:
                self.missing[name] = Binding(self._may_not_run(name, binding), binding.node)
            else:
                self.late[name] = (changing(binding.value, numbers=False), binding)

    def _find_at_break(self):
        for key in sorted(k for k in self.end.names if k.startswith(EXIT)):
            binding = self.end.names[key]
            if is_missing(binding):
                self.loop.exits[key[len(EXIT) :]] = binding
            else:
                self.at_break[key[len(EXIT) :]] = (changing(binding.value, numbers=False), binding)

    def _may_not_run(self, name, binding):
        place = self.tracer.place
        if name in own_bindings(self.node):
            what = f"it is the variable of a loop that may not have run ({place(self.node, file=False)})"
        else:
            what = (
                f"it is first assigned inside a loop that may not have run ({place(binding.node, file=False)}, in the "
                f"loop at {place(self.node, file=False)})"
            )
        return Missing(f"variable '{name}' may have no value here: {what}; assign it before the loop")

    def _latch(self):
        """The values for the next iteration, in the body's block."""
        tracer = self.tracer
        tracer.path = self.end
        parts = tracer.latch(self.loop, self.carried, self.conflicts)
        for pattern, binding in (*self.late.values(), *self.at_break.values()):
            parts += pattern.flatten(binding.value)
        if self.result is not None:
            parts += self.result.flatten(self.end.result.value)
        tracer.path = self.before
        return parts

    def _prepare_extra(self):
        """Values to start with, in front of the loop, for all that the body hands out beside its variables."""
        for pattern, _ in (*self.late.values(), *self.at_break.values()):
            self.extra_inits += pattern.flatten(ABSENT)
        if self.end.result is not NOT_FOUND:
            self.result = changing(self.end.result.value, numbers=False)
            self.extra_inits += self.result.flatten(ABSENT)

    def _extra_types(self):
        types = [t for pattern, _ in (*self.late.values(), *self.at_break.values()) for t in pattern.types]
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
        for name, (pattern, binding) in self.at_break.items():
            self.loop.exits[name] = Binding(pattern.build(parts), binding.node)
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
        predicate = enum_attributes("arith.CmpIPredicate")["ult" if high.dtype.is_int_unsigned() else "slt"]
        op = self.tracer.builder.create("arith.cmpi", [index.handle, high.handle], {"predicate": predicate})
        return tensor(op.result, int1)
