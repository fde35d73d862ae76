# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Copies by the copy engine, executed: they arrive when a barrier is waited for that counts their bytes, not before."""

import subprocess

import ml_dtypes
import numpy as np
import pytest
from programs import tz_opt
from threads import Machine

# One slot, filled and read `turns` times: the parity of the wait alternates. Each thread stores a word of each turn.
KERNEL = """
#swizzle = {swizzle}
module attributes {{tile.num_warps = 4 : i32, tile.target = #tile.target<warp_size = 8>}} {{
  func.func @kernel(%x: !tile.ptr<{element}>, %out: !tile.ptr<{element}>, %row: i32, %column: i32, %turns: i32,
                    %map: !tile.tensor_map) attributes {{tile.kernel}} {{
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %size = arith.constant {elements} : i32
    %rows = arith.constant {rows} : i32
    %slot = simt.alloc {bytes} at 0 {{alignment = 1024 : i64}}
    %full = simt.alloc 8 at {bytes}
    simt.mbarrier_init %full, 1
    simt.barrier
    scf.for %turn = %c0 to %turns step %c1 : i32 {{
      %down = arith.muli %turn, %rows : i32
      %at = arith.addi %row, %down : i32
      simt.local_tensor_copy %map, %x[%at, %column] if %true to %slot[] signals %full[%c0] [{rows}, {columns}] #swizzle
        : !tile.ptr<{element}>
      %parity = arith.andi %turn, %c1 : i32
      {wait}
      %y = simt.local_load %slot[] base 0 strides [] swizzle #swizzle : {block}
      %skip = arith.muli %turn, %size : i32
      %first = tile.addptr %out, %skip : !tile.ptr<{element}>, i32
      %p = tile.splat %first : !tile.ptr<{element}> -> {pointers}
      %r = tile.arange 0 to {rows} : tensor<{rows}xi32, {row_layout}>
      %c = tile.arange 0 to {columns} : tensor<{columns}xi32, {column_layout}>
      %width = arith.constant dense<{columns}> : tensor<{rows}xi32, {row_layout}>
      %start = arith.muli %r, %width : tensor<{rows}xi32, {row_layout}>
      %r2 = tile.expand_dims %start, 1 : tensor<{rows}xi32, {row_layout}> -> tensor<{rows}x1xi32, {rows_layout}>
      %c2 = tile.expand_dims %c, 0 : tensor<{columns}xi32, {column_layout}> -> tensor<1x{columns}xi32, {columns_layout}>
      %rr = tile.broadcast %r2 : tensor<{rows}x1xi32, {rows_layout}> -> {places}
      %cc = tile.broadcast %c2 : tensor<1x{columns}xi32, {columns_layout}> -> {places}
      %place = arith.addi %rr, %cc : {places}
      %q = tile.addptr %p, %place : {pointers}, {places}
      tile.store %q, %y {{simt.vector = 1 : i32}} : {pointers}, {block}
      simt.barrier
    }}
    simt.mbarrier_end %full
    return
  }}
}}
"""
WAIT = "simt.mbarrier_wait %full[%c0], %parity"
ELEMENTS = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "i8": np.int8, "f32": np.float32}


