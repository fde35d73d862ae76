# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`make bench`: the bars of the CPU target, beside numpy and torch, in one run: one thread, then two, four and eight.

Each row is measured in rounds: all contenders one behind the other, several times; a contender's time is the median of
its rounds, so that a slow moment of the machine hits all alike. A bar is a ratio to the best peer. The result is a
line a row as it is measured, and a JSON file in benchmarks/results.

    python benchmarks/bench.py [--only matmul,softmax] [--threads 1,4] [--rounds 7] [--budget 100] [--json FILE]

Each number of threads is a process of its own, because numpy's and torch's libraries read theirs when they are loaded.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from measuring import Row

ROOT = Path(__file__).resolve().parent.parent
THREADS = (1, 2, 4, 8)


def prepare(threads: int) -> None:
    """What numpy, torch and terrazzo read when they are imported: call it before."""
    # An OpenBLAS that is told an old processor is no peer.
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
        os.environ.pop(name, None)
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "TERRAZZO_NUM_THREADS"):
        os.environ[name] = str(threads)
    # Nothing is compiled before it is measured.
    os.environ["TERRAZZO_CACHE_DIR"] = tempfile.mkdtemp(prefix="terrazzo-bench-")
    # The peers return new arrays. So that they are not charged for fresh pages, freed memory stays with the process:
    # mallopt(M_MMAP_MAX, 0) and mallopt(M_TRIM_THRESHOLD, 2 GiB).
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(-4, 0)
        libc.mallopt(-1, 2**31 - 1)


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


def summarise(rows: list[Row]) -> None:
    """The table's last line."""
    short = [f"{row.name} ({row.threads})" for row in rows if not row.passed]
    print(f"{len(rows) - len(short)} of {len(rows)} bars reached" + (f"; short: {', '.join(short)}" if short else ""))


def measure_rows(wanted: dict[str, Callable[[int], list[Row]]], threads: int, rounds: int, end: float) -> list[Row]:
    """All rows for which there is time, each shown when it is there."""
    done = []
    for name, make in wanted.items():
        if time.monotonic() > end:
            print(f"{threads:2d}  {name}: no time left", flush=True)
            continue
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        for row in make(rounds):
            row.threads = threads
            done.append(row)
            print(row, flush=True)
    return done


def measure_in_child(arguments: argparse.Namespace, threads: int, left: float) -> list[Row]:
    """The rows that scale, by another process with this number of threads."""
    with tempfile.TemporaryDirectory(prefix="terrazzo-bench-") as folder:
        path = Path(folder) / "rows.json"
        command = [sys.executable, str(Path(__file__).resolve()), "--threads", str(threads), "--json", str(path)]
        command += ["--rounds", str(arguments.rounds), "--budget", f"{left:.0f}", "--child"]
        command += ["--only", arguments.only] if arguments.only else []
        subprocess.run(command, check=True)
        return [Row(**row) for row in json.loads(path.read_text())["rows"]]


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measures the bars of the CPU target.")
    parser.add_argument("--only", help="comma-separated beginnings of names of rows")
    there = len(os.sched_getaffinity(0))
    default = ",".join(str(count) for count in THREADS if count <= there)
    parser.add_argument("--threads", default=default, help=f"numbers of threads (here {default})")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--budget", type=float, default=math.inf, help="seconds after which no further row is begun")
    parser.add_argument("--json", type=Path, help="where the result is written (benchmarks/results/TIME.json)")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if a bar is not reached")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.threads = [int(count) for count in arguments.threads.split(",")]
    return arguments


def main() -> None:
    arguments = parse()
    end = time.monotonic() + arguments.budget
    first = arguments.threads[0]
    prepare(first)
    import numpy as np
    import terrazzo
    import torch

    torch.set_num_threads(first)
    sys.path.insert(0, str(Path(__file__).parent))
    import rows

    wanted = tuple(arguments.only.split(",")) if arguments.only else ("",)
    selected = {
        name: make
        for name, make in rows.ROWS.items()
        if name.startswith(wanted) and (first == 1 or name not in rows.HOST_ROWS)
    }
    if not selected:
        sys.exit(f"bench: --only names no row; there are: {', '.join(rows.ROWS)}")
    if not arguments.child:
        print(f"{machine()}; columns: threads, bar, time, rate, ratio, required, peers' times", flush=True)
    done = measure_rows(selected, first, arguments.rounds, end)
    for threads in arguments.threads[1:]:
        if time.monotonic() < end and any(name not in rows.HOST_ROWS for name in selected):
            done += measure_in_child(arguments, threads, min(end - time.monotonic(), 1e6))
    versions = {"terrazzo": terrazzo.__version__, "numpy": np.__version__, "torch": torch.__version__}
    report = Report(machine(), platform.python_version(), versions, done)
    path = arguments.json or ROOT / "benchmarks" / "results" / f"{time.strftime('%Y%m%d-%H%M%S')}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(asdict(report), indent=2) + "\n")
    if not arguments.child:
        summarise(done)
        print(f"written to {path}")
    sys.exit(arguments.strict and not all(row.passed for row in done))


if __name__ == "__main__":
    main()
