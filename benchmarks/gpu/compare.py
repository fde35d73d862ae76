# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The same kernels, compiled by Triton and by Terrazzo, and the libraries' own, side by side on one GPU.

    python benchmarks/gpu/compare.py [--only matmul,rows] [--compilers triton,terrazzo] [--limit 90] [--json FILE]
    python benchmarks/gpu/compare.py --check [--device cpu] [--compilers terrazzo] [--inline]

Each compiler runs every configuration of a kernel and keeps its best; then all contenders of a case take turns, and the
median of their rounds counts. Each group of cases is a process with a time limit of its own: a kernel that hangs or
faults costs its group's later rows, nothing else. `--check` runs every configuration once, on small and odd shapes,
and compares with the reference. A result that is wrong is marked and fails the run.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
GROUP_NAMES = (
    "launch", "copy", "rows", "loss", "matmul", "matmul_desc", "matmul_types", "linear",
    "attention", "attention_desc", "attention_backward", "scan",
)  # fmt: skip
# Relative distance (Frobenius) from the reference; inputs and results are bf16.
TOLERANCE = 1e-2
# Seconds after which a compiler that has one configuration tries no more of them.
PATIENCE = 25.0


def emit(**row: Any) -> None:
    """One row, at once: what follows may not come back."""
    print(json.dumps(row), flush=True)


def brief(error: BaseException) -> str:
    """An exception in one line."""
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0]}"[:200]


