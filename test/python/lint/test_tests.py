# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_tests.py on tests that prove something and on tests that do not."""

import check_tests
import pytest

HEAD = "// RUN: tz-opt %s | FileCheck %s\n"


def messages(tree, contents):
    return [str(finding) for finding in check_tests.check(tree(contents))]


@pytest.mark.parametrize(
    "body",
    [
        "    assert f()",
        "    with pytest.raises(ValueError):\n        f()",
        "    for x in f():\n        if x:\n            raise AssertionError(x)",
        "    np.testing.assert_allclose(f(), 1)",
        "    subprocess.run(['true'], check=True)",
        "    compare(f())",  # a helper that calls one that asserts
        "    Judge().decide(f())",
    ],
)
def test_what_can_fail(tree, body):
    helpers = (
        "def same(x):\n    assert x\n\n\ndef compare(x):\n    same(x)\n\n\n"
        "class Judge:\n    def decide(self, x):\n        assert x\n\n\n"
    )
    assert messages(tree, {"test/python/a/test_a.py": f"{helpers}def test_a():\n{body}\n"}) == []


def test_helpers_of_other_files_and_fixtures(tree):
    contents = {
        "test/python/a/judges.py": "def decide(x):\n    assert x\n",
        "test/python/a/conftest.py": "@pytest.fixture\ndef ask():\n    def run(x):\n        assert x\n    return run\n",
        "test/python/a/test_a.py": "import judges\nfrom judges import decide\n\n\n"
        "def test_a():\n    judges.decide(1)\n\n\ndef test_b():\n    decide(1)\n\n\ndef test_c(ask):\n    ask(1)\n",
    }
    assert messages(tree, contents) == []


@pytest.mark.parametrize(
    "body",
    [
        "    f()",
        "    subprocess.run(['true'], check=False)",
        "    product.decide(1)",  # a function of the same name, of something else
        "    x = 1\n    print(x)",
    ],
)
def test_what_cannot_fail(tree, body):
    contents = {
        "test/python/a/judges.py": "def decide(x):\n    assert x\n",
        "test/python/a/test_a.py": f"import product\n\n\ndef test_a():\n{body}\n",
    }
    assert messages(tree, contents) == ["test/python/a/test_a.py:4: test_a asserts nothing"]


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ('pytest.mark.skipif(x, reason="torch sees no GPU")', True),
        ('pytest.mark.skipif(x, reason="no build")', False),
        ('pytest.skip("too slow")', False),
        ('pytest.skip("this machine has a GPU")', False),
        ('pytest.importorskip("torch")', False),
        ('pytest.mark.xfail(reason="no GPU")', False),
    ],
)
def test_skips(tree, text, allowed):
    found = messages(tree, {"test/python/a/test_a.py": f"x = {text}\n"})
    assert (found == []) is allowed
    assert allowed or "only a device may be missing" in found[0]


def test_packages_may_be_missing_beside_a_device(tree):
    assert messages(tree, {"test/device/test_a.py": 'torch = pytest.importorskip("torch")\n'}) == []
    assert len(messages(tree, {"test/device/test_b.py": 'pytestmark = pytest.mark.xfail(reason="later")\n'})) == 1


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ('  // Where there is no such device, nothing.\n  GTEST_SKIP() << "none";\n', 0),
        ('  GTEST_SKIP() << "this processor is too new";\n', 1),
        ("TEST(Suite, DISABLED_later) {\n}\n", 1),
    ],
)
def test_skips_in_cpp(tree, text, count):
    assert len(messages(tree, {"test/unit/A/ATest.cpp": text})) == count


def lines(text, count):
    return f"// CHECK: {text}\n" * count


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("// Why it is there.\n" + lines("x", 11), None),
        ("// Why it is there.\n" + lines("x", 12), "12 lines of expectations that name nothing"),
        ("// Why it is there.\n" + lines("x", 12) + "// CHECK: %[[X:.*]] = y\n", None),
        ("// Why it is there.\n" + lines("x", 12) + "// CHECK-NOT: y\n", None),
        ("// Why it is there.\n" + lines("x", 8) + "\n" + lines("y", 8), None),
        (lines("x", 4), None),
        (lines("x", 5), "5 lines of expectations without a sentence"),
        ("// Of the case before.\nfunc.func @f() {\n}\n" + lines("x", 5), "5 lines of expectations without a sentence"),
        ("// Of the case before.\n// -----\n" + lines("x", 5), "5 lines of expectations without a sentence"),
        ("// Why it is there.\nfunc.func @f() {\n  return\n" + lines("x", 5) + "}\n", None),
    ],
)
def test_lit_cases(tree, text, message):
    found = messages(tree, {"test/Dialect/a.mlir": HEAD + text})
    assert found == [] if message is None else message in found[0]
