# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the lints share: the files of a tree, and how a finding is reported."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_SKIPPED = {".git", ".venv", "build", "__pycache__", ".ruff_cache", ".pytest_cache", ".hypothesis", "generated"}


@dataclass(frozen=True, order=True)
class Finding:
    """One complaint; `line` is 0 when it is about the file as a whole."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        return f"{where}: {self.message}"


def files(root: Path, *suffixes: str) -> list[Path]:
    """The files under `root` with one of these suffixes (all files if none), ignored ones left out, sorted."""
    names = _git_files(root)
    paths = [root / name for name in names] if names is not None else list(_walk(root))
    return sorted(path for path in paths if path.is_file() and (not suffixes or path.name.endswith(suffixes)))


def _git_files(root: Path) -> list[str] | None:
    """What git knows or would add; None where `root` is not the top of a work tree."""
    if not (root / ".git").exists():
        return None
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    result = subprocess.run(command, capture_output=True, check=False)
    return None if result.returncode else sorted({name for name in result.stdout.decode().split("\0") if name})


def _walk(root: Path) -> Iterator[Path]:
    for path in root.rglob("*"):
        if not _SKIPPED & set(path.relative_to(root).parts):
            yield path


def text_of(path: Path) -> str | None:
    """The text of a file; None for a binary one."""
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError:
        return None


def run_lint(description: str, check: Callable[[Path], Iterable[Finding]]) -> None:
    """The main function of every lint here: prints the findings and exits with 1 if there are any."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--root", type=Path, default=ROOT, help="the tree to look at (this checkout)")
    findings = sorted(check(parser.parse_args().root.resolve()))
    for finding in findings:
        print(finding)
    sys.exit(bool(findings))
