# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random kernels of the language with masks of all kinds, down to what one thread does, executed without a device."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from programs import tz_opt
from test_barriers import tile_text
from threads import Machine

sys.path.insert(0, str(Path(__file__).parents[1] / "run"))
from random_kernels import Kernel, check, stored_type  # noqa: E402

PASSES = [
    *("--canonicalize", "--cse", "--tz-tile-to-simt", "--tz-simt-prefetch", "--tz-simt-decompose", "--canonicalize"),
    *(
        "--cse",
        "--tz-insert-mma-waits",
        "--tz-allocate-shared",
        "--tz-insert-barriers",
        "--tz-simt-to-llvm",
        "--canonicalize=top-down=false",
    ),
    *("--cse", "--mlir-print-op-generic"),
]
KINDS = ("masked_load", "masked_load", "masked_atomic", "histogram", "pick", "choice", "transpose", "reduction")
NAMES = {"float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64", "float8e4nv": "fp8e4nv",
         "float8e5": "fp8e5"}  # fmt: skip
COUNT, GROUP = 96, 12


def type_name(dtype):
    short = NAMES.get(dtype) or dtype.replace("uint", "u").replace("int", "i").replace("bool", "i32")
    return f"*{short}:16"


def run(kernel, monkeypatch):
    """The outputs of a kernel whose programs run one after the other."""
    types = [type_name(dtype) for _, dtype in kernel.inputs.values()]
    types += [type_name(value.dtype) for _, (value, _) in kernel.outputs]
    text = tile_text(kernel.compiled(), kernel.num_warps, monkeypatch, types)
    warps = f"tile.num_warps = {kernel.num_warps} : i32"
    assert warps in text
    text = text.replace(warps, f"{warps}, tile.target = #tile.target<warp_size = 32>", 1)
    done = subprocess.run([tz_opt(), "-", *PASSES], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + kernel.source
    machine = Machine(done.stdout, 32, kernel.num_warps, 1 << 16)
    arrays = [array for array, _ in kernel.inputs.values()]
    for _, (value, _) in kernel.outputs:
        arrays.append(np.zeros(kernel.programs * int(np.prod(value.shape, initial=1)), stored_type(value.dtype)))
    places = [machine.allocate(array) for array in arrays]
    for program in range(kernel.programs):
        machine.run(*map(np.int64, places), program=(program, 0, 0), grid=(kernel.programs, 1, 1))
    first = len(kernel.inputs)
    return [machine.read(place, array) for place, array in zip(places[first:], arrays[first:], strict=True)]


@pytest.mark.parametrize("first", range(0, COUNT, GROUP))
def test_random_masks(first, monkeypatch):
    print(f"seeds {first} to {first + GROUP - 1}")
    for seed in range(first, first + GROUP):
        kernel = Kernel(seed, 4, KINDS)
        check(kernel, run(kernel, monkeypatch))
