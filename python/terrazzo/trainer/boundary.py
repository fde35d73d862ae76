# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where a command meets the world: what a user, a file or a machine can cause ends in one line and an exit status.

Whatever reads something from outside checks it and raises a TrainerError (schema.py, documents.py, tensors.py). What
the system itself refuses (a file, memory, a thread) arrives here as it is. Any other exception is a mistake in the
trainer, and passes through with its traceback.
"""

import contextlib
import io
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import OutOfResources
from .errors import ConfigError, TrainerError

INTERRUPTED, READER_GONE = 130, 141
_LONGEST = 800  # characters of a line
# PyTorch and Python say these with a RuntimeError.
_EXHAUSTED = ("can't allocate memory", "out of memory", "can't start new thread")


def run(command: Callable[[Sequence[str]], int], words: Sequence[str]) -> int:
    """Runs a command; returns its exit status. Mistakes end with one line on stderr and status 2."""
    _prepare_streams()
    try:
        for number, word in enumerate(words, 1):
            if not _is_utf8(word):
                raise ConfigError(f"command line: expected UTF-8 text, found {word!r} as argument {number}")
        status = command(words)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        _give_up_stdout()
        return READER_GONE
    except Exception as error:
        line = describe(error)
        if line is None:
            raise
        if isinstance(error, OSError) and error.filename is None:
            _give_up_stdout()
        print(f"error: {one_line(line)}", file=sys.stderr)
        return error.status if isinstance(error, TrainerError) else TrainerError.status


def describe(error: Exception) -> str | None:
    """What to say about an error that is not the trainer's; None for one that is."""
    if isinstance(error, TrainerError):
        return str(error)
    if isinstance(error, OSError):
        # Only writing to stdout names no file: all else goes through files.py.
        return f"{error.filename or 'standard output'}: {error.strerror or error}"
    if isinstance(error, OutOfResources):
        return f"model: expected kernels that fit the device, found one that does not: {error}"
    exhausted = isinstance(error, RuntimeError) and any(words in str(error) for words in _EXHAUSTED)
    if exhausted or isinstance(error, MemoryError):
        return f"memory: expected enough of it for this command, found too little: {str(error) or 'out of memory'}"
    return None


def one_line(text: str) -> str:
    """The text with line ends and other control characters, which file names can hold, as escapes; not too long."""
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]}...{text[-_LONGEST // 2 :]}"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _is_utf8(word: str) -> bool:
    try:
        word.encode()
    except UnicodeEncodeError:
        return False
    return True


def _prepare_streams() -> None:
    """Output that can hold any text, also where the locale's encoding cannot, or where the shell closed it."""
    for name in ("stdout", "stderr"):
        stream: Any = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _give_up_stdout() -> None:
    """Keeps the interpreter from complaining at exit about output that it cannot write."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
