# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products by matrix units, through all passes down to threads, executed by the formulas of the vendors' documents."""

import re

import numpy as np
import pytest
from programs import Program
from test_passes import PASSES
from threads import FLOATS, INTEGERS

# Unit -> the lanes of a warp, and elements that it multiplies as they are.
UNITS = {
    "mma_sm80": (32, ["f16", "bf16", "i8", "tf32"]),
    "mma_sm89": (32, ["f16", "f8E4M3FN", "f8E5M2"]),
    "wgmma_sm90": (32, ["bf16", "f8E4M3FN"]),
    "mfma_gfx90a": (64, ["f16", "bf16", "i8"]),
    "mfma_gfx942": (64, ["f16", "bf16", "i8", "f8E4M3FNUZ", "f8E5M2FNUZ"]),
    "mfma_gfx950": (64, ["f16", "bf16", "i8", "f8E4M3FN", "f8E5M2"]),
    "wmma_gfx11": (32, ["f16", "bf16"]),
    "wmma_gfx12": (32, ["f16", "bf16"]),
}
TYPES = {**FLOATS, **INTEGERS}
ALL = [(unit, element) for unit, (_, elements) in UNITS.items() for element in elements]


def values(rng, shape, element):
    """Small integers, so that every order of summation gives the same."""
    return rng.integers(-3, 4, shape).astype(TYPES[element])


def tensor(shape, element):
    return f"tensor<{'x'.join(map(str, shape))}x{element}>"


def multiply(program, a, b, shapes, elements, acc="f32", attributes=""):
    """A tile.dot of two values on zeros."""
    (*batch, m, k), (*_, n) = shapes
    out = tensor((*batch, m, n), acc)
    zero = program.emit(f"arith.constant dense<{'0' if acc == 'i32' else '0.0'}> : {out}")
    types = ", ".join(tensor(s, e) for s, e in zip(shapes, elements, strict=True))
    return program.emit(f"tile.dot {a}, {b}, {zero}{attributes} : {types} -> {out}")


def pointers(program, base, shape, stride):
    """Pointers to the f16 of a matrix with this row stride, and the types of these and of offsets."""
    e = program.emit
    ptr, i32 = tensor(shape, "!tile.ptr<f16>"), tensor(shape, "i32")
    parts = []
    for dim, step in ((0, stride), (1, 1)):
        line = e(f"tile.arange 0 to {shape[dim]} : {tensor(shape[dim : dim + 1], 'i32')}")
        column = [1, 1]
        column[dim] = shape[dim]
        flat = tensor(shape[dim : dim + 1], "i32")
        line = e(f"tile.expand_dims {line}, {1 - dim} : {flat} -> {tensor(column, 'i32')}")
        line = e(f"tile.broadcast {line} : {tensor(column, 'i32')} -> {i32}")
        factor = e(f"arith.constant dense<{step}> : {i32}")
        parts.append(e(f"arith.muli {line}, {factor} : {i32}"))
    offset = e(f"arith.addi {parts[0]}, {parts[1]} : {i32}")
    start = e(f"tile.splat {base} : !tile.ptr<f16> -> {ptr}")
    return e(f"tile.addptr {start}, {offset} : {ptr}, {i32}"), ptr, i32


def run(program, uses=True):
    results = program.run(passes=["--tz-choose-matrix-units", *PASSES])
    assert bool(re.search(r"simt\.thread_(group_)?mma", program.lowered)) == uses
    return results


@pytest.mark.parametrize("warps", [1, 4, 8])
@pytest.mark.parametrize("shape", [(32, 32, 64), (64, 16, 32), (16, 128, 96), (80, 48, 64)])
@pytest.mark.parametrize("unit,element", ALL)
def test_product(unit, element, shape, warps):
    m, n, k = shape
    rng = np.random.default_rng(m + n + k)
    stored, acc = "f32" if element == "tf32" else element, "i32" if element == "i8" else "f32"
    x, y = values(rng, (m, k), stored), values(rng, (k, n), stored)
    program = Program(UNITS[unit][0], warps, matrix=unit)
    a, b = program.load(x, stored), program.load(y, stored)
    attributes = " {precision = 1 : i32}" if element == "tf32" else ""
    d = multiply(program, a, b, [(m, k), (k, n)], [stored, stored], acc, attributes)
    place = program.store(d, (m, n), acc)
    wide = np.int32 if acc == "i32" else np.float32
    np.testing.assert_array_equal(run(program)[place], x.astype(wide) @ y.astype(wide))


