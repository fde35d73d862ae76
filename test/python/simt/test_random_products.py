# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random kernels with products, by the instructions of each unit, down to what one thread does, without a device."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from programs import tz_opt
from test_barriers import tile_text
from test_random_masks import type_name
from threads import Machine

sys.path.insert(0, str(Path(__file__).parents[1] / "run"))
from random_kernels import check, stored_type  # noqa: E402
from random_products import ProductKernel  # noqa: E402

PASSES = [
    *("--tz-tile-expand-sort", "--canonicalize", "--cse", "--tz-choose-matrix-units", "--tz-tile-to-simt"),
    *("--tz-simt-channels", "--tz-simt-prefetch", "--tz-simt-decompose", "--canonicalize", "--cse", "--tz-fit-shared"),
    *(
        "--tz-insert-mma-waits",
        "--tz-allocate-shared",
        "--tz-insert-barriers",
        "--tz-check-barriers",
        "--tz-simt-to-llvm",
        "--tz-guard-division",
    ),
    *("--tz-expand-math", "--canonicalize=top-down=false", "--cse", "--mlir-print-op-generic"),
]
# Matrix unit -> lanes of a warp, bytes of shared memory.
UNITS = {"mma_sm80": (32, 166912), "mma_sm89": (32, 101376), "wgmma_sm90": (32, 232448), "mfma_gfx942": (64, 65536),
         "wmma_gfx11": (32, 65536), "wmma_gfx12": (32, 65536)}  # fmt: skip
COUNT, GROUP = 48, 6


def types_of(kernel):
    """The signature: arrays are aligned, lengths say whether they are multiples of 16."""
    types = [type_name(dtype) for _, dtype in kernel.inputs.values()]
    types += [type_name(value.dtype) for _, (value, _) in kernel.outputs]
    return types + ["i32:16" if number % 16 == 0 else "i32" for number in kernel.scalars.values()]


def run(kernel, unit, monkeypatch):
    """The outputs of a kernel whose programs run one after the other, and what a thread does."""
    lanes, shared = UNITS[unit]
    text = tile_text(kernel.compiled(), monkeypatch=monkeypatch, types=types_of(kernel), **kernel.options)
    facts = f"tile.target = #tile.target<warp_size = {lanes}, shared_bytes = {shared}, matrix = {unit}>"
    text, found = re.subn(r"(tile\.num_warps = \d+ : i32)", rf"\1, {facts}", text, count=1)
    assert found == 1
    done = subprocess.run([tz_opt(), "-", *PASSES], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"random kernel {kernel.seed}: {done.stderr}{kernel.source}"
    shared = int(re.search(r"simt\.shared_bytes = (\d+)", done.stdout)[1])
    machine = Machine(done.stdout, lanes, kernel.num_warps, shared)
    arrays = [array for array, _ in kernel.inputs.values()]
    for _, (value, _) in kernel.outputs:
        arrays.append(np.zeros(kernel.programs * int(np.prod(value.shape, initial=1)), stored_type(value.dtype)))
    places = [machine.allocate(array) for array in arrays]
    arguments = [*map(np.int64, places), *map(np.int32, kernel.scalars.values())]
    for program in range(kernel.programs):
        machine.run(*arguments, program=(program, 0, 0), grid=(kernel.programs, 1, 1))
    assert not any(machine.groups), f"random kernel {kernel.seed}: a copy is still on its way"
    first = len(kernel.inputs)
    return [machine.read(at, array) for at, array in zip(places[first:], arrays[first:], strict=True)], done.stdout


def unit_of(seed):
    """Every other kernel by the unit that does most by itself."""
    return "wgmma_sm90" if seed % 2 else list(UNITS)[seed // 2 % len(UNITS)]


@pytest.mark.parametrize("first", range(0, COUNT, GROUP))
def test_random_products(first, monkeypatch):
    print(f"seeds {first} to {first + GROUP - 1}")
    for seed in range(first, first + GROUP):
        kernel = ProductKernel(seed)
        check(kernel, run(kernel, unit_of(seed), monkeypatch)[0])


def test_units_and_copies_are_met(monkeypatch):
    """Of the kernels above, some multiply by each way of reading factors, and some copy ahead."""
    monkeypatch.setattr(Machine, "run", lambda *arguments, **options: None)
    seen = "".join(run(ProductKernel(seed), "wgmma_sm90", monkeypatch)[1] for seed in range(1, COUNT, 2))
    for op in ("simt.thread_mma", "simt.thread_group_mma", "simt.thread_copy"):
        assert op in seen
