# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What kernels of the language's own functions cost to compile for GPUs: a table of CPU seconds and of lines.

    python benchmarks/gpu_compile.py [--only sort,casts] [--sizes 64x64,256x256] [--warps 1,16] [--targets cuda:sm_90a]

A row is a kernel and a number of warps; its columns are seconds of processor time for each chip, tracing included, and
lines of PTX or of assembly. No GPU is needed. Seconds of the process, not of the clock: other processes cost little.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from typing import Any

import terrazzo as tz
import terrazzo.language as tl
from own_functions import casts, nothing, picked, sort_tile, sums
from terrazzo.compiler import ASTSource

TARGETS = ("cuda:sm_90a", "hip:gfx942")
SIZES = ((64, 64), (128, 128), (256, 256))
WARPS = (1, 4, 16)


@tz.jit
def top(x, y, M: tl.constexpr, N: tl.constexpr):
    """The greatest eight of each row."""
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    tl.store(y + i * 8 + tl.arange(0, 8)[None, :], tl.topk(tl.load(x + i * N + j), 8))


@tz.jit
def argsort(x, y, M: tl.constexpr, N: tl.constexpr):
    """The order of each row: keys and places sorted as one integer."""
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    keys = (tl.load(x + i * N + j).to(tl.int64) << 32) | j
    tl.store(y + i * N + j, tl.sort(keys).to(tl.int32))


@tz.jit
def counts(x, y, M: tl.constexpr, N: tl.constexpr):
    """A histogram of a tile."""
    tl.store(y + tl.arange(0, 256), tl.histogram(tl.load(x + tl.arange(0, M * N)), 256))


@tz.jit
def flipped(x, y, M: tl.constexpr, N: tl.constexpr):
    """A tile backwards."""
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(y + at, tl.flip(tl.load(x + at)))


@tz.jit
def joined(x, y, M: tl.constexpr, N: tl.constexpr):
    """Two tiles element by element in turns."""
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    v = tl.load(x + at)
    pairs = tl.arange(0, M)[:, None] * (2 * N) + tl.arange(0, 2 * N)[None, :]
    tl.store(y + pairs, tl.reshape(tl.join(v, v + 1), (M, 2 * N)))


@tz.jit
def halved(x, y, M: tl.constexpr, N: tl.constexpr):
    """The product of each pair of neighbours."""
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    low, high = tl.split(tl.reshape(tl.load(x + at), (M, N // 2, 2)))
    half = tl.arange(0, M)[:, None] * (N // 2) + tl.arange(0, N // 2)[None, :]
    tl.store(y + half, low * high)


@tz.jit
def to_fp8(x, y, M: tl.constexpr, N: tl.constexpr):
    """A tile of fp8."""
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(y + at, tl.load(x + at).to(tl.float8e4nv))


@tz.jit
def functions(x, y, M: tl.constexpr, N: tl.constexpr):
    """Functions whose formulas are long."""
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(y + at, tl.sin(tl.erf(tl.load(x + at))))


# Name -> kernel, types of x and y, further constants.
KERNELS: dict[str, tuple[Any, str, str, dict[str, Any]]] = {
    "sort": (sort_tile, "*fp32", "*fp32", {"DIM": 1}),
    "sort columns": (sort_tile, "*fp32", "*fp32", {"DIM": 0}),
    "sort a row": (sort_tile, "*fp32", "*fp32", {"M": 1, "N": 4096, "DIM": 1}),
    "sort a long row": (sort_tile, "*fp32", "*fp32", {"M": 1, "N": 16384, "DIM": 1}),
    "topk": (top, "*fp32", "*fp32", {}),
    "argsort": (argsort, "*i32", "*i32", {}),
    "scan": (sums, "*fp32", "*fp32", {}),
    "histogram": (counts, "*i32", "*i32", {}),
    "gather": (picked, "*i32", "*i32", {}),
    "join": (joined, "*fp32", "*fp32", {}),
    "split": (halved, "*fp32", "*fp32", {}),
    "flip": (flipped, "*fp32", "*fp32", {}),
    "fp8": (to_fp8, "*fp32", "*fp8e4nv", {}),
    "casts": (casts, "*i32", "*i32", {}),
    "maths": (functions, "*fp32", "*fp32", {}),
}


def measure(
    kernel: Any, types: dict[str, str], constants: dict[str, Any], target: str, warps: int
) -> tuple[float, str]:
    """Seconds of the process for a compile without a cache, and what came of it: lines of assembly, or an error."""
    source = ASTSource(kernel, types, constants)
    start = time.process_time()
    try:
        compiled = tz.compile(source, target=target, options={"num_warps": warps})
    except tz.TerrazzoError as error:
        return time.process_time() - start, str(error).splitlines()[-1][:60]
    seconds = time.process_time() - start
    return seconds, str(compiled.asm["asm"].count("\n"))


def measure_in_child(limit: int, *what: Any) -> tuple[float, str]:
    """The same in a process of its own, which ends when it has used `limit` seconds."""
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        # The lines need a compile of their own on AMD's.
        resource.setrlimit(resource.RLIMIT_CPU, (2 * limit, 2 * limit))
        seconds, outcome = measure(*what)
        os.write(write, f"{seconds} {outcome}".encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        seconds, _, outcome = pipe.read().partition(" ")
    os.waitpid(child, 0)
    return (float(seconds), outcome) if seconds else (float(limit), "none")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measures compiles for GPUs.")
    parser.add_argument("--only", default="", help=f"comma-separated names ({', '.join(KERNELS)})")
    parser.add_argument("--sizes", default=",".join(f"{m}x{n}" for m, n in SIZES))
    parser.add_argument("--warps", default=",".join(map(str, WARPS)))
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--limit", type=int, default=20, help="seconds after which a compile is left")
    return parser.parse_args()


def main() -> None:
    arguments = parse()
    targets = arguments.targets.split(",")
    tz.knobs.cache.dir = ""
    for target in targets:  # What a process does once is not counted.
        measure(nothing, {"x": "*fp32", "y": "*fp32"}, {}, target, 4)
    print("| kernel | tile | warps |" + "".join(f" {target} s | lines |" for target in targets))
    print("|---|---|---|" + "---|---|" * len(targets))
    most = dict.fromkeys(targets, 0.0)
    for name, (kernel, x, y, constants) in KERNELS.items():
        if arguments.only and name not in arguments.only.split(","):
            continue
        # A kernel whose extents are constants has one size.
        own = f"{constants['M']}x{constants['N']}" if "M" in constants else arguments.sizes
        for size in own.split(","):
            m, n = map(int, size.split("x"))
            for warps in map(int, arguments.warps.split(",")):
                row = f"| {name} | {size} | {warps} |"
                for target in targets:
                    sizes = {"M": m, "N": n, **constants}
                    what = (kernel, {"x": x, "y": y}, sizes, target, warps)
                    seconds, lines = measure_in_child(arguments.limit, *what)
                    most[target] = max(most[target], seconds)
                    row += f" {seconds:.2f} | {lines} |"
                print(row, flush=True)
    print("| slowest | | |" + "".join(f" {seconds:.2f} | |" for seconds in most.values()))


if __name__ == "__main__":
    main()
