# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The source of functions that come from no file: exec'd text, `python -c`, the interactive interpreter.

Whoever exec'd a text often still holds it, in a variable or as a constant of its own code. Each string of the frames
on the stack is a candidate; it is the right one if compiling it gives a code object equal to the function's.
"""

import os
import stat
import sys
import textwrap
import types

# Flags of `from __future__ import ...`, which the text of exec inherits from the code around it.
_FUTURE_FLAGS = 0x1FF0000
_HISTORY = 400


def _contains(code, wanted):
    """Whether a code object is `wanted` or holds it, at any depth."""
    todo = [code]
    while todo:
        current = todo.pop()
        if current == wanted:
            return True
        todo += [c for c in current.co_consts if isinstance(c, types.CodeType)]
    return False


def _is_source(text, code, mode="exec"):
    try:
        compiled = compile(text, code.co_filename, mode, code.co_flags & _FUTURE_FLAGS, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return _contains(compiled, code)


def _texts(value, depth=1):
    """The strings in a value, and in containers one level down."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (bytes, bytearray)):
        yield value.decode("utf-8", "replace")
    elif depth and isinstance(value, (list, tuple, set, frozenset)):
        for item in list(value):
            yield from _texts(item, depth - 1)
    elif depth and isinstance(value, dict):
        for item in list(value.values()):
            yield from _texts(item, depth - 1)


def _frame_texts(frame):
    """The strings that the frames on the stack hold, innermost frame first."""
    seen_globals = set()
    while frame is not None:
        for value in [*frame.f_locals.values(), *frame.f_code.co_consts]:
            yield from _texts(value)
        if id(frame.f_globals) not in seen_globals:
            seen_globals.add(id(frame.f_globals))
            for value in list(frame.f_globals.values()):
                yield from _texts(value)
        frame = frame.f_back


def _argument_texts():
    """The text of `python -c`."""
    arguments = getattr(sys, "orig_argv", [])
    if "-c" in arguments[:-1]:
        yield arguments[arguments.index("-c") + 1]


def _standard_input():
    """The program, where the interpreter reads it from a file as standard input."""
    try:
        status = os.fstat(0)
        if stat.S_ISREG(status.st_mode):
            yield os.pread(0, status.st_size, 0).decode("utf-8", "replace")
    except OSError:
        return


def _history_texts():
    """What was typed last, from each line on."""
    readline = sys.modules.get("readline")
    if readline is None:
        return
    last = readline.get_current_history_length()
    lines = [readline.get_history_item(i) or "" for i in range(max(1, last - _HISTORY), last + 1)]
    for start in range(len(lines) - 1, -1, -1):
        if lines[start].startswith(("@", "def ")):
            yield "\n".join(lines[start:]) + "\n\n"


def recover_text(code, frame):
    """The text whose compilation gave `code`, searched for from `frame` outwards; None if nobody holds it."""
    # A name that the compiler mangles or a lambda has no `def name`; neither can be a kernel.
    needle = f"def {code.co_name}"
    tried = set()
    sources = [_argument_texts(), _standard_input(), _frame_texts(frame)]
    for text in (text for source in sources for text in source):
        if needle not in text or text in tried:
            continue
        tried.add(text)
        for candidate in (text, textwrap.dedent(text)):
            if _is_source(candidate, code):
                return candidate
    if code.co_filename == "<stdin>":
        for text in _history_texts():
            if needle in text and _is_source(text, code, "single"):
                return text
    return None