def measure(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Milliseconds a call by the GPU's clock: the median of rounds in which all take turns."""
    import torch

    def timed(call: Callable[[], Any], repeats: int) -> float:
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(repeats):
            call()
        stop.record()
        stop.synchronize()
        return start.elapsed_time(stop) / repeats

    repeats = {}
    for name, call in calls.items():
        call()
        repeats[name] = max(1, min(50, round(2 / max(timed(call, 1), 1e-3))))
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            times[name].append(timed(call, repeats[name]))
    return {name: statistics.median(values) for name, values in times.items()}


def tune(case: Any, kernels: Any, compiler: str) -> tuple[Callable[[], Any] | None, dict[str, Any]]:
    """The best configuration of one compiler, and what is to be said about it. (A first call's time is compilation.)"""
    import torch

    best, facts, failure = None, {}, ""
    begin = time.perf_counter()
    for config in case.configs_of(kernels):
        if best is not None and time.perf_counter() - begin > PATIENCE:
            emit(case=case.name, compiler=compiler, config=config, refused="no time left to try it")
            continue
        try:
            call = case.make(kernels, *config)
            start = time.perf_counter()
            call()
            torch.cuda.synchronize()
            compiled = time.perf_counter() - start
            taken = measure({"": call}, 5)[""]
        except Exception as error:  # a configuration that a compiler refuses is a result
            failure = brief(error)
            emit(case=case.name, compiler=compiler, config=config, refused=failure)
            continue
        if best is None or taken < facts["ms"]:
            best, facts = call, {"ms": taken, "config": config, "compile_s": round(compiled, 3)}
    if best is None:
        return None, {"failed": failure or "no configuration"}
    case.result.zero_()
    best()
    return best, {**facts, "error": case.error()}


def run_case(case: Any, compilers: dict[str, Any]) -> None:
    """All contenders of a case."""
    calls, facts = {}, {}
    for name, call in case.peers.items():
        try:
            call()
            calls[name], facts[name] = call, {"library": True}
        except Exception as error:  # not every library takes every shape
            emit(case=case.name, compiler=name, refused=brief(error))
    for name, kernels in compilers.items():
        call, facts[name] = tune(case, kernels, name)
        if call is None:
            emit(case=case.name, compiler=name, **facts[name])
        else:
            calls[name] = call
            emit(case=case.name, compiler=name, provisional=True, **facts[name])
    for name, ms in measure(calls, 15).items():
        scale = 1e6 if case.unit == "GB/s" else 1e9
        row = {**facts[name], "ms": ms, "rate": case.work / ms / scale, "unit": case.unit}
        emit(case=case.name, compiler=name, **row)


def run_launch(compilers: dict[str, Any], device: str) -> None:
    """The host's time for a launch of an empty kernel, in rounds that take turns; the least counts."""
    import torch

    x = torch.empty(1024, device=device)
    best: dict[str, float] = {}
    for _ in range(5):
        for name, kernels in compilers.items():
            launch = kernels.empty_kernel[(1,)]
            launch(x, x, 1024, 3, 2.0, BLOCK=128)
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(1000):
                launch(x, x, 1024, 3, 2.0, BLOCK=128)
            taken = (time.perf_counter() - start) / 1000
            torch.cuda.synchronize()
            best[name] = min(taken, best.get(name, taken))
    for name, seconds in best.items():
        emit(case="launch", compiler=name, ms=seconds * 1e3, rate=seconds * 1e6, unit="us")


def check_case(case: Any, compilers: dict[str, Any]) -> bool:
    """Every configuration, once: are all right?"""
    good = True
    for name, kernels in compilers.items():
        for config in case.configs_of(kernels):
            case.result.zero_()
            try:
                case.make(kernels, *config)()
                row = {"error": case.error()}
            except Exception as error:
                row = {"failed": brief(error)}
            emit(case=case.name, compiler=name, config=config, **row)
            good = good and "failed" not in row and not wrong(row)
    return good


def run_group(group: str, names: list[str], device: str, check: bool) -> bool:
    """One group, in this process. Is what it checked right?"""
    import torch
    from cases import GROUPS
    from kernels import load

    torch.manual_seed(0)
    compilers = {name: load(name) for name in names}
    if group == "launch":
        if not check:
            run_launch(compilers, device)
        return True
    good = True
    for case in GROUPS[group](device, check):
        able = {name: kernels for name, kernels in compilers.items() if case.may_run(kernels)}
        if check:
            good = check_case(case, able) and good
        else:
            run_case(case, able)
    return good


def spawn(group: str, arguments: argparse.Namespace, limit: float) -> list[dict[str, Any]]:
    """One group in a process of its own: the rows that it managed to print."""
    if limit <= 0:
        return [{"case": group, "compiler": "(group)", "failed": "no time left"}]
    command = [sys.executable, __file__, "--group", group, "--device", arguments.device]
    command += ["--compilers", ",".join(arguments.compilers), *(["--check"] if arguments.check else [])]
    with tempfile.TemporaryDirectory(prefix="terrazzo-compare-") as cache:
        # Nothing is compiled before it is measured.
        env = {**os.environ, "TERRAZZO_CACHE_DIR": f"{cache}/terrazzo", "TRITON_CACHE_DIR": f"{cache}/triton"}
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env, start_new_session=True)
        try:
            output, _ = process.communicate(timeout=limit)
            ended = f"ended with status {process.returncode}" if process.returncode else ""
        except subprocess.TimeoutExpired as late:
            os.killpg(process.pid, signal.SIGKILL)
            text = late.stdout or ""
            output, ended = text.decode() if isinstance(text, bytes) else text, f"cut off after {limit:.3g} s"
    rows = [json.loads(line) for line in output.splitlines() if line.startswith("{") and line.endswith("}")]
    if ended:
        rows.append({"case": group, "compiler": "(group)", "failed": ended})
    return rows


