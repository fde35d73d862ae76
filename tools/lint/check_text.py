# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fails on what every text file must keep to: line ends, the licence line, sizes, and words that do not belong here."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tree import Finding, files, run_lint, text_of

_SOURCES = (".cpp", ".h", ".td", ".py", ".def", ".sh")
_LICENCE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
MAX_LINES = {".cpp": 800, ".h": 800, ".td": 800, ".py": 800}
MAX_FUNCTION_LINES = 80
# What is left open is no part of the code, nor is how it is worked on. Written so that this file does not match.
_FORBIDDEN = [
    (re.compile(r"/" + r"work/|/" + r"farm/"), "a path of one machine"),
    (
        re.compile(r"\bsub" + r"agents?\b|\bthis " + r"session\b|\bhelper " + r"session", re.IGNORECASE),
        "how it is made",
    ),
    (
        re.compile(r"\b(TO" + r"DO|FIX" + r"ME|X" + r"XX|HA" + r"CK)\b(?!\(#\d+\))"),
        "left open: finish it or file it as (#N)",
    ),
    (re.compile(r"\bNot" + r"ImplementedError\b"), "a stub"),
    (re.compile(r"^(<{7}|>{7}|={7})( |$)"), "a merge conflict"),
]
# A comment or a string with these passes, nothing else in the tree.
_EXEMPT = {"LICENSE", "requirements/constraints.txt"}


def check_lines(name: str, text: str) -> Iterator[Finding]:
    """Line ends, tabs and forbidden words."""
    if text and not text.endswith("\n"):
        yield Finding(name, 0, "no newline at the end of the file")
    if text.endswith("\n\n"):
        yield Finding(name, 0, "an empty line at the end of the file")
    makefile = Path(name).name == "Makefile" or name.endswith((".mk", ".tsv"))
    for number, line in enumerate(text.split("\n"), 1):
        if "\r" in line:
            yield Finding(name, number, "a carriage return")
        if "\t" in line and not makefile:
            yield Finding(name, number, "a tab")
        if line != line.rstrip(" ") and not name.endswith(".md"):
            yield Finding(name, number, "a space at the end of the line")
        for pattern, what in _FORBIDDEN:
            if pattern.search(line):
                yield Finding(name, number, f"{what}: {pattern.search(line).group(0).strip()}")  # pyright: ignore


def check_source(name: str, text: str) -> Iterator[Finding]:
    """The licence line and the sizes of a source file."""
    if _LICENCE not in "\n".join(text.splitlines()[:6]) and text.strip():
        yield Finding(name, 1, f"the first lines lack '{_LICENCE}'")
    limit = MAX_LINES.get(Path(name).suffix)
    count = text.count("\n")
    if limit and count > limit:
        yield Finding(name, 0, f"{count} lines; a file stops at {limit}")
    if name.endswith(".py"):
        yield from check_functions(name, text)


def check_functions(name: str, text: str) -> Iterator[Finding]:
    """Python functions beyond the limit. (clang-tidy does this for C++.)"""
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        yield Finding(name, error.lineno or 0, f"does not parse: {error.msg}")
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MAX_FUNCTION_LINES:
                yield Finding(
                    name, node.lineno, f"{node.name} has {length} lines; a function stops at {MAX_FUNCTION_LINES}"
                )


def check(root: Path) -> Iterator[Finding]:
    """All text rules over a tree."""
    for path in files(root):
        name = str(path.relative_to(root))
        text = text_of(path)
        if text is None or name in _EXEMPT:
            continue
        yield from check_lines(name, text)
        if name.endswith(_SOURCES):
            yield from check_source(name, text)


if __name__ == "__main__":
    run_lint("Checks line ends, licence lines, sizes and words.", check)
