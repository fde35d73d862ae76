# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tiles without layouts, through all passes from tz-tile-to-simt on, executed for several sizes of a block."""

import numpy as np
import pytest
from programs import Program
from test_threads import ADD, COMPOSE, fold

PASSES = [
    *("--canonicalize", "--cse", "--tz-tile-to-simt", "--tz-simt-decompose", "--canonicalize", "--cse"),
    *(
        "--tz-fit-shared",
        "--tz-insert-mma-waits",
        "--tz-allocate-shared",
        "--tz-insert-barriers",
        "--tz-check-barriers",
    ),
]
BLOCKS = [(32, 1), (32, 4), (64, 2), (8, 8)]
EXTENTS = [1, 2, 7, 32, 96, 130, 256]


@pytest.fixture(params=BLOCKS, ids=lambda b: f"{b[1]}x{b[0]}")
def block(request):
    return request.param


def integers(shape, low=-3, high=4, dtype=np.int32):
    return np.random.default_rng(sum(shape)).integers(low, high, shape).astype(dtype)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("extent", EXTENTS)
def test_reduce_vector(block, extent, strict):
    xs = [integers((extent,)), integers((extent,), 0, 2)]
    program = Program(*block, strict=strict)
    v, w = (program.load(x, "i32") for x in xs)
    tile = f"tensor<{extent}xi32>"
    total = program.emit(f"tile.reduce ({v}), 0 : ({tile}) -> i32 {{\n{ADD}\n}}")
    both = program.emit(f"tile.reduce ({v}, {w}), 0 : ({tile}, {tile}) -> (i32, i32) {{\n{COMPOSE}\n}}", 2)
    places = [program.store_scalar(value, "i32") for value in (total, *both)]
    results = program.run(passes=PASSES)
    expected = [xs[0].sum(), *(f[-1] for f in fold(xs, 0))]
    assert [results[p][0] for p in places] == expected


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", [(5, 40), (64, 32), (16, 3), (1, 128)])
def test_reduce_matrix(block, shape, axis):
    x = integers(shape)
    program = Program(*block)
    v = program.load(x, "i32")
    rest = shape[1 - axis]
    out = program.emit(
        f"tile.reduce ({v}), {axis} : (tensor<{shape[0]}x{shape[1]}xi32>) -> tensor<{rest}xi32> {{\n{ADD}\n}}"
    )
    place = program.store(out, (rest,), "i32")
    np.testing.assert_array_equal(program.run(passes=PASSES)[place], x.sum(axis))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("shape,axis", [((100,), 0), ((256,), 0), ((8, 33), 1), ((33, 8), 0)])
def test_scan(block, shape, axis, reverse):
    xs = [integers(shape), integers(shape, 0, 2)]
    program = Program(*block)
    v, w = (program.load(x, "i32") for x in xs)
    tile = program.tensor(shape, "i32", None)
    how = "reverse " if reverse else ""
    both = program.emit(
        f"tile.scan ({v}, {w}), {axis} {how}: ({tile}, {tile}) -> ({tile}, {tile}) {{\n{COMPOSE}\n}}", 2
    )
    places = [program.store(value, shape, "i32") for value in both]
    results = program.run(passes=PASSES)
    for place, expected in zip(places, fold(xs, axis, reverse), strict=True):
        np.testing.assert_array_equal(results[place], expected)


