# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/check.py: progress, failures as they happen, and the counts, of suites whose output is made up."""

import importlib.util
import io
import os
import sys
import time
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "scripts" / "check.py"

OUTPUT = {
    "lint": "lint 1/2 ruff check: ok (0.1 s)\nlint 2/2 layers: FAILED (0.2 s)\nlint: 1 passed, 1 failed",
    "lit": "PASS: Terrazzo :: a.mlir (1 of 3)\nFAIL: Terrazzo :: b.mlir (2 of 3)\nwhy b failed\n"
    "PASS: Terrazzo :: c.mlir (3 of 3)\n  Passed: 2\n  Failed: 1",
    "gtest": " 1/2 Test #1: A.one ....   Passed    0.01 sec\n 2/2 Test #2: A.two ....***Failed    0.01 sec\n"
    "50% tests passed, 1 tests failed out of 2",
    "pytest": "[gw0] [1/3] PASSED test/a.py::test_one \n[gw1] [2/3] FAILED test/a.py::test_two[x y] \n"
    "[gw1] [3/3] PASSED test/b.py::test_three \n=== 1 failed, 2 passed in 0.1s ===",
}
FAILED = {"lint": "layers", "lit": "Terrazzo :: b.mlir", "gtest": "A.two", "pytest": "test/a.py::test_two[x y]"}


@pytest.fixture(name="check")
def _check():
    spec = importlib.util.spec_from_file_location("terrazzo_check", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def screen(check):
    out = io.StringIO()
    return check.Screen(check.Console(file=out, soft_wrap=True, highlight=False)), out


@pytest.mark.parametrize("name", OUTPUT)
def test_a_failure_is_named_at_once_and_counted(check, name, tmp_path):
    suite = next(s for s in check.suites(tmp_path, 1) if s.name == name)
    first, _, rest = OUTPUT[name].rpartition("\n")
    gate = tmp_path / "gate"
    # The last line comes only when the gate is there: the failure has to be said before.
    text = (
        "import os, sys, time\n"
        f"print({first!r}, flush=True)\n"
        f"while not os.path.exists({str(gate)!r}): time.sleep(0.01)\n"
        f"print({rest!r}); sys.exit(1)"
    )
    suite.command = [sys.executable, "-c", text]
    shown, out = screen(check)

    def say(line, original=shown.say):
        original(line)
        if "FAILED" in line:
            gate.touch()

    shown.say = say
    check.run(suite, dict(os.environ), shown)
    assert f"{name}: FAILED {FAILED[name]}\n" in out.getvalue()
    assert (suite.done, suite.total) == (suite.passed + suite.failed,) * 2
    assert (suite.failed, suite.code) == (1, 1)


def test_progress_is_told_now_and_then(check, tmp_path, monkeypatch):
    monkeypatch.setattr(check, "QUIET_SECONDS", 0.0)
    suite = next(s for s in check.suites(tmp_path, 1) if s.name == "pytest")
    suite.command = [sys.executable, "-c", f"print({OUTPUT['pytest']!r})"]
    shown, out = screen(check)
    check.run(suite, dict(os.environ), shown)
    assert "pytest: 1 of 3\n" in out.getvalue()
    assert "pytest: 2 of 3, 1 failed\n" in out.getvalue()


def test_a_suite_without_tests_has_failed(check, tmp_path):
    suite = next(s for s in check.suites(tmp_path, 1) if s.name == "gtest")
    suite.command = [sys.executable, "-c", "print('No tests were found!!!')"]
    shown, _ = screen(check)
    check.run(suite, dict(os.environ), shown)
    assert suite.failed == 1
    assert "gtest ran no test" in suite.lines


def test_pytest_runs_after_the_others(check, tmp_path):
    order = []

    def runner(suite, environment, shown):
        time.sleep(0.02 * (suite.name != "pytest"))
        order.append(suite.name)

    check.perform(check.suites(tmp_path, 1), {}, screen(check)[0], runner)
    assert order[-1] == "pytest"
    assert sorted(order) == ["gtest", "lint", "lit", "pytest"]