def swizzle_of(rows, columns, size):
    """Rows of up to 128 bytes, all rows of the first run before those of the next; 16-byte words change places."""
    span = min(128, columns * size)
    bits = [[0, 1 << b] for b in range((span // size).bit_length() - 1)]
    bits += [[1 << b, 0] for b in range(rows.bit_length() - 1)]
    bits += [[0, span // size << b] for b in range((columns * size // span).bit_length() - 1)]
    for i in range((span // 16).bit_length() - 1):
        high, low = ((1 << n) // size for n in (7 + i, 4 + i))
        high = high.bit_length() - 1
        if high < len(bits):
            bits[high] = [a ^ b for a, b in zip(bits[high], bits[low.bit_length() - 1], strict=True)]
    return f"#simt.layout<offset = {bits}, dims = [{rows}, {columns}]>", span


def text_of(rows, columns, element, wait=WAIT):
    swizzle, span = swizzle_of(rows, columns, np.dtype(ELEMENTS[element]).itemsize)
    row_bits, column_bits = rows.bit_length() - 1, columns.bit_length() - 1
    basis = [[0, 1 << b] for b in range(column_bits)] + [[1 << b, 0] for b in range(row_bits)]
    registers, lanes, warps = basis[5:], basis[:3], basis[3:5]

    def layout(keep, dims):
        parts = [[[b[d] for d in keep] for b in part] for part in (registers, lanes, warps)]
        return f"#simt.layout<register = {parts[0]}, lane = {parts[1]}, warp = {parts[2]}, dims = {dims}>"

    def zeroed(dim, dims):
        parts = [[[0 if d == dim else b[d] for d in (0, 1)] for b in part] for part in (registers, lanes, warps)]
        return f"#simt.layout<register = {parts[0]}, lane = {parts[1]}, warp = {parts[2]}, dims = {dims}>"

    size = np.dtype(ELEMENTS[element]).itemsize
    tile = lambda of: f"tensor<{rows}x{columns}x{of}, {layout((0, 1), [rows, columns])}>"
    text = KERNEL.format(
        pointers=tile(f"!tile.ptr<{element}>"), block=tile(element), places=tile("i32"),
        swizzle=swizzle, element=element, elements=rows * columns, bytes=rows * columns * size, rows=rows,
        columns=columns, wait=wait, row_layout=layout((0,), [rows]),
        column_layout=layout((1,), [columns]), rows_layout=zeroed(1, [rows, 1]), columns_layout=zeroed(0, [1, columns]),
    )  # fmt: skip
    return text, span


def run(x, rows, columns, element, row, column, turns, wait=WAIT):
    text, span = text_of(rows, columns, element, wait)
    flags = ["--tz-simt-to-llvm", "--canonicalize=top-down=false", "--cse", "--mlir-print-op-generic"]
    done = subprocess.run([tz_opt(), "-", *flags], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + text
    machine = Machine(done.stdout, 8, 4, rows * columns * x.itemsize + 8)
    out = np.zeros((turns, rows, columns), x.dtype)
    places = [machine.allocate(array) for array in (x, out)]
    tensor_map = machine.tensor_map(places[0], x, (rows, span // x.itemsize), span)
    machine.run(*map(np.int64, places), np.int32(row), np.int32(column), np.int32(turns), np.int64(tensor_map))
    assert not machine.mbarriers
    return machine.read(places[1], out)


def padded(x, rows, columns, row, column):
    """The block of x, with zeros outside."""
    out = np.zeros((rows, columns), x.dtype)
    for i in range(rows):
        for j in range(columns):
            if 0 <= row + i < x.shape[0] and 0 <= column + j < x.shape[1]:
                out[i, j] = x[row + i, column + j]
    return out


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize(("rows", "columns"), [(8, 32), (16, 64), (8, 256)])
def test_blocks_arrive_swizzled(rows, columns, element):
    x = np.random.default_rng(rows).integers(-100, 100, (40, 300)).astype(ELEMENTS[element])
    for row, column in ((3, 16), (-2, 272), (36, -8)):
        out = run(x, rows, columns, element, row, column, 3)
        for turn in range(3):
            expected = padded(x, rows, columns, row + turn * rows, column)
            np.testing.assert_array_equal(out[turn], expected)


def test_without_a_wait_it_is_not_there():
    x = np.ones((40, 300), np.float16)
    with pytest.raises(AssertionError):
        out = run(x, 8, 32, "f16", 0, 0, 1, wait="")
        np.testing.assert_array_equal(out[0], 1)


def test_a_wait_for_the_other_phase_returns_at_once():
    x = np.ones((40, 300), np.float16)
    wait = "%other = arith.xori %parity, %c1 : i32 simt.mbarrier_wait %full[%c0], %other"
    with pytest.raises(AssertionError):
        out = run(x, 8, 32, "f16", 0, 0, 1, wait=wait)
        np.testing.assert_array_equal(out[0], 1)
