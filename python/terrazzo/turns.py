# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Turns: of many threads that want the same thing made, one makes it and the others wait. Forks are survived.

Makers may want other things made on their way, and hooks may launch kernels: a thread never waits for one that waits,
directly or through others, for itself.
"""

import contextlib
import os
import threading
import weakref

_changed = threading.Condition()  # guards all that follows, and is told of each end of a turn
_waiting = {}  # thread -> the turn that it waits for
_all = weakref.WeakSet()
_LOOK_SECONDS = 0.2


class _Turn:
    """Work on a key, and the thread that does it."""

    def __init__(self):
        self.thread = threading.get_ident()


def _is_behind(turn, thread):
    """Whether the end of a turn depends on a thread."""
    while turn is not None:
        if turn.thread == thread:
            return True
        turn = _waiting.get(turn.thread)
    return False


class Turns:
    """One thread at a time for each key."""

    def __init__(self):
        self._turns = {}  # key -> _Turn
        _all.add(self)

    @contextlib.contextmanager
    def of(self, key):
        """Waits for the turn of `key`, and holds it inside.

        Gives False, and holds nothing, where that would never come: the thread whose turn it is waits for this one, or
        is this one. However the inside ends, also by an interrupt, the next thread gets its turn.
        """
        turn = _Turn()
        try:
            yield self._take(key, turn)
        finally:
            with _changed:
                if self._turns.get(key) is turn:
                    del self._turns[key]
                    _changed.notify_all()

    def _take(self, key, turn):
        with _changed:
            while key in self._turns:
                if _is_behind(self._turns[key], turn.thread):
                    return False
                _waiting[turn.thread] = self._turns[key]
                try:
                    # A signal that comes just before the wait does not end it: look every now and then.
                    _changed.wait(_LOOK_SECONDS)
                finally:
                    del _waiting[turn.thread]
            self._turns[key] = turn
            return True


def lock_for_forks():
    """A lock that no other thread holds in a forked child: whoever forks waits for it."""
    lock = threading.Lock()
    os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock


def _forget_other_threads():
    """A forked child has only the thread that forked; turns of the others would never end."""
    global _changed
    _changed = threading.Condition()
    _waiting.clear()
    me = threading.get_ident()
    for turns in _all:
        turns._turns = {key: turn for key, turn in turns._turns.items() if turn.thread == me}


os.register_at_fork(after_in_child=_forget_other_threads)
