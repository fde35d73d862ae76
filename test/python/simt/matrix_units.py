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


class Group:
    """A simt.thread_group_mma of all threads on its way; sums are rounded once."""

    def __init__(self, op, parts, memory, base):
        lhs, fragments, rhs, self.accs = parts
        fields = dict(re.findall(r"(\w+) = (\w+)", re.search(r"#simt.instruction<([^>]*)>", op.attributes)[1]))
        self.m, self.n, self.k = (int(fields[name]) for name in "mnk")
        self.op, self.memory, self.base = op, memory, base
        self.types = [ELEMENTS[fields[name]] for name in ("lhs", "rhs", "acc")]
        self.lhs, self.rhs = (None if each is None else self.starts(each) for each in (lhs, rhs))
        self.fragments = fragments
        self.seen = list(self.factors())

    def starts(self, pointer):
        """Where the factor of each four warps starts."""
        groups = pointer.reshape(-1, 128)
        assert (groups == groups[:, :1]).all(), "warps of a group read different factors"
        return [int(start) - self.base for start in groups[:, 0]]

    def places(self, name):
        return [int(x) for x in re.search(rf"\b{name} = array<i32: ([-\d, ]+)>", self.op.attributes)[1].split(",")]

    def stored(self, side, start, element, extent):
        """A block in shared memory, of `extent` along M or N by K."""
        is_across = f"{side}Across" in self.op.attributes
        # K runs along the rows of memory unless M or N does.
        rows, columns = (self.k, extent) if is_across else (extent, self.k)
        facts = [self.op.number(f"{side}{name}") for name in ("Swizzle", "Stride", "Leading")]
        assert start % (8 * facts[0]) % 16 == 0
        seen = block(self.memory, start, rows, columns, element, *facts)
        return seen.T if is_across else seen

    def held(self, number, first):
        """A left block in registers: PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16"."""
        lhs, _, _, (count, _, _) = mma(16, 8, self.k)
        parts = [
            gather(self.fragments[number], self.types[0], lhs, count, (16, self.k), first + 32 * warp, 32)
            for warp in range(4)
        ]
        return np.concatenate(parts)

    def factors(self):
        """The pairs of blocks, four warps after the other, for each accumulator and step."""
        left, right, left_steps, right_steps = map(self.places, ("lhsPlaces", "rhsPlaces", "lhsSteps", "rhsSteps"))
        for number, start in enumerate(self.rhs):
            for i in range(len(left)):
                for a, b in zip(left_steps, right_steps, strict=True):
                    if self.lhs is None:
                        x = self.held(left[i] + a, 128 * number)
                    else:
                        x = self.stored("lhs", self.lhs[number] + left[i] + a, self.types[0], self.m)
                    yield x, self.stored("rhs", start + right[i] + b, self.types[1], self.n)

    def finish(self, accs):
        """The results for these accumulators; a factor that is no longer what it was is a fault."""
        results = [each.copy() for each in accs]
        pairs = list(self.factors())
        for before, now in zip(self.seen, pairs, strict=True):
            assert all(np.array_equal(*each) for each in zip(before, now, strict=True)), (
                "a factor changes while a product reads it"
            )
        acc, count = wgmma(self.m, self.n, self.k)
        steps = len(pairs) // (len(accs) * len(self.rhs))
        for number in range(len(self.rhs)):
            for i, each in enumerate(accs):
                total = np.zeros((self.m, self.n))
                for thread in range(128):
                    held = np.ascontiguousarray(each[128 * number + thread]).view(self.types[2])
                    assert len(held) == count
                    for r in range(count):
                        total[acc(thread, r)] = held[r]
                first = (number * len(accs) + i) * steps
                for x, y in pairs[first : first + steps]:
                    total += x.astype(np.float64) @ y.T.astype(np.float64)
                total = total.astype(self.types[2])
                for thread in range(128):
                    held = np.array([total[acc(thread, r)] for r in range(count)], self.types[2])
                    results[i][128 * number + thread] = held.view(each.dtype)
        return results


class Flight:
    """Groups in flight. Until one is waited for, a NaN of its own stands for each register of its results."""

    FIRST = 0x7FC00001

    def __init__(self):
        self.groups, self.known = [], []

    def start(self, group):
        marks = []
        for acc in group.accs:
            count = acc.shape[1]
            words = np.arange(len(self.known), len(self.known) + count) + self.FIRST
            marks.append(np.repeat(words.astype(acc.dtype)[None], len(acc), 0))
            self.known += [None] * count
        self.groups.append((group, marks))
        return marks

    def resolve(self, words):
        """What the marks among some words stand for."""
        words = words.copy()
        for column in range(words.shape[1]):
            number = int(words[0, column]) - self.FIRST
            if 0 <= number < len(self.known):
                assert (words[:, column] == words[0, column]).all()
                assert self.known[number] is not None, "a result is used that no wait has been for"
                words[:, column] = self.known[number]
        return words

    def wait(self, pending):
        done = self.groups[: max(len(self.groups) - pending, 0)]
        self.groups = self.groups[len(done) :]
        for group, marks in done:
            results = group.finish([self.resolve(acc) for acc in group.accs])
            for mark, result in zip(marks, results, strict=True):
                for column in range(mark.shape[1]):
                    self.known[int(mark[0, column]) - self.FIRST] = result[:, column].copy()
