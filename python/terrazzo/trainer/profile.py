# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where a training step's time goes: wall time of every kernel launch, summed by kernel name.

On the CPU target a launch returns when the kernel has finished, so the time around it is the kernel's; on a GPU events
around it take the time. Compilation happens before a launch and is not in it.
"""

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch

from .. import knobs
from .display import Display


class KernelProfile:
    """Times the launches of training steps; active as a context manager around the training loop."""

    # The first step compiles the kernels, which would drown the rest.
    IGNORED_STEPS = 1

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.launches: defaultdict[str, int] = defaultdict(int)
        self.steps = 0
        self.step_seconds = 0.0
        self._seen = 0
        self._started: Any = 0.0
        self._events: list[tuple[str, Any, Any]] = []

    def __enter__(self) -> "KernelProfile":
        return self

    def __exit__(self, *_: Any) -> None:
        self._watch(False)

    def _watch(self, on: bool) -> None:
        hooks = ((knobs.runtime.launch_enter_hook, self._enter), (knobs.runtime.launch_exit_hook, self._leave))
        for chain, hook in hooks:
            (chain.add if on else chain.remove)(hook)

    @staticmethod
    def _event() -> Any:
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def _enter(self, _: Mapping[str, Any]) -> None:
        self._started = self._event() if torch.cuda.is_initialized() else time.perf_counter()

    def _leave(self, launch: Mapping[str, Any]) -> None:
        self.launches[launch["name"]] += 1
        if isinstance(self._started, float):
            self.seconds[launch["name"]] += time.perf_counter() - self._started
        else:
            self._events.append((launch["name"], self._started, self._event()))

    def _collect_events(self) -> None:
        if self._events:
            torch.cuda.synchronize()
        for name, start, stop in self._events:
            self.seconds[name] += start.elapsed_time(stop) / 1e3
        self._events.clear()

    @contextmanager
    def step(self) -> Iterator[None]:
        """Everything launched inside belongs to one step."""
        counting = self._seen >= self.IGNORED_STEPS
        self._seen += 1
        if not counting:
            yield
            return
        self._watch(True)
        started = time.perf_counter()
        try:
            yield
        finally:
            self._collect_events()
            self.step_seconds += time.perf_counter() - started
            self.steps += 1
            self._watch(False)

    def records(self) -> list[dict[str, Any]]:
        """Per kernel, slowest first: launches and milliseconds a step, and the share of the step."""
        steps, total = max(self.steps, 1), max(self.step_seconds, 1e-12)
        rows = [
            {
                "kernel": name,
                "launches": self.launches[name] / steps,
                "ms": seconds / steps * 1e3,
                "share": seconds / total,
            }
            for name, seconds in sorted(self.seconds.items(), key=lambda item: -item[1])
        ]
        rest = self.step_seconds - sum(self.seconds.values())
        rows.append({"kernel": "(outside kernels)", "launches": 0.0, "ms": rest / steps * 1e3, "share": rest / total})
        return rows

    def show(self, display: Display) -> None:
        """Prints the table."""
        rows = [
            [
                row["kernel"],
                f"{row['launches']:.1f}" if row["launches"] else "",
                f"{row['ms']:.2f}",
                f"{100 * row['share']:.1f}",
            ]
            for row in self.records()
        ]
        rows.append(["step", "", f"{self.step_seconds / max(self.steps, 1) * 1e3:.2f}", "100.0"])
        display.table(f"time a step, mean of {self.steps}", ["kernel", "launches", "ms", "% of step"], rows)
