# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes small kernels over tiles, and runs what becomes of them: from given layouts on, or through all passes."""

import functools
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
from threads import Machine

WARP_SIZE, NUM_WARPS = 8, 4
TO_THREADS = "--tz-simt-to-llvm"


@functools.cache
def tz_opt():
    root = Path(__file__).parents[3]
    candidates = [os.environ.get("TZ_OPT"), shutil.which("tz-opt")]
    candidates += [str(p) for p in sorted(root.glob("build*/bin/tz-opt"))]
    for candidate in candidates:
        if candidate and Path(candidate).exists():
            return candidate
    raise FileNotFoundError("tz-opt: set TZ_OPT to the built tool")


def bits_of(extent):
    return max(0, int(extent - 1).bit_length())


class Layout:
    """Bases by input dimension, each a list of coordinate lists."""

    def __init__(self, register, lane, warp, bits):
        self.register, self.lane, self.warp, self.bits = register, lane, warp, list(bits)

    def map(self, change, bits):
        return Layout(*([change(b) for b in bases] for bases in (self.register, self.lane, self.warp)), bits)

    def only(self, dim):
        """As a layout of one dimension."""
        return self.map(lambda b: [b[dim]], [self.bits[dim]])

    def without(self, axis):
        return self.map(lambda b: b[:axis] + b[axis + 1 :], self.bits[:axis] + self.bits[axis + 1 :])

    def with_extra(self, axis):
        return self.map(lambda b: [*b[:axis], 0, *b[axis:]], [*self.bits[:axis], 0, *self.bits[axis:]])

    def permuted(self, order):
        return self.map(lambda b: [b[d] for d in order], [self.bits[d] for d in order])

    def __str__(self):
        dims = [1 << b for b in self.bits]
        return f"#simt.layout<register = {self.register}, lane = {self.lane}, warp = {self.warp}, dims = {dims}>"

    def coordinates(self, register, lane, warp):
        out = [0] * len(self.bits)
        for index, bases in ((register, self.register), (lane, self.lane), (warp, self.warp)):
            for bit, basis in enumerate(bases):
                if index >> bit & 1:
                    out = [a ^ b for a, b in zip(out, basis, strict=True)]
        return tuple(out)


def random_layout(rng, shape, warp_bits=None, warp_size=WARP_SIZE, num_warps=NUM_WARPS, axis_in_warp=None, copies=True):
    """Every bit of the tile to some bit of the place; what is left over holds copies."""
    lanes, warps = bits_of(warp_size), bits_of(num_warps)
    bits = [bits_of(extent) for extent in shape]
    unit = [
        [(1 << b) if d == dim else 0 for d in range(len(shape))] for dim in range(len(shape)) for b in range(bits[dim])
    ]
    zero = [0] * len(shape)
    order = [unit[i] for i in rng.permutation(len(unit))]
    warp = [list(zero)] * warps if warp_bits is None else list(warp_bits)
    if warp_bits is None:
        for i in range(warps):
            allowed = [u for u in order if axis_in_warp is None or not u[axis_in_warp]]
            if allowed and rng.random() < 0.6:
                warp[i] = allowed[0]
                order.remove(allowed[0])
    else:
        order = [u for u in order if u not in warp]
    lane = []
    for _ in range(lanes):
        take = order and (not copies or rng.random() < 0.7)
        lane.append(order.pop() if take else list(zero))
    register = list(order)
    if copies and rng.random() < 0.3:
        register.insert(int(rng.integers(0, len(register) + 1)), list(zero))
    return Layout(register, lane, warp, bits)


