# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests and measures Terrazzo on a GPU machine, from an unpacked bundle (or a checkout) of it.

    python3 tools/device/run.py --out DIR [--steps install,device,...] [--budget 540] [--limit device=120 ...]
    python3 tools/device/run.py --out DIR --site build/dev/package        in a checkout, with what is built there

Each step is a process group with a time limit of its own, so that a hang costs its step and nothing else, and writes
one text file into DIR, as it goes: machine, install (and a check on the CPU), cpu (`make bench`), conformance (the
runtime's tests), device (test/device, and the kernels' tests on the GPU), sanitizer (compute-sanitizer's four tools at
once), benchmark (beside Triton). DIR/summary.txt says how each ended. The exit status is 0 if all did well; a step
whose files are not there did not.
"""

from __future__ import annotations

import argparse
import contextlib
import glob
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMITS: dict[str, float] = {
    "machine": 40,
    "install": 200,
    "cpu": 200,
    "conformance": 90,
    "device": 420,
    "sanitizer": 360,
    "benchmark": 420,
}
SANITIZERS = ("memcheck", "racecheck", "synccheck", "initcheck")
_SUMMARY = re.compile(
    r"\d+ (?:passed|failed|skipped|errors?)\b.* in |\[  (?:PASSED|FAILED)  \] \d+ test|ERROR SUMMARY|RACECHECK SUMMARY"
    r"|rows failed$|bars reached|^installed |^NVIDIA |^install: "
)


@dataclass
class Result:
    """How a step ended."""

    step: str
    verdict: str
    seconds: float
    lines: list[str] = field(default_factory=list)


class AbsentError(Exception):
    """What a step needs is not on this machine."""


@dataclass
class Runner:
    """Runs commands, each with a limit, and puts what they print into a step's file."""

    out: Path
    site: Path
    env: dict[str, str]
    jobs: int

    def run(self, step: str, command: list[str], limit: float, **env: str) -> str:
        """Appends the command's output to the step's file; "" if all went well, else what went wrong."""
        with (self.out / f"{step}.txt").open("a") as file:
            return self.into(file, command, limit, **env)

    def into(self, file, command: list[str], limit: float, **env: str) -> str:
        """The same, into an open file."""
        file.write(f"$ {' '.join(command)}\n")
        file.flush()
        start = time.monotonic()
        process = subprocess.Popen(
            command, stdout=file, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd=ROOT,
            env={**self.env, **env}, start_new_session=True,
        )  # fmt: skip
        try:
            code = process.wait(timeout=max(1.0, limit))
            problem = "" if code == 0 else f"status {code}"
        except subprocess.TimeoutExpired:
            problem = f"cut off after {limit:.0f} s"
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=10)  # a process that the kernel driver holds does not go: leave it
        file.write(f"[{problem or 'ok'}, {time.monotonic() - start:.1f} s]\n\n")
        return problem


def find_tool(name: str) -> str:
    """A tool of the CUDA toolkit: on PATH or where the toolkit puts it."""
    places = [f"/usr/local/cuda*/bin/{name}", f"/usr/local/cuda*/{name}/{name}"]
    for path in [shutil.which(name), *(path for place in places for path in sorted(glob.glob(place)))]:
        if path and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise AbsentError(f"no {name} on PATH or in {' or '.join(map(os.path.dirname, places))}")


def machine(runner: Runner, limit: float) -> str:
    """What machine this is; versions of what the results depend on."""
    versions = (
        "import sys; print('python', sys.version)\nfor name in ('numpy', 'torch', 'triton', 'pybind11', 'pytest'):\n"
        "    try: print(name, __import__(name).__version__)\n    except Exception as error: print(name, error)"
    )
    query = "--query-gpu=name,driver_version,memory.total,compute_cap,clocks.sm,clocks.mem,temperature.gpu"
    problem = (
        runner.run("machine", ["nvidia-smi", query, "--format=csv,noheader"], limit / 4)
        if shutil.which("nvidia-smi")
        else "no nvidia-smi: is this a GPU machine?"
    )
    for command in (["uname", "-a"], ["lscpu"], ["g++", "--version"], ["nvcc", "--version"]):
        if shutil.which(command[0]):
            runner.run("machine", command, 10)
    return runner.run("machine", [sys.executable, "-c", versions], limit / 2) or problem


