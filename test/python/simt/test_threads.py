# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tz-simt-to-llvm makes of tiles in random layouts, executed. Small warps leave no place for the number 32."""

import numpy as np
import pytest
from programs import Layout, Program, random_layout

SEEDS = range(12)


def data(rng, shape, dtype=np.int32):
    if np.dtype(dtype).kind == "f":
        return rng.integers(-8, 8, shape).astype(dtype)
    return rng.integers(-100, 100, shape).astype(dtype)


def shape_of(rng, rank=2, most=4):
    return tuple(int(n) for n in rng.integers(1, 1 << most, rank))


ELEMENTS = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "f32": np.float32, "f16": np.float16}


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("seed", SEEDS)
def test_load_and_store(seed, element):
    rng = np.random.default_rng(seed)
    shape = shape_of(rng, int(rng.integers(1, 4)))
    layout = random_layout(rng, shape)
    x = data(rng, shape, ELEMENTS[element])
    program = Program()
    value = program.load(x, element, layout)
    at = program.store(value, shape, element, layout)
    np.testing.assert_array_equal(program.run()[at], x)


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("columns", [32, 96, 20])
def test_vector_accesses(element, columns):
    x = data(np.random.default_rng(0), (8, columns), ELEMENTS[element])
    row = [[0, 1], [0, 2], [0, 4], [0, 8]]
    rest = [[0, 1 << b] for b in range(4, (columns - 1).bit_length())]
    layout = Layout(row + rest, [[1, 0], [2, 0], [4, 0]], [[0, 0], [0, 0]], [3, 4 + len(rest)])
    program = Program()
    value = program.load(x, element, layout, vector=16)
    at = program.store(value, x.shape, element, layout, vector=16)
    np.testing.assert_array_equal(program.run()[at], x)
    width = min(16 // x.itemsize, 16 if columns % 16 == 0 else 4)
    loads = sum(line.count("simt.thread_load") for line in program.lowered.splitlines())
    assert loads <= -(-(1 << (columns - 1).bit_length()) // width)


@pytest.mark.parametrize("seed", SEEDS)
def test_masks(seed):
    rng = np.random.default_rng(seed)
    shape = shape_of(rng)
    layout = random_layout(rng, shape)
    x, mask, other = data(rng, shape), rng.integers(0, 2, shape).astype(np.int32), data(rng, shape)
    program = Program()
    tile, bools = program.tensor(shape, "i32", layout), program.tensor(shape, "i1", layout)
    flags, others = program.load(mask, "i32", layout), program.load(other, "i32", layout)
    zero = program.emit(f"arith.constant dense<0> : {tile}")
    m = program.emit(f"arith.cmpi ne, {flags}, {zero} : {tile}")
    at, ptr = program.pointers(program.argument(x, "i32"), shape, "i32", layout)
    value = program.emit(f"tile.load {at} mask {m} : {bools} other {others} : {tile} : {ptr} -> {tile}")
    bare = program.emit(f"tile.load {at} mask {m} : {bools} : {ptr} -> {tile}")
    first = program.store(value, shape, "i32", layout)
    second = program.store(bare, shape, "i32", layout)
    results = program.run()
    np.testing.assert_array_equal(results[first], np.where(mask, x, other))
    np.testing.assert_array_equal(results[second], np.where(mask, x, 0))


@pytest.mark.parametrize("value", [False, True])
@pytest.mark.parametrize("element", ELEMENTS)
def test_constant_masks(element, value):
    """Of tiles and of scalars: what is left out is neither read, written nor updated, and gives `other`."""
    rng = np.random.default_rng(len(element))
    shape = shape_of(rng)
    layout = random_layout(rng, shape)
    x, other = data(rng, shape, ELEMENTS[element]), data(rng, shape, ELEMENTS[element])
    first, second = data(rng, (1,), ELEMENTS[element]), data(rng, (1,), ELEMENTS[element])
    program = Program()
    tile, bools = program.tensor(shape, element, layout), program.tensor(shape, "i1", layout)
    others = program.load(other, element, layout)
    text = str(value).lower()
    mask, flag = program.emit(f"arith.constant dense<{text}> : {bools}"), program.emit(f"arith.constant {text}")
    at, ptr = program.pointers(program.argument(x, element), shape, element, layout)
    loaded = program.emit(f"tile.load {at} mask {mask} : {bools} other {others} : {tile} : {ptr} -> {tile}")
    bare = program.emit(f"tile.load {at} mask {mask} : {bools} : {ptr} -> {tile}")
    places = [program.store(tile, shape, element, layout) for tile in (loaded, bare)]
    p, q = program.argument(first, element), program.argument(second, element)
    scalar = f"!tile.ptr<{element}>"
    instead = program.emit(f"tile.load {q} : {scalar} -> {element}")
    one = program.emit(f"tile.load {p} mask {flag} : i1 other {instead} : {element} : {scalar} -> {element}")
    places.append(program.store_scalar(one, element))
    if element.startswith("i"):
        program.emit(f"tile.atomic_rmw xor, {at}, {others} mask {mask} : {bools} : {ptr}, {tile} -> {tile}", 0)
        program.lines[-1] = "%old = " + program.lines[-1]
    program.emit(f"tile.store {at}, {bare} mask {mask} : {bools} : {ptr}, {tile}", 0)
    program.emit(f"tile.store {q}, {one} mask {flag} : i1 : {scalar}, {element}", 0)
    results = program.run()
    np.testing.assert_array_equal(results[places[0]], x if value else other)
    np.testing.assert_array_equal(results[places[1]], x if value else np.zeros_like(x))
    assert results[places[2]][0] == (first if value else second)[0]
    np.testing.assert_array_equal(results[1], x)
    assert results[-2][0] == (first if value else second)[0]


@pytest.mark.parametrize("element", ["i8", "i16", "i32", "i64", "f32"])
@pytest.mark.parametrize("seed", range(24))
def test_conversion_within_warps(seed, element):
    rng = np.random.default_rng(seed)
    shape = shape_of(rng)
    source = random_layout(rng, shape)
    result = random_layout(rng, shape, warp_bits=source.warp)
    x = data(rng, shape, ELEMENTS[element])
    program = Program()
    value = program.load(x, element, source)
    types = program.tensor(shape, element, source), program.tensor(shape, element, result)
    value = program.emit(f"simt.convert_layout {value} : {types[0]} -> {types[1]}")
    at = program.store(value, shape, element, result)
    np.testing.assert_array_equal(program.run()[at], x)


ADD = "^bb0(%p: i32, %q: i32):\n %s = arith.addi %p, %q : i32\n tile.yield %s : i32"
# Composition of x -> a x + b: does not commute.
COMPOSE = """^bb0(%a: i32, %b: i32, %c: i32, %d: i32):
  %m = arith.muli %c, %a : i32
  %n = arith.muli %c, %b : i32
  %o = arith.addi %n, %d : i32
  tile.yield %m, %o : i32, i32"""


def compose(first, second):
    return second[0] * first[0], second[0] * first[1] + second[1]


def fold(values, axis, reverse=False):
    """All left folds of COMPOSE along an axis."""
    values = [np.moveaxis(v, axis, 0) for v in values]
    if reverse:
        values = [v[::-1] for v in values]
    out = [(values[0][0], values[1][0])]
    for pair in zip(values[0][1:], values[1][1:], strict=True):
        out.append(compose(out[-1], pair))
    stacked = [np.stack(v) for v in zip(*out, strict=True)]
    if reverse:
        stacked = [v[::-1] for v in stacked]
    return [np.moveaxis(v, 0, axis) for v in stacked]


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_reduce(seed, strict):
    rng = np.random.default_rng(seed)
    shape, axis = shape_of(rng), int(rng.integers(0, 2))
    layout = random_layout(rng, shape, axis_in_warp=axis)
    kept = layout.without(axis)
    xs = [rng.integers(-3, 4, shape).astype(np.int32) for _ in range(2)]
    program = Program(strict=strict)
    values = [program.load(x, "i32", layout) for x in xs]
    rest = shape[:axis] + shape[axis + 1 :]
    tile, out = program.tensor(shape, "i32", layout), program.tensor(rest, "i32", kept)
    total = program.emit(f"tile.reduce ({values[0]}), {axis} : ({tile}) -> {out} {{\n{ADD}\n}}")
    both = program.emit(
        f"tile.reduce ({values[0]}, {values[1]}), {axis} : ({tile}, {tile}) -> ({out}, {out}) {{\n{COMPOSE}\n}}", 2
    )
    places = [program.store(v, rest, "i32", kept) for v in (total, *both)]
    results = program.run()
    np.testing.assert_array_equal(results[places[0]], xs[0].sum(axis))
    for place, expected in zip(places[1:], fold(xs, axis), strict=True):
        np.testing.assert_array_equal(results[place], np.take(expected, -1, axis))


@pytest.mark.parametrize("extent", [1, 5, 8, 13, 32])
def test_reduce_to_scalar(extent):
    rng = np.random.default_rng(extent)
    layout = random_layout(rng, (extent,), axis_in_warp=0)
    x = data(rng, (extent,))
    program = Program()
    value = program.load(x, "i32", layout)
    total = program.emit(
        f"tile.reduce ({value}), 0 : ({program.tensor((extent,), 'i32', layout)}) -> i32 {{\n{ADD}\n}}"
    )
    at = program.store_scalar(total, "i32")
    assert program.run()[at][0] == x.sum()


def tree(x, combine, halving):
    """The strict tree over a list, None for an absent element."""
    size = 1 << (len(x) - 1).bit_length()
    x = [*x, *[None] * (size - len(x))]
    while size > 1:
        size //= 2
        pairs = [(x[i], x[i + size]) if halving else (x[2 * i], x[2 * i + 1]) for i in range(size)]
        x = [a if b is None else combine(a, b) for a, b in pairs]
    return x[0]


@pytest.mark.parametrize("seed", SEEDS)
def test_strict_order(seed):
    rng = np.random.default_rng(seed)
    extent = int(rng.integers(2, 40))
    layout = random_layout(rng, (extent,), axis_in_warp=0)
    x = rng.standard_normal(extent).astype(np.float32)
    program = Program(strict=True)
    value = program.load(x, "f32", layout)
    tile = program.tensor((extent,), "f32", layout)
    add = ADD.replace("addi", "addf").replace("i32", "f32")
    # Not one commutative op, so neighbours.
    other = (
        "^bb0(%p: f32, %q: f32):\n %s = arith.addf %p, %q : f32\n %t = arith.addf %s, %q : f32\n tile.yield %t : f32"
    )
    places = []
    for region in (add, other):
        total = program.emit(f"tile.reduce ({value}), 0 : ({tile}) -> f32 {{\n{region}\n}}")
        places.append(program.store_scalar(total, "f32"))
    results = program.run()
    assert results[places[0]][0] == tree(list(x), lambda a, b: a + b, True)
    assert results[places[1]][0] == tree(list(x), lambda a, b: (a + b) + b, False)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_scan(seed, strict, reverse):
    rng = np.random.default_rng(seed)
    shape, axis = shape_of(rng), int(rng.integers(0, 2))
    layout = random_layout(rng, shape, axis_in_warp=axis)
    xs = [rng.integers(-3, 4, shape).astype(np.int32) for _ in range(2)]
    program = Program(strict=strict)
    values = [program.load(x, "i32", layout) for x in xs]
    tile = program.tensor(shape, "i32", layout)
    how = "reverse " if reverse else ""
    both = program.emit(
        f"tile.scan ({values[0]}, {values[1]}), {axis} {how}: ({tile}, {tile}) -> ({tile}, {tile}) {{\n{COMPOSE}\n}}", 2
    )
    places = [program.store(v, shape, "i32", layout) for v in both]
    results = program.run()
    for place, expected in zip(places, fold(xs, axis, reverse), strict=True):
        np.testing.assert_array_equal(results[place], expected)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_strict_scan_is_the_left_fold(seed, reverse):
    rng = np.random.default_rng(seed)
    extent = int(rng.integers(2, 40))
    layout = random_layout(rng, (extent,), axis_in_warp=0)
    x = rng.standard_normal(extent).astype(np.float32)
    program = Program(strict=True)
    value = program.load(x, "f32", layout)
    tile = program.tensor((extent,), "f32", layout)
    region = ADD.replace("addi", "addf").replace("i32", "f32")
    how = "reverse " if reverse else ""
    out = program.emit(f"tile.scan ({value}), 0 {how}: ({tile}) -> {tile} {{\n{region}\n}}")
    at = program.store(out, (extent,), "f32", layout)
    ordered = x[::-1] if reverse else x
    expected = np.array([a for a in np.add.accumulate(ordered)])
    np.testing.assert_array_equal(program.run()[at], expected[::-1] if reverse else expected)


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("seed", SEEDS)
def test_shared_memory(seed, element):
    """Through a buffer, from any layout to any other."""
    rng = np.random.default_rng(seed)
    shape = shape_of(rng)
    source, result = random_layout(rng, shape), random_layout(rng, shape)
    x = data(rng, shape, ELEMENTS[element])
    strides = [shape[1], 1] if rng.random() < 0.5 else [1, shape[0]]
    base, offset = int(rng.integers(0, 3)) * 8, int(rng.integers(0, 3)) * 4
    program = Program()
    value = program.load(x, element, source)
    buffer = program.alloc((base + offset + x.size) * x.itemsize)
    at = program.emit(f"arith.constant {offset} : i32")
    where = f"{buffer}[{at}] base {base} strides {strides}"
    program.emit(f"simt.local_store {value}, {where} : {program.tensor(shape, element, source)}", 0)
    program.emit("simt.barrier", 0)
    value = program.emit(f"simt.local_load {where} : {program.tensor(shape, element, result)}")
    place = program.store(value, shape, element, result)
    np.testing.assert_array_equal(program.run()[place], x)


@pytest.mark.parametrize("seed", SEEDS)
def test_swizzle(seed):
    rng = np.random.default_rng(seed)
    shape = (8, 16)
    source, result = random_layout(rng, shape), random_layout(rng, shape)
    x = data(rng, shape)
    # Rows of 16, whose groups of 4 are in an order of their own.
    offsets = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 4], [2, 8], [4, 0]]
    swizzle = f"<offset = {offsets}, dims = [8, 16]>"
    program = Program()
    value = program.load(x, "i32", source)
    buffer = program.alloc(512)
    where = f"{buffer}[] base 0 strides [] swizzle {swizzle}"
    program.emit(f"simt.local_store {value}, {where} : {program.tensor(shape, 'i32', source)}", 0)
    program.emit("simt.barrier", 0)
    value = program.emit(f"simt.local_load {where} : {program.tensor(shape, 'i32', result)}")
    place = program.store(value, shape, "i32", result)
    np.testing.assert_array_equal(program.run()[place], x)


