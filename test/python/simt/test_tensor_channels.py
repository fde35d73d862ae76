# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of described tensors, through all passes down to threads; the engine's copies come as late as may be."""

import re
import subprocess

import ml_dtypes
import numpy as np
import pytest
from programs import tz_opt
from threads import Machine

TYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}
# Of these the unit reads factors that run along K only, and the product has to allow fewer bits.
ALONG_K = {"f32": np.float32, "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2}
PASSES = [
    "--tz-tile-expand-descriptors",
    "--canonicalize",
    "--cse",
    "--tz-choose-matrix-units",
    "--tz-tile-to-simt",
    "--tz-simt-schedule",
    "--tz-simt-channels",
    "--tz-simt-prefetch",
    "--tz-simt-decompose",
    "--canonicalize",
    "--cse",
    "--tz-fit-shared",
    "--tz-insert-mma-waits",
    "--tz-allocate-shared",
    "--tz-insert-barriers",
    "--tz-check-barriers",
    "--tz-simt-to-llvm",
    "--canonicalize=top-down=false",
    "--cse",
    "--mlir-print-op-generic",
]
# c = a @ b, `outer` times: the barriers of the ring begin anew each time.
KERNEL = """
module attributes {{tile.num_warps = 4 : i32, tile.num_stages = {stages} : i32,
    tile.target = #tile.target<warp_size = 32, shared_bytes = {limit}, units = tensor_copy, matrix = wgmma_sm90>}} {{
  func.func @kernel(%a: !tile.ptr<{e}> {{tile.divisibility = 16 : i32}},
                    %b: !tile.ptr<{e}> {{tile.divisibility = 16 : i32}},
                    %c: !tile.ptr<f32>, %m: i32, %n: i32, %k: i32,
                    %sa: i32 {{tile.divisibility = 16 : i32}}, %sb: i32 {{tile.divisibility = 16 : i32}},
                    %row: i32, %column: i32, %outer: i32) attributes {{tile.kernel}} {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bk = arith.constant {bk} : i32
    %one = arith.constant 1 : i64
    %wm = arith.extsi %m : i32 to i64
    %wn = arith.extsi %n : i32 to i64
    %wk = arith.extsi %k : i32 to i64
    %wa = arith.extsi %sa : i32 to i64
    %wb = arith.extsi %sb : i32 to i64
    %zero = arith.constant dense<0.0> : tensor<{bm}x{bn}xf32>
    %da = tile.make_descriptor %a, [{a_shape}], [%wa, %one] : !tile.descriptor<{a_block}x{e}>
    %db = tile.make_descriptor %b, [{b_shape}], [%wb, %one] : !tile.descriptor<{b_block}x{e}>
    %dc = tile.make_descriptor %c, [%wm, %wn], [%wn, %one] : !tile.descriptor<{bm}x{bn}xf32>
    scf.for %i = %c0 to %outer step %c1 : i32 {{
      %sum = scf.for %j = %c0 to %k step %bk iter_args(%acc = %zero) -> (tensor<{bm}x{bn}xf32>) : i32 {{
        %x = tile.descriptor_load %da[{a_at} : i32, i32] : !tile.descriptor<{a_block}x{e}> -> tensor<{a_block}x{e}>
        %y = tile.descriptor_load %db[{b_at} : i32, i32] : !tile.descriptor<{b_block}x{e}> -> tensor<{b_block}x{e}>
        {turns}
        %d = tile.dot {left}, {right}, %acc {allowed}
            : tensor<{bm}x{bk}x{e}>, tensor<{bk}x{bn}x{e}> -> tensor<{bm}x{bn}xf32>
        scf.yield %d : tensor<{bm}x{bn}xf32>
      }}
      tile.descriptor_store %dc[%row, %column : i32, i32], %sum : !tile.descriptor<{bm}x{bn}xf32>, tensor<{bm}x{bn}xf32>
    }}
    return
  }}
}}
"""


def text_of(block, element, turned, stages, limit):
    bm, bn, bk = block
    turns = ""
    if turned[0]:
        turns += f"%t = tile.transpose %x, [1, 0] : tensor<{bk}x{bm}x{element}> -> tensor<{bm}x{bk}x{element}>\n"
    if turned[1]:
        turns += f"%u = tile.transpose %y, [1, 0] : tensor<{bn}x{bk}x{element}> -> tensor<{bk}x{bn}x{element}>\n"
    return KERNEL.format(
        stages=stages, limit=limit, e=element, bm=bm, bn=bn, bk=bk, turns=turns,
        allowed={"f32": "{precision = 1 : i32}"}.get(element, "{maxNumImpreciseAcc = 1024 : i32}"),
        left="%t" if turned[0] else "%x", right="%u" if turned[1] else "%y",
        a_shape="%wk, %wm" if turned[0] else "%wm, %wk", a_block=f"{bk}x{bm}" if turned[0] else f"{bm}x{bk}",
        a_at="%j, %row" if turned[0] else "%row, %j",
        b_shape="%wn, %wk" if turned[1] else "%wk, %wn", b_block=f"{bn}x{bk}" if turned[1] else f"{bk}x{bn}",
        b_at="%column, %j" if turned[1] else "%j, %column",
    )  # fmt: skip


def padded(x):
    """A view of `x` with rows that are multiples of 16 elements apart, and what lies between."""
    room = np.full((x.shape[0], (x.shape[1] + 15) // 16 * 16), 99, x.dtype)
    room[:, : x.shape[1]] = x
    return room, room[:, : x.shape[1]]


def run(shape, block, element="f16", turned=(False, False), stages=3, limit=232448, outer=1, at=(0, 0)):
    """The product, what is expected, and the text for threads."""
    m, n, k = shape
    rng = np.random.default_rng(sum(shape))
    a, b = (rng.integers(-3, 4, s).astype((TYPES | ALONG_K)[element]) for s in ((m, k), (k, n)))
    expected = np.zeros((m, n), np.float32)
    rows, columns = slice(at[0], at[0] + block[0]), slice(at[1], at[1] + block[1])
    expected[rows, columns] = a[rows].astype(np.float32) @ b[:, columns].astype(np.float32)
    (room_a, a), (room_b, b) = padded(a.T if turned[0] else a), padded(b.T if turned[1] else b)
    text = text_of(block, element, turned, stages, limit)
    done = subprocess.run([tz_opt(), "-", *PASSES], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + text
    shared = re.search(r"simt.shared_bytes = (\d+)", done.stdout)
    machine = Machine(done.stdout, 32, 4, int(shared[1]) if shared else 0)
    places = [machine.allocate(array) for array in (room_a, room_b, np.zeros((m, n), np.float32))]
    maps = []
    for found in re.findall(r"#tile.tensor_map<base = (\d+).*?box = \[([\d, ]+)\], swizzle_bytes = (\d+)", done.stdout):
        base, box, swizzle = int(found[0]), tuple(map(int, found[1].split(","))), int(found[2])
        maps.append(np.int64(machine.tensor_map(places[base], (a, b)[base], box, swizzle)))
    numbers = [m, n, k, room_a.shape[1], room_b.shape[1], *at, outer]
    machine.run(*map(np.int64, places), *map(np.int32, numbers), *maps)
    assert not machine.mbarriers, "barriers that are left"
    assert not any(machine.groups), "a copy is still on its way"
    return machine.read(places[2], expected), expected, done.stdout


TURNS = [(False, False), (False, True), (True, False), (True, True)]


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("turned", TURNS)
def test_product(turned, element):
    result, expected, text = run((64, 32, 96), (64, 32, 32), element, turned)
    np.testing.assert_array_equal(result, expected)
    assert "simt.thread_tensor_copy" in text
    assert "simt.thread_copy" not in text


@pytest.mark.parametrize("element", ALONG_K)
@pytest.mark.parametrize("turned", TURNS)
def test_factors_along_k(turned, element):
    """Where both do, the unit reads them from a ring; else 8-bit floats become f16.

    Of tf32 the left factor may lie across, for then it is held in registers, and the right one, for then the unit
    computes the transpose; if both do, mma.sync takes them.
    """
    result, expected, text = run((64, 64, 144), (64, 64, 64), element, turned)
    np.testing.assert_array_equal(result, expected)
    if element == "f32":
        assert ("simt.thread_group_mma" in text) == (turned != (True, False))
        assert ("simt.thread_tensor_copy" in text) == (turned != (True, False))
    else:
        assert "simt.thread_group_mma" in text
        assert ("simt.thread_tensor_copy" in text) == (turned == (False, True))


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 7])
@pytest.mark.parametrize("stages", [1, 2, 3, 5])
@pytest.mark.parametrize("turned", [(False, False), (True, True)])
def test_rings_of_held_factors(turned, stages, steps):
    """A factor that goes from its ring to registers, in each iteration."""
    result, expected, text = run((64, 64, max(32 * steps - 8, 0)), (64, 64, 32), "f32", turned, stages=stages, outer=2)
    np.testing.assert_array_equal(result, expected)
    assert ("simt.thread_tensor_copy" in text) == (stages > 1)
    assert "simt.thread_group_mma" in text


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 7])
@pytest.mark.parametrize("stages", [1, 2, 3, 5])
def test_rings(stages, steps):
    """The last step overhangs; nothing is copied beyond it."""
    result, expected, text = run((64, 32, max(32 * steps - 8, 0)), (64, 32, 32), stages=stages, outer=2)
    np.testing.assert_array_equal(result, expected)
    assert ("simt.thread_tensor_copy" in text) == (stages > 1)


