# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No access of memory crosses a barrier in machine code. More kernels: order.py."""

import order
import pytest

CHIPS = [*order.AMD, "cuda:sm_90a"]
# Each chip gets a part of the random kernels: what moves accesses is no matter of one chip.
SEEDS, GROUP = 60, 10


@pytest.mark.parametrize("target", CHIPS)
def test_kernels(target):
    moved, lines = order.check([*order.known_to_race(), *order.others(8), *order.of_library(8)], [target])
    assert not moved, "\n".join(lines)


@pytest.mark.parametrize("first", range(0, SEEDS, GROUP))
def test_random_kernels(first):
    target = CHIPS[first // GROUP % len(CHIPS)]
    print(f"seeds {first} to {first + GROUP - 1}, {target}")
    moved, lines = order.check([order.random_one(seed) for seed in range(first, first + GROUP)], [target])
    assert not moved, "\n".join(lines)


@pytest.mark.parametrize("target", ["hip:gfx942", "hip:gfx1100"])
def test_the_check_sees_what_llvm_moves(target):
    """Without the pins in front of fences, LLVM's MachineSink takes loads over barriers."""
    moved, lines = order.check(order.known_to_race(), [target], "--without-pins")
    assert moved, "\n".join(lines)
    assert any("DS_READ" in line and "is before it" in line for line in lines), "\n".join(lines)
