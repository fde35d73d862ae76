# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runner for GPU machines, on a machine that need not have one: limits hold, and what is absent is said."""

import importlib.util
import os
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def device_run():
    """tools/device/run.py as a module."""
    spec = importlib.util.spec_from_file_location("device_run", ROOT / "tools" / "device" / "run.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["device_run"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def runner(device_run, tmp_path):
    return device_run.Runner(tmp_path, tmp_path / "site", dict(os.environ), 1)


def test_output_and_status_go_into_the_file_of_the_step(runner, tmp_path):
    assert runner.run("machine", ["sh", "-c", "echo out; echo err >&2"], 30) == ""
    assert runner.run("machine", ["sh", "-c", "exit 3"], 30) == "status 3"
    text = (tmp_path / "machine.txt").read_text()
    assert "out\nerr\n[ok, " in text
    assert "[status 3, " in text


def test_a_hang_is_cut_off_with_its_children_and_keeps_its_output(runner, tmp_path):
    child = tmp_path / "child"
    problem = runner.run("device", ["sh", "-c", f"echo begun; sleep 600 & echo $! >{child}; wait"], 1)
    assert problem == "cut off after 1 s"
    status = Path(f"/proc/{child.read_text().strip()}/status")
    while status.exists() and "State:\tZ" not in status.read_text():
        time.sleep(0.01)  # a signal takes its time; that none was sent would end in pytest's own limit
    assert "begun\n[cut off after 1 s, " in (tmp_path / "device.txt").read_text()


def test_steps_say_what_is_absent_and_that_no_time_is_left(device_run, runner, monkeypatch, tmp_path):
    monkeypatch.setattr(device_run, "ROOT", tmp_path)
    result = device_run.perform("conformance", runner, 10)
    assert result.verdict.startswith("absent: no RuntimeTests")
    assert device_run.perform("install", runner, 10).verdict.startswith("absent: no install.py")
    assert device_run.perform("benchmark", runner, 0.5).verdict == "no time left"


def test_the_summary_has_the_closing_lines_of_each_step(device_run, runner, monkeypatch, tmp_path):
    lines = "noise\\n[  PASSED  ] 28 tests.\\n===== 3 passed, 1 failed in 2.00s =====\\n"
    step = lambda runner, limit: runner.run("device", ["sh", "-c", f"printf '{lines}'; exit 1"], limit)
    monkeypatch.setitem(device_run.STEPS, "device", step)
    result = device_run.perform("device", runner, 30)
    assert result.verdict == "FAILED: status 1"
    text = device_run.summary([result], tmp_path)
    assert "3 passed, 1 failed in 2.00s" in text
    assert "[  PASSED  ] 28 tests." in text
    assert "noise" not in text


def test_the_cpu_step_runs_the_bench_within_its_limit(device_run, runner, monkeypatch, tmp_path):
    assert device_run.perform("cpu", runner, 0.5).verdict == "no time left"
    bench = tmp_path / "benchmarks" / "bench.py"
    monkeypatch.setattr(device_run, "ROOT", tmp_path)
    assert device_run.perform("cpu", runner, 30).verdict == "absent: no benchmarks/bench.py"
    bench.parent.mkdir()
    bench.write_text("import sys; print('29 of 30 bars reached', *sys.argv[1:])")
    result = device_run.perform("cpu", runner, 60)
    assert result.verdict == "ok"
    assert result.lines == [f"29 of 30 bars reached --budget 35 --json {tmp_path / 'cpu.json'}"]