@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize(
    "warps,m,n,k", [(4, 64, 16, 16), (4, 128, 64, 96), (8, 128, 32, 128), (8, 64, 256, 32), (4, 80, 8, 64)]
)
def test_factors_in_shared_memory(warps, m, n, k, turned):
    """Rows of 32, 64 and 128 bytes and several of them, each factor with either dimension innermost."""
    rng = np.random.default_rng(m + n + k)
    x, y = values(rng, (m, k), "bf16"), values(rng, (k, n), "bf16")
    program = Program(32, warps, matrix="wgmma_sm90", divisibility=16)
    sides = []
    for each, is_turned in zip((x, y), turned, strict=True):
        stored = np.ascontiguousarray(each.T) if is_turned else each
        value = program.load(stored, "bf16", vector=8)
        if is_turned:
            value = program.emit(
                f"tile.transpose {value}, [1, 0] : {tensor(stored.shape, 'bf16')} -> {tensor(each.shape, 'bf16')}"
            )
        sides.append(value)
    d = multiply(program, *sides, [(m, k), (k, n)], ["bf16", "bf16"])
    place = program.store(d, (m, n), "f32")
    np.testing.assert_array_equal(run(program)[place], x.astype(np.float32) @ y.astype(np.float32))
    assert ("simt.thread_group_mma" in program.lowered) == (n >= 16)


@pytest.mark.parametrize("unit", UNITS)
def test_chain(unit):
    """The result of one product, made narrower, is a factor of the next; the same tile is a factor twice."""
    rng = np.random.default_rng(7)
    x, y, z = (values(rng, s, "f16") for s in ((64, 32), (64, 32), (64, 32)))
    program = Program(UNITS[unit][0], 4, matrix=unit)
    q, k, v = (program.load(each, "f16") for each in (x, y, z))
    t = program.emit(f"tile.transpose {k}, [1, 0] : {tensor((64, 32), 'f16')} -> {tensor((32, 64), 'f16')}")
    s = multiply(program, q, t, [(64, 32), (32, 64)], ["f16", "f16"])
    p = program.emit(f"arith.truncf {s} : {tensor((64, 64), 'f32')} to {tensor((64, 64), 'f16')}")
    o = multiply(program, p, v, [(64, 64), (64, 32)], ["f16", "f16"])
    place = program.store(o, (64, 32), "f32")
    x, y, z = (each.astype(np.float32) for each in (x, y, z))
    np.testing.assert_array_equal(run(program)[place], (x @ y.T) @ z)


@pytest.mark.parametrize("warps", [1, 8])
@pytest.mark.parametrize("unit", UNITS)
def test_batches(unit, warps):
    rng = np.random.default_rng(3)
    x, y = values(rng, (3, 32, 32), "bf16"), values(rng, (3, 32, 32), "bf16")
    if unit == "mma_sm89":
        x, y = x.astype(np.float16), y.astype(np.float16)
    element = "f16" if unit == "mma_sm89" else "bf16"
    program = Program(UNITS[unit][0], warps, matrix=unit)
    a, b = program.load(x, element), program.load(y, element)
    d = multiply(program, a, b, [x.shape, y.shape], [element, element])
    place = program.store(d, (3, 32, 32), "f32")
    expected = x.astype(np.float32) @ y.astype(np.float32)
    np.testing.assert_array_equal(run(program)[place], expected)


