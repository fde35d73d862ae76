# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The lints as commands, and the record of what passed."""

import subprocess
import sys
from pathlib import Path

import clang_tidy
import lint
import pytest

TOOLS = Path(__file__).resolve().parents[3] / "tools" / "lint"


@pytest.mark.parametrize(("text", "code"), [("fine\n", 0), ("bad\t\n", 1)])
def test_exit_code(tree, text, code):
    command = [sys.executable, "-B", TOOLS / "check_text.py", "--root", tree({"a.txt": text})]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == code
    assert ("a.txt:1: a tab" in result.stdout) == bool(code)


def test_record_changes_with_command_and_content(tmp_path, monkeypatch):
    monkeypatch.setattr(lint, "ROOT", tmp_path)
    file = tmp_path / "a.py"
    file.write_text("x = 1\n")
    records = {lint.record_of(lint.Lint("l", [option], [file]), tmp_path) for option in ("a", "b")}
    file.write_text("x = 2\n")
    records.add(lint.record_of(lint.Lint("l", ["a"], [file]), tmp_path))
    assert len(records) == 3
    assert lint.record_of(lint.Lint("l", ["a"]), tmp_path) is None


def test_a_lint_that_passed_is_not_run_again(tmp_path, monkeypatch):
    monkeypatch.setattr(lint, "ROOT", tmp_path)
    file = tmp_path / "a.py"
    file.write_text("x = 1\n")
    log = tmp_path / "log"
    one = lint.Lint("l", ["sh", "-c", f"echo run >> {log}"], [file])
    assert lint.run(one, tmp_path)[1] == 0
    assert lint.run(one, tmp_path)[1] == 0
    assert log.read_text() == "run\n"


def test_a_failing_lint_is_run_again(tmp_path, monkeypatch):
    monkeypatch.setattr(lint, "ROOT", tmp_path)
    file = tmp_path / "a.py"
    file.write_text("x = 1\n")
    one = lint.Lint("l", ["sh", "-c", "echo no; exit 3"], [file])
    assert [lint.run(one, tmp_path)[1:3] for _ in range(2)] == [(3, "no\n")] * 2


def test_missing_tool_says_what_to_do(tmp_path):
    _, code, output, _ = lint.run(lint.Lint("l", ["no-such-linter"]), tmp_path)
    assert code == 1
    assert "run make setup" in output


def test_tidy_key_changes_with_each_header(tmp_path):
    source, header = tmp_path / "a.cpp", tmp_path / "a.h"
    source.write_text("int x;\n")
    header.write_text("int y;\n")
    entry = {"file": str(source), "command": "clang++ a.cpp"}
    first = clang_tidy.key_of(entry, [header], tmp_path, b"")
    assert first == clang_tidy.key_of(entry, [header], tmp_path, b"")
    header.write_text("int z;\n")
    keys = {first, clang_tidy.key_of(entry, [header], tmp_path, b""), clang_tidy.key_of(entry, [], tmp_path, b"")}
    keys.add(clang_tidy.key_of({**entry, "command": "clang++ -O2 a.cpp"}, [], tmp_path, b""))
    assert len(keys) == 4


def test_what_passed_in_one_checkout_has_passed_in_others(tmp_path, monkeypatch):
    """Commands and generated headers name their folder; nothing else may tell two checkouts apart."""

    def key(name, way, header="int f();\n"):
        root = tmp_path / name
        build = root / "build" / "dev"
        build.mkdir(parents=True, exist_ok=True)
        (root / "a.cpp").write_text("int f() { return 1; }\n")
        (root / "a.h").write_text(header)
        (build / "generated.hxx").write_text(f'#include "{root}/pch.h"\n')
        monkeypatch.setattr(clang_tidy, "ROOT", root)
        entry = {"file": str(root / "a.cpp"), "command": f"clang++ -I{build} -I{root} -c {root}/a.cpp -o a.o"}
        return clang_tidy.key_of(entry, [Path(way.format(root=root)), build / "generated.hxx"], build, b"")

    assert key("one", "{root}/a.h") == key("another", "{root}/build/dev/../../a.h")
    assert key("one", "{root}/a.h") != key("one", "{root}/a.h", header="int f(int);\n")
