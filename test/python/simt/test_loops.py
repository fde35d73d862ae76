# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops over ranges by the passes for GPUs: the members that threads see are Python's, up to the ends of each type,
also where loads of the next iteration are started in this one.
"""

import random
import re
import subprocess

import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl
from programs import tz_opt
from terrazzo import frontend
from terrazzo.specialize import type_from_text
from threads import Machine

TYPES = {"i8": np.int8, "u16": np.uint16, "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64}
ROOM, SEED = 16, 6
PASSES = ("--canonicalize", "--cse", "--tz-simt-prefetch", "--tz-simt-to-llvm", "--canonicalize=top-down=false")


@tz.jit
def _record(seen, x, bounds, STEP: tl.constexpr):
    step = tl.load(bounds + 2) if STEP is None else STEP
    n = 0
    total = tl.full((), 0, tl.int64)
    for i in range(tl.load(bounds), tl.load(bounds + 1), step):
        k = tl.to_tensor(i).to(tl.int64)
        total = total + tl.load(x + (k & 7))
        tl.store(seen + 2 + (n & 15), k)
        n += 1
    tl.store(seen, n.to(tl.int64))
    tl.store(seen + 1, total)


def _lower(type, step):
    """The kernel as one thread runs it."""
    types = dict(seen="*i64", x="*i64", bounds=f"*{type}")
    module = frontend.build_module(
        _record, {k: type_from_text(t) for k, t in types.items()}, {"STEP": step}, {},
        {"num_warps": 1, "target": "cuda:90"},
    )  # fmt: skip
    facts = "tile.num_warps = 1 : i32, tile.target = #tile.target<warp_size = 2>"
    text, count = re.subn(r"tile\.num_warps = \d+ : i32", facts, module.str(), count=1)
    assert count == 1
    done = subprocess.run(
        [tz_opt(), "-", *PASSES, "--mlir-print-op-generic"], input=text, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr + text
    return done.stdout


def _run(lowered, bounds):
    x = np.arange(8, dtype=np.int64) ** 3
    machine = Machine(lowered, 2, 1, 0)
    seen = np.zeros(ROOM + 2, np.int64)
    places = [machine.allocate(array) for array in (seen, x, bounds)]
    machine.run(*map(np.int64, places))
    seen = machine.read(places[0], seen)
    return seen[0], seen[1], [int(v) % 2**64 for v in seen[2 : 2 + seen[0]]]


def _check(lowered, low, high, step, type):
    members = list(range(low, high, step))
    count, total, got = _run(lowered, np.array([low, high, step], TYPES[type]))
    assert (count, got) == (len(members), [v % 2**64 for v in members]), f"range({low}, {high}, {step}) of {type}"
    assert total == sum((v & 7) ** 3 for v in members)


@pytest.mark.parametrize("type", TYPES)
def test_run_time_bounds_and_steps(type):
    rng = random.Random(f"{SEED} {type}")
    least, most = int(np.iinfo(TYPES[type]).min), int(np.iinfo(TYPES[type]).max)
    lowered = _lower(type, None)
    for _ in range(60):
        low, high = (min(max(rng.choice((least, most, 0)) + rng.randint(-3, 3), least), most) for _ in range(2))
        step = max(1, -(-abs(high - low) // ROOM), rng.choice((1, most // 2, most, abs(high - low))))
        _check(lowered, low, high, min(step, most) * rng.choice((1, -1) if least else (1,)), type)


@pytest.mark.parametrize("type", TYPES)
def test_constant_steps_to_the_end_of_the_type(type):
    least, most = int(np.iinfo(TYPES[type]).min), int(np.iinfo(TYPES[type]).max)
    for step in (1, 3, most // 2 + 1, most):
        lowered = _lower(type, step)
        for high in (most, most - 1):
            _check(lowered, max(high - 3 * step, least), high, step, type)
            _check(lowered, high, least, step, type)