class Program:
    """The text of a kernel. Arguments are pointers to the arrays given."""

    def __init__(
        self,
        warp_size=WARP_SIZE,
        num_warps=NUM_WARPS,
        strict=False,
        divisibility=1,
        shared_bytes=None,
        matrix=None,
        units=None,
        stages=None,
    ):
        self.warp_size, self.num_warps, self.strict, self.limit = warp_size, num_warps, strict, shared_bytes
        self.matrix, self.units, self.stages = matrix, units, stages
        self.divisibility = divisibility
        self.lines, self.arguments, self.arrays, self.next, self.shared = [], [], [], 0, 0

    def emit(self, text, results=1):
        names = []
        for _ in range(results):
            names.append(f"%v{self.next}")
            self.next += 1
        self.lines.append(f"{', '.join(names)} = {text}" if names else text)
        return names[0] if results == 1 else names

    def argument(self, array, dtype):
        attributes = f" {{tile.divisibility = {self.divisibility} : i32}}" if self.divisibility > 1 else ""
        self.arguments.append(f"%a{len(self.arrays)}: !tile.ptr<{dtype}>{attributes}")
        self.arrays.append(array)
        return f"%a{len(self.arrays) - 1}"

    def tensor(self, shape, element, layout):
        dims = "".join(f"{n}x" for n in shape)
        return f"tensor<{dims}{element}, {layout}>" if layout else f"tensor<{dims}{element}>"

    def index(self, shape, layout):
        """The row-major index of each element, as i32."""
        i32 = lambda s, at: self.tensor(s, "i32", at)  # noqa: E731
        total = None
        stride = 1
        for dim in reversed(range(len(shape))):
            at = layout and layout.only(dim)
            value = self.emit(f"tile.arange 0 to {shape[dim]} : {i32([shape[dim]], at)}")
            now = [shape[dim]]
            for other in range(len(shape)):
                if other != dim:
                    wide = at and at.with_extra(other)
                    new = [*now[:other], 1, *now[other:]]
                    value = self.emit(f"tile.expand_dims {value}, {other} : {i32(now, at)} -> {i32(new, wide)}")
                    at, now = wide, new
            if now != list(shape):
                value = self.emit(f"tile.broadcast {value} : {i32(now, at)} -> {i32(shape, layout)}")
            factor = self.emit(f"arith.constant dense<{stride}> : {i32(shape, layout)}")
            value = self.emit(f"arith.muli {value}, {factor} : {i32(shape, layout)}")
            total = value if total is None else self.emit(f"arith.addi {total}, {value} : {i32(shape, layout)}")
            stride *= shape[dim]
        return total

    def pointers(self, argument, shape, element, layout):
        ptr = self.tensor(shape, f"!tile.ptr<{element}>", layout)
        base = self.emit(f"tile.splat {argument} : !tile.ptr<{element}> -> {ptr}")
        index = self.index(shape, layout)
        return self.emit(f"tile.addptr {base}, {index} : {ptr}, {self.tensor(shape, 'i32', layout)}"), ptr

    def load(self, array, element, layout=None, vector=1):
        shape = array.shape
        at, ptr = self.pointers(self.argument(array, element), shape, element, layout)
        return self.emit(
            f"tile.load {at} {{simt.vector = {vector} : i32}} : {ptr} -> {self.tensor(shape, element, layout)}"
        )

    def store(self, value, shape, element, layout=None, vector=1):
        """Gives the number of the argument whose array will hold the tile."""
        from threads import FLOATS, INTEGERS

        out = np.zeros(shape, {**FLOATS, **INTEGERS}[element])
        at, ptr = self.pointers(self.argument(out, element), shape, element, layout)
        tensor = self.tensor(shape, element, layout)
        self.emit(f"tile.store {at}, {value} {{simt.vector = {vector} : i32}} : {ptr}, {tensor}", 0)
        return len(self.arrays) - 1

    def load_scalar(self, value, element):
        """The value, as one that the compiler does not know."""
        from threads import FLOATS, INTEGERS

        argument = self.argument(np.array([value], {**FLOATS, **INTEGERS}[element]), element)
        return self.emit(f"tile.load {argument} : !tile.ptr<{element}> -> {element}")

    def store_scalar(self, value, element):
        from threads import FLOATS, INTEGERS

        argument = self.argument(np.zeros(1, {**FLOATS, **INTEGERS}[element]), element)
        self.emit(f"tile.store {argument}, {value} : !tile.ptr<{element}>, {element}", 0)
        return len(self.arrays) - 1

    def alloc(self, size):
        offset = (self.shared + 15) // 16 * 16
        self.shared = offset + size
        return self.emit(f"simt.alloc {size} at {offset}")

    def text(self):
        strict = ", tile.strict" if self.strict else ""
        strict += "" if self.stages is None else f", tile.num_stages = {self.stages} : i32"
        limit = "" if self.limit is None else f", shared_bytes = {self.limit}"
        limit += "" if self.units is None else f", units = {self.units}"
        limit += "" if self.matrix is None else f", matrix = {self.matrix}"
        body = "\n    ".join([*self.lines, "return"])
        return f"""module attributes {{tile.num_warps = {self.num_warps} : i32,
    tile.target = #tile.target<warp_size = {self.warp_size}{limit}>{strict}}} {{
  func.func @kernel({", ".join(self.arguments)}) attributes {{tile.kernel}} {{
    {body}
  }}
}}
"""

    def lower(self, flags):
        """The text of the kernel after some passes."""
        done = subprocess.run([tz_opt(), "-", *flags], input=self.text(), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr + self.text()
        return done.stdout

    def needs(self, passes):
        """The bytes of shared memory that the kernel takes where there is no limit."""
        limit, self.limit = self.limit, None
        lowered = self.lower(passes)
        self.limit = limit
        return int(re.search(r"simt.shared_bytes = (\d+)", lowered)[1])

    def run(self, debug_words=0, passes=()):
        """The arrays after the kernel."""
        flags = [TO_THREADS, "--canonicalize=top-down=false", "--cse", "--mlir-print-op-generic"]
        self.lowered = self.lower([*passes, *flags])
        shared = re.search(r"simt.shared_bytes = (\d+)", self.lowered)
        if shared:
            self.shared = int(shared[1])
        machine = Machine(self.lowered, self.warp_size, self.num_warps, self.shared)
        places = [machine.allocate(array) for array in self.arrays]
        arguments = [np.int64(place) for place in places]
        if debug_words:
            buffer = np.zeros(debug_words, np.int32)
            buffer[:2] = 8, debug_words
            arguments.append(np.int64(machine.allocate(buffer)))
        machine.run(*arguments, program=(3, 1, 2), grid=(5, 6, 7))
        self.machine = machine
        if debug_words:
            self.debug = machine.read(int(arguments[-1]), buffer)
        return [machine.read(place, array) for place, array in zip(places, self.arrays, strict=True)]
