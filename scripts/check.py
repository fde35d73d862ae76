# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`make test`: lints beside lit and the unit tests, then pytest; one line a suite, the output of what failed.

Expects a build that is up to date. pytest runs alone because some of its tests measure time.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass
class Suite:
    """One kind of test and what it did."""

    name: str
    command: list[str]
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    code: int = 0
    seconds: float = 0.0
    output: str = ""


def environment(build: Path) -> dict[str, str]:
    """What the suites see: this checkout's package, and a cache of compiled kernels of their own."""
    return {
        **os.environ,
        "PYTHONPATH": str(build / "package"),
        "PATH": f"{build / 'bin'}:{ROOT / '.venv' / 'bin'}:{os.environ.get('PATH', '')}",
        "TERRAZZO_CACHE_DIR": str(build / "test" / "cache"),
        "TERRAZZO_BUILD": str(build),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def suites(build: Path, jobs: int) -> list[Suite]:
    """The suites of `make test`."""
    python = str(ROOT / ".venv" / "bin" / "python")
    lit = [str(ROOT / ".venv" / "bin" / "lit"), "-s", "-v", "-j", str(jobs), str(build / "test")]
    ctest = ["ctest", "--test-dir", str(build), "--output-on-failure", "-j", str(jobs), "--no-tests=error"]
    pytest = [python, "-m", "pytest", "-q", "-n", str(jobs), "--dist", "worksteal", "-p", "no:cacheprovider"]
    lint = [python, "-B", "tools/lint/lint.py", "--build", str(build), "--jobs", str(jobs)]
    return [Suite("lint", lint), Suite("lit", lit), Suite("gtest", ctest), Suite("pytest", pytest)]


def count(suite: Suite) -> None:
    """Reads the numbers of tests from a suite's closing lines."""
    text = suite.output

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
        suite.output += f"{suite.name} ran no test\n"
    if suite.code and not suite.failed:
        suite.failed = 1


def run(suite: Suite, env: dict[str, str]) -> Suite:
    """Runs a suite and says how it went."""
    start = time.monotonic()
    result = subprocess.run(
        suite.command, cwd=ROOT, env=env, text=True, capture_output=True, errors="replace", check=False
    )
    suite.seconds, suite.code = time.monotonic() - start, result.returncode
    suite.output = result.stdout + result.stderr
    count(suite)
    if suite.code:
        print(f"===== {suite.name} =====\n{suite.output.rstrip()}\n", flush=True)
    return suite


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
    env = environment(build)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda suite: run(suite, env), [suite for suite in chosen if suite.name != "pytest"]))
    for suite in chosen:
        if suite.name == "pytest":
            run(suite, env)
    print()
    for suite in chosen:
        verdict = "FAILED" if suite.code else "ok"
        skipped = f", {suite.skipped} skipped" if suite.skipped else ""
        print(
            f"{suite.name:7s} {verdict:6s} {suite.passed} passed, {suite.failed} failed{skipped}, {suite.seconds:.1f} s"
        )
    tests = [suite for suite in chosen if suite.name != "lint"] or chosen
    print(f"tests: {sum(suite.passed for suite in tests)} passed, {sum(suite.failed for suite in chosen)} failed")
    sys.exit(any(suite.code for suite in chosen))


if __name__ == "__main__":
    main()
