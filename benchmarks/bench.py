# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`make bench`: the bars of the CPU target, beside numpy and torch, in one run and on one thread.

Each row is measured in rounds: all contenders one behind the other, several times; a contender's time is the median of
its rounds, so that a slow moment of the machine hits all alike. A bar is a ratio to the best peer. The result is a
table, and a JSON file in benchmarks/results.

    python benchmarks/bench.py [--only matmul,softmax] [--rounds 7] [--json FILE] [--strict]
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

# Before numpy and torch read them. An OpenBLAS that is told an old processor is no peer.
for _name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(_name, None)
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "TERRAZZO_NUM_THREADS"):
    os.environ[_name] = "1"
# Nothing is compiled before it is measured.
os.environ["TERRAZZO_CACHE_DIR"] = tempfile.mkdtemp(prefix="terrazzo-bench-")

# The peers return new arrays. So that they are not charged for fresh pages, freed memory stays with the process:
# mallopt(M_MMAP_MAX, 0) and mallopt(M_TRIM_THRESHOLD, 2 GiB).
_libc = ctypes.CDLL(None)
if hasattr(_libc, "mallopt"):
    _libc.mallopt(-4, 0)
    _libc.mallopt(-1, 2**31 - 1)

ROOT = Path(__file__).resolve().parent.parent
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


def measure(contenders: dict[str, Callable[[], object]], rounds: int, floor: float = 0.02) -> dict[str, float]:
    """Milliseconds a call, each the median over rounds in which all contenders take turns."""
    repeats = {}
    for name, call in contenders.items():
        call()
        start = time.perf_counter()
        call()
        repeats[name] = max(1, round(floor / max(time.perf_counter() - start, 1e-7)))
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, call in contenders.items():
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
        if best is None or taken < best[0]:
            best = taken, call, " ".join(f"{key}={value}" for key, value in config.items())
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


@dataclass
class Report:
    """All of a run, as it is written to the JSON file."""

    machine: str
    python: str
    versions: dict[str, str]
    rows: list[Row]


def machine() -> str:
    """The processor's name."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


def show(report: Report) -> None:
    """The table."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"One thread of {report.machine}")
    table.add_column("bar")
    for column in (OURS, "numpy", "torch", "other", "rate", "ratio", "required"):
        table.add_column(column, justify="right")
    table.add_column("")
    for row in report.rows:
        known = {OURS, "numpy", "torch"}
        other = ", ".join(f"{name} {value:.3g}" for name, value in row.times.items() if name not in known)
        cells = [f"{row.times[name]:.3g} {row.unit}" if name in row.times else "" for name in (OURS, "numpy", "torch")]
        ratio = f"{row.ratio:.2f}" if row.ratio else ""
        verdict = "[green]ok[/]" if row.passed else "[red]short[/]"
        table.add_row(row.name, *cells, other, row.rate, ratio, row.bar, verdict)
    Console(width=max(120, Console().width)).print(table)
    short = [row.name for row in report.rows if not row.passed]
    print(
        f"{len(report.rows) - len(short)} of {len(report.rows)} bars reached"
        + (f"; short: {', '.join(short)}" if short else "")
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures the bars of the CPU target.")
    parser.add_argument("--only", help="comma-separated beginnings of names of rows")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path, help="where the result is written (benchmarks/results/TIME.json)")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if a bar is not reached")
    arguments = parser.parse_args()
    import numpy as np
    import terrazzo
    import torch

    torch.set_num_threads(1)
    sys.path.insert(0, str(Path(__file__).parent))
    import rows

    wanted = tuple(arguments.only.split(",")) if arguments.only else ("",)
    done = []
    for name, make in rows.ROWS.items():
        if name.startswith(wanted):
            print(f"measuring {name} ...", file=sys.stderr, flush=True)
            done += make(arguments.rounds)
    if not done:
        sys.exit(f"bench: --only names no row; there are: {', '.join(rows.ROWS)}")
    versions = {"terrazzo": terrazzo.__version__, "numpy": np.__version__, "torch": torch.__version__}
    report = Report(machine(), platform.python_version(), versions, done)
    path = arguments.json or ROOT / "benchmarks" / "results" / f"{time.strftime('%Y%m%d-%H%M%S')}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(asdict(report), indent=2) + "\n")
    show(report)
    print(f"written to {path}")
    sys.exit(arguments.strict and not all(row.passed for row in done))


if __name__ == "__main__":
    main()