def test_shapes(block):
    """Ops that may move data between any threads."""
    x, y = integers((8, 12)), integers((8, 12), 10, 20)
    indices = integers((8, 5), 0, 12)
    program = Program(*block)
    v, w, at = program.load(x, "i32"), program.load(y, "i32"), program.load(indices, "i32")
    t = "tensor<8x12xi32>"
    two = program.emit("arith.constant 2 : i32")
    flipped = program.emit(f"tile.flip {v}, 1 : {t}")
    joined = program.emit(f"tile.join {v}, {w} : {t} -> tensor<8x12x2xi32>")
    left, right = program.emit(f"tile.split {joined} : tensor<8x12x2xi32> -> {t}", 2)
    concat = program.emit(f"tile.concat {v}, {w}, 0 : {t}, {t} -> tensor<16x12xi32>")
    turned = program.emit(f"tile.transpose {v}, [1, 0] : {t} -> tensor<12x8xi32>")
    flat = program.emit(f"tile.reshape {v} : {t} -> tensor<96xi32>")
    again = program.emit(f"tile.reshape {flat} : tensor<96xi32> -> tensor<6x16xi32>")
    picked = program.emit(f"tile.gather {v}[{at}], 1 : {t}, tensor<8x5xi32> -> tensor<8x5xi32>")
    row = program.emit(f"tile.slice {v}[{two}, {two}] [1, 4] strides [1, 2] dropped [0] : {t} -> tensor<4xi32>")
    part = program.emit(f"tile.slice {w}[{two}, {two}] [3, 5] strides [1, 1] dropped [] : {t} -> tensor<3x5xi32>")
    inserted = program.emit(f"tile.insert {part} into {v}[{two}, {two}] dropped [] : tensor<3x5xi32> into {t}")
    counted = program.emit(f"tile.histogram {flat}, 3 : tensor<96xi32> -> tensor<3xi32>")
    patched = x.copy()
    patched[2:5, 2:7] = y[2:5, 2:7]
    expected = {
        flipped: x[:, ::-1],
        left: x,
        right: y,
        concat: np.concatenate([x, y]),
        turned: x.T,
        again: x.reshape(6, 16),
        picked: np.take_along_axis(x, indices, 1),
        row: x[2, 2:10:2],
        inserted: patched,
        counted: np.array([(x == i).sum() for i in range(3)]),
    }
    places = {program.store(value, e.shape, "i32"): e for value, e in expected.items()}
    results = program.run(passes=PASSES)
    for place, wanted in places.items():
        np.testing.assert_array_equal(results[place], wanted)


@pytest.mark.parametrize("m,n,k", [(16, 16, 16), (64, 32, 8), (5, 7, 12), (1, 33, 3)])
def test_dot(block, m, n, k):
    x, y, acc = (
        integers((m, k), dtype=np.float16),
        integers((k, n), dtype=np.float16),
        integers((m, n), dtype=np.float32),
    )
    program = Program(*block)
    a, b, c = program.load(x, "f16"), program.load(y, "f16"), program.load(acc, "f32")
    out = f"tensor<{m}x{n}xf32>"
    d = program.emit(f"tile.dot {a}, {b}, {c} : tensor<{m}x{k}xf16>, tensor<{k}x{n}xf16> -> {out}")
    place = program.store(d, (m, n), "f32")
    expected = acc + x.astype(np.float32) @ y.astype(np.float32)
    np.testing.assert_array_equal(program.run(passes=PASSES)[place], expected)


def test_recurrence(block):
    x, start = integers((9, 20)), integers((20,))
    program = Program(*block)
    v, s = program.load(x, "i32"), program.load(start, "i32")
    last, out = program.emit(
        f"""tile.recurrence init ({s}) over ({v}), 0
        : (tensor<20xi32>, tensor<9x20xi32>) -> (tensor<20xi32>, tensor<9x20xi32>) {{
    ^bb0(%h: tensor<20xi32>, %e: tensor<20xi32>):
      %d = arith.addi %h, %h : tensor<20xi32>
      %n = arith.addi %d, %e : tensor<20xi32>
      tile.yield %n, %n : tensor<20xi32>, tensor<20xi32>
    }}""",
        2,
    )
    places = program.store(last, (20,), "i32"), program.store(out, (9, 20), "i32")
    results = program.run(passes=PASSES)
    rows = []
    for row in x:
        start = start + start + row
        rows.append(start)
    np.testing.assert_array_equal(results[places[1]], np.stack(rows))
    np.testing.assert_array_equal(results[places[0]], rows[-1])


