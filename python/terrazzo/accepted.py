# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names of the language's host side that are taken for compatibility: on these targets there is nothing to do."""

import contextvars
from typing import Any

_allocator = None
active_mode: contextvars.ContextVar[Any] = contextvars.ContextVar("active_mode", default=None)


def set_allocator(allocator):
    """Tells how kernels get scratch memory, allocator(size, alignment, stream). This target needs none."""
    global _allocator
    _allocator = allocator


class FutureKernel:
    """A kernel that AsyncCompileMode compiles; `result()` gives it."""

    def __init__(self, kernel):
        self._kernel = kernel

    def result(self, ignore_errors=False):
        """The compiled kernel."""
        return self._kernel


class AsyncCompileMode:
    """A context in which compilation may be put off; on this target it happens at once."""

    def __init__(self, executor, ignore_errors=False):
        self.executor = executor
        self.ignore_errors = ignore_errors

    def __enter__(self):
        self._token = active_mode.set(self)
        return self

    def __exit__(self, *exception):
        active_mode.reset(self._token)
        return False
