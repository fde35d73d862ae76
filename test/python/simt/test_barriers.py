# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Barriers of random kernels: none is missing, and none that tz-insert-barriers put can go.

Three judges: --tz-check-barriers, which asks the model; the same with one barrier taken out, which must complain; and
runs along random paths, which know for each access which thread touches which byte and nothing of the model.
"""

import importlib
import pkgutil
import random
import re
import subprocess

import numpy as np
import pytest
import terrazzo.kernels
from programs import Layout, tz_opt
from terrazzo import compiler, frontend

LANES, WARPS, EXTENT = 4, 2, 16
THREADS = LANES * WARPS
BYTES = EXTENT * 4
KERNELS = 40  # a process
USERS = "arith.constant 4711 : i32"  # stands before a barrier that the kernel has itself
# Who holds the 16 elements: each thread two of its own; both warps all of them; pairs of lanes the same.
LAYOUTS = {
    "#own": Layout([[4]], [[1], [2]], [[8]], [4]),
    "#both": Layout([[1], [2]], [[4], [8]], [[0]], [4]),
    "#pairs": Layout([[1], [8]], [[0], [2]], [[4]], [4]),
}


def run_opt(text, *passes):
    done = subprocess.run([tz_opt(), "-", *passes], input=text, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


class Access:
    """What an op touches: a place (a buffer's offset in bytes, or an argument and an address) in a layout."""

    def __init__(self, kind, layout, place, row=None):
        self.kind, self.layout, self.place, self.row = kind, layout, place, row


class Kernel:
    """A random kernel: its text, and its accesses by the number that each op carries."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.accesses = []
        self.loops = []
        self.count = 0
        # Buffers of one row, two of which may overlap by half; one of four rows, which loops write by row.
        self.buffers = [0, self.random.choice((BYTES // 2, BYTES)), 3 * BYTES]
        self.rows = 8 * BYTES
        body = self.block(self.random.randint(3, 8), depth=0)
        constants = [f"%x_{n[1:]} = arith.constant dense<1.0> : tensor<{EXTENT}xf32, {n}>" for n in LAYOUTS]
        buffers = [f"%b{i} = simt.alloc {BYTES} at {at}" for i, at in enumerate(self.buffers)]
        addresses = []
        for name in LAYOUTS:
            ints, ptrs = f"tensor<{EXTENT}xi32, {name}>", f"tensor<{EXTENT}x!tile.ptr<f32>, {name}>"
            key = name[1:]
            addresses.append(f"%i_{key} = tile.arange 0 to {EXTENT} : {ints}")
            addresses.append(f"%one_{key} = arith.constant dense<1> : {ints}")
            for arg in "pq":
                addresses += [
                    f"%s_{arg}{key} = tile.splat %{arg} : !tile.ptr<f32> -> {ptrs}",
                    f"%at0_{arg}{key} = tile.addptr %s_{arg}{key}, %i_{key} : {ptrs}, {ints}",
                    f"%at1_{arg}{key} = tile.addptr %at0_{arg}{key}, %one_{key} : {ptrs}, {ints}",
                ]
        lines = ["%c0 = arith.constant 0 : i32", "%c1 = arith.constant 1 : i32", f"%ce = arith.constant {EXTENT} : i32"]
        lines += [*constants, *buffers, f"%rows = simt.alloc {4 * BYTES} at {self.rows}", *addresses, *body, "return"]
        arguments = "%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %n: i32, %c: i1"
        inner = "\n".join(lines)
        self.text = f"func.func @kernel{seed}({arguments}) attributes {{tile.kernel}} {{\n{inner}\n}}\n"

    def next_count(self):
        self.count += 1
        return self.count

    def block(self, length, depth):
        lines = []
        for _ in range(length):
            choice = self.random.random()
            if choice < 0.25 and depth < 3:
                lines += self.control(depth)
            elif choice < 0.32:
                lines += [f"%u{self.next_count()} = {USERS}", "tile.barrier"]
            else:
                lines += self.access()
        return lines

    def control(self, depth):
        size = lambda: self.random.randint(1, 4)  # noqa: E731
        kind = self.random.choice(("for", "for", "if", "else", "while"))
        if kind == "for":
            self.loops.append(f"%k{self.next_count()}")
            body = self.block(size() + 1, depth + 1)
            head = f"scf.for {self.loops.pop()} = %c0 to %n step %c1 : i32 {{"
            return [head, *body, "}"]
        if kind == "while":
            before, after = self.block(size() - 1, depth + 1), self.block(size(), depth + 1)
            head, middle = "scf.while : () -> () {", "scf.condition(%c)"
            return [head, *before, middle, "} do {", *after, "scf.yield", "}"]
        body = self.block(size(), depth + 1)
        other = ["} else {", *self.block(size(), depth + 1)] if kind == "else" else []
        return ["scf.if %c {", *body, *other, "}"]

    def access(self):
        layout = self.random.choice(list(LAYOUTS))
        key, tile = layout[1:], f"tensor<{EXTENT}xf32, {layout}>"
        number = f"{{tag = {len(self.accesses)} : i32}}"
        kind = self.random.choice(("local_store", "local_load", "local_store", "local_load", "store", "load"))
        result = f"%v{len(self.accesses)}"
        if kind in ("load", "store"):
            arg, shift = self.random.choice("pq"), self.random.choice((0, 0, 1))
            self.accesses.append(Access(kind, layout, (arg, 4 * shift)))
            at, ptrs = f"%at{shift}_{arg}{key}", f"tensor<{EXTENT}x!tile.ptr<f32>, {layout}>"
            if kind == "load":
                return [f"{result} = tile.load {at} {number} : {ptrs} -> {tile}"]
            return [f"tile.store {at}, %x_{key} {number} : {ptrs}, {tile}"]
        if self.loops and kind == "local_store" and self.random.random() < 0.4:
            loop, offset = self.loops[-1], f"%o{self.next_count()}"
            # A row for each iteration of the innermost loop: with the same offset the same layout writes it.
            self.accesses.append(Access(kind, "#own", ("shared", self.rows), len(self.loops)))
            number = number.replace("{", "{disjoint, ")
            return [
                f"{offset} = arith.muli {loop}, %ce : i32",
                f"simt.local_store %x_own, %rows[{offset}] base 0 strides [1] {number} : tensor<{EXTENT}xf32, #own>",
            ]
        if kind == "local_load" and self.random.random() < 0.15:
            self.accesses.append(Access(kind, layout, ("shared", self.rows)))
            return [f"{result} = simt.local_load %rows[] base 0 strides [1] {number} : {tile}"]
        buffer = self.random.randrange(len(self.buffers))
        self.accesses.append(Access(kind, layout, ("shared", self.buffers[buffer])))
        where = f"%b{buffer}[] base 0 strides [1] {number} : {tile}"
        return [
            f"simt.local_store %x_{key}, {where}" if kind == "local_store" else f"{result} = simt.local_load {where}"
        ]


def touched(layout, is_write):
    """[thread, byte] of a tile at address 0: who touches what; of copies the first holder writes."""
    found, written = np.zeros((THREADS, BYTES), bool), set()
    for warp in range(WARPS):
        for lane in range(LANES):
            for register in range(1 << len(layout.register)):
                (element,) = layout.coordinates(register, lane, warp)
                if is_write and element in written:
                    continue
                written.add(element)
                found[warp * LANES + lane, 4 * element : 4 * element + 4] = True
    return found


TOUCHED = {(name, w): touched(layout, w) for name, layout in LAYOUTS.items() for w in (False, True)}


def race(first, second):
    """Whether different threads touch a byte in two accesses (write?, space, start, [thread, byte]), one a write."""
    if first[1] != second[1] or not (first[0] or second[0]):
        return False
    shift = second[2] - first[2]
    if abs(shift) >= BYTES:
        return False
    a = first[3][:, max(0, shift) : BYTES + min(0, shift)]
    b = second[3][:, max(0, -shift) : BYTES - max(0, shift)]
    same, both = (a & b).any(0), a.any(0) & b.any(0)
    alone = (a.sum(0) == 1) & (b.sum(0) == 1) & same
    return bool((both & ~alone).any())


def walk(lines, at, choose, loops, trace):
    """Appends what runs from line `at` to the end of its block; gives the line behind it."""
    while not lines[at].startswith("}") and not lines[at].startswith(("return", "scf.yield", "scf.condition")):
        line = lines[at]
        at += 1
        if line.startswith("scf.for"):
            end = at
            trips = choose.randint(0, 3)
            for trip in range(max(1, trips)):
                end = walk(lines, at, choose, [*loops, trip], trace if trips else [])
            at = end + 1
        elif line.startswith("scf.if"):
            taken = choose.random() < 0.5
            at = walk(lines, at, choose, loops, trace if taken else [])
            if lines[at].startswith("} else"):
                at = walk(lines, at + 1, choose, loops, [] if taken else trace)
            at += 1
        elif line.startswith("scf.while"):
            trips, middle, end = choose.randint(0, 2), at, at
            for trip in range(trips + 1):
                middle = walk(lines, at, choose, loops, trace)
                end = walk(lines, middle + 1, choose, loops, trace if trip < trips else [])
            at = end + 1
        elif "simt.barrier" in line:
            trace.append(None)
        elif tag := re.search(r"tag = (\d+)", line):
            trace.append((int(tag[1]), tuple(loops)))
    while not lines[at].startswith("}"):  # terminators
        at += 1
    return at


def find_race(kernel, text, seed):
    """The numbers of two accesses that race on some of a few random paths, or None."""
    lines = [line.strip() for line in text.splitlines()][1:]
    for path in range(6):
        trace = []
        walk(lines, 0, random.Random(f"{seed} {path}"), [], trace)
        pending = []
        for step in trace:
            if step is None:
                pending = []
                continue
            number, loops = step
            access = kernel.accesses[number]
            space, start = access.place
            if access.row is not None:
                start += BYTES * loops[-1]
            is_write = access.kind.endswith("store")
            now = (is_write, space, start, TOUCHED[access.layout, is_write], number)
            for before in pending:
                if race(before, now):
                    return before[4], number
            pending.append(now)
    return None


def functions(text):
    """The texts of the functions of a module that tz-opt printed, and what stands before them."""
    head = [line for line in text.splitlines() if line.startswith("#")]
    found = re.findall(r"^  func\.func .*?^  }\n", text, re.MULTILINE | re.DOTALL)
    return "\n".join(head) + "\n", found


def variants(text):
    """A function with one barrier taken out, for each barrier but the user's."""
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        if line.strip() == "simt.barrier" and USERS not in lines[number - 1]:
            yield "".join([*lines[:number], *lines[number + 1 :]])


def complaints(head, texts):
    """Which of some functions --tz-check-barriers complains of, as numbers."""
    if not texts:
        return set()
    text, starts = head, []
    for number, each in enumerate(texts):
        starts.append(text.count("\n") + 1)
        text += re.sub(r"func\.func @\w+", f"func.func @v{number}", each)
    code, _, errors = run_opt(text, "--tz-check-barriers", "-o", "/dev/null")
    lines = {int(line) for line in re.findall(r"^<stdin>:(\d+):\d+: error: 'simt|^<stdin>:(\d+)", errors, re.MULTILINE)
             for line in line if line}  # fmt: skip
    assert (code != 0) == bool(lines), errors
    ends = [*starts[1:], text.count("\n") + 1]
    return {n for n, (a, b) in enumerate(zip(starts, ends, strict=True)) if any(a <= line < b for line in lines)}


def check_all(text, *passes):
    """Runs passes up to barriers over a module; gives its functions, and how many barriers were tried to do without."""
    code, out, errors = run_opt(text, *passes, "--tz-insert-barriers")
    assert code == 0, errors
    head, found = functions(out)
    assert complaints(head, found) == set(), "a barrier is missing"
    tried = [(n, v) for n, each in enumerate(found) for v in variants(each)]
    noticed = complaints(head, [v for _, v in tried])
    silent = [tried[n][1] for n in range(len(tried)) if n not in noticed]
    assert not silent, f"{len(silent)} of {len(tried)} barriers can go; the first kernel without:\n{silent[0]}"
    return found, len(tried)


@pytest.mark.parametrize("start", range(0, 400, KERNELS))
def test_random_kernels(start):
    print(f"seeds {start} to {start + KERNELS - 1}")
    kernels = [Kernel(seed) for seed in range(start, start + KERNELS)]
    aliases = "".join(f"{name} = {layout}\n" for name, layout in LAYOUTS.items())
    found, tried = check_all(aliases + "".join(k.text for k in kernels))
    assert tried > KERNELS
    for number, (kernel, text) in enumerate(zip(kernels, found, strict=True)):
        assert find_race(kernel, text, start + number) is None, text


def test_races_are_seen_without_barriers():
    """The runs along random paths do find what barriers are for."""
    seeds = range(30)
    racy = 0
    for seed in seeds:
        kernel = Kernel(seed)
        aliases = "".join(f"{name} = {layout}\n" for name, layout in LAYOUTS.items())
        (text,), tried = check_all(aliases + kernel.text)
        racy += tried > 0 and find_race(kernel, text.replace("simt.barrier", ""), seed) is not None
    print(f"{racy} of {len(seeds)} kernels race without barriers")
    assert racy > len(seeds) // 2


PASSES = [*("--canonicalize", "--cse", "--tz-tile-to-simt", "--tz-simt-prefetch", "--tz-simt-decompose"),
          *("--canonicalize", "--cse", "--tz-fit-shared", "--tz-insert-mma-waits", "--tz-allocate-shared")]  # fmt: skip
CONSTANTS = {"BLOCK": 256, "N": 32, "ROWS": 4, "OWNERS": 4, "D": 64, "BM": 32, "BN": 32, "BK": 32, "W": 4, "BL": 16,
             "BE": 32, "HALF": 32, "BT": 16, "SPAN": 4, "GROUP": 4, "ACTIVATION": "", "BACKWARD": False}  # fmt: skip
FLOATS = {"eps", "scale", "grad_scale", "b1", "one_b1", "b2", "one_b2", "root", "rate", "keep"}


def own_kernels():
    """The kernels of terrazzo.kernels, by name."""
    found = {}
    for info in pkgutil.iter_modules(terrazzo.kernels.__path__):
        module = importlib.import_module(f"terrazzo.kernels.{info.name}")
        found.update({n: f for n, f in vars(module).items() if n.endswith("_kernel") and hasattr(f, "params")})
    return found


KERNELS_OF_OURS = own_kernels()


def type_of(parameter, of):
    """What a parameter stands for, by its name; the kernels name things alike."""
    name = parameter.name
    if parameter.is_constexpr:
        return CONSTANTS.get(name, True)
    if name in FLOATS and (of, name) != ("cross_entropy_backward_kernel", "scale"):
        return "fp32"
    is_size = name.isupper() and name not in ("A", "B", "C", "D")
    if is_size or re.fullmatch("n|ignore|window|chunk|stride|Bt|s[a-z][bht]|s[abc][mnk]", name):
        return "i32:16" if name in "NKE" else "i32"
    return "*i64" if name in ("ids", "targets") else "*fp32"


class Traced(Exception):
    """Carries what the frontend made."""


def tile_text(fn, num_warps, monkeypatch, types=None, **options):
    """What the frontend makes of a kernel for a GPU; without `types`, for arguments of types that their names say."""

    def stop(fn, spec, options, target):
        facts = {**compiler.relevant(options, "cuda"), "target": "cuda:90"}
        raise Traced(frontend.build_module(fn, spec.arg_types, spec.constexprs, spec.arg_attrs, facts).str())

    monkeypatch.setattr(compiler, "_build", stop)
    monkeypatch.setattr(compiler.store, "get", lambda digest: None)
    with pytest.raises(Traced) as caught:
        fn.warmup(*(types or (type_of(p, fn.__name__) for p in fn.params)), target="cuda:sm_90a", num_warps=num_warps,
                  **options)  # fmt: skip
    return str(caught.value)


@pytest.mark.parametrize("warps", [1, 4, 8])
@pytest.mark.parametrize("name", KERNELS_OF_OURS)
def test_own_kernels(name, warps, monkeypatch):
    text = tile_text(KERNELS_OF_OURS[name], warps, monkeypatch)
    facts = f"tile.num_warps = {warps} : i32, tile.target = #tile.target<warp_size = {64 if warps == 4 else 32}>"
    text, count = re.subn(r"tile\.num_warps = \d+ : i32", facts, text, count=1)
    assert count == 1
    _, tried = check_all(text, *PASSES)
    print(f"{tried} barriers")
