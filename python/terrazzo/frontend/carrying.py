# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a loop carries from one iteration to the next: the variables that its body assigns and somebody reads later."""

import ast

from ..errors import CompileError
from ..language.values import tensor
from .names import all_statements, bindings, bodies, is_name, own_bindings
from .patterns import MismatchError, changing, is_object
from .scope import NOT_FOUND, Binding, Missing, is_missing


class Loop:
    """A loop that is being traced. `heads` are the values that its variables have at the start of an iteration, `reads`
    the names of those that were read.
    """

    def __init__(self, node, is_endless=False):
        self.node = node
        self.is_endless = is_endless  # only break and return end it
        self.before = {}  # the bindings in front of it
        self.exits = {}  # bindings that names have if a break ended it
        self.heads = {}
        self.reads = set()


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


class Carrying:
    """The variables of loops."""

    def loop_bindings(self, node):
        """The names that a loop assigns in the code that compile-time conditions do not exclude."""
        own = set(own_bindings(node))
        return own | self._reachable(node.body, own | bindings(node.body))

    def _reachable(self, statements, hidden):
        """The names that statements assign; conditions on names in `hidden`, which the loop changes, are unknown."""
        found = set()
        for statement in statements:
            found |= set(own_bindings(statement))
            if isinstance(statement, ast.If):
                is_known, value = self.probe(lambda s=statement: self.static_truth(s.test), hidden)
                if is_known:
                    found |= self._reachable(statement.body if value else statement.orelse, hidden)
                    continue
            for body in bodies(statement):
                found |= self._reachable(body, hidden)
            if isinstance(statement, (ast.Break, ast.Continue, ast.Return)):
                break
        return found

    def static_truth(self, test):
        """Whether a condition holds, where that is known at compile time; an error where it is not."""
        value = self.condition(test)
        if isinstance(value, tensor):
            raise CompileError("not known at compile time")
        return value

    def carry(self, node):
        """The variables from before the loop that it changes."""
        carried = Carried()
        names = self.loop_bindings(node)
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

    def enter_body(self, loop, carried, handles):
        """The path at the start of the body: carried variables are the arguments of its block."""
        loop.before = self.path.names
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
            f"variable '{name}' has type {mismatch.first} before the loop{where} but becomes {mismatch.second} here; "
            "it keeps its type in a loop, so start with a value of the right type, or cast"
            + (f" ({mismatch.hint})" if mismatch.hint else ""),
            binding.node,
            (f"{self.place(loop.node)}: the loop",),
        )
