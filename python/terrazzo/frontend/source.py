# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The source of a Python function: its text, its syntax tree, and the lines that errors show."""

import ast
import functools
import linecache
import sys
import textwrap
import types
import weakref

from ..errors import CompileError
from ..turns import lock_for_forks
from .deep import run_deep
from .recover import recover_text

# Function -> (file text, where it came from) or Source.
_texts = weakref.WeakKeyDictionary()
_sources = weakref.WeakKeyDictionary()


class Source:
    """Where a function is written.

    `file` and `first_line` (of the first decorator) locate it, `node` is its syntax tree with the line numbers of the
    file, `text` what is left from `def` on, without indentation.
    """

    def __init__(self, file, lines, node):
        self.file = file
        self.lines = lines
        self.node = node
        self.first_line = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        self.text = textwrap.dedent("\n".join(lines[node.lineno - 1 : node.end_lineno]))
        self.facts = {}  # what analyses of the tree found, kept with it

    def line(self, number):
        """The text of a line of the file, None past its end."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else None

    def column(self, node):
        """The column of a node in characters; the tree counts bytes."""
        line = self.line(node.lineno)
        if line is None or line.isascii():
            return node.col_offset
        return len(line.encode()[: node.col_offset].decode("utf-8", "ignore"))


_lock = lock_for_forks()  # Python's parser counts its depth, and linecache keeps its files, for all threads together


@functools.lru_cache(maxsize=64)
def _functions(text):
    """{(name, first line): tree} of all functions in a text."""
    with _lock:
        try:
            tree = ast.parse(text)
        except (RecursionError, MemoryError):
            tree = run_deep(lambda: ast.parse(text))
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            found[node.name, first] = node
    return found


def _find(text, code):
    try:
        return _functions(text).get((code.co_name, code.co_firstlineno))
    except (SyntaxError, ValueError):
        return None


def _file_text(fn):
    """The text of the file, notebook cell or other registered source; None if there is none."""
    with _lock:
        linecache.checkcache(fn.__code__.co_filename)  # the file may have been written anew
        lines = linecache.getlines(fn.__code__.co_filename, fn.__globals__)
    return "".join(lines) if lines else None


def remember(fn):
    """Keeps the text that a function comes from, while whoever exec'd it still holds it.

    To be called when the function is made. Never fails: a source that is missing is an error when it is needed.
    """
    if fn in _texts:
        return
    text = _file_text(fn)
    if text is None or f"def {fn.__code__.co_name}" not in text:
        found = recover_text(fn.__code__, sys._getframe(1))
        text = text if found is None else found
    if text is not None:
        _texts[fn] = text


def with_text(fn, text):
    """A function as `fn`, with the same globals, variables of enclosing functions and defaults, of another text."""
    code = fn.__code__
    text = textwrap.dedent(text)
    try:
        compiled = compile(text, code.co_filename, "exec", dont_inherit=True)
        found = next(c for c in compiled.co_consts if isinstance(c, types.CodeType) and c.co_name == code.co_name)
    except (SyntaxError, ValueError, StopIteration) as error:
        raise CompileError(
            f"expected the text of a function {code.co_name}(), found one that does not define it ({error})"
        ) from None
    cells = dict(zip(code.co_freevars, fn.__closure__ or ()))
    missing = [name for name in found.co_freevars if name not in cells]
    if missing:
        raise CompileError(f"the text reads '{missing[0]}', which {code.co_name}() does not have around it")
    made = types.FunctionType(
        found, fn.__globals__, fn.__name__, fn.__defaults__, tuple(cells[name] for name in found.co_freevars)
    )
    functools.update_wrapper(made, fn)
    del made.__wrapped__
    made.__kwdefaults__ = fn.__kwdefaults__
    _texts[made] = text
    return made


def source_of(fn):
    """The Source of a Python function; a CompileError if it cannot be found."""
    known = _sources.get(fn)
    if known is not None:
        return known
    code = fn.__code__
    remember(fn)
    text = _texts.get(fn)
    node = None if text is None else _find(text, code)
    if node is None:
        text = recover_text(code, sys._getframe(1))
        node = None if text is None else _find(text, code)
    if node is None:
        what = "a lambda" if code.co_name == "<lambda>" else f"{fn.__qualname__}()"
        raise CompileError(
            f"the source of {what} cannot be found; kernels are compiled from their text, so define them in a file or "
            "a notebook cell, or keep the text that is passed to exec in a variable",
            code.co_filename,
            code.co_firstlineno,
        )
    source = Source(code.co_filename, text.replace("\r\n", "\n").split("\n"), node)
    _sources[fn] = source
    return source