def install(runner: Runner, limit: float) -> str:
    """Installs the bundle into the site folder; runs the comparison's kernels on the CPU."""
    start = time.monotonic()
    if (ROOT / "install.py").exists():
        command = [sys.executable, str(ROOT / "install.py"), "--target", str(runner.site), "--jobs", str(runner.jobs)]
        problem = runner.run("install", command, limit)
        if problem:
            return problem
    elif not (runner.site / "terrazzo").exists():
        raise AbsentError(f"no install.py here and no package in {runner.site}: unpack a bundle, or name a --site")
    check = [sys.executable, "benchmarks/gpu/compare.py", "--check", "--device", "cpu", "--compilers", "terrazzo"]
    return runner.run("install", check, limit - (time.monotonic() - start), TERRAZZO_TARGET="cpu")


def cpu(runner: Runner, limit: float) -> str:
    """The bars of the CPU target beside numpy and torch, on this machine's processor."""
    if not (ROOT / "benchmarks" / "bench.py").exists():
        raise AbsentError("no benchmarks/bench.py")
    if shutil.which("lscpu"):
        runner.run("cpu", ["lscpu"], 10)
    # It keeps to the limit itself, so that it comes to its last line.
    command = [sys.executable, "benchmarks/bench.py", "--budget", f"{max(1.0, limit - 25):.0f}"]
    return runner.run("cpu", [*command, "--json", str(runner.out / "cpu.json")], limit, TERRAZZO_TARGET="cpu")


def conformance(runner: Runner, limit: float) -> str:
    """The runtime's own tests, among them the suite that every driver passes."""
    for path in (ROOT / "bin" / "RuntimeTests", ROOT / "build" / "dev" / "test" / "unit" / "RuntimeTests"):
        if path.exists():
            env = {"TERRAZZO_TEST_KERNELS": str(ROOT / "bin" / "kernels")} if path.parent.name == "bin" else {}
            return runner.run("conformance", [str(path), "--gtest_filter=-*Stress*", "--gtest_brief=0"], limit, **env)
    raise AbsentError("no RuntimeTests: the bundle was packed from a build without tests")


def device(runner: Runner, limit: float) -> str:
    """test/device, then the kernels' own tests on the GPU, by pytest.

    Workers, where xdist is there: one that dies or hangs is replaced and the rest goes on.
    """
    start = time.monotonic()
    if not any((ROOT / "test" / "device").rglob("test_*.py")):
        raise AbsentError("no tests in test/device")
    command = [sys.executable, "-m", "pytest", "-v", "-rfEs", "--durations=10", "-p", "no:cacheprovider", "--tb=short"]
    if importlib.util.find_spec("pytest_timeout"):
        command += ["--timeout=60", "--timeout-method=thread"]
    alone = list(command)
    if importlib.util.find_spec("xdist"):
        command += ["-n", str(min(4, runner.jobs)), "--max-worker-restart=20"]
    timing = "test/device/test_timing.py"
    problems = [runner.run("device", [*alone, timing], 0.2 * limit)] if (ROOT / timing).exists() else []
    problems.append(runner.run("device", [*command, "test/device", f"--ignore={timing}"], 0.6 * limit))
    if any((ROOT / "test" / "python" / "kernels").glob("test_*.py")):
        left = limit - (time.monotonic() - start)
        problems.append(runner.run("device", [*command, "test/python/kernels", "-k", "cuda or hip"], left))
    text = (runner.out / "device.txt").read_text(errors="replace")
    if not any(problems) and not re.search(r"\b\d+ passed", text):
        return "no test passed: all were skipped"
    return ", ".join(filter(None, problems))


