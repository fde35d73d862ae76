# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One trainer a run folder: whoever writes into a run holds an exclusive lock on its file `lock`.

The kernel keeps the lock (flock) and drops it when the process ends, however it ends, so there is nothing stale to
clean up: what the file says is only for the message of the one who is refused. A copy of a run folder is another file
and not locked. The file is never removed, or a third process could lock a new one beside the one still held.

A forked child shares its parent's lock and would keep it when the parent dies, so it lets go of its copy at once.
"""

import fcntl
import json
import os
import socket
import time
import weakref
from pathlib import Path
from typing import Any

from .errors import RunInUseError
from .files import naming

FILE = "lock"
_PATIENCE = 20  # looks at a holder's name that cannot be right: it may just be writing its own
_PAUSE_SECONDS = 0.05


class OwnedRun:
    """A run folder that this process alone writes to; a context manager. Made where there is none."""

    def __init__(self, folder: Path):
        """Raises RunInUseError, which names the other process, when the folder has an owner."""
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._handle = _acquire(folder)
        _owned.add(self)

    def __enter__(self) -> "OwnedRun":
        return self

    def __exit__(self, *_: Any) -> None:
        if self._handle >= 0:
            os.ftruncate(self._handle, 0)
        self._let_go()

    def _let_go(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


_owned: "weakref.WeakSet[OwnedRun]" = weakref.WeakSet()


def _after_fork_in_child() -> None:
    for run in list(_owned):
        run._let_go()


os.register_at_fork(after_in_child=_after_fork_in_child)


def _acquire(folder: Path) -> int:
    file = folder / FILE
    with naming(file):
        while True:
            handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
            try:
                if _lock(handle) and _is_still_there(handle, file):
                    _write_owner(handle)
                    kept, handle = handle, -1
                    return kept
                if not _is_still_there(handle, file):
                    continue  # replaced between open and lock
                raise RunInUseError(f"{folder}: another trainer is at work in this folder: {_owner(handle)}")
            finally:
                if handle >= 0:
                    os.close(handle)


def _lock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_still_there(handle: int, file: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(file))
    except FileNotFoundError:
        return False


def _write_owner(handle: int) -> None:
    owner = {"pid": os.getpid(), "host": socket.gethostname(), "started": time.strftime("%Y-%m-%d %H:%M:%S %z")}
    os.ftruncate(handle, 0)
    os.pwrite(handle, json.dumps(owner).encode(), 0)


def _owner(handle: int) -> str:
    """Who holds the lock, in words. The file may hold nothing yet, or the name of an earlier owner that was killed."""
    for _ in range(_PATIENCE):
        try:
            found = json.loads(os.pread(handle, 4096, 0))
            pid, host, started = int(found["pid"]), str(found["host"]), str(found["started"])
            if host != socket.gethostname() or _is_alive(pid):
                return f"process {pid} on {host}, started {started}"
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            pass
        time.sleep(_PAUSE_SECONDS)
    return "a process that has not left its name"


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
