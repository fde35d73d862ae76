# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""AMD code objects, executed: the hip driver over a library that runs them in the simulator."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

CHIPS = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201")
LIBRARY = Path(os.environ.get("TERRAZZO_BUILD", "build/dev")) / "test" / "unit" / "Runtime" / "libHipSimulator.so"
COUNT = 50


@pytest.fixture
def run(tmp_path):
    """run(chip, *what): what simulated_runs.py says in a process of its own, and what it printed before."""
    (tmp_path / "libamdhip64.so").symlink_to(LIBRARY.resolve())

    def call(chip, *what):
        environment = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path), "TERRAZZO_SIMULATED_CHIP": chip}
        program = Path(__file__).parent / "simulated_runs.py"
        done = subprocess.run(
            [sys.executable, str(program), *map(str, what)],
            env=environment, capture_output=True, text=True, timeout=600,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-3000:]
        *printed, last = done.stdout.splitlines()
        return json.loads(last), printed

    return call


@pytest.mark.parametrize("kind", ["operations", "products"])
@pytest.mark.parametrize("chip", CHIPS)
def test_random_kernels(run, chip, kind):
    """Each chip has seeds of its own."""
    first = COUNT * CHIPS.index(chip)
    print(f"seeds {first} to {first + COUNT - 1}")
    found, _ = run(chip, kind, first, COUNT)
    assert not found, f"{len(found)} of {COUNT} kernels fail; the first: {found[0]}"


@pytest.mark.parametrize("chip", ["gfx942", "gfx1201"])
def test_faults_and_prints(run, chip):
    (is_right, fault, assertion), printed = run(chip, "faults")
    assert is_right
    assert "out of bounds" in fault and "copy" in fault
    assert "a sum of six" in assertion
    assert any("value" in line and "3" in line for line in printed)
