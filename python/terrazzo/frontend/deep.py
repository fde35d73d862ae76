# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Room for recursion: syntax trees are as deep as users write them, and the caller's own stack may be deep already.

A function runs on a thread of its own with a large stack and a high recursion limit. The limit belongs to the
interpreter, not to the thread, so the highest one stays until the last of several such threads ends.
"""

import contextlib
import contextvars
import os
import sys
import threading

from ..turns import lock_for_forks

_STACK_BYTES = 512 << 20
_LIMIT = 400_000

_lock = lock_for_forks()
_running = 0
_limit_before = 0


@contextlib.contextmanager
def _high_limit():
    global _running, _limit_before
    with _lock:
        if _running == 0:
            _limit_before = sys.getrecursionlimit()
            sys.setrecursionlimit(max(_LIMIT, _limit_before))
        _running += 1
    try:
        yield
    finally:
        with _lock:
            _running -= 1
            if _running == 0:
                sys.setrecursionlimit(_limit_before)


def _start(target):
    """A started thread with a large stack, a smaller one where memory is limited, or None where there is none."""
    for size in (_STACK_BYTES, _STACK_BYTES // 8):
        thread = threading.Thread(target=target, name="terrazzo-frontend", daemon=True)
        with _lock:
            before = threading.stack_size(size)
            try:
                thread.start()
            except RuntimeError:
                continue
            finally:
                threading.stack_size(before)
        return thread
    return None


def _forget_other_threads():
    """A forked child has none of the threads that run."""
    global _running
    if _running:
        sys.setrecursionlimit(_limit_before)
        _running = 0


os.register_at_fork(after_in_child=_forget_other_threads)


def run_deep(fn):
    """fn() with room for deep recursion; its result or exception is the caller's."""
    outcome = []
    context = contextvars.copy_context()

    def target():
        try:
            outcome.append((context.run(fn), None))
        except BaseException as error:
            outcome.append((None, error))

    with _high_limit():
        thread = _start(target)
        if thread is None:
            target()
        else:
            thread.join()
    result, error = outcome[0]
    if error is not None:
        raise error
    return result