def table(rows: list[dict[str, Any]]) -> str:
    """What people read: a line a contender; `x` is how much quicker than Triton, then than the best library."""
    final = {(row["case"], row["compiler"]): row for row in rows if "refused" not in row}
    names = {case: [key[1] for key in final if key[0] == case] for case, _ in final}
    lines = [
        f"{'case':36s} {'by':10s} {'ms':>9s} {'rate':>9s} {'':8s} {'x triton':>8s} {'x lib':>6s} {'error':>8s}  notes"
    ]
    for case, contenders in names.items():
        times = {name: final[case, name].get("ms", 0.0) for name in contenders}
        libraries = [times[name] for name in contenders if final[case, name].get("library") and times[name]]
        for name in contenders:
            row = final[case, name]
            if "failed" in row:
                lines.append(f"{case:36s} {name:10s} FAILED: {row['failed']}")
                continue
            ratio = f"{times['triton'] / row['ms']:8.2f}" if times.get("triton") and row["ms"] else " " * 8
            best = f"{min(libraries) / row['ms']:6.2f}" if libraries and row["ms"] else " " * 6
            error = f"{row['error']:8.1e}" if "error" in row else " " * 8
            notes = f"{row['config']} first call {row['compile_s']} s" if "config" in row else ""
            notes += " WRONG" if wrong(row) else ""
            notes += " (alone: the turns did not finish)" if row.get("provisional") else ""
            head = f"{case:36s} {name:10s} {row['ms']:9.4f} {row.get('rate', 0):9.1f} {row.get('unit', ''):8s}"
            lines.append(f"{head} {ratio} {best} {error}  {notes}".rstrip())
    return "\n".join(lines)


def wrong(row: dict[str, Any]) -> bool:
    """Is this a result that differs from the reference? (Not a number is.)"""
    return "error" in row and not row["error"] <= TOLERANCE


def checked(rows: list[dict[str, Any]]) -> str:
    """The lines of --check."""
    lines = []
    for row in rows:
        verdict = row.get("failed") or f"error {row['error']:.1e}{' WRONG' if wrong(row) else ''}"
        lines.append(f"{row['case']:36s} {row['compiler']:10s} {row.get('config', '')!s:24s} {verdict}")
    return "\n".join(lines)


def parse() -> argparse.Namespace:
    names = lambda text: [part for part in text.split(",") if part]
    parser = argparse.ArgumentParser(description="Compares compilers on one GPU.")
    parser.add_argument("--only", type=names, default=list(GROUP_NAMES), help=f"of {', '.join(GROUP_NAMES)}")
    parser.add_argument("--compilers", type=names, default=["triton", "terrazzo"], help="packages, in order")
    parser.add_argument("--device", default="cuda", help="torch's name of the device")
    parser.add_argument("--check", action="store_true", help="compare results only, on small shapes")
    parser.add_argument("--limit", type=float, default=90, help="seconds for a group")
    parser.add_argument("--budget", type=float, default=float("inf"), help="seconds for all groups together")
    parser.add_argument("--json", type=Path, help="write all rows here")
    parser.add_argument("--inline", action="store_true", help="with --check: all groups in this process, for a checker")
    parser.add_argument("--group", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    unknown = set(arguments.only) - set(GROUP_NAMES)
    if unknown:
        parser.error(f"unknown group {', '.join(sorted(unknown))}; there are {', '.join(GROUP_NAMES)}")
    if arguments.device == "cpu" and not arguments.check:
        parser.error("times are read off a GPU's clock: --device cpu goes with --check")
    return arguments


def main() -> None:
    arguments = parse()
    if arguments.group:
        run_group(arguments.group, arguments.compilers, arguments.device, arguments.check)
        return
    if arguments.inline:
        groups = [run_group(group, arguments.compilers, arguments.device, check=True) for group in arguments.only]
        sys.exit(not all(groups))
    rows: list[dict[str, Any]] = []
    start = time.monotonic()
    for group in arguments.only:
        left = arguments.budget - (time.monotonic() - start)
        rows += spawn(group, arguments, min(arguments.limit, left))
        print(f"{group}: done", file=sys.stderr, flush=True)
        if arguments.json:
            arguments.json.write_text(json.dumps(rows, indent=1) + "\n")
    print(checked(rows) if arguments.check else table(rows))
    failed = [row for row in rows if "failed" in row or wrong(row)]
    print(f"{len(failed)} of {len(rows)} rows failed")
    sys.exit(bool(failed) or not rows)


if __name__ == "__main__":
    main()
