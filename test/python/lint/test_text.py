# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_text.py on good and bad files. Forbidden words are put together here, so that this file has none of them."""

import check_text
import pytest

LICENCE = "# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"


def messages(tree, contents):
    return [str(finding) for finding in check_text.check(tree(contents))]


def test_good(tree):
    makefile = "all:\n\techo\n"
    source = LICENCE + "def f():\n    return 1\n"
    assert messages(tree, {"Makefile": makefile, "a.py": source, "empty.py": "", "b.md": "two  \nspaces\n"}) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x", "no newline at the end"),
        ("x\n\n", "an empty line at the end"),
        ("x\ty\n", "a tab"),
        ("x \n", "a space at the end"),
        ("see /wo" + "rk/shared\n", "a path of one machine"),
        ("in this " + "session\n", "how it is made"),
        ("a sub" + "agent\n", "how it is made"),
        ("// TO" + "DO: later\n", "left open"),
        ("// FIX" + "ME\n", "left open"),
        ("raise NotImple" + "mentedError\n", "a stub"),
        ("<<<<" + "<<< HEAD\n", "a merge conflict"),
    ],
)
def test_bad_line(tree, text, message):
    found = messages(tree, {"a.txt": text})
    assert len(found) == 1
    assert message in found[0]


def test_open_end_with_a_number_is_allowed(tree):
    assert messages(tree, {"a.txt": "TO" + "DO(#12): wait for it\n"}) == []


def test_carriage_return(tree):
    root = tree({})
    (root / "a.txt").write_bytes(b"x\r\ny\n")
    assert [str(finding) for finding in check_text.check(root)] == ["a.txt:1: a carriage return"]


def test_licence_line(tree):
    assert "lack" in messages(tree, {"a.cpp": "int x;\n"})[0]


def test_binary_files_are_left_alone(tree):
    root = tree({})
    (root / "a.bin").write_bytes(b"\xff\xfe\t ")
    assert list(check_text.check(root)) == []


@pytest.mark.parametrize("suffix", [".cpp", ".h", ".td", ".py"])
def test_file_size(tree, suffix):
    text = LICENCE + "x = 1\n" * 800
    assert "801 lines" in messages(tree, {f"a{suffix}": text})[0]
    assert messages(tree, {f"b{suffix}": LICENCE + "x = 1\n" * 799, f"a{suffix}": LICENCE}) == []


def test_function_size(tree):
    text = LICENCE + "def long():\n" + "    x = 1\n" * 80
    assert "long has 81 lines" in messages(tree, {"a.py": text})[0]


def test_python_that_does_not_parse(tree):
    assert "does not parse" in messages(tree, {"a.py": LICENCE + "def f(:\n"})[0]
