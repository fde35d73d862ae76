# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops over ranges run as Python's do, with bounds and steps up to the ends of every integer type.

The bounds of a sample are arrays' elements or constants, its members few; what the loop saw is compared with Python.
"""

import itertools
import random

import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl
from terrazzo.language import iterators

TYPES = {name: np.dtype(name) for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")}
ROOM = 64  # members of a range at most
SEED = 20
WAYS = ("run-time", "constant step", "constant bounds", "constants")


@tz.jit
def _record(seen, count, bounds, steps, LOW: tl.constexpr, HIGH: tl.constexpr, STEP: tl.constexpr, JUMPS: tl.constexpr):
    low = tl.load(bounds) if LOW is None else LOW
    high = tl.load(bounds + 1) if HIGH is None else HIGH
    step = tl.load(steps) if STEP is None else STEP
    n = 0
    if JUMPS:
        for i in range(low, high, step):
            if n == 1000:  # a break makes another loop of it
                break
            tl.store(seen + n, i.to(tl.int64), mask=n < 64)
            n += 1
    else:
        for i in tl.range(low, high, step):
            tl.store(seen + n, tl.to_tensor(i).to(tl.int64), mask=n < 64)
            n += 1
    tl.store(count, n)


def _run(low, high, step, way, jumps, dtype, step_dtype):
    """The members that a kernel saw, modulo 2**64."""
    seen, count = np.zeros(ROOM, np.int64), np.zeros(1, np.int32)
    has_bounds, has_step = way in ("run-time", "constant step"), way in ("run-time", "constant bounds")
    bounds = np.array([low, high] if has_bounds else [0, 0], dtype)
    steps = np.array([step if has_step else 0], step_dtype)
    _record[(1,)](
        seen, count, bounds, steps, LOW=None if has_bounds else low, HIGH=None if has_bounds else high,
        STEP=None if has_step else step, JUMPS=jumps,
    )  # fmt: skip
    assert count[0] <= ROOM, f"{count[0]} iterations"
    return [int(v) % 2**64 for v in seen[: count[0]]]


def _bound(rng, least, most):
    """A number of a type, often near its ends or zero."""
    near = rng.choice((least, most, 0, rng.randint(least, most)))
    return min(max(near + rng.randint(-3, 3), least), most)


def _samples(rng, name, number):
    """(low, high, step) of which each fits the type, with few members."""
    least, most = int(np.iinfo(name).min), int(np.iinfo(name).max)
    while number:
        low, high = _bound(rng, least, most), _bound(rng, least, most)
        fewest = max(1, -(-abs(high - low) // ROOM))
        size = rng.choice((fewest, fewest + 1, abs(high - low) or 1, abs(high - low) + 1, most, rng.randint(1, most)))
        step = rng.choice((1, -1) if least else (1,)) * max(fewest, size)
        if least <= step <= most:
            number -= 1
            yield low, high, step


@pytest.mark.parametrize("jumps", [False, True], ids=["for", "break"])
@pytest.mark.parametrize("name", TYPES)
def test_bounds_and_steps_of_each_type(name, jumps):
    rng = random.Random(f"{SEED} {name} {jumps}")
    for way in WAYS:
        # Constants are compiled for each sample.
        for low, high, step in _samples(rng, name, 150 if way == "run-time" else 6):
            got = _run(low, high, step, way, jumps, TYPES[name], TYPES[name])
            want = [v % 2**64 for v in range(low, high, step)]
            assert got == want, f"range({low}, {high}, {step}) of {name}, {way}, seed {SEED}"


@pytest.mark.parametrize("name", ["uint8", "uint32", "uint64"])
def test_unsigned_ranges_that_go_down(name):
    most = int(np.iinfo(name).max)
    for low, high, step in [(5, 0, -2), (most, most - 7, -3), (most, 0, -(most // 3)), (3, 5, -1), (0, 0, -1)]:
        step = max(step, -(2**31))
        if len(range(low, high, step)) > ROOM:
            continue
        for way in ("run-time", "constant step", "constants"):
            got = _run(low, high, step, way, False, TYPES[name], np.int64)
            assert got == list(range(low, high, step)), f"range({low}, {high}, {step}) of {name}, {way}"


def test_down_to_minus_one_from_an_unsigned_bound():
    @tz.jit
    def kernel(seen, bounds):
        n = 0
        for i in range(tl.load(bounds), -1, -1):
            tl.store(seen + n, i.to(tl.int64))
            n += 1

    for name in ("uint8", "uint32", "uint64"):
        seen = np.full(8, -1, np.int64)
        kernel[(1,)](seen, np.array([3], name))
        assert list(seen) == [3, 2, 1, 0, -1, -1, -1, -1], name


def test_a_run_time_step_of_zero_runs_no_time():
    for dtype in TYPES.values():
        assert _run(0, 5, 0, "run-time", False, dtype, dtype) == []


def test_the_length_of_a_range_of_any_size():
    ends = (0, 1, -1, 7, -7, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63))
    for low, high, step in itertools.product(ends, ends, ends):
        if step and abs(high - low) // abs(step) < 2**62:
            assert iterators.length(low, high, step) == len(range(low, high, step))
    assert iterators.length(0, 2**64 - 1, 1) == 2**64 - 1


def test_more_iterations_than_python_can_count():
    @tz.jit
    def kernel(y):
        for i in range(0, 18446744073709551615, 1):
            if i == 3:
                tl.store(y, i)
                break

    y = np.zeros(1, np.int64)
    kernel[(1,)](y)
    assert y[0] == 3