def test_atomic_results(block):
    """Every thread learns what the memory held."""
    counter, x = np.array([5], np.int32), integers((50,))
    program = Program(*block)
    argument = program.argument(counter, "i32")
    v = program.load(x, "i32")
    one = program.emit("arith.constant 1 : i32")
    old = program.emit(f"tile.atomic_rmw add, {argument}, {one} : !tile.ptr<i32>, i32 -> i32")
    olds = program.emit(f"tile.splat {old} : i32 -> tensor<50xi32>")
    total = program.emit(f"arith.addi {v}, {olds} : tensor<50xi32>")
    place = program.store(total, (50,), "i32")
    results = program.run(passes=PASSES)
    np.testing.assert_array_equal(results[place], x + 5)
    assert results[0][0] == 6


def mixed(block):
    """A program with tiles of eight bytes and of one, for which wide accesses want different layouts."""
    count = 4096
    wide, narrow = integers((count,), 0, 40, np.int64), integers((count,), -2, 3, np.int8)
    program = Program(*block, divisibility=16)
    w, n = program.load(wide, "i64"), program.load(narrow, "i8")
    zero = program.emit(f"arith.constant dense<0> : tensor<{count}xi8>")
    m = program.emit(f"arith.cmpi sgt, {n}, {zero} : tensor<{count}xi8>")
    big = program.emit(f"arith.constant dense<20> : tensor<{count}xi64>")
    k = program.emit(f"arith.cmpi slt, {w}, {big} : tensor<{count}xi64>")
    return program, (wide, w), (narrow, n), ((narrow > 0), m), ((wide < 20), k)


W, N, B = "tensor<4096xi64>", "tensor<4096xi8>", "tensor<4096xi1>"


def same(program, **expected):
    """Runs a program; each keyword is a value with the element type and the array that it must be."""
    places = {program.store(v, e.shape, t): e for v, t, e in expected.values()}
    program.results = program.run(passes=PASSES)
    for place, wanted in places.items():
        np.testing.assert_array_equal(program.results[place], wanted)


def test_widths_histogram(block):
    program, (wide, w), (narrow, n), (positive, m), (small, k) = mixed(block)
    h = program.emit(f"tile.histogram {w} mask {m} : {B}, 50 : {W} -> tensor<50xi32>")
    i = program.emit(f"tile.histogram {n} mask {k} : {B}, 3 : {N} -> tensor<3xi32>")
    counts = np.bincount(narrow[small & (narrow >= 0)], minlength=3)
    same(program, wide=(h, "i32", np.bincount(wide[positive], minlength=50)), narrow=(i, "i32", counts))


def test_widths_elementwise(block):
    program, (wide, w), (narrow, n), (positive, m), (small, k) = mixed(block)
    s = program.emit(f"arith.select {m}, {w}, {w} : {B}, {W}")
    picked = program.emit(f"arith.select {k}, {n}, {n} : {B}, {N}")
    mapped = program.emit(f"""tile.map ({w}, {n}) : ({W}, {N}) -> {W} {{
    ^bb0(%p: i64, %q: i8):
      %r = arith.extsi %q : i8 to i64
      %t = arith.muli %p, %r : i64
      tile.yield %t : i64
    }}""")
    same(program, s=(s, "i64", wide), picked=(picked, "i8", narrow), mapped=(mapped, "i64", wide * narrow))


