# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs kernels through the hip driver and prints what is wrong with them; test_simulated.py starts it.

The library in the place of libamdhip64 executes code objects in the simulator.
"""

import ctypes
import json
import sys
from pathlib import Path

import numpy as np
import terrazzo as tz
import terrazzo.language as tl

TESTS = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "python" / "run"), str(TESTS / "device")]

from random_runs import failures_of_group, on_device  # noqa: E402

LIBRARY = ctypes.CDLL("libamdhip64.so")


def forget_failure():
    """A context is lost after a fault, as on a device; this gives it back."""
    LIBRARY.stubSet(b"lost", 0)


def random_kernels(kind, first, count):
    """What is wrong with the kernels of some seeds."""
    found = []
    for seed in range(first, first + count):
        found += failures_of_group(kind, on_device, [seed])
        forget_failure()
    return found


@tz.jit
def copy(x, y, n, BLOCK: tl.constexpr):
    """Copies n elements, or as many as there are."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)


@tz.jit
def speak(x):
    """Prints and asserts."""
    value = tl.load(x + tl.arange(0, 4))
    tl.device_print("value", value)
    tl.device_assert(tl.sum(value) != 6, "a sum of six")


def faults():
    """What a kernel is told that reads where nothing is, and what it prints."""
    x, y = (tz.device_array(np.arange(100, dtype=np.float32)) for _ in range(2))
    found = []
    copy[(1,)](x, y, 100, BLOCK=128)
    found.append(bool((y.numpy() == np.arange(100)).all()))
    try:
        copy[(1,)](x, y, 4096, BLOCK=4096)
        tz.synchronize()
    except tz.LaunchError as error:
        found.append(str(error))
    forget_failure()
    try:
        speak[(1,)](x, debug=True)
        tz.synchronize()
    except tz.TerrazzoError as error:
        found.append(str(error))
    forget_failure()
    return found


if __name__ == "__main__":
    name, *numbers = sys.argv[1:]
    result = faults() if name == "faults" else random_kernels(name, *map(int, numbers))
    print("\n" + json.dumps(result), flush=True)
