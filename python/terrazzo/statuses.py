# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How what the runtime reports becomes an exception of terrazzo.errors."""

import re
from contextlib import contextmanager

from . import errors
from ._terrazzo import runtime

_ERRORS = {
    "invalid argument": errors.ArgumentError,
    "out of memory": MemoryError,
}


def out_of_resources(message, shown=None):
    """An OutOfResources with the text of the compiler or a driver, from which the numbers are read; it says `shown`."""
    required = re.search(r"(?:required|needs?|expected|uses)\D{0,40}?(\d+)", message)
    limit = re.search(r"(?:limit|at most|has|allows|found)\D{0,40}?(\d+)", message)
    return errors.OutOfResources(
        int(required[1]) if required else None, int(limit[1]) if limit else None, message, shown or message
    )


def raise_status(status, message, file, line, column, text, pid):
    """Raises what a failed call of the runtime reports; called by the extension module."""
    if status == "assertion failed":
        error = errors.DeviceAssertionError(message)
        error.file, error.line, error.column, error.text, error.program_id = file, line, column, text, tuple(pid)
        raise error
    if status == "out of resources":
        raise out_of_resources(message)
    raise _ERRORS.get(status, errors.LaunchError)(message)


@contextmanager
def statuses():
    """Turns what the runtime reports inside into the exceptions of terrazzo.errors."""
    try:
        yield
    except runtime.StatusError as error:
        file, line, column, text = (getattr(error, k, None) for k in ("file", "line", "column", "text"))
        raise_status(error.status, str(error), file, line, column, text, getattr(error, "program_id", ()))
