# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One array passed as two arguments, on what GPUs run: all passes, executed thread by thread.

Either the kernel orders its accesses by tl.debug_barrier(), or it is compiled for arguments that may overlap.
"""

import re
import subprocess

import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl
from programs import tz_opt
from terrazzo import frontend
from terrazzo.specialize import spec_from_text, specialization
from test_barriers import PASSES
from threads import Machine

B, WARP_SIZE = 128, 32


@tz.jit
def ordered(a, b, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    total = tl.zeros((B,), tl.int32)
    for s in range(n):
        tl.store(a + i, i * i + s)
        tl.debug_barrier()
        total += tl.load(b + (B - 1 - i))
        tl.debug_barrier()
    tl.store(out + i, total)


@tz.jit
def unordered(a, b, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    total = tl.zeros((B,), tl.int32)
    for s in range(n):
        tl.store(a + i, i * i + s)
        total += tl.load(b + (B - 1 - i))
    tl.store(out + i, total)


@tz.jit
def straight(a, b, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    first = tl.load(a + i)
    tl.store(a + i, i * i + n)
    total = tl.sum(first) + tl.load(b + (B - 1 - i))
    tl.store(out + i, total)


def lowered(fn, pointer, warps):
    """What one thread does, in the generic form; `pointer` is the type of the first two arguments."""
    texts = {"a": pointer, "b": pointer, "out": "*i32:16", "n": "i32"}
    specs = [("const", B) if p.is_constexpr else spec_from_text(texts[p.name], p.name) for p in fn.params]
    spec = specialization(fn.params, specs)
    options = {"num_warps": warps, "target": "cuda:90"}
    text = frontend.build_module(fn, spec.arg_types, spec.constexprs, spec.arg_attrs, options).str()
    facts = f"tile.num_warps = {warps} : i32, tile.target = #tile.target<warp_size = {WARP_SIZE}>"
    text, count = re.subn(r"tile\.num_warps = \d+ : i32", facts, text, count=1)
    assert count == 1
    passes = [*PASSES, "--tz-insert-barriers", "--tz-check-barriers", "--tz-simt-to-llvm"]
    passes += ["--canonicalize=top-down=false", "--cse", "--mlir-print-op-generic"]
    done = subprocess.run([tz_opt(), "-", *passes], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run(fn, pointer, warps, n):
    """`out` of a launch whose first two arguments are one array."""
    code = lowered(fn, pointer, warps)
    shared = re.search(r"simt.shared_bytes = (\d+)", code)
    machine = Machine(code, WARP_SIZE, warps, int(shared[1]) if shared else 0)
    array = machine.allocate(np.full(B, 7, np.int32))
    out = machine.allocate(np.zeros(B, np.int32))
    machine.run(np.int64(array), np.int64(array), np.int64(out), np.int32(n))
    return machine.read(out, np.zeros(B, np.int32)), code.count('"simt.barrier"')


def summed(n):
    last = np.arange(B)[::-1] ** 2
    return (last * n + n * (n - 1) // 2).astype(np.int32)


@pytest.mark.parametrize("n", [0, 1, 2, 5])
@pytest.mark.parametrize("warps", [1, 2, 4])
def test_barriers_of_the_kernel_hold_loads_back(warps, n):
    found, _ = run(ordered, "*i32:16", warps, n)
    np.testing.assert_array_equal(found, summed(n))


@pytest.mark.parametrize("n", [0, 1, 2, 5])
@pytest.mark.parametrize("warps", [1, 2, 4])
def test_overlapping_arguments_need_no_barriers(warps, n):
    found, barriers = run(unordered, "*i32:16:overlaps", warps, n)
    np.testing.assert_array_equal(found, summed(n))
    assert barriers == 2  # one before the load, one before the next store


@pytest.mark.parametrize("warps", [1, 2, 4])
def test_straight_code(warps):
    found, _ = run(straight, "*i32:16:overlaps", warps, 3)
    np.testing.assert_array_equal(found, 7 * B + np.arange(B)[::-1] ** 2 + 3)


def test_what_the_assumption_is_worth():
    """Apart, the loads start early: run with one array, such code is wrong."""
    found, _ = run(unordered, "*i32:16", 4, 5)
    assert (found != summed(5)).all()
