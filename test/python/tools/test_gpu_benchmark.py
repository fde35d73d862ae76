# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The comparison of compilers on a GPU: its kernels are right (on the CPU), its table says what its rows say."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
COMPARE = ROOT / "benchmarks" / "gpu" / "compare.py"


@pytest.fixture(scope="module")
def compare():
    """benchmarks/gpu/compare.py as a module."""
    spec = importlib.util.spec_from_file_location("gpu_compare", COMPARE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_kernels_are_right():
    command = [sys.executable, COMPARE, "--check", "--inline", "--device", "cpu", "--compilers", "terrazzo"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    kernels = "copy softmax rmsnorm cross_entropy matmul matmul_desc attention attention_desc selective_scan conv1d"
    for kernel in kernels.split():
        assert f'"case": "{kernel} ' in result.stdout


def test_a_group_that_does_not_come_back_costs_itself_only():
    command = [sys.executable, COMPARE, "--check", "--device", "cpu", "--compilers", "terrazzo", "--limit", "0.01"]
    result = subprocess.run([*command, "--only", "copy,rows"], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert result.stdout.count("cut off after 0.01 s") == 2
    assert "2 of 2 rows failed" in result.stdout


def test_groups_that_are_left_when_the_time_is_over_say_so():
    command = [sys.executable, COMPARE, "--check", "--device", "cpu", "--compilers", "terrazzo", "--budget", "0.01"]
    result = subprocess.run([*command, "--only", "copy,rows"], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "cut off after 0.01 s" in result.stdout
    assert "no time left" in result.stdout


def test_the_table(compare):
    rows = [
        {"case": "copy", "compiler": "torch", "library": True, "ms": 1.0, "rate": 4000.0, "unit": "GB/s"},
        {"case": "copy", "compiler": "triton", "ms": 2.0, "rate": 2000.0, "unit": "GB/s", "config": [1024, 4],
         "compile_s": 0.5, "error": 1e-3},
        {"case": "copy", "compiler": "terrazzo", "config": [1, 1], "refused": "no"},
        {"case": "copy", "compiler": "terrazzo", "provisional": True, "ms": 9.0, "error": 0.0, "config": [1024, 4],
         "compile_s": 0.1},
        {"case": "copy", "compiler": "terrazzo", "ms": 0.5, "rate": 8000.0, "unit": "GB/s", "config": [1024, 4],
         "compile_s": 0.1, "error": float("nan")},
        {"case": "rows", "compiler": "(group)", "failed": "cut off after 90 s"},
    ]  # fmt: skip
    lines = compare.table(rows).splitlines()
    assert len(lines) == 5
    ours = next(line for line in lines if "terrazzo" in line)
    assert "0.5000" in ours
    assert "4.00   2.00" in ours
    assert ours.endswith("WRONG")
    assert "WRONG" not in next(line for line in lines if " triton " in line and "x triton" not in line)
    assert "FAILED: cut off after 90 s" in lines[-1]


def test_report(tmp_path):
    """One row a case with the fastest library; what has no time, or is not final, is left out."""
    rows = [
        {"case": "a", "compiler": "terrazzo", "ms": 9.0, "provisional": True},
        {"case": "a", "compiler": "terrazzo", "ms": 2.0, "rate": 50.0, "unit": "TFLOP/s"},
        {"case": "a", "compiler": "triton", "ms": 3.0, "rate": 33.0, "unit": "TFLOP/s"},
        {"case": "a", "compiler": "slow", "library": True, "ms": 4.0, "rate": 25.0, "unit": "TFLOP/s"},
        {"case": "a", "compiler": "fast", "library": True, "ms": 1.0, "rate": 100.0, "unit": "TFLOP/s"},
        {"case": "b", "compiler": "terrazzo", "ms": 0.0058},
        {"case": "c", "compiler": "triton", "refused": "OutOfResources"},
    ]
    source = tmp_path / "rows.json"
    source.write_text(json.dumps(rows))
    report = ROOT / "benchmarks" / "gpu" / "report.py"
    options = ["--machine", "one chip", "--date", "2026-01-02", "--out", str(tmp_path)]
    subprocess.run([sys.executable, str(report), str(source), *options], check=True)
    text = (tmp_path / "Performance.md").read_text()
    assert "| a | 50 TFLOP/s | 33 TFLOP/s | 100 TFLOP/s (fast) | 1.50 | 0.50 |" in text
    assert "| b | 0.0058 ms |  |  |  |  |" in text
    assert "2026-01-02 on one chip" in text
    assert "1 rows without a time" in text
    assert (tmp_path / "performance.svg").read_text().lstrip().startswith("<?xml")
