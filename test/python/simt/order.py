# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks kernels with tz-check-order: machine code for GPUs keeps the order of memory that LLVM IR has.

python test/python/simt/order.py --seeds 0:1000      random kernels, for all chips, on all cores
python test/python/simt/order.py --library --warps 1,4,8,16
"""

import argparse
import itertools
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import terrazzo as tz
import terrazzo.language as tl
from terrazzo import frontend
from terrazzo.specialize import spec_from_text, specialization

sys.path.insert(0, str(Path(__file__).parents[1] / "run"))
from programs import tz_opt
from random_kernels import Kernel

AMD = ["hip:gfx90a", "hip:gfx942", "hip:gfx950", "hip:gfx1100", "hip:gfx1201"]
TARGETS = [*AMD, "cuda:sm_80", "cuda:sm_90a", "cuda:sm_100a"]


@tz.jit
def sorted_rows(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y + i, tl.sort(tl.load(x + i)))


@tz.jit
def summed_twice(x, y, N: tl.constexpr):
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    tl.store(y + i * N + j, tl.cumsum(tl.cumsum(tl.load(x + i * N + j), 0), 1))


@tz.jit
def guarded(x, y, n, N: tl.constexpr):
    """Barriers in a loop, behind branches that the machine cannot know to be uniform."""
    i = tl.arange(0, N)
    v = tl.load(x + i)
    for _ in range(n):
        if tl.max(v) > 1.0:
            v = v / tl.sum(v)
        else:
            v = tl.flip(v) + tl.min(v)
    tl.store(y + i, v)


@tz.jit
def handed_over(x, n, N: tl.constexpr):
    """Global memory that one thread writes and another reads."""
    i = tl.arange(0, N)
    total = tl.zeros((N,), tl.float32)
    for s in range(n):
        tl.store(x + i, total + s)
        total += tl.load(x + (N - 1 - i))
    tl.store(x + i, total)


def text_of(fn, types, constants, num_warps):
    """The module of a kernel, for arguments of these types ("*fp32:16") by name."""
    specs = [("const", constants[p.name]) if p.name in constants else spec_from_text(types[p.name], p.name)
             for p in fn.params]  # fmt: skip
    spec = specialization(fn.params, specs)
    options = {"num_warps": num_warps, "target": "hip:gfx942"}
    return frontend.build_module(fn, spec.arg_types, spec.constexprs, spec.arg_attrs, options).str()


def known_to_race(num_warps=8):
    """Kernels whose loads LLVM 22 moves over barriers on AMD unless they are held back."""
    arrays = {"x": "*fp32:16", "y": "*fp32:16"}
    yield from (text_of(sorted_rows, arrays, {"N": n}, num_warps) for n in (256, 512))
    yield text_of(summed_twice, arrays, {"N": 64}, num_warps)


def others(num_warps):
    """Kernels with what is hard to judge: branches and loops around barriers, global memory."""
    yield text_of(guarded, {"x": "*fp32:16", "y": "*fp32:16", "n": "i32"}, {"N": 256}, num_warps)
    yield text_of(handed_over, {"x": "*fp32:16", "n": "i32"}, {"N": 512}, num_warps)


def of_library(num_warps):
    """The kernels of terrazzo.kernels."""
    from test_barriers import KERNELS_OF_OURS, type_of

    for name, fn in KERNELS_OF_OURS.items():
        kinds = {p.name: type_of(p, name) for p in fn.params}
        constants = {p.name: kinds[p.name] for p in fn.params if p.is_constexpr}
        if "scan" in name:
            constants["N"] = 8  # a state for which the smallest chip has the shared memory
        yield text_of(fn, kinds, constants, num_warps)


def random_one(seed):
    """The module of a random kernel; of test/python/run."""
    kernel = Kernel(seed)
    fn = kernel.compiled()
    stored = {name: value.dtype.replace("bool", "int32") for name, (value, _) in kernel.outputs}
    types = {**{name: dtype for name, (_, dtype) in kernel.inputs.items()}, **stored}
    pointers = {name: f"*{dtype}:16" for name, dtype in types.items()}
    return text_of(fn, pointers, dict(kernel.constants), kernel.num_warps)


def check(texts, targets, *flags):
    """What the tool says of modules: (how many accesses moved, its lines)."""
    tool = Path(tz_opt()).with_name("tz-check-order")
    command = [str(tool), "-", f"--targets={','.join(targets)}", *flags]
    done = subprocess.run(command, input="\n// -----\n".join(texts), capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    lines = done.stdout.splitlines()
    moved = sum(int(line.split()[-2]) for line in lines)
    assert (moved > 0) == (done.returncode == 1), done.stderr
    return moved, lines + done.stderr.splitlines()


def main():
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default="0:0", help="random kernels, FIRST:END")
    parser.add_argument("--library", action="store_true", help="the kernels of terrazzo.kernels")
    parser.add_argument("--warps", default="4,8", help="warps of kernels that are not random")
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--without-pins", action="store_true", help="take out what holds accesses back")
    args = parser.parse_args()
    first, _, end = args.seeds.partition(":")
    texts = [random_one(seed) for seed in range(int(first), int(end))]
    for warps in map(int, args.warps.split(",")):
        if args.library:
            texts += [*of_library(warps), *known_to_race(warps), *others(warps)]
    flags = ["--without-pins"] if args.without_pins else []
    parts = [texts[i : i + 20] for i in range(0, len(texts), 20)]
    work = itertools.product(parts, args.targets.split(","))
    total = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for moved, lines in pool.map(lambda job: check(job[0], [job[1]], *flags), work):
            total += moved
            print("\n".join(line for line in lines if not line.endswith(" 0 moved")), end="\n" if moved else "")
    print(f"{len(texts)} kernels for {len(args.targets.split(','))} targets: {total} accesses moved")
    return int(total > 0)


if __name__ == "__main__":
    sys.exit(main())
