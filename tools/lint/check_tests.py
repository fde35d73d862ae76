# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fails on tests that prove nothing, or that nobody can read.

* a pytest function that neither asserts, nor expects an exception, nor calls something that does;
* a skip: a test that is skipped proves nothing where it is. Only what a machine lacks is a reason: a device;
* a lit case of many lines that names nothing and forbids nothing, which is what pasted output looks like, and one of
  several lines without a sentence above it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from check_filecheck import directive_of, is_test
from tree import Finding, files, run_lint

# Calls that fail by themselves.
_CHECKING = {"raises", "warns", "fail", "check_call", "check_output", "check_returncode", "CDLL"}
# What a reason may say that a machine lacks.
_DEVICE = re.compile(r"\b(GPUs?|CUDA|HIP|devices?|NoDevice)\b", re.IGNORECASE)
_PROSE = re.compile(r"\s*(//|#|;)\s*\S+ \S")
_COMMAND = re.compile(r"\b(RUN|DEFINE|REDEFINE|REQUIRES|UNSUPPORTED|SPDX-License-Identifier):")
_NO_DEVICE = re.compile(r"\bno\b.*" + _DEVICE.pattern, re.IGNORECASE)
_SKIPS = {"skip", "skipif", "importorskip", "xfail"}
_GTEST_SKIP = re.compile(r"\bGTEST_SKIP\(\)|\bTEST(_[PF])?\(\w+, *DISABLED_")
_GTEST_CONTEXT = 8  # lines before a skip that may say why
# A run of directives this long without a capture or a -NOT is pasted output.
LONGEST_RUN = 12
# A case of this many directives has a sentence above it.
LONGEST_WITHOUT_SENTENCE = 4


