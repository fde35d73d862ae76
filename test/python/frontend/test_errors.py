# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that cannot be compiled: each error stands at the user's line and says what was expected."""

import importlib.util

import numpy as np
import pytest
import terrazzo as tz

HEADER = "import terrazzo as tz\nimport terrazzo.language as tl\n\nPLAIN = 3\n\n\n@tz.jit\ndef kernel(x, n):\n"

# The body of a kernel, the number of its line that is at fault, and words of the message.
CASES = [
    ("tl.store(x, nope)", 1, "name 'nope' is not defined"),
    ("tl.store(x, PLAIN)", 1, "'PLAIN' is a plain global variable"),
    ("import math", 1, "import cannot be used in a kernel"),
    ("try:\n    pass\nfinally:\n    pass", 1, "try cannot be used in a kernel"),
    ("raise ValueError", 1, "raise cannot be used in a kernel"),
    ("y = {1: 2}", 1, "a dict cannot be used in a kernel"),
    ("y = {1, 2}", 1, "a set cannot be used in a kernel"),
    ("yield n", 1, "yield cannot be used in a kernel"),
    ("global PLAIN\nPLAIN = 1", 1, "global cannot be used in a kernel"),
    ("class A:\n    pass", 1, "a class cannot be used in a kernel"),
    ("return n", 1, "a kernel returns nothing"),
    ("a, b = n", 1, "cannot be unpacked"),
    ("a, b = (1, 2, 3)", 1, "expected 2 values to unpack, found 3"),
    ("n.nothing", 1, "has no attribute 'nothing'"),
    ("tl.arange(0, n)", 1, "compile time"),
    ("tl.zeros((n,), tl.float32)", 1, "compile time"),
    ("tl.store(x, tl.load(n))", 1, "pointer"),
    ("y = x + x", 1, "cannot add two pointers"),
    ("y = x * 2", 1, "does not take pointers"),
    ("i = tl.arange(0, 4) + tl.arange(0, 8)", 1, "shape"),
    ("if tl.arange(0, 4) > 1:\n    pass", 1, "a condition must be a scalar"),
    ("y = 1 if tl.arange(0, 4) > 1 else 2", 1, "a condition must be a scalar"),
    ("for i in n:\n    pass", 1, "'for' takes range"),
    ("for i in range(0, n, 0):\n    pass", 1, "step"),
    ("for i in tl.static_range(n):\n    pass", 1, "compile-time bounds"),
    ("s = 0\nfor i in range(n):\n    s = s + 0.5\ntl.store(x, s)", 3, "variable 's' has type int32"),
    ("if n > 0:\n    y = 1\nelse:\n    y = 2.5\ntl.store(x, y)", 4, "variable 'y'"),
    ("if n > 0:\n    y = 1\ntl.store(x, y)", 3, "is assigned in one branch of an 'if' only"),
    ("for i in range(n):\n    y = i\ntl.store(x, y)", 3, "is first assigned inside a loop"),
    ("for i in range(n):\n    pass\ntl.store(x, i)", 3, "the variable of a loop that may not have run"),
    ("y = n @ n", 1, "use tl.dot"),
    ("tl.store(x, None)", 1, "None"),
    ("open('f')", 1, "cannot be called in a kernel"),
    ("helper(n)", 1, "name 'helper' is not defined"),
    ("tl.program_id(3)", 1, "axis"),
    ("tl.static_assert(False, 'no luck')", 1, "no luck"),
    ("tl.load(x, bad_option=1)", 1, "bad_option"),
    ("del x\ntl.load(x)", 2, "was deleted"),
    ("y = tl.arange(0, 4)\ny.shape = 3", 2, "assignment to an attribute"),
    ("z = 'a' + n", 1, "'a'"),
]


def load(path, text):
    """The kernel of a module that is written to a file."""
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel


@pytest.mark.parametrize(("body", "line", "words"), CASES, ids=range(len(CASES)))
def test_error_at_the_users_line(body, line, words, tmp_path):
    indented = "".join(f"    {text}\n" for text in body.splitlines())
    path = tmp_path / "bad_kernel.py"
    kernel = load(path, HEADER + indented)
    with pytest.raises(tz.CompilationError) as caught:
        kernel[(1,)](np.zeros(8, np.float32), 4)
    error = caught.value
    assert words in str(error), str(error)
    assert error.file == str(path)
    assert error.line == HEADER.count("\n") + line, str(error)
    assert error.source is not None and "^" in str(error)


def test_error_in_a_callee_names_the_call(tmp_path):
    text = HEADER.replace("@tz.jit", "@tz.jit\ndef inner(a):\n    return a + nope\n\n\n@tz.jit", 1) + "    inner(n)\n"
    kernel = load(tmp_path / "bad_callee.py", text)
    with pytest.raises(tz.CompilationError, match=r"'nope' is not defined[\s\S]*'inner' is called at .*: inner\(n\)"):
        kernel[(1,)](np.zeros(8, np.float32), 4)


def test_recursion_names_the_cycle(tmp_path):
    kernel = load(tmp_path / "recursive.py", HEADER + "    kernel(x, n)\n")
    with pytest.raises(tz.CompilationError, match="recursion is not supported in kernels: kernel -> kernel"):
        kernel[(1,)](np.zeros(8, np.float32), 4)


def test_exec_text_works():
    text = HEADER + "    tl.store(x, n)\n"
    scope = {}
    exec(text, scope)
    x = np.zeros(8, np.float32)
    scope["kernel"][(1,)](x, 5)
    assert x[0] == 5
