# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fails on the mistakes in lit tests that FileCheck cannot see.

* a directive whose prefix no FileCheck of a RUN line reads: it is never checked;
* a directive that looks misspelt (`CHECK-LABLE:`);
* a RUN line that runs nothing, and a prefix that a RUN line names but no directive uses;
* a file without a RUN line.
"""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from tree import Finding, files, run_lint

_SUFFIXES = {"NEXT", "SAME", "NOT", "DAG", "LABEL", "EMPTY", "COUNT"}
_RUN = re.compile(r"(?:^|\s)RUN:(.*)$")
_COMMENT = re.compile(r"^\s*(?://|#|;)\s*(.*)$")
_DIRECTIVE = re.compile(r"^([A-Z][A-Z0-9_]*(?:-[A-Z0-9_]+)*)(?:\{[A-Z]+\})?:(?!:)")
# Words in capitals before a colon that are no directives of FileCheck.
_OTHER = {"RUN", "REQUIRES", "UNSUPPORTED", "XFAIL", "DEFINE", "REDEFINE", "ALLOW_RETRIES", "END", "NOTE", "COM"}
_EXCLUDED_PARTS = {"bundle", "python", "unit", "device", "fuzz", "Inputs"}
_EXCLUDED_NAMES = {"lit.cfg.py"}


def _run_lines(lines: list[str]) -> Iterator[tuple[int, str]]:
    """RUN lines with their continuations joined."""
    start, pending = 0, ""
    for number, line in enumerate(lines, 1):
        match = _RUN.search(line)
        if not match:
            continue
        if not pending:
            start = number
        text = match.group(1).strip()
        if text.endswith("\\"):
            pending += text[:-1] + " "
            continue
        yield start, (pending + text).strip()
        pending = ""
    if pending:
        yield start, pending.strip()


def _prefixes(command: str) -> set[str]:
    """The check prefixes of every FileCheck in a command."""
    found: set[str] = set()
    for part in re.split(r"\|\||&&|\||;", command):
        try:
            words = shlex.split(part)
        except ValueError:
            words = part.split()
        if not any(Path(word).name == "FileCheck" for word in words):
            continue
        own: set[str] = set()
        for index, word in enumerate(words):
            match = re.match(r"--?check-prefix(?:es)?(?:=(.*))?$", word)
            if match:
                value = match.group(1) if match.group(1) is not None else words[index + 1]
                own |= {prefix for prefix in value.split(",") if prefix}
        found |= own or {"CHECK"}
    return found


def _base(directive: str) -> str:
    """`CHECK-NEXT` -> `CHECK`; `CHECK-COUNT-2` -> `CHECK`; a prefix may have hyphens itself."""
    directive = re.sub(r"-COUNT-\d+$", "", directive)
    head, _, tail = directive.rpartition("-")
    return head if head and tail in _SUFFIXES else directive


def _misspelt(directive: str, prefixes: set[str]) -> str | None:
    """The directive that was probably meant."""
    known = sorted({*prefixes, *(f"{prefix}-{suffix}" for prefix in prefixes for suffix in _SUFFIXES - {"COUNT"})})
    close = difflib.get_close_matches(directive, known, 1, 0.75)
    return close[0] if close else None


def directive_of(line: str) -> str | None:
    """The directive that a line of a test is, as `CHECK-NEXT`."""
    comment = _COMMENT.match(line)
    directive = _DIRECTIVE.match(comment.group(1)) if comment else None
    return None if directive is None or directive.group(1) in _OTHER else directive.group(1)


def check_file(path: Path, name: str) -> Iterator[Finding]:
    """The findings in one test file."""
    lines = path.read_text().splitlines()
    runs = list(_run_lines(lines))
    if not runs:
        yield Finding(name, 0, "a lit test without a RUN line")
        return
    prefixes: set[str] = set()
    for number, command in runs:
        if not command or command.startswith("|"):
            yield Finding(name, number, "a RUN line that runs no tool")
        prefixes |= _prefixes(command)
    used: set[str] = set()
    for number, line in enumerate(lines, 1):
        word = directive_of(line)
        if word is None:
            continue
        base = _base(word)
        if word in prefixes or base in prefixes:
            used.add(base if base in prefixes else word)
            continue
        meant = _misspelt(word, prefixes | {"CHECK"})
        hint = f" ({meant}?)" if meant else ""
        yield Finding(name, number, f"no RUN line reads the prefix {word}{hint}")
    for prefix in sorted(prefixes - used):
        if not any("--allow-unused-prefixes" in command for _, command in runs):
            yield Finding(name, runs[0][0], f"a RUN line names the prefix {prefix}, but no directive has it")


def is_test(path: Path) -> bool:
    """Is this path (below test/) one that lit takes for a test?"""
    return (
        path.suffix in {".mlir", ".ll", ".py", ".test"}
        and path.name not in _EXCLUDED_NAMES
        and not _EXCLUDED_PARTS & set(path.parts)
    )


def check(root: Path) -> Iterator[Finding]:
    """The findings in all lit tests of a tree."""
    for path in files(root):
        if path.is_relative_to(root / "test") and is_test(path.relative_to(root / "test")):
            yield from check_file(path, str(path.relative_to(root)))


if __name__ == "__main__":
    run_lint("Checks the directives of lit tests.", check)