@pytest.mark.parametrize("batch", [0, 2])
@pytest.mark.parametrize("element,acc", [("f32", "f32"), ("f16", "f32"), ("i8", "i32"), ("f16", "f16")])
@pytest.mark.parametrize("seed", range(6))
def test_dot(seed, element, acc, batch):
    rng = np.random.default_rng(seed)
    m, n, k = (int(v) for v in rng.integers(1, 17, 3))
    lead = (batch,) if batch else ()
    k = 4 * k if seed % 2 else k
    if seed > 2:
        m, n = 16, 8
    lhs, rhs = (rng.integers(-3, 4, (*lead, *s)).astype(ELEMENTS[element]) for s in ((m, k), (k, n)))
    start = rng.integers(-3, 4, (*lead, m, n)).astype(ELEMENTS[acc])
    program = Program()
    buffers, strides = [], []
    for x in (lhs, rhs):
        layout = random_layout(rng, x.shape)
        value = program.load(x, element, layout)
        buffers.append(program.alloc(x.nbytes))
        order = [*[s // x.itemsize for s in x.strides]]
        strides.append(order)
        tile = program.tensor(x.shape, element, layout)
        program.emit(f"simt.local_store {value}, {buffers[-1]}[] base 0 strides {order} : {tile}", 0)
    program.emit("simt.barrier", 0)
    layout = random_layout(rng, start.shape)
    value = program.load(start, acc, layout)
    tile = program.tensor(start.shape, acc, layout)
    operands = ", ".join(f"{b} : {element} {s}" for b, s in zip(buffers, strides, strict=True))
    value = program.emit(f"simt.local_dot {operands}, {value} depth {k} : {tile} -> {tile}")
    place = program.store(value, start.shape, acc, layout)
    expected = start.astype(np.float64) + lhs.astype(np.float64) @ rhs.astype(np.float64)
    np.testing.assert_array_equal(program.run()[place], expected.astype(start.dtype))


@pytest.mark.parametrize("seed", SEEDS)
def test_gather_and_count(seed):
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(1, 9)), int(rng.integers(1, 20)))
    layout = random_layout(rng, shape)
    source, indices = data(rng, (shape[0], 7)), rng.integers(0, 7, shape).astype(np.int32)
    program = Program()
    other = random_layout(rng, source.shape)
    buffer = program.alloc(source.nbytes)
    value = program.load(source, "i32", other)
    where = f"{buffer}[] base 0 strides [7, 1]"
    program.emit(f"simt.local_store {value}, {where} : {program.tensor(source.shape, 'i32', other)}", 0)
    program.emit("simt.barrier", 0)
    at = program.load(indices, "i32", layout)
    tile = program.tensor(shape, "i32", layout)
    picked = program.emit(f"simt.local_gather {buffer}[{at}], 1 extent 7 strides [7, 1] : {tile} -> {tile}")
    first = program.store(picked, shape, "i32", layout)
    counters = program.alloc(5 * 4)
    bins = random_layout(rng, (5,))
    bin_tile = program.tensor((5,), "i32", bins)
    zero = program.emit(f"arith.constant dense<0> : {bin_tile}")
    program.emit(f"simt.local_store {zero}, {counters}[] base 0 strides [1] : {bin_tile}", 0)
    program.emit("simt.barrier", 0)
    program.emit(f"simt.local_count {counters}[{at}], 5 : {tile}", 0)
    program.emit("simt.barrier", 0)
    value = program.emit(f"simt.local_load {counters}[] base 0 strides [1] : {bin_tile}")
    second = program.store(value, (5,), "i32", bins)
    results = program.run()
    np.testing.assert_array_equal(results[first], np.take_along_axis(source, indices, 1))
    np.testing.assert_array_equal(results[second], np.bincount(indices.ravel(), minlength=7)[:5])


