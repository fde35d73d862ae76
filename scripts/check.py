# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`make test`: the quick lints beside lit and the unit tests, then pytest.

While they run: how many tests of each suite are done, and the name of each that fails as soon as it has. After a suite:
one line; at the end, the output of those that failed. On a terminal the progress is a bar a suite, elsewhere a line now
and then.

Expects a build that is up to date. clang-tidy, which takes minutes where it has seen no file yet, is left to
`make lint`.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

ROOT = Path(__file__).resolve().parent.parent
QUIET_SECONDS = 15.0  # between two lines about a suite where there is no terminal


@dataclass
class Suite:
    """One kind of test: how it is run, how its output is read, and what it did.

    `step` has the groups done and total and matches a line of a test that has ended; `fault` has the group name and
    matches a line that names one that failed.
    """

    name: str
    command: list[str]
    step: str
    fault: str
    done: int = 0
    total: int = 0
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    code: int = 0
    seconds: float = 0.0
    lines: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def read(self, line: str) -> str | None:
        """Takes in a line of output; the name of a test that it says has failed."""
        self.lines.append(line)
        found = re.search(self.step, line)
        if found:
            self.done, self.total = max(self.done, int(found["done"])), int(found["total"])
        found = re.search(self.fault, line)
        if found is None or found["name"] in self.faults:
            return None
        self.faults.append(found["name"])
        return found["name"]


def environment(build: Path) -> dict[str, str]:
    """What the suites see: this checkout's package, and a cache of compiled kernels of their own."""
    return {
        **os.environ,
        "PYTHONPATH": str(build / "package"),
        "PATH": f"{build / 'bin'}:{ROOT / '.venv' / 'bin'}:{os.environ.get('PATH', '')}",
        "TERRAZZO_CACHE_DIR": str(build / "test" / "cache"),
        "TERRAZZO_BUILD": str(build),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
    }


def suites(build: Path, jobs: int) -> list[Suite]:
    """The suites of `make test`."""
    python = str(ROOT / ".venv" / "bin" / "python")
    lint = [python, "-B", "tools/lint/lint.py", "--build", str(build), "--jobs", str(jobs), "--quick"]
    lit = [str(ROOT / ".venv" / "bin" / "lit"), "-v", "-j", str(jobs), str(build / "test")]
    ctest = ["ctest", "--test-dir", str(build), "--output-on-failure", "-j", str(jobs), "--no-tests=error"]
    pytest = [python, "-m", "pytest", "-v", "-n", str(jobs), "--dist", "worksteal", "-p", "no:cacheprovider"]
    return [
        Suite("lint", lint, r"^lint (?P<done>\d+)/(?P<total>\d+) ", r"^lint \S+ (?P<name>[\w -]+): FAILED"),
        Suite(
            "lit",
            lit,
            r"^[A-Z]+: .* \((?P<done>\d+) of (?P<total>\d+)\)",
            r"^(?:FAIL|UNRESOLVED|TIMEOUT|XPASS): (?P<name>.*) \(\d+ of",
        ),
        Suite(
            "gtest",
            ctest,
            r"^ *(?P<done>\d+)/(?P<total>\d+) Test +#",
            r"Test +#\d+: (?P<name>\S+) \.*\*\*\*",
        ),
        Suite(
            "pytest",
            [*pytest, "-o", "console_output_style=count"],
            r"^\[gw\d+\] \[ *(?P<done>\d+)/(?P<total>\d+)\]",
            r"^\[gw\d+\] \[.*\] (?:FAILED|ERROR) (?P<name>.*?) *$",
        ),
    ]


def count(suite: Suite) -> None:
    """Reads the numbers of tests from a suite's closing lines."""
    text = "\n".join(suite.lines)

    def number(pattern: str) -> int:
        found = re.findall(pattern, text)
        return int(found[-1]) if found else 0

    if suite.name == "lit":
        suite.passed = number(r"Passed *: *(\d+)")
        suite.failed = number(r"Failed *: *(\d+)") + number(r"Unresolved *: *(\d+)") + number(r"Timed Out *: *(\d+)")
        suite.skipped = number(r"Unsupported *: *(\d+)")
    elif suite.name == "gtest":
        total = number(r"tests failed out of (\d+)")
        suite.failed = number(r"(\d+) tests failed out of")
        suite.passed = total - suite.failed
    else:
        suite.passed = number(r"(\d+) passed")
        errors = number(r"(\d+) errors? in ") if suite.name == "pytest" else 0
        suite.failed = number(r"(\d+) failed") + errors
        suite.skipped = number(r"(\d+) skipped")
    if not suite.passed + suite.failed:
        # A suite that finds no test has lost them.
        suite.code = suite.code or 1
        suite.lines.append(f"{suite.name} ran no test")
    if suite.code and not suite.failed:
        suite.failed = 1