@pytest.mark.parametrize("turned", TURNS)
@pytest.mark.parametrize("block", [(64, 128, 64), (128, 64, 128), (64, 16, 32)])
def test_rows_of_several_boxes(block, turned):
    """Rows longer than 128 bytes, and tensors that end within a block."""
    m, n, k = block[0] + 24, block[1] + 40, 2 * block[2] + 16
    result, expected, text = run((m, n, k), block, turned=turned, at=(16, 24))
    np.testing.assert_array_equal(result, expected)
    assert "simt.thread_tensor_copy" in text


def test_the_ring_fits_with_its_barriers():
    """Three slots would fit without them."""
    limit = 3 * (64 + 32) * 64
    result, expected, text = run((64, 32, 224), (64, 32, 32), stages=5, limit=limit)
    np.testing.assert_array_equal(result, expected)
    assert int(re.search(r"simt.shared_bytes = (\d+)", text)[1]) <= limit


def test_a_release_that_is_missing_shows(monkeypatch):
    """The one thread waits for warps that do not arrive."""
    arrive = Machine.arrive
    monkeypatch.setattr(Machine, "arrive", staticmethod(lambda barrier, n: arrive(barrier, n) if n else None))
    with pytest.raises(AssertionError, match="a wait for what nobody has announced"):
        run((64, 32, 224), (64, 32, 32), stages=2)


def test_a_wait_that_is_missing_shows(monkeypatch):
    """Without its waits the loop multiplies what is not there."""
    monkeypatch.setattr(Machine, "wait_for_mbarrier", lambda self, operands, active: [])
    with pytest.raises(AssertionError):
        result, expected, _ = run((64, 32, 96), (64, 32, 32))
        np.testing.assert_array_equal(result, expected)