def _name(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _checks_itself(node: ast.AST) -> bool:
    """Whether something in the function can fail on purpose."""
    for child in ast.walk(node):
        if isinstance(child, ast.Assert | ast.Raise):
            return True
        if isinstance(child, ast.Call):
            checked = any(
                word.arg == "check" and isinstance(word.value, ast.Constant) and word.value.value is True
                for word in child.keywords
            )
            if checked or _name(child) in _CHECKING or _name(child).startswith("assert"):
                return True
    return False


def _is_fixture(function: ast.FunctionDef) -> bool:
    return any("fixture" in ast.unparse(decorator) for decorator in function.decorator_list)


def _fixture_name(function: ast.FunctionDef) -> str:
    """The name that tests ask for it by."""
    for decorator in function.decorator_list:
        for word in getattr(decorator, "keywords", []):
            if word.arg == "name" and isinstance(word.value, ast.Constant):
                return str(word.value.value)
    return function.name


@dataclass
class TestFile:
    """What matters of one file of tests; `module` is the name that others import it by."""

    module: str
    tree: ast.AST
    functions: list[ast.FunctionDef] = field(init=False)
    calls: dict[int, list[ast.Call]] = field(init=False)  # of each function, by its line
    imported: dict[str, str] = field(init=False)  # names to the modules that they are from
    methods: set[int] = field(init=False)  # the lines of functions in classes

    def __post_init__(self) -> None:
        nodes = list(ast.walk(self.tree))
        self.functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
        self.calls = {
            one.lineno: [node for node in ast.walk(one) if isinstance(node, ast.Call)] for one in self.functions
        }
        imports = [node for node in nodes if isinstance(node, ast.ImportFrom)]
        self.imported = {alias.asname or alias.name: node.module or "" for node in imports for alias in node.names}
        classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
        self.methods = {one.lineno for node in classes for one in node.body}


class Helpers:
    """The functions and fixtures of all tests that check something, themselves or through each other."""

    def __init__(self, tests: list[TestFile]):
        self.fixtures: set[str] = set()
        self.methods: set[str] = set()
        self.functions: dict[str, set[str]] = {test.module: set() for test in tests}
        left = [(test, one) for test in tests for one in test.functions if not one.name.startswith("test_")]
        while True:
            found = [(test, one) for test, one in left if _checks_itself(one) or self.are_used(test, one)]
            if not found:
                return
            for test, one in found:
                self._add(test, one)
            known = {id(one) for _, one in found}
            left = [(test, one) for test, one in left if id(one) not in known]

    def _add(self, test: TestFile, function: ast.FunctionDef) -> None:
        if _is_fixture(function):
            self.fixtures.add(_fixture_name(function))
        elif function.lineno in test.methods:
            self.methods.add(function.name)
        else:
            self.functions[test.module].add(function.name)

    def are_used(self, test: TestFile, function: ast.FunctionDef) -> bool:
        """Whether the function calls a helper, or asks for a fixture, that checks something."""
        if any(argument.arg in self.fixtures for argument in function.args.args):
            return True
        return any(self._is_checking(test, call) for call in test.calls[function.lineno])

    def _is_checking(self, test: TestFile, call: ast.Call) -> bool:
        name = _name(call)
        if isinstance(call.func, ast.Attribute):
            module = getattr(call.func.value, "id", "")
            return name in self.methods or name in self.functions.get(module, ())
        return name in self.functions[test.module] or name in self.functions.get(test.imported.get(name, ""), ())


def check_pytest(name: str, test: TestFile, helpers: Helpers) -> Iterator[Finding]:
    """Tests without a check, and skips, in one Python file."""
    for function in test.functions:
        checks = _checks_itself(function) or helpers.are_used(test, function)
        if function.name.startswith("test_") and not checks:
            yield Finding(name, function.lineno, f"{function.name} asserts nothing")
    on_device = name.startswith("test/device/")
    for call in (node for node in ast.walk(test.tree) if isinstance(node, ast.Call)):
        if _name(call) in _SKIPS and not (on_device and _name(call) != "xfail"):
            reason = " ".join(ast.unparse(part) for part in [*call.args, *(word.value for word in call.keywords)])
            if _name(call) in ("importorskip", "xfail") or not _NO_DEVICE.search(reason):
                yield Finding(name, call.lineno, f"{_name(call)}: only a device may be missing")


def check_gtest(name: str, text: str) -> Iterator[Finding]:
    """Skips in one C++ file."""
    lines = text.splitlines()
    for index, line in enumerate(lines):
        context = "\n".join(lines[max(index - _GTEST_CONTEXT, 0) : index + 2])
        if _GTEST_SKIP.search(line) and not _DEVICE.search(context):
            yield Finding(name, index + 1, "a skipped test: only a device may be missing")


def check_lit(name: str, text: str) -> Iterator[Finding]:
    """Runs of directives in one lit test."""
    lines = text.splitlines()
    run: list[tuple[int, str]] = []
    for number, line in enumerate([*lines, ""], 1):
        if directive_of(line) is not None:
            run.append((number, line))
            continue
        if run:
            yield from _check_run(name, lines, run)
        run = []


def _check_run(name: str, lines: list[str], run: list[tuple[int, str]]) -> Iterator[Finding]:
    first = run[0][0]
    if len(run) >= LONGEST_RUN and not any("[[" in line or "-NOT" in line for _, line in run):
        yield Finding(
            name, first, f"{len(run)} lines of expectations that name nothing: a case is shorter, or captures"
        )
    if len(run) > LONGEST_WITHOUT_SENTENCE and not _has_sentence(lines[: first - 1]):
        yield Finding(name, first, f"{len(run)} lines of expectations without a sentence above them")


def _has_sentence(lines: list[str]) -> bool:
    """Whether the case that these lines begin holds prose. It begins where the one before ends."""
    for line in reversed(lines):
        if line.rstrip() in ("}", "// -----"):
            return False
        if _PROSE.match(line) and not _COMMAND.search(line) and directive_of(line) is None:
            return True
    return False


def check(root: Path) -> Iterator[Finding]:
    """The findings in all tests of a tree."""
    tests = [path for path in files(root, ".py", ".cpp", ".h", ".mlir", ".ll") if path.is_relative_to(root / "test")]
    # Files of one name in several folders (conftest.py) are not imported, and told apart by their paths.
    names = [path.stem for path in tests]
    python = {
        path: TestFile(path.stem if names.count(path.stem) == 1 else str(path), ast.parse(path.read_text()))
        for path in tests
        if path.suffix == ".py"
    }
    helpers = Helpers(list(python.values()))
    for path in tests:
        name = path.relative_to(root).as_posix()
        if path in python:
            yield from check_pytest(name, python[path], helpers)
        elif path.suffix in (".cpp", ".h"):
            yield from check_gtest(name, path.read_text())
        elif is_test(path.relative_to(root / "test")):
            yield from check_lit(name, path.read_text())


if __name__ == "__main__":
    run_lint("Checks that tests prove something and can be read.", check)