@pytest.mark.parametrize("unit", ["mma_sm80", "mfma_gfx90a", "mfma_gfx942", "wmma_gfx11"])
def test_narrow_floats_become_wider_ones(unit):
    """An 8-bit float that the unit does not take is exact as f16."""
    rng = np.random.default_rng(4)
    x, y = values(rng, (32, 32), "f8E4M3FN"), values(rng, (32, 32), "f16")
    program = Program(UNITS[unit][0], 2, matrix=unit)
    a, b = program.load(x, "f8E4M3FN"), program.load(y, "f16")
    d = multiply(program, a, b, [x.shape, y.shape], ["f8E4M3FN", "f16"])
    place = program.store(d, (32, 32), "f32")
    np.testing.assert_array_equal(run(program)[place], x.astype(np.float32) @ y.astype(np.float32))


@pytest.mark.parametrize("unit", ["mma_sm80", "mfma_gfx942", "wmma_gfx12"])
def test_what_does_not_fit_is_computed_otherwise(unit):
    """Too small a tile, a depth that is no multiple, two kinds of 16 bits, f32 that must not be rounded."""
    rng = np.random.default_rng(5)
    for m, n, k, left, right in [
        (8, 4, 16, "f16", "f16"),
        (32, 32, 12, "f16", "f16"),
        (32, 32, 16, "f16", "bf16"),
        (32, 32, 16, "f32", "f32"),
    ]:
        x, y = values(rng, (m, k), left), values(rng, (k, n), right)
        program = Program(UNITS[unit][0], 2, matrix=unit)
        a, b = program.load(x, left), program.load(y, right)
        d = multiply(program, a, b, [(m, k), (k, n)], [left, right])
        place = program.store(d, (m, n), "f32")
        expected = x.astype(np.float32) @ y.astype(np.float32)
        np.testing.assert_array_equal(run(program, uses=False)[place], expected)


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 7])
@pytest.mark.parametrize("units", [None, "tensor_copy"])
@pytest.mark.parametrize("stages,limit", [(1, None), (2, None), (3, None), (5, None), (5, 3 * (64 + 32) * 64 + 192)])
def test_loop(stages, limit, units, steps):
    """Factors that are copied ahead, by carried pointers and by the counter, with masks that cut the last step.

    With barriers in memory the threads do not meet in the loop.
    """
    m, n, k = 64, 32, 32
    depth = max(k * steps - 8, 0)
    rng = np.random.default_rng(steps)
    x, y = values(rng, (m, max(depth, 1)), "f16"), values(rng, (max(depth, 1), n), "f16")
    x, y = np.pad(x, ((0, 0), (0, 8 * k - x.shape[1]))), np.pad(y, ((0, 8 * k - y.shape[0]), (0, 0)))
    x[:, depth:], y[depth:] = 99, 99  # behind the mask
    warps = 8 if units else 4
    program = Program(32, warps, matrix="wgmma_sm90", units=units, divisibility=16, shared_bytes=limit, stages=stages)
    wide = 8 * k
    px, py = program.argument(x, "f16"), program.argument(y, "f16")
    count = program.load_scalar(steps, "i32")
    e = program.emit
    eighths, eight = program.load_scalar(depth // 8, "i32"), e("arith.constant 8 : i32")
    end = e(f"arith.muli {eighths}, {eight} : i32")

    pa, ta, ia = pointers(program, px, (m, k), wide)
    pb, tb, ib = pointers(program, py, (k, n), n)
    acc = tensor((m, n), "f32")
    zero, c0, c1 = e(f"arith.constant dense<0.0> : {acc}"), e("arith.constant 0 : i32"), e("arith.constant 1 : i32")
    ck = e(f"arith.constant {k} : i32")
    ra = e(f"tile.arange 0 to {k} : {tensor((k,), 'i32')}")
    row = e(f"tile.expand_dims {ra}, 0 : {tensor((k,), 'i32')} -> {tensor((1, k), 'i32')}")
    row = e(f"tile.broadcast {row} : {tensor((1, k), 'i32')} -> {ia}")
    column = e(f"tile.expand_dims {ra}, 1 : {tensor((k,), 'i32')} -> {tensor((k, 1), 'i32')}")
    column = e(f"tile.broadcast {column} : {tensor((k, 1), 'i32')} -> {ib}")
    za = e(f"arith.constant dense<0.0> : {tensor((m, k), 'f16')}")
    zb = e(f"arith.constant dense<0.0> : {tensor((k, n), 'f16')}")
    step = e(f"arith.constant dense<{k}> : {ia}")
    fa, fb = (tensor(each, "f16") for each in ((m, k), (k, n)))
    sums, _ = e(
        f"""scf.for %i = {c0} to {count} step {c1} iter_args(%acc = {zero}, %p = {pa}) -> ({acc}, {ta}) : i32 {{
      %done = arith.muli %i, {ck} : i32
      %left = arith.subi {end}, %done : i32
      %la = tile.splat %left : i32 -> {ia}
      %ma = arith.cmpi slt, {row}, %la : {ia}
      %lb = tile.splat %left : i32 -> {ib}
      %mb = arith.cmpi slt, {column}, %lb : {ib}
      %a = tile.load %p mask %ma : {fa.replace("f16", "i1")} other {za} : {fa} : {ta} -> {fa}
      %skip = arith.muli %done, {e(f"arith.constant {n} : i32")} : i32
      %so = tile.splat %skip : i32 -> {ib}
      %pb = tile.addptr {pb}, %so : {tb}, {ib}
      %b = tile.load %pb mask %mb : {fb.replace("f16", "i1")} other {zb} : {fb} : {tb} -> {fb}
      %d = tile.dot %a, %b, %acc : {fa}, {fb} -> {acc}
      %q = tile.addptr %p, {step} : {ta}, {ia}
      scf.yield %d, %q : {acc}, {ta}
    }}""",
        2,
    )
    place = program.store(sums, (m, n), "f32")
    flags = [flag for flag in PASSES if flag != "--tz-tile-to-simt"]
    flags[2:2] = ["--tz-choose-matrix-units", "--tz-tile-to-simt", "--tz-simt-channels", "--tz-simt-prefetch"]
    result = program.run(passes=flags)[place]
    expected = x[:, :depth].astype(np.float32) @ y[:depth].astype(np.float32)
    np.testing.assert_array_equal(result, expected)
    copies = re.findall(r"simt\.copy_wait.*pending = (\d+)", program.lowered)
    # A product runs on into the next iteration, so that one slot more is taken.
    assert copies == ([] if stages == 1 or units else [str((3 if limit else stages + 1) - 3)])
    assert ("simt.thread_copy_arrive" in program.lowered) == (stages > 1 and units is not None)
    loop = program.lowered[program.lowered.index('"scf.for"') :]
    loop = loop[: loop.index('"scf.yield"(')]
    assert ('"simt.barrier"' in loop) == (stages == 1 or units is None)
    assert not program.machine.mbarriers, "barriers that are left"
    waits = re.findall(r"simt\.thread_group_wait.*pending = (\d+)", program.lowered)
    assert waits == (["0"] if stages == 1 else ["1", "0"])
    assert not any(program.machine.groups), "a copy is still on its way"
    assert not program.machine.flight.groups, "a product is still on its way"


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 6])
@pytest.mark.parametrize("stages", [1, 2, 4])
@pytest.mark.parametrize("unit,units", [("wgmma_sm90", None), ("wgmma_sm90", "tensor_copy"), ("mma_sm80", None)])
def test_overlapping_iterations(unit, units, stages, steps):
    """As in attention: the next product starts before what reads the last; a sum is rescaled between two products."""
    m, n, k, d = 64, 32, 64, 64
    rng = np.random.default_rng(steps)
    q = rng.integers(-1, 2, (m, k)).astype(np.float16)
    x, y = (rng.integers(-1, 2, (max(steps, 1) * n, width)).astype(np.float16) for width in (k, d))
    program = Program(32, 8 if units else 4, matrix=unit, units=units, divisibility=16, stages=stages)
    e = program.emit
    left = program.load(q, "f16", vector=8)
    px, py = program.argument(x, "f16"), program.argument(y, "f16")
    count = program.load_scalar(steps, "i32")
    (pk, tk, ik), (pv, tv, iv) = pointers(program, px, (n, k), k), pointers(program, py, (n, d), d)
    acc, line = tensor((m, d), "f32"), tensor((m,), "f32")
    s, p = tensor((m, n), "f32"), tensor((m, n), "f16")
    zero = e(f"arith.constant dense<0.0> : {acc}")
    zeros = e(f"arith.constant dense<0.0> : {s}")
    top = e(f"arith.constant dense<-99.0> : {line}")
    c0, c1 = e("arith.constant 0 : i32"), e("arith.constant 1 : i32")
    step = e(f"arith.constant dense<{n * k}> : {ik}")
    wide = e(f"arith.constant {n * d} : i32")
    plus, minus = (e(f"arith.constant dense<{sign}.0> : {line}") for sign in ("1", "-1"))
    sums, tops, _ = e(
        f"""scf.for %i = {c0} to {count} step {c1} iter_args(%acc = {zero}, %top = {top}, %p = {pk})
        -> ({acc}, {line}, {tk}) : i32 {{
      %k = tile.load %p : {tk} -> {tensor((n, k), "f16")}
      %t = tile.transpose %k, [1, 0] : {tensor((n, k), "f16")} -> {tensor((k, n), "f16")}
      %s = tile.dot {left}, %t, {zeros} : {tensor((m, k), "f16")}, {tensor((k, n), "f16")} -> {s}
      %most = tile.reduce (%s), 1 : ({s}) -> {line} {{
      ^bb0(%u: f32, %w: f32):
        %v = arith.maximumf %u, %w : f32
        tile.yield %v : f32
      }}
      %higher = arith.maximumf %top, %most : {line}
      %grew = arith.cmpf ogt, %higher, %top : {line}
      %sign = arith.select %grew, {minus}, {plus} : {tensor((m,), "i1")}, {line}
      %column = tile.expand_dims %sign, 1 : {line} -> {tensor((m, 1), "f32")}
      %signs = tile.broadcast %column : {tensor((m, 1), "f32")} -> {acc}
      %turned = arith.mulf %acc, %signs : {acc}
      %h = arith.truncf %s : {s} to {p}
      %skip = arith.muli %i, {wide} : i32
      %so = tile.splat %skip : i32 -> {iv}
      %pv = tile.addptr {pv}, %so : {tv}, {iv}
      %v = tile.load %pv : {tv} -> {tensor((n, d), "f16")}
      %d = tile.dot %h, %v, %turned : {p}, {tensor((n, d), "f16")} -> {acc}
      %q = tile.addptr %p, {step} : {tk}, {ik}
      scf.yield %d, %higher, %q : {acc}, {line}, {tk}
    }}""",
        3,
    )
    places = program.store(sums, (m, d), "f32"), program.store(tops, (m,), "f32")
    flags = [flag for flag in PASSES if flag != "--tz-tile-to-simt"]
    flags[2:2] = [
        *("--tz-choose-matrix-units", "--tz-tile-to-simt", "--tz-simt-schedule=stages=2", "--tz-simt-channels"),
        "--tz-simt-prefetch",
    ]
    results = program.run(passes=flags)
    expected, highest = np.zeros((m, d)), np.full(m, -99.0)
    for i in range(steps):
        scores = q.astype(float) @ x[i * n :][:n].T.astype(float)
        now = np.maximum(highest, scores.max(1))
        expected = expected * np.where(now > highest, -1, 1)[:, None] + scores @ y[i * n :][:n].astype(float)
        highest = now
    np.testing.assert_array_equal(results[places[0]], expected)
    np.testing.assert_array_equal(results[places[1]], highest)
    loop = program.lowered[program.lowered.index('"scf.for"') :]
    starts = [match.start() for match in re.finditer("simt.thread_group_mma", loop)]
    if unit == "wgmma_sm90":
        waits = [loop.find("simt.thread_group_wait", start) for start in starts]
        # With a second stage, both products of a step start before the first wait.
        assert (len(set(waits[:2])) == 1) == (stages > 1)
        assert not program.machine.flight.groups, "a product is still on its way"
