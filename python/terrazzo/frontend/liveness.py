# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which names may be read later, by a backward walk over a function's syntax tree.

A loop has to carry a variable only if it is read in a later iteration or after the loop; a temporary that the next
loop uses again, perhaps with another type, is not. The analysis knows nothing of compile-time conditions, so it errs
towards alive.
"""

import ast

from .names import captured, element_base, own_bindings, reads, statement_expressions


class Liveness:
    """`after[id(statement)]`: names that may be read after an if, for, while or with statement. `head[id(loop)]`: at
    the start of an iteration, before the loop's own variable is assigned. `always`: names that nested functions read.
    """

    def __init__(self, function):
        self.after = {}
        self.head = {}
        self.always = frozenset(captured(function))
        if isinstance(function, ast.Lambda):
            return
        self._block(function.body, self.always, None, None)

    def _block(self, statements, live, on_break, on_continue):
        """The names alive before statements, given those after them and at the targets of break and continue."""
        for statement in reversed(statements):
            live = self._statement(statement, live, on_break, on_continue)
        return live

    def _statement(self, node, live, on_break, on_continue):
        if isinstance(node, ast.If):
            self.after[id(node)] = live
            body = self._block(node.body, live, on_break, on_continue)
            orelse = self._block(node.orelse, live, on_break, on_continue)
            return body | orelse | reads(node.test)
        if isinstance(node, (ast.For, ast.While)):
            return self._loop(node, live, on_break, on_continue)
        if isinstance(node, ast.With):
            inside = self._block(node.body, live, on_break, on_continue)
            return (inside - set(own_bindings(node))) | self._reads_of(node)
        if isinstance(node, ast.Break):
            return live if on_break is None else on_break
        if isinstance(node, ast.Continue):
            return live if on_continue is None else on_continue
        if isinstance(node, (ast.Return, ast.Raise)):
            return self.always | self._reads_of(node)
        return (live - self._kills(node)) | self._reads_of(node)

    def _loop(self, node, live, on_break, on_continue):
        self.after[id(node)] = live
        done = self._block(node.orelse, live, on_break, on_continue)
        is_for = isinstance(node, ast.For)
        target = set(own_bindings(node)) if is_for else set()
        test = frozenset() if is_for else reads(node.test)
        head = done | test
        while True:
            body = self._block(node.body, head, live, head)
            wider = head | (body - target)
            if wider == head:
                break
            head = wider
        self.head[id(node)] = head
        return head | (reads(node.iter) if is_for else frozenset())

    def _reads_of(self, node):
        found = set()
        for expression in statement_expressions(node):
            found |= reads(expression)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
        for target in getattr(node, "targets", [getattr(node, "target", None)]):
            base = element_base(target)
            if isinstance(target, ast.Subscript) and base is not None:
                found.add(base)
        return found

    @staticmethod
    def _kills(node):
        """Names whose value from before a statement cannot be read after it."""
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            return {node.name}
        targets = getattr(node, "targets", [getattr(node, "target", None)])
        names = set()
        for target in targets:
            for element in ast.walk(target) if target is not None else ():
                if isinstance(element, ast.Name) and isinstance(element.ctx, (ast.Store, ast.Del)):
                    names.add(element.id)
        if isinstance(node, ast.AnnAssign) and node.value is None:
            return set()
        return names
