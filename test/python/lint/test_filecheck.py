# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_filecheck.py on good and bad lit tests."""

import check_filecheck
import pytest

RUN = "// RUN: tz-opt %s | FileCheck %s\n"


def messages(tree, text, name="test/Dialect/a.mlir"):
    return [str(finding) for finding in check_filecheck.check(tree({name: text}))]


@pytest.mark.parametrize(
    "text",
    [
        RUN + "// CHECK-LABEL: @f\n// CHECK-NEXT: x\n// CHECK-COUNT-2: y\n// CHECK-NOT: z\n// CHECK{LITERAL}: [[1]]\n",
        "// RUN: tz-opt %s | FileCheck %s --check-prefix=A\n// A: x\n",
        "// RUN: tz-opt %s | FileCheck %s --check-prefixes=A,B-C\n// A: x\n// B-C-DAG: y\n",
        "// RUN: tz-opt %s \\\n// RUN:   | FileCheck %s -check-prefix A\n// A-SAME: x\n",
        "// RUN: tz-opt %s -verify-diagnostics -split-input-file\n// expected-error @+1 {{no}}\n",
        "// RUN: tz-opt %s | /usr/lib/llvm-22/bin/FileCheck %s\n// CHECK: x\n// NOTE: prose\n",
        "# RUN: %python %s | FileCheck %s\n# CHECK: x\n",
    ],
)
def test_good(tree, text):
    assert messages(tree, text) == []


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (RUN + "// CHECK: a\n// CHEC" + "K-LABLE: @f\n", 3, "CHECK-LABLE (CHECK-LABEL?)"),
        (RUN + "// CHECK: a\n// CHE" + "KC-NEXT: b\n", 3, "CHEKC-NEXT (CHECK-NEXT?)"),
        (RUN + "// CHECK: a\n// SIMT: b\n", 3, "no RUN line reads the prefix SIMT"),
        ("// RUN: tz-opt %s | FileCheck %s --check-prefix=CPU\n// CPU: a\n// CHECK: b\n", 3, "no RUN line reads"),
        ("// RUN: tz-opt %s | FileCheck %s --check-prefixes=A,B\n// A: a\n", 1, "names the prefix B"),
        ("// RUN:\n// CHECK: a\n", 1, "runs no tool"),
        ("// RUN: | FileCheck %s\n// CHECK: a\n", 1, "runs no tool"),
    ],
)
def test_bad(tree, text, line, message):
    found = messages(tree, text)
    assert any(f"a.mlir:{line}: " in one and message in one for one in found), found


def test_no_run_line(tree):
    assert "without a RUN line" in messages(tree, "func.func @f() { return }\n")[0]


@pytest.mark.parametrize("name", ["test/python/test_a.py", "test/unit/a.mlir", "test/lit.cfg.py", "docs/a.mlir"])
def test_files_that_are_no_lit_tests(tree, name):
    assert messages(tree, "nothing\n", name) == []