@pytest.mark.parametrize("seed", SEEDS)
def test_atomics_count_once(seed):
    rng = np.random.default_rng(seed)
    shape = shape_of(rng)
    layout = random_layout(rng, shape)
    x, total = data(rng, shape), np.zeros(1, np.int32)
    program = Program()
    value = program.load(x, "i32", layout)
    argument = program.argument(total, "i32")
    place = len(program.arrays) - 1
    ptr, tile = program.tensor(shape, "!tile.ptr<i32>", layout), program.tensor(shape, "i32", layout)
    at = program.emit(f"tile.splat {argument} : !tile.ptr<i32> -> {ptr}")
    program.emit(f"tile.atomic_rmw add, {at}, {value} : {ptr}, {tile} -> {tile}")
    one = program.emit("arith.constant 1 : i32")
    program.emit(f"tile.atomic_rmw add, {argument}, {one} : !tile.ptr<i32>, i32 -> i32")
    assert program.run()[place][0] == x.sum() + 1


@pytest.mark.parametrize("seed", SEEDS)
def test_shape_ops(seed):
    rng = np.random.default_rng(seed)
    shape = (4, 8)
    layout = random_layout(rng, shape)
    x, y = data(rng, shape), data(rng, shape)
    program = Program()
    v, w = program.load(x, "i32", layout), program.load(y, "i32", layout)
    tile = program.tensor(shape, "i32", layout)
    turned = layout.permuted([1, 0])
    t = program.emit(f"tile.transpose {v}, [1, 0] : {tile} -> {program.tensor((8, 4), 'i32', turned)}")
    flat = layout.map(lambda b: [b[0] * 8 + b[1]], [5])
    r = program.emit(f"tile.reshape {v} : {tile} -> {program.tensor((32,), 'i32', flat)}")
    pairs = layout.map(lambda b: [*b, 0], [2, 3, 1])
    pairs.register = [*pairs.register, [0, 0, 1]]
    pair = program.tensor((4, 8, 2), "i32", pairs)
    j = program.emit(f"tile.join {v}, {w} : {tile} -> {pair}")
    left, right = program.emit(f"tile.split {j} : {pair} -> {tile}", 2)
    places = [
        program.store(t, (8, 4), "i32", turned),
        program.store(r, (32,), "i32", flat),
        program.store(j, (4, 8, 2), "i32", pairs),
        program.store(left, shape, "i32", layout),
        program.store(right, shape, "i32", layout),
    ]
    results = program.run()
    for place, expected in zip(places, (x.T, x.reshape(32), np.stack([x, y], -1), x, y), strict=True):
        np.testing.assert_array_equal(results[place], expected)