def test_widths_memory(block):
    """Masks, `other` and values of accesses and atomics."""
    program, (wide, w), (narrow, n), (positive, m), (small, k) = mixed(block)
    more, bytes_, total = integers(wide.shape, 5, 9, np.int64), integers(wide.shape, 5, 9, np.int8), wide.copy()
    at, ptr = program.pointers(program.argument(more, "i64"), wide.shape, "i64", None)
    v = program.emit(f"tile.load {at} mask {m} : {B} other {w} : {W} : {ptr} -> {W}")
    at, ptr = program.pointers(program.argument(bytes_, "i8"), wide.shape, "i8", None)
    u = program.emit(f"tile.load {at} mask {k} : {B} other {n} : {N} : {ptr} -> {N}")
    place = len(program.arrays)
    at, ptr = program.pointers(program.argument(total, "i64"), wide.shape, "i64", None)
    old = program.emit(f"tile.atomic_rmw add, {at}, {w} mask {m} : {B} : {ptr}, {W} -> {W}")
    same(program, v=(v, "i64", np.where(positive, more, wide)), u=(u, "i8", np.where(small, bytes_, narrow)),
         old=(old, "i64", np.where(positive, wide, 0)))  # fmt: skip
    np.testing.assert_array_equal(program.results[place], np.where(positive, 2 * wide, wide))


def test_widths_gather(block):
    program, (wide, w), (narrow, n), (positive, m), (small, k) = mixed(block)
    one = program.emit(f"arith.constant dense<1> : {N}")
    index = program.emit(f"arith.andi {n}, {one} : {N}")
    picked = program.emit(f"tile.gather {w}[{index}], 0 : {W}, {N} -> {W}")
    turned = program.emit(f"tile.gather {n}[{w}], 0 : {N}, {W} -> {N}")
    same(program, picked=(picked, "i64", wide[narrow & 1]), turned=(turned, "i8", narrow[wide]))


def test_widths_reduce_and_scan(block):
    program, (wide, w), (narrow, n), (positive, m), (small, k) = mixed(block)
    region = """{
    ^bb0(%a: i64, %b: i8, %c: i64, %d: i8):
      %e = arith.addi %a, %c : i64
      %f = arith.xori %b, %d : i8
      tile.yield %e, %f : i64, i8
    }"""
    r, q = program.emit(f"tile.reduce ({w}, {n}), 0 : ({W}, {N}) -> (i64, i8) {region}", 2)
    s, t = program.emit(f"tile.scan ({w}, {n}), 0 : ({W}, {N}) -> ({W}, {N}) {region}", 2)
    rs = program.emit(f"tile.splat {r} : i64 -> {W}")
    qs = program.emit(f"tile.splat {q} : i8 -> {N}")
    xors = np.bitwise_xor.accumulate(narrow)
    same(program, s=(s, "i64", np.cumsum(wide)), t=(t, "i8", xors), r=(rs, "i64", np.full_like(wide, wide.sum())),
         q=(qs, "i8", np.full_like(narrow, xors[-1])))  # fmt: skip


def test_widths_shapes(block):
    """Two tiles of which one has been widened and one turned round."""
    program, (wide, w), (narrow, n), (positive, m), (small, k) = mixed(block)
    v = program.emit(f"arith.extsi {n} : {N} to {W}")
    v = program.emit(f"tile.flip {v}, 0 : {W}")
    joined = program.emit(f"tile.join {w}, {v} : {W} -> tensor<4096x2xi64>")
    both = program.emit(f"tile.concat {v}, {w}, 0 : {W}, {W} -> tensor<8192xi64>")
    two = program.emit("arith.constant 2 : i32")
    part = program.emit(f"tile.slice {n}[{two}] [100] strides [3] dropped [] : {N} -> tensor<100xi8>")
    part = program.emit(f"arith.extsi {part} : tensor<100xi8> to tensor<100xi64>")
    patched = program.emit(f"tile.insert {part} into {w}[{two}] dropped [] : tensor<100xi64> into {W}")
    expected = wide.copy()
    expected[2:102] = narrow[2:302:3]
    turned = narrow[::-1].astype(np.int64)
    same(program, joined=(joined, "i64", np.stack([wide, turned], -1)), both=(both, "i64", np.r_[turned, wide]),
         patched=(patched, "i64", expected))  # fmt: skip
