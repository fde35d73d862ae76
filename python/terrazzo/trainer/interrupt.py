# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ctrl-C as a request: the step in flight is finished, then the run saves and leaves."""

import signal
from types import FrameType
from typing import Any


class Interruptible:
    """While active, SIGINT and SIGTERM set `signal` instead of ending the process; a second one ends it at once."""

    def __init__(self) -> None:
        self.signal: int | None = None
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> "Interruptible":
        for number in (signal.SIGINT, signal.SIGTERM):
            self._previous[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: Any) -> None:
        self._restore()

    def _handle(self, number: int, _: FrameType | None) -> None:
        self.signal = number
        self._restore()

    def _restore(self) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        self._previous.clear()

    @property
    def exit_status(self) -> int:
        """What a shell reports for a process ended by the signal: 130 for Ctrl-C."""
        return 128 + (self.signal or 0)
