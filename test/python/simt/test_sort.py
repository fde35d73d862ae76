# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sorts within a warp, executed: against NumPy, and to the bit against the exchange of halves."""

import ml_dtypes
import numpy as np
import programs
import pytest
from programs import Program, random_layout
from test_passes import PASSES, block  # noqa: F401

ELEMENTS = {
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
}  # fmt: skip
EXPANDED = ["--tz-tile-expand-sort", *PASSES]


@pytest.fixture(params=["written out", "limit=0 fewest=4 turn=2"], autouse=True)
def _loops(request, monkeypatch):
    if "limit" in request.param:
        monkeypatch.setattr(programs, "TO_THREADS", f"--tz-simt-to-llvm={request.param}")


def numbers(rng, shape, element):
    """Few different values, so that many are equal; of floats both zeros, infinities and NaN."""
    dtype = ELEMENTS[element]
    x = rng.integers(-9, 9, shape).astype(dtype)
    if element in ("f16", "bf16", "f32", "f64"):
        special = np.array([np.nan, -0.0, 0.0, np.inf, -np.inf], np.float64).astype(dtype)
        x = np.where(rng.random(shape) < 0.4, rng.choice(special, shape), x)
    return x


def in_order(x, axis, descending, unsigned=False):
    """NumPy's order has NaN last, too."""
    if unsigned:
        x = x.view(f"u{x.dtype.itemsize}")
    keys = x if x.dtype.kind in "iu" else x.astype(np.float64)
    out = np.sort(keys, axis).astype(x.dtype)
    return np.flip(out, axis) if descending else out


def assert_same(got, wanted):
    if wanted.dtype == ml_dtypes.bfloat16:  # NumPy does not know its NaN.
        got, wanted = got.astype(np.float64), wanted.astype(np.float64)
    np.testing.assert_array_equal(got, wanted)


def run(x, element, axis, flags, passes, block, layout=None):  # noqa: F811
    program = Program(*block)
    value = program.load(x, element, layout)
    value = program.emit(f"tile.sort {value}, {axis} {flags} : {program.tensor(x.shape, element, layout)}")
    place = program.store(value, x.shape, element, layout)
    return program.run(passes=passes)[place]


@pytest.mark.parametrize(
    ("shape", "axis"), [((5, 40), 1), ((64, 32), 0), ((3, 2, 33), 2), ((1, 100), 1), ((7, 1), 1), ((24, 16), 1)]
)
def test_sort(block, shape, axis):  # noqa: F811
    """Each case with some of the types and directions; all of them come up."""
    rng = np.random.default_rng(sum(shape) + block[0] * block[1])
    for element in rng.choice(list(ELEMENTS), 3, replace=False):
        flags = str(rng.choice(["", "descending", "unsigned"][: 3 if element.startswith("i") else 2]))
        x = numbers(rng, shape, element)
        got = run(x, element, axis, flags, PASSES, block)
        wanted = in_order(x, axis, flags == "descending", flags == "unsigned")
        assert_same(got.view(wanted.dtype), wanted)
        # Which of two zeros comes first is the network's choice.
        other = run(x, element, axis, flags, EXPANDED, block)
        assert got.tobytes() == other.tobytes()


@pytest.mark.parametrize("turn", [2, 8])
@pytest.mark.parametrize(("shape", "axis"), [((1, 512), 1), ((2, 300), 1), ((256, 2), 0)])
def test_rows_that_are_long_in_registers(shape, axis, turn, monkeypatch):
    """Several passes, each of them over some bits of the axis."""
    monkeypatch.setattr(programs, "TO_THREADS", f"--tz-simt-to-llvm=limit=0 fewest=4 turn={turn}")
    rng = np.random.default_rng(sum(shape))
    for element, flags in (("f32", ""), ("i16", "descending")):
        x = numbers(rng, shape, element)
        got = run(x, element, axis, flags, PASSES, (4, 1))
        assert_same(got, in_order(x, axis, flags == "descending"))
        assert got.tobytes() == run(x, element, axis, flags, EXPANDED, (4, 1)).tobytes()


@pytest.mark.parametrize(("shape", "axis"), [((1, 64), 1), ((2, 100), 1), ((1, 256), 1), ((33, 1), 0)])
def test_parts_of_rows(block, shape, axis):  # noqa: F811
    """Rows that warps share, each a part of them: the network is the same, to the bit."""
    rng = np.random.default_rng(sum(shape))
    for element, flags in (("f32", ""), ("f16", "descending"), ("i16", "descending unsigned")):
        x = numbers(rng, shape, element)
        got = run(x, element, axis, flags, ["--tz-tile-expand-sort=most=0", *PASSES], block)
        wanted = in_order(x, axis, "descending" in flags, "unsigned" in flags)
        assert_same(got.view(wanted.dtype), wanted)
        assert got.tobytes() == run(x, element, axis, flags, EXPANDED, block).tobytes()


@pytest.mark.parametrize("seed", range(12))
def test_turned_rows(seed):
    """In any layout whose axis is in one warp, rows with a bit in their index sort the other way."""
    rng = np.random.default_rng(100 + seed)
    shape = tuple(int(n) for n in rng.integers(2, 20, int(rng.integers(2, 4))))
    axis = int(rng.integers(1, len(shape)))
    shape = shape[:axis] + (int(rng.choice([2, 8, 16])),) + shape[axis + 1 :]
    bit = int(rng.integers(0, (shape[0] - 1).bit_length()))
    layout = random_layout(rng, shape, axis_in_warp=axis)
    x = rng.integers(-99, 99, shape).astype(np.int32)
    got = run(x, "i32", axis, f"turned by {bit}", [], (programs.WARP_SIZE, programs.NUM_WARPS), layout)
    wanted = in_order(x, axis, False)
    turned = (np.arange(shape[0]) >> bit & 1).astype(bool)
    wanted[turned] = in_order(x, axis, True)[turned]
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("descending", [False, True])
def test_last_merge(block, descending):  # noqa: F811
    """Rows that rise and then fall."""
    half = np.sort(np.random.default_rng(1).integers(-99, 99, (2, 16, 32)).astype(np.int32), 2)
    x = np.concatenate([half[0], half[1, :, ::-1]], 1)
    got = run(x, "i32", 1, ("descending " if descending else "") + "bitonic", PASSES, block)
    np.testing.assert_array_equal(got, in_order(x, 1, descending))


@pytest.mark.parametrize("seed", range(12))
def test_layouts(seed):
    """Any layout whose axis is in one warp, with copies in lanes and warps."""
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 20, int(rng.integers(1, 4))))
    axis = int(rng.integers(0, len(shape)))
    layout = random_layout(rng, shape, axis_in_warp=axis)
    x = numbers(rng, shape, "f32")
    flags = str(rng.choice(["", "descending"]))
    got = run(x, "f32", axis, flags, [], (programs.WARP_SIZE, programs.NUM_WARPS), layout)
    np.testing.assert_array_equal(got, in_order(x, axis, flags != ""))
