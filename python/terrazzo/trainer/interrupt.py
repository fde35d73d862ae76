# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ctrl-C as a request: the step in flight is finished, then the run saves and leaves.

A launch made by the main thread is stopped by SIGINT in its middle, which could leave half an update behind. Launches
of other threads run to their end, so the work to be protected is done in one, while the main thread waits for signals.
"""

import os
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
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
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _handle(self, number: int, _: FrameType | None) -> None:
        if self.signal is not None:
            os._exit(128 + number)
        self.signal = number

    @staticmethod
    def run(work: Callable[[], None]) -> None:
        """Does the work where signals do not reach its kernels; its exceptions are raised here."""
        with ThreadPoolExecutor(1, "training") as pool:
            pool.submit(work).result()

    @property
    def exit_status(self) -> int:
        """What a shell reports for a process ended by the signal: 130 for Ctrl-C."""
        return 128 + (self.signal or 0)