def sanitizer(runner: Runner, limit: float) -> str:
    """The comparison's kernels on small shapes, then the kernels' own tests, under each tool.

    The tools run at once, each into a file until it ends. Reading what was never written is looked for in the
    comparison's kernels only: of torch's own kernels in the tests it says too much.
    """
    tool = find_tool("compute-sanitizer")
    check = [sys.executable, "benchmarks/gpu/compare.py", "--check", "--inline", "--compilers", "terrazzo"]
    tests = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "test/python/kernels", "-k", "cuda"]
    if importlib.util.find_spec("xdist"):
        tests += ["-n", str(min(4, runner.jobs))]

    def one(task: tuple[str, list[str]]) -> tuple[str, str, str]:
        name, check = task
        command = [tool, "--tool", name, "--target-processes", "all", "--error-exitcode", "66", "--print-limit", "30"]
        command += check
        with tempfile.TemporaryFile("w+", errors="replace") as file, cache() as folder:
            # Without torch's cache of memory an access beyond a tensor is one beyond an allocation.
            env = {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1", "TERRAZZO_CACHE_DIR": folder}
            problem = runner.into(file, command, limit, **env)
            file.seek(0)
            return name, problem, file.read()

    problems = []
    tasks = [(name, check) for name in SANITIZERS]
    if any((ROOT / "test" / "python" / "kernels").glob("test_*.py")):
        tasks += [(name, tests) for name in SANITIZERS if name != "initcheck"]
    with ThreadPoolExecutor(len(SANITIZERS)) as pool, (runner.out / "sanitizer.txt").open("a") as file:
        for name, problem, text in pool.map(one, tasks):
            file.write(f"===== {name}\n{text}")
            file.flush()
            if problem:
                problems.append(f"{name}: {problem}")
    return ", ".join(problems)


def benchmark(runner: Runner, limit: float) -> str:
    """The comparison with Triton and the libraries; the rows go into benchmark.json too."""
    # It keeps to the limit itself, so that it comes to its table.
    command = [sys.executable, "benchmarks/gpu/compare.py", "--budget", f"{max(1.0, limit - 10):.0f}"]
    return runner.run("benchmark", [*command, "--json", str(runner.out / "benchmark.json")], limit)


STEPS = {step.__name__: step for step in (machine, install, cpu, conformance, device, sanitizer, benchmark)}


@contextlib.contextmanager
def cache() -> Iterator[str]:
    """A folder for compiled kernels that starts empty."""
    with tempfile.TemporaryDirectory(prefix="terrazzo-device-", ignore_cleanup_errors=True) as folder:
        yield folder


def perform(name: str, runner: Runner, limit: float) -> Result:
    """One step, whatever happens in it."""
    start = time.monotonic()
    file = runner.out / f"{name}.txt"
    file.write_text("")
    if limit < 1:
        return Result(name, "no time left", 0.0)
    try:
        problem = STEPS[name](runner, limit)
    except AbsentError as absent:
        file.write_text(f"{absent}\n")
        return Result(name, f"absent: {absent}", time.monotonic() - start)
    except OSError as error:
        problem = str(error)
    text = file.read_text(errors="replace")
    lines = [line.strip("= \n") for line in text.splitlines() if _SUMMARY.search(line) and line[:2] != "$ "]
    return Result(name, f"FAILED: {problem}" if problem else "ok", time.monotonic() - start, lines)


def summary(results: list[Result], out: Path) -> str:
    """The table of the steps, then the comparison's."""
    lines = []
    for result in results:
        lines.append(f"{result.step:12s} {result.seconds:7.1f} s  {result.verdict}")
        lines += [f"{'':24s}{line}" for line in result.lines]
    comparison = out / "benchmark.txt"
    if comparison.exists():
        text = comparison.read_text(errors="replace")
        at = text.find("\ncase ")
        if at >= 0:
            lines.append(text[at : text.rfind("\n[")].rstrip())
    return "\n".join(lines) + "\n"


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Tests and measures on a GPU machine.")
    parser.add_argument("--out", type=Path, required=True, help="where the text files go")
    parser.add_argument("--steps", default=",".join(STEPS), help=f"of {', '.join(STEPS)}")
    parser.add_argument("--site", type=Path, help="where the package is or goes (site/ here)")
    parser.add_argument("--target", help="TERRAZZO_TARGET of all steps, as cuda:sm_90a (default: where the arrays are)")
    parser.add_argument("--budget", type=float, help="seconds for all steps together")
    parser.add_argument("--limit", action="append", default=[], metavar="STEP=SECONDS", help="another limit of a step")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    arguments.steps = [name for name in arguments.steps.split(",") if name]
    arguments.limits = dict(LIMITS)
    for text in arguments.limit:
        name, _, seconds = text.partition("=")
        if name not in STEPS or not seconds.replace(".", "", 1).isdigit():
            parser.error(f"--limit takes STEP=SECONDS with a step of {', '.join(STEPS)}, found {text!r}")
        arguments.limits[name] = float(seconds)
    unknown = [name for name in arguments.steps if name not in STEPS]
    if unknown:
        parser.error(f"no step {', '.join(unknown)}; there are {', '.join(STEPS)}")
    return arguments


def main() -> None:
    arguments = parse()
    out = arguments.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    site = (arguments.site or ROOT / "site").resolve()
    start, results = time.monotonic(), []
    with cache() as folder:
        env = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])]),
            "PYTHONUNBUFFERED": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            **({"TERRAZZO_TARGET": arguments.target} if arguments.target else {}),
            "TERRAZZO_CACHE_DIR": folder,
        }
        runner = Runner(out, site, env, arguments.jobs)
        for name in arguments.steps:
            left = float("inf") if arguments.budget is None else arguments.budget - (time.monotonic() - start)
            results.append(perform(name, runner, min(arguments.limits[name], left)))
            (out / "summary.txt").write_text(summary(results, out))
            print(f"{name}: {results[-1].verdict} ({results[-1].seconds:.1f} s)", flush=True)
    print(f"\n{(out / 'summary.txt').read_text()}", end="")
    sys.exit(any(result.verdict != "ok" for result in results))


if __name__ == "__main__":
    main()