class Screen:
    """Shows what the suites do: a bar each on a terminal, a line now and then elsewhere."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(soft_wrap=True, highlight=False)
        columns = (TextColumn("{task.description:7s}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self.bars = Progress(*columns, console=self.console) if self.console.is_terminal else None
        self.tasks: dict[str, int] = {}
        self.told: dict[str, float] = {}

    def __enter__(self) -> Screen:
        if self.bars:
            self.bars.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self.bars:
            self.bars.stop()

    def say(self, text: str) -> None:
        """A line above the bars."""
        self.console.print(text, markup=False)

    def begin(self, suite: Suite) -> None:
        """A suite has been started."""
        self.told[suite.name] = time.monotonic()
        if self.bars:
            self.tasks[suite.name] = self.bars.add_task(suite.name, total=None)
        else:
            self.say(f"{suite.name}: started")

    def update(self, suite: Suite) -> None:
        """A suite has written a line."""
        if self.bars:
            self.bars.update(self.tasks[suite.name], completed=suite.done, total=suite.total or None)  # type: ignore[arg-type]
        elif time.monotonic() - self.told[suite.name] >= QUIET_SECONDS and suite.total:
            self.told[suite.name] = time.monotonic()
            faults = f", {len(suite.faults)} failed" if suite.faults else ""
            self.say(f"{suite.name}: {suite.done} of {suite.total}{faults}")


def summary(suite: Suite) -> str:
    """One line about a suite that has ended."""
    verdict = "FAILED" if suite.code else "ok"
    skipped = f", {suite.skipped} skipped" if suite.skipped else ""
    return f"{suite.name:7s} {verdict:6s} {suite.passed} passed, {suite.failed} failed{skipped}, {suite.seconds:.1f} s"


def run(suite: Suite, env: dict[str, str], screen: Screen) -> Suite:
    """Runs a suite, showing its progress, and says how it went."""
    start = time.monotonic()
    screen.begin(suite)
    with subprocess.Popen(
        suite.command, cwd=ROOT, env=env, text=True, errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            name = suite.read(line.rstrip("\n"))
            if name:
                screen.say(f"{suite.name}: FAILED {name}")
            screen.update(suite)
    suite.seconds, suite.code = time.monotonic() - start, process.returncode
    count(suite)
    screen.say(summary(suite))
    return suite


def perform(chosen: list[Suite], env: dict[str, str], screen: Screen, runner: Callable = run) -> None:
    """Runs the suites: pytest, which uses all cores, alone; the others two at a time."""
    with screen:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda suite: runner(suite, env, screen), [s for s in chosen if s.name != "pytest"]))
        for suite in chosen:
            if suite.name == "pytest":
                runner(suite, env, screen)


def main() -> None:
    parser = argparse.ArgumentParser(description="Runs every test.")
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", help="comma-separated names of suites: lint, lit, gtest, pytest")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    chosen = [
        suite for suite in suites(build, arguments.jobs) if suite.name in (arguments.only or suite.name).split(",")
    ]
    if not chosen:
        sys.exit("check: --only names no suite: lint, lit, gtest, pytest")
    perform(chosen, environment(build), Screen())
    for suite in chosen:
        if suite.code:
            shown = [line for line in suite.lines if not re.search(suite.step, line) or re.search(suite.fault, line)]
            print(f"\n===== {suite.name} =====\n" + "\n".join(shown))
    print()
    for suite in chosen:
        print(summary(suite))
    tests = [suite for suite in chosen if suite.name != "lint"] or chosen
    print(f"tests: {sum(suite.passed for suite in tests)} passed, {sum(suite.failed for suite in chosen)} failed")
    sys.exit(any(suite.code for suite in chosen))


if __name__ == "__main__":
    main()
