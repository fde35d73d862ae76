# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A row of `make bench` and how it is measured: contenders take turns, the median of the rounds counts."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

OURS = "terrazzo"


@dataclass
class Row:
    """One bar: milliseconds (or microseconds) a contender, and the ratio that counts."""

    name: str
    bar: str
    limit: float
    ratio: float = 0.0
    passed: bool = False
    unit: str = "ms"
    times: dict[str, float] = field(default_factory=dict)
    rate: str = ""
    note: str = ""
    threads: int = 1

    def __str__(self) -> str:
        """A line of the table."""
        times = ", ".join(f"{name} {value:.3g}" for name, value in self.times.items() if name != OURS)
        ratio = f"{self.ratio:.2f}" if self.ratio else ""
        ours = f"{self.times[OURS]:.3g} {self.unit}"
        verdict = "ok" if self.passed else "SHORT"
        return (
            f"{self.threads:2d}  {self.name:38s} {ours:>10s} {self.rate:>22s} {ratio:>7s} {self.bar:18s} {verdict:6s}"
            f"{times}{'  [' + self.note + ']' if len(self.note) < 40 and self.note else ''}"
        )


def measure(contenders: dict[str, Callable[[], object]], rounds: int, floor: float = 0.02) -> dict[str, float]:
    """Milliseconds a call, each the median over rounds in which all contenders take turns."""
    repeats = {}
    for name, call in contenders.items():
        call()
        start = time.perf_counter()
        call()
        repeats[name] = max(1, round(floor / max(time.perf_counter() - start, 1e-7)))
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    for turn in range(rounds):
        for name, call in contenders.items():
            if turn >= 2 and taken[name][0] > 500:
                continue  # one that is slower by far needs no more rounds
            start = time.perf_counter()
            for _ in range(repeats[name]):
                call()
            taken[name].append((time.perf_counter() - start) / repeats[name] * 1e3)
    return {name: statistics.median(values) for name, values in taken.items()}


def fastest(make: Callable[..., Callable[[], object]], configs: list[dict]) -> tuple[Callable[[], object], str]:
    """The quickest of a kernel's configurations by a short look, as a user's autotune would find it."""
    best: tuple[float, Callable[[], object], str] | None = None
    for config in configs:
        call = make(**config)
        taken = measure({"": call}, 3, 0.01)[""]
        note = " ".join(f"{key}={value}" for key, value in config.items())
        print(f"    {note}: {taken:.3g} ms", file=sys.stderr, flush=True)
        if best is None or taken < best[0]:
            best = taken, call, note
    assert best is not None
    return best[1], best[2]


def against_peers(row: Row, ours: Callable, peers: dict[str, Callable], rounds: int) -> Row:
    """Fills a row whose bar is `best peer's time / our time >= limit`."""
    row.times = measure({OURS: ours, **peers}, rounds)
    best = min(value for name, value in row.times.items() if name != OURS)
    row.ratio = best / row.times[OURS]
    row.passed = row.ratio >= row.limit
    return row


def check(name: str, got, want, tolerance: float) -> None:
    """A fast wrong kernel is no result."""
    import numpy as np

    got, want = (np.asarray(x.float() if hasattr(x, "float") else x, dtype=np.float64) for x in (got, want))
    error = float(np.max(np.abs(got - want) / (1 + np.abs(want))))
    if not error <= tolerance:
        sys.exit(f"bench: {name} is wrong: error {error:.2e}, expected at most {tolerance:.0e}")