@pytest.mark.parametrize("seed", range(4))
def test_control_flow(seed):
    rng = np.random.default_rng(seed)
    shape = shape_of(rng)
    layout = random_layout(rng, shape)
    x = data(rng, shape)
    program = Program()
    v = program.load(x, "i32", layout)
    tile = program.tensor(shape, "i32", layout)
    zero, one, five = (program.emit(f"arith.constant {n} : i32") for n in (0, 1, 5))
    looped = program.emit(f"""scf.for %i = {zero} to {five} step {one} iter_args(%s = {v}) -> ({tile}) : i32 {{
      %is = tile.splat %i : i32 -> {tile}
      %t = arith.addi %s, %is : {tile}
      scf.yield %t : {tile}
    }}""")
    pid = program.emit("tile.program_id 0")
    is_three = program.emit(f"arith.cmpi eq, {pid}, {five} : i32")
    chosen = program.emit(f"""scf.if {is_three} -> ({tile}) {{
      scf.yield {v} : {tile}
    }} else {{
      %u = arith.muli {looped}, {looped} : {tile}
      scf.yield %u : {tile}
    }}""")
    whiled = program.emit(f"""scf.while (%s = {chosen}, %n = {zero}) : ({tile}, i32) -> {tile} {{
      %c = arith.cmpi slt, %n, {five} : i32
      scf.condition(%c) %s : {tile}
    }} do {{
    ^bb0(%s: {tile}):
      %t = arith.addi %s, {v} : {tile}
      scf.yield %t, {five} : {tile}, i32
    }}""")
    mapped = program.emit(f"""tile.map ({whiled}) : ({tile}) -> {tile} {{
    ^bb0(%e: i32):
      %c = arith.cmpi slt, %e, {zero} : i32
      %r = scf.if %c -> (i32) {{
        scf.yield {zero} : i32
      }} else {{
        %d = arith.addi %e, {one} : i32
        scf.yield %d : i32
      }}
      tile.yield %r : i32
    }}""")
    place = program.store(mapped, shape, "i32", layout)
    expected = (x + 10) ** 2 + x
    np.testing.assert_array_equal(program.run()[place], np.where(expected < 0, 0, expected + 1))


