# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""By which names a function refers to what is not its own: from the syntax of a jit function, from the bytecode of one
that Python runs.

A reference is a chain of names, ("a",) or ("a", "b", "c") for a.b.c, as long as the text makes it.
"""

import ast
import dis
import types

from ..language.values import key_text
from .names import bindings


def of_syntax(source):
    """The chains of names in a Source that are not bound in it, sorted."""
    if "references" not in source.facts:
        node = source.node
        arguments = node.args
        own = {a.arg for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]}
        own |= {a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None} | bindings(node.body)
        chains = {c for statement in node.body for c in _chains(statement) if c[0] not in own}
        source.facts["references"] = sorted(chains)
    return source.facts["references"]


def _chains(statement):
    """The longest chains in a statement."""
    todo = [statement]
    while todo:
        node = todo.pop()
        names = []
        while isinstance(node, ast.Attribute):
            names.append(node.attr)
            node = node.value
        if isinstance(node, ast.Name):
            yield (node.id, *reversed(names))
            continue
        todo.extend(ast.iter_child_nodes(node))
        if isinstance(node, ast.Call) and _is_by_name(node):
            yield from ((*chain, node.args[1].value) for chain in _chains(node.args[0]))


def _is_by_name(call):
    """Whether a call is getattr(a, "b") or hasattr(a, "b")."""
    is_known = isinstance(call.func, ast.Name) and call.func.id in ("getattr", "hasattr") and len(call.args) > 1
    return is_known and isinstance(call.args[1], ast.Constant) and isinstance(call.args[1].value, str)


_GLOBAL = ("LOAD_GLOBAL", "LOAD_NAME")
_CELL = ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF")
_MEMBER = ("LOAD_ATTR", "LOAD_METHOD")


def of_code(code):
    """(chains, imported modules) of a code object and of those nested in it, each sorted."""
    chains, imported = set(), set()
    todo = [code]
    while todo:
        current = todo.pop()
        todo += [c for c in current.co_consts if isinstance(c, types.CodeType)]
        own = set() if current is code else set(current.co_cellvars)
        chain = ()
        for instruction in dis.get_instructions(current):
            name = instruction.opname
            if chain and name in _MEMBER:
                chain = (*chain, instruction.argval)
                continue
            if name == "EXTENDED_ARG":
                continue
            chains.add(chain)
            chain = ()
            if name in _GLOBAL or (name in _CELL and instruction.argval not in own):
                chain = (instruction.argval,)
            elif name == "IMPORT_NAME":
                imported.add(instruction.argval)
        chains.add(chain)
    return sorted(chains - {()}), sorted(imported)


def code_text(code):
    """Text that is equal for code that does the same, wherever it stands in a file."""
    parts = [code.co_name, code.co_code.hex(), code.co_exceptiontable.hex(), str(code.co_flags)]
    parts += [str(n) for n in (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)]
    parts += [",".join(n) for n in (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)]
    return f"code({';'.join([*parts, *map(_constant_text, code.co_consts)])})"


def _constant_text(value):
    """Text of a constant of a code object."""
    if isinstance(value, types.CodeType):
        return code_text(value)
    if isinstance(value, tuple):
        return f"({','.join(map(_constant_text, value))})"
    if isinstance(value, frozenset):
        return f"{{{','.join(sorted(map(_constant_text, value)))}}}"
    return key_text(value)


# Built-in functions that see more than their arguments, or give another value in another process.
WORLDLY = {open, input, eval, exec, compile, globals, locals, __import__, id, hash, breakpoint}
