# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The text of a Python function and where it stands, also of one made in a REPL, a notebook cell or by exec."""

import ast
import functools
import inspect
import linecache
import sys
import textwrap
from dataclasses import dataclass

from ..errors import CompileError


@dataclass(frozen=True)
class Source:
    """A function's text from `def` on, its syntax tree, and the place of its first line in the file.

    Lines of the tree count from 1; `line(node)` and `column(node)` are those of the user's file.
    """

    text: str
    tree: ast.FunctionDef
    file: str
    first_line: int
    indent: int
    lines: tuple

    def line(self, node):
        """The line of a node in the file."""
        return self.first_line + getattr(node, "lineno", 1) - 1

    def column(self, node):
        """The column of a node in the file, from 0."""
        return self.indent + getattr(node, "col_offset", 0)

    def line_text(self, node):
        """The text of the line that a node starts on, as it stands in the file."""
        number = getattr(node, "lineno", 1) - 1
        return " " * self.indent + self.lines[number] if number < len(self.lines) else ""


def _from_strings_of_callers(fn):
    """The text that `exec` was given for this function: a string of some frame whose code is equal."""
    code = fn.__code__
    frame = sys._getframe(1)
    tried = set()
    while frame is not None:
        places = [*frame.f_locals.values(), *frame.f_globals.values(), *frame.f_code.co_consts]
        for text in places:
            if not isinstance(text, str) or f"def {code.co_name}" not in text or id(text) in tried:
                continue
            tried.add(id(text))
            try:
                module = compile(text, code.co_filename, "exec", dont_inherit=True)
            except (SyntaxError, ValueError):
                continue
            pending = [module]
            while pending:
                for constant in pending.pop().co_consts:
                    if isinstance(constant, type(code)):
                        if constant == code:
                            return text
                        pending.append(constant)
        frame = frame.f_back
    return None


_exec_texts = {}


def remember(fn):
    """Looks for the text of a function right when it is made: the frames that `exec` ran in are still there."""
    if fn.__code__ not in _exec_texts and not linecache.getlines(fn.__code__.co_filename):
        _exec_texts[fn.__code__] = _from_strings_of_callers(fn)


def _block_of(fn):
    """The lines of the function and the number of the first one."""
    code = fn.__code__
    text = _exec_texts.get(code)
    if text is None:
        try:
            lines, first = inspect.getsourcelines(fn)
            return lines, first
        except (OSError, TypeError):
            text = _from_strings_of_callers(fn)
    if text is None:
        raise CompileError(
            f"the source of '{fn.__name__}' ({code.co_filename}) cannot be found; define the kernel in a file or a "
            "notebook cell, or keep the text given to exec in a variable"
        )
    lines = text.splitlines(keepends=True)
    return inspect.getblock(lines[code.co_firstlineno - 1 :]), code.co_firstlineno


@functools.lru_cache(maxsize=512)
def _parse(fn):
    lines, first = _block_of(fn)
    text = textwrap.dedent("".join(lines))
    indent = len(lines[0]) - len(lines[0].lstrip())
    try:
        tree = ast.parse(text).body[0]
    except SyntaxError as error:
        raise CompileError(f"the source of '{fn.__name__}' does not parse: {error.msg}") from None
    if not isinstance(tree, ast.FunctionDef):
        raise CompileError(f"'{fn.__name__}' is not defined by a def statement; kernels are")
    from_def = "\n".join(text.splitlines()[tree.lineno - 1 :])
    return Source(from_def, tree, fn.__code__.co_filename, first, indent, tuple(text.splitlines()))


def source_of(fn):
    """The Source of a Python function; a CompileError says what to do where there is none."""
    return _parse(fn)