def records(buffer):
    """The print records, as (line, operand, program, elements)."""
    out, at, end = [], 8, int(buffer[0])
    while at < end:
        line, operand, *program, first, count, size = (int(n) for n in buffer[at : at + 8])
        words = -(-count * size // 4)
        payload = buffer[at + 8 : at + 8 + words].tobytes()[: count * size]
        out.append((line, operand, tuple(program), first, count, size, payload))
        at += 8 + words
    assert at == end
    return out


@pytest.mark.parametrize("element", ["i8", "i16", "i32", "i64", "f32"])
@pytest.mark.parametrize("seed", range(6))
def test_print(seed, element):
    rng = np.random.default_rng(seed)
    shape = shape_of(rng)
    layout = random_layout(rng, shape)
    x = data(rng, shape, ELEMENTS[element])
    program = Program()
    v = program.load(x, element, layout)
    seven = program.emit("arith.constant 7 : i32")
    tile = program.tensor(shape, element, layout)
    program.emit(f'tile.print "x", [1, 1] ({v}, {seven} : {tile}, i32)', 0)
    program.emit('tile.print "nothing", []', 0)
    program.run(debug_words=40000)
    assert f'"{element} {shape[0]}x{shape[1]} 0"' in program.lowered
    seen = np.full(x.size, False)
    for line, operand, where, first, count, size, payload in records(program.debug):
        assert where == (3, 1, 2)
        if (line, operand) == (0, 0):
            assert size == x.itemsize
            values = np.frombuffer(payload, x.dtype)
            assert not seen[first : first + count].any()
            seen[first : first + count] = True
            np.testing.assert_array_equal(values, x.ravel()[first : first + count])
        elif line == 0:
            assert (operand, first, count, payload) == (1, 0, 1, np.int32(7).tobytes())
        else:
            assert (line, operand, count, size) == (1, -1, 0, 0)
    assert seen.all()


def test_print_beyond_the_buffer():
    program = Program()
    seven = program.emit("arith.constant 7 : i32")
    for _ in range(3):
        program.emit(f'tile.print "x", [1] ({seven} : i32)', 0)
    program.run(debug_words=8 + 2 * 9 + 1)
    assert program.debug[0] == 8 + 3 * 9
    assert program.debug[8 + 2 * 9] == 0


@pytest.mark.parametrize("holds", [True, False])
def test_assert(holds):
    shape = (13,)
    rng = np.random.default_rng(1)
    layout = random_layout(rng, shape)
    x = np.arange(13, dtype=np.int32)
    program = Program()
    v = program.load(x, "i32", layout)
    tile, bools = program.tensor(shape, "i32", layout), program.tensor(shape, "i1", layout)
    limit = program.emit(f"arith.constant dense<{13 if holds else 12}> : {tile}")
    c = program.emit(f"arith.cmpi slt, {v}, {limit} : {tile}")
    true = program.emit("arith.constant true")
    program.emit(f'tile.assert {true}, "scalar" : i1', 0)
    program.emit(f'tile.assert {c}, "tile" : {bools}', 0)
    program.run(debug_words=64)
    assert list(program.debug[2:6]) == ([0, 0, 0, 0] if holds else [2, 3, 1, 2])
