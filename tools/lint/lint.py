# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`make lint`: every lint, side by side; prints the findings and one line a lint.

Lints that read Python or prose only are not run again on files that they passed (the record is in the build folder);
clang-tidy keeps a record of its own (clang_tidy.py). `--quick` leaves it out: what is new to it takes seconds a file.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

from tree import ROOT, files

VENV = ROOT / ".venv" / "bin"
_CPP_FOLDERS = ("lib", "include", "tools", "test", "cmake")


@dataclass
class Lint:
    """One lint: its command, and the files that its answer depends on (empty: run it always)."""

    name: str
    command: list[str]
    inputs: list[Path] = field(default_factory=list)


def lints(build: Path, jobs: int) -> list[Lint]:
    """All lints, the slow ones first."""
    here = ROOT / "tools" / "lint"
    cpp = [path for path in files(ROOT, ".cpp", ".h") if path.relative_to(ROOT).parts[0] in _CPP_FOLDERS]
    python = files(ROOT, ".py", ".pyi")
    config = [ROOT / "pyproject.toml", ROOT / "requirements" / "constraints.txt"]
    own = [sys.executable, "-B"]
    tidy = [*own, str(here / "clang_tidy.py"), "--build", str(build), "--jobs", str(jobs)]
    return [
        Lint("basedpyright", [str(VENV / "basedpyright"), "--warnings"], python + config),
        Lint("clang-tidy", tidy),
        Lint(
            "clang-format", ["clang-format-22", "--dry-run", "-Werror", *map(str, cpp)], [*cpp, ROOT / ".clang-format"]
        ),
        Lint("ruff check", [str(VENV / "ruff"), "check", "--quiet", "."]),
        Lint("ruff format", [str(VENV / "ruff"), "format", "--quiet", "--check", "."]),
        Lint("codespell", [str(VENV / "codespell"), *map(str, files(ROOT))], files(ROOT)),
        Lint("layers", [*own, str(here / "check_layers.py")]),
        Lint("filecheck", [*own, str(here / "check_filecheck.py")]),
        Lint("tests", [*own, str(here / "check_tests.py")]),
        Lint("text", [*own, str(here / "check_text.py")]),
    ]


def record_of(lint: Lint, build: Path) -> Path | None:
    """The file that exists if this lint has passed on these inputs."""
    if not lint.inputs:
        return None
    digest = hashlib.sha256(" ".join(lint.command).encode())
    for path in lint.inputs:
        digest.update(f"\0{path.relative_to(ROOT)}\0".encode())
        digest.update(path.read_bytes())
    return build / "lint" / f"{lint.name.replace(' ', '-')}-{digest.hexdigest()[:32]}"


def run(lint: Lint, build: Path) -> tuple[Lint, int, str, float]:
    """Runs one lint: exit code, output, seconds."""
    start = time.monotonic()
    record = record_of(lint, build)
    if record and record.exists():
        return lint, 0, "", 0.0
    if shutil.which(lint.command[0]) is None:
        return lint, 1, f"{lint.command[0]} is not installed: run make setup", 0.0
    result = subprocess.run(lint.command, cwd=ROOT, capture_output=True, text=True, check=False)
    if result.returncode == 0 and record:
        record.parent.mkdir(parents=True, exist_ok=True)
        for old in record.parent.glob(f"{lint.name.replace(' ', '-')}-*"):
            old.unlink(missing_ok=True)
        record.touch()
    return lint, result.returncode, result.stdout + result.stderr, time.monotonic() - start


def main() -> None:
    parser = argparse.ArgumentParser(description="Runs every lint.")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "dev")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", help="comma-separated names")
    parser.add_argument("--quick", action="store_true", help="without clang-tidy")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    chosen = lints(build, arguments.jobs)
    if arguments.only:
        names = arguments.only.split(",")
        chosen = [lint for lint in chosen if lint.name in names]
        if len(chosen) != len(names):
            known = ", ".join(lint.name for lint in lints(build, 1))
            sys.exit(f"lint: --only names an unknown lint; there are: {known}")
    elif arguments.quick:
        chosen = [lint for lint in chosen if lint.name != "clang-tidy"]
    failed = 0
    with ThreadPoolExecutor(arguments.jobs) as pool:
        runs = [pool.submit(run, lint, build) for lint in chosen]
        for done, future in enumerate(as_completed(runs), 1):
            lint, code, output, seconds = future.result()
            if code:
                failed += 1
                print(output.rstrip())
            verdict = "FAILED" if code else "ok"
            print(f"lint {done}/{len(chosen)} {lint.name}: {verdict} ({seconds:.1f} s)", flush=True)
    print(f"lint: {len(chosen) - failed} passed, {failed} failed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
