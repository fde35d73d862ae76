# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What matrix instructions do, element by element, by the formulas of the vendors' documents.

Each fragment is a function of lane and register that gives the element's place in its matrix.
"""

import re

import ml_dtypes
import numpy as np

ELEMENTS = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "tf32": np.float32,
    "f32": np.float32,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "i8": np.int8,
    "i32": np.int32,
}


def mma(m, n, k):
    """PTX ISA, "Matrix Fragments for mma.m16n8k8", "..k16", "..k32"; places as (row, column)."""
    per = k // 8  # elements of a 32-bit register

    def lhs(lane, i):
        return lane // 4 + 8 * (i // per % 2), lane % 4 * per + i % per + k // 2 * (i // (2 * per))

    def rhs(lane, i):
        return lane % 4 * per + i % per + k // 2 * (i // per), lane // 4

    def acc(lane, i):
        return lane // 4 + 8 * (i // 2), lane % 4 * 2 + i % 2

    return lhs, rhs, acc, (4 * per, 2 * per, 4)


def mfma(m, n, k):
    """AMD CDNA3 ISA, "Dense Matrix Multiplication Opcodes"."""
    groups = 64 // m
    per = k // groups

    def lhs(lane, i):
        return lane % m, lane // m * per + i

    def rhs(lane, i):
        return lane // m * per + i, lane % m

    def acc(lane, i):
        return i // 4 * 4 * groups + lane // m * 4 + i % 4, lane % m

    return lhs, rhs, acc, (per, per, m * n // 64)


def wmma_gfx11(m, n, k):
    """AMD RDNA3 ISA, "WMMA": both halves of a wave hold the factors."""

    def acc(lane, i):
        return 2 * i + lane // 16, lane % 16

    return (lambda lane, i: (lane % 16, i)), (lambda lane, i: (i, lane % 16)), acc, (16, 16, 8)


def wmma_gfx12(m, n, k):
    """AMD RDNA4 ISA, "WMMA"."""

    def acc(lane, i):
        return 8 * (lane // 16) + i, lane % 16

    def lhs(lane, i):
        return lane % 16, 8 * (lane // 16) + i

    return lhs, (lambda lane, i: lhs(lane, i)[::-1]), acc, (8, 8, 8)


def wgmma(m, n, k):
    """PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16": lanes count through four warps."""

    def acc(lane, i):
        return lane // 32 * 16 + lane % 32 // 4 + i // 2 % 2 * 8, lane % 4 * 2 + i % 2 + i // 4 * 8

    return acc, n // 2


FAMILIES = {"mma": mma, "mfma": mfma, "wmma_gfx11": wmma_gfx11, "wmma_gfx12": wmma_gfx12}


def gather(words, element, place, count, shape, first, warp_size):
    """The matrix of one warp, from the words of its lanes."""
    matrix = np.zeros(shape, element)
    for lane in range(warp_size):
        held = np.ascontiguousarray(words[first + lane]).reshape(-1).view(np.uint8).view(element)
        assert len(held) == count, "a fragment of another size"
        for i in range(count):
            matrix[place(lane, i)] = held[i]
    return matrix


def execute(op, operands, active, warp_size):
    """simt.thread_mma for all threads; sums are rounded once."""
    assert active.all(), "a matrix instruction that not all threads take part in"
    fields = dict(re.findall(r"(\w+) = (\w+)", re.search(r"#simt.instruction<([^>]*)>", op.attributes)[1]))
    m, n, k = (int(fields[name]) for name in "mnk")
    lhs, rhs, acc, counts = FAMILIES[fields["family"]](m, n, k)
    types = [ELEMENTS[fields[name]] for name in ("lhs", "rhs", "acc")]
    if "isUnsigned" in op.attributes:
        types[:2] = np.uint8, np.uint8
    wide = np.int64 if fields["acc"] == "i32" else np.float64
    result = operands[2].copy()
    for first in range(0, len(active), warp_size):
        shapes = (m, k), (k, n), (m, n)
        a, b, c = (
            gather(words, element, place, count, shape, first, warp_size)
            for words, element, place, count, shape in zip(
                operands, types, (lhs, rhs, acc), counts, shapes, strict=True
            )
        )
        d = (a.astype(wide) @ b.astype(wide) + c.astype(wide)).astype(types[2])
        for lane in range(warp_size):
            held = np.array([d[acc(lane, i)] for i in range(counts[2])], types[2])
            result[first + lane] = held.view(result.dtype).reshape(result[first + lane].shape)
    return result


def block(memory, start, rows, columns, element, swizzle, stride, leading):
    """What the unit sees from `start` on: `columns` elements of a row, by PTX ISA, "Shared Memory Matrix Layout"."""
    size = np.dtype(element).itemsize
    out = np.zeros((rows, columns), element)
    for row in range(rows):
        for column in range(columns):
            runs, inside = divmod(column * size, swizzle)
            address = start + row // 8 * stride + row % 8 * swizzle + runs * leading + inside
            address ^= (address >> 7 & swizzle // 16 - 1) << 4
            out[row, column] = memory[address : address + size].view(element)[0]
    return out


def execute_group(op, operands, active, memory, base):
    """simt.thread_group_mma for all threads; sums are rounded once."""
    assert active.all(), "a matrix instruction that not all threads take part in"
    fields = dict(re.findall(r"(\w+) = (\w+)", re.search(r"#simt.instruction<([^>]*)>", op.attributes)[1]))
    m, n, k = (int(fields[name]) for name in "mnk")
    acc, count = wgmma(m, n, k)
    types = [ELEMENTS[fields[name]] for name in ("lhs", "rhs", "acc")]
    lists = {
        name: [int(x) for x in re.search(rf"\b{name} = array<i32: ([-\d, ]+)>", op.attributes)[1].split(",")]
        for name in ("lhsPlaces", "rhsPlaces", "lhsSteps", "rhsSteps")
    }
    pointers, sums = operands[:2], operands[2:]
    results = [each.copy() for each in sums]

    def factor(side, start, element, across):
        rows, columns = across if f"{side}Across" in op.attributes else across[::-1]
        facts = [op.number(f"{side}{name}") for name in ("Swizzle", "Stride", "Leading")]
        assert start % (8 * facts[0]) % 16 == 0
        seen = block(memory, start, rows, columns, element, *facts)
        return seen if f"{side}Across" in op.attributes else seen.T

    for first in range(0, len(active), 128):
        starts = []
        for pointer in pointers:
            assert (pointer[first : first + 128] == pointer[first]).all(), "warps of a group read different factors"
            starts.append(int(pointer[first]) - base)
        for i, each in enumerate(sums):
            total = np.zeros((m, n))
            for thread in range(128):
                held = np.ascontiguousarray(each[first + thread]).reshape(-1).view(np.uint8).view(types[2])
                assert len(held) == count
                for r in range(count):
                    total[acc(thread, r)] = held[r]
            for a, b in zip(lists["lhsSteps"], lists["rhsSteps"], strict=True):
                # K runs along the rows of memory unless M or N does.
                left = factor("lhs", starts[0] + lists["lhsPlaces"][i] + a, types[0], (k, m)).T
                right = factor("rhs", starts[1] + lists["rhsPlaces"][i] + b, types[1], (k, n))
                total += left.astype(np.float64) @ right.astype(np.float64)
            total = total.astype(types[2])
            for thread in range(128):
                held = np.array([total[acc(thread, r)] for r in range(count)], types[2])
                results[i][first + thread] = held.view(each.dtype).reshape(each[first + thread].shape)
    return results
