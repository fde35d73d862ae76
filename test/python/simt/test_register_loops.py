# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops over registers give what ops that are written out give.

The tests of threads, of passes and of rounds again, with a loop wherever one is possible and few registers a turn.
"""

import numpy as np
import programs
import pytest
import test_passes
import test_rounds
import test_threads
from programs import Program
from test_passes import PASSES, block, integers  # noqa: F401
from test_threads import COMPOSE, fold

# Those of prints, assertions and widths have nothing to do with loops.
MODULES = {
    test_threads: "masks strict_scan_is_the_left_fold swizzle gather_and_count shape_ops control_flow",
    test_passes: "reduce_matrix scan shapes recurrence atomic_results",
    test_rounds: "through_little_memory random_ranges",
}
for module, names in MODULES.items():
    for name in names.split():
        globals()[f"test_{name}_of_{module.__name__[5:]}"] = getattr(module, f"test_{name}")


@pytest.fixture(autouse=True)
def _loops(monkeypatch):
    monkeypatch.setattr(programs, "TO_THREADS", "--tz-simt-to-llvm=limit=0 fewest=2 turn=1")


@pytest.mark.parametrize("first", range(0, 12, 2))
def test_random_layouts(first, monkeypatch):
    """Each seed with one type. Of two seeds one at least has several registers."""
    lowered, run = [], Program.run
    monkeypatch.setattr(Program, "run", lambda self, *a, **k: (run(self, *a, **k), lowered.append(self.lowered))[0])
    for seed in (first, first + 1):
        element = list(test_threads.ELEMENTS)[seed % len(test_threads.ELEMENTS)]
        test_threads.test_load_and_store(seed, element)
        test_threads.test_shared_memory(seed, element)
        test_threads.test_conversion_within_warps(seed, ["i8", "i16", "i32", "i64", "f32"][seed % 5])
        test_threads.test_scan(seed, False, seed % 2 == 1)
        test_threads.test_reduce(seed, seed % 3 == 1)
    assert any("scf.for" in text for text in lowered)


def loops_of(program):
    return program.lowered.count('"scf.for"')


@pytest.mark.parametrize("turn", [1, 4, 16])
def test_everything_is_a_loop(block, turn, monkeypatch):  # noqa: F811
    """A tile through memory, expressions used once and twice, a scan, a conversion, a histogram: no op is left out."""
    monkeypatch.setattr(programs, "TO_THREADS", f"--tz-simt-to-llvm=limit=0 fewest=2 turn={turn}")
    x, at = integers((64, 128)), integers((64, 128), 0, 64)
    program = Program(*block)
    v, i = program.load(x, "i32"), program.load(at, "i32")
    t = "tensor<64x128xi32>"
    twice = program.emit(f"arith.addi {v}, {v} : {t}")
    product = program.emit(f"arith.muli {twice}, {v} : {t}")
    ones = program.emit(f"arith.constant dense<1> : {t}")
    flags = program.emit(f"arith.minsi {product}, {ones} : {t}")
    _, sums = program.emit(f"tile.scan ({flags}, {v}), 0 : ({t}, {t}) -> ({t}, {t}) {{\n{COMPOSE}\n}}", 2)
    turned = program.emit(f"tile.transpose {sums}, [1, 0] : {t} -> tensor<128x64xi32>")
    found = program.emit(f"tile.gather {product}[{i}], 0 : {t}, {t} -> {t}")
    flat = program.emit(f"tile.reshape {i} : {t} -> tensor<8192xi32>")
    bins = program.emit(f"tile.histogram {flat}, 64 : tensor<8192xi32> -> tensor<64xi32>")
    places = [
        program.store(turned, (128, 64), "i32"),
        program.store(found, (64, 128), "i32"),
        program.store(bins, (64,), "i32"),
    ]
    results = program.run(passes=PASSES)
    wanted = 2 * x * x
    np.testing.assert_array_equal(results[places[0]], fold([np.minimum(wanted, 1), x], 0)[1].T)
    np.testing.assert_array_equal(results[places[1]], np.take_along_axis(wanted, at, 0))
    np.testing.assert_array_equal(results[places[2]], np.bincount(at.ravel(), minlength=64))
    if 64 * 128 >= 8 * turn * block[0] * block[1]:
        assert loops_of(program) >= 6


@pytest.mark.parametrize("turn", [1, 4])
def test_pairs_are_loops(block, turn, monkeypatch):  # noqa: F811
    """Two tiles joined and split again, with work in between."""
    monkeypatch.setattr(programs, "TO_THREADS", f"--tz-simt-to-llvm=limit=0 fewest=2 turn={turn}")
    x, y = integers((64, 64)), integers((64, 64))
    program = Program(*block)
    t, pair = "tensor<64x64xi32>", "tensor<64x64x2xi32>"
    joined = program.emit(f"tile.join {program.load(x, 'i32')}, {program.load(y, 'i32')} : {t} -> {pair}")
    squares = program.emit(f"arith.muli {joined}, {joined} : {pair}")
    halves = program.emit(f"tile.split {squares} : {pair} -> {t}", 2)
    places = [program.store(joined, (64, 64, 2), "i32"), *(program.store(half, (64, 64), "i32") for half in halves)]
    results = program.run(passes=PASSES)
    for place, wanted in zip(places, (np.stack([x, y], -1), x * x, y * y), strict=True):
        np.testing.assert_array_equal(results[place], wanted)
    if 64 * 64 >= 8 * turn * block[0] * block[1]:
        assert loops_of(program) >= 6


def test_short_kernels_have_no_loops(monkeypatch):
    """The same kernel below and above the limit."""
    for limit, has_loops in ((1 << 30, False), (0, True)):
        monkeypatch.setattr(programs, "TO_THREADS", f"--tz-simt-to-llvm=limit={limit} fewest=8 turn=4")
        x = integers((64, 64))
        program = Program()
        place = program.store(program.load(x, "i32"), x.shape, "i32")
        np.testing.assert_array_equal(program.run(passes=PASSES)[place], x)
        assert (loops_of(program) > 0) == has_loops


@pytest.mark.parametrize("turn", [1, 4])
@pytest.mark.parametrize("extent", [64, 41])
@pytest.mark.parametrize("reverse", [False, True])
def test_scan_goes_on_in_the_next_turn(reverse, extent, turn, monkeypatch):
    """An axis that each lane has in registers, two rows in it; beyond its extent a reverse scan must not begin."""
    monkeypatch.setattr(programs, "TO_THREADS", f"--tz-simt-to-llvm=limit=0 fewest=2 turn={turn}")
    rows = [[1 << bit, 0] for bit in range(6)]
    layout = programs.Layout([[0, 1 << bit] for bit in range(6)] + [rows[5]], [*rows[:3]], [*rows[3:5]], [6, 6])
    xs = [integers((64, extent)), integers((64, extent), 0, 2)]
    program = Program()
    tile = program.tensor((64, extent), "i32", layout)
    values = [program.load(x, "i32", layout) for x in xs]
    how = "reverse " if reverse else ""
    results = program.emit(
        f"tile.scan ({values[0]}, {values[1]}), 1 {how}: ({tile}, {tile}) -> ({tile}, {tile}) {{\n{COMPOSE}\n}}", 2
    )
    places = [program.store(value, (64, extent), "i32", layout) for value in results]
    arrays = program.run()
    for place, wanted in zip(places, fold(xs, 1, reverse), strict=True):
        np.testing.assert_array_equal(arrays[place], wanted)
    # In a turn of four elements of both rows, no more than that is combined.
    if not reverse or extent == 64:
        assert program.lowered.count("arith.muli") < 40
