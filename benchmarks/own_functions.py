# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long kernels of the language's own functions take to compile cold, tracing included, against the budget.

Each row is the slowest of its kernels over the extents that the budget names; lines of straight code are a row, too.
"""

from __future__ import annotations

import importlib.util
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import terrazzo as tz
import terrazzo.language as tl
from terrazzo.compiler import ASTSource

ROWS_AND_COLUMNS = ((64, 64), (64, 256), (256, 64), (256, 256))
LENGTHS = (64, 256, 1000, 1024, 4096)
LINES = (5_000, 10_000)


@tz.jit
def nothing(x, y):
    """What every compile costs."""


@tz.jit
def sort_row(x, y, N: tl.constexpr, DESCENDING: tl.constexpr):
    """A row sorted."""
    at = tl.arange(0, N)
    tl.store(y + at, tl.sort(tl.load(x + at), 0, DESCENDING))


@tz.jit
def sort_tile(x, y, M: tl.constexpr, N: tl.constexpr, DIM: tl.constexpr):
    """A tile sorted along a dimension."""
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(y + at, tl.sort(tl.load(x + at), DIM))


@tz.jit
def top(x, y, N: tl.constexpr, K: tl.constexpr):
    """The k greatest of a row."""
    tl.store(y + tl.arange(0, K), tl.topk(tl.load(x + tl.arange(0, N)), K))


@tz.jit
def argsort(x, y, N: tl.constexpr):
    """The order of a row: keys and places sorted as one integer."""
    at = tl.arange(0, N)
    keys = (tl.load(x + at).to(tl.int64) << 32) | at
    tl.store(y + at, tl.sort(keys).to(tl.int32))


@tz.jit
def counts(x, y, N: tl.constexpr, BINS: tl.constexpr):
    """A histogram of a row."""
    tl.store(y + tl.arange(0, BINS), tl.histogram(tl.load(x + tl.arange(0, N)), BINS))


@tz.jit
def sums(x, y, M: tl.constexpr, N: tl.constexpr):
    """Prefix sums along both dimensions."""
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(y + at, tl.cumsum(tl.cumsum(tl.load(x + at), 0), 1))


@tz.jit
def picked(x, y, M: tl.constexpr, N: tl.constexpr):
    """Elements picked along a dimension."""
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    found = tl.load(x + at)
    tl.store(y + at, tl.gather(found, found & 63, 1))


@tz.jit
def casts(x, y, M: tl.constexpr, N: tl.constexpr):
    """A tile through most formats."""
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    found = tl.load(x + at).to(tl.float32).to(tl.float8e4nv).to(tl.bfloat16).to(tl.float8e5).to(tl.float16)
    tl.store(y + at, found.to(tl.int32))


def lines(count: int) -> Any:
    """A kernel of so many lines of scalars."""
    body = ["a = tl.load(x)", *(f"a = (a ^ {i}) * 3 + (a >> 5)" for i in range(count)), "tl.store(y, a)"]
    text = "import terrazzo as tz\nimport terrazzo.language as tl\n\n\n@tz.jit\ndef kernel(x, y):\n"
    path = Path(tempfile.mkdtemp(prefix="terrazzo-lines-")) / "lines.py"
    path.write_text(text + "".join(f"    {line}\n" for line in body))
    spec = importlib.util.spec_from_file_location("lines", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel


def cases() -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Name of a row, kernel, constants."""
    for n in LENGTHS:
        for descending in (False, True):
            yield "sort", sort_row, {"N": n, "DESCENDING": descending}
        yield "topk", top, {"N": n, "K": 8}
        yield "argsort", argsort, {"N": n}
        yield "histogram", counts, {"N": n, "BINS": 256}
    for m, n in ROWS_AND_COLUMNS:
        for dim in (0, 1):
            yield "sort", sort_tile, {"M": m, "N": n, "DIM": dim}
        yield "scan", sums, {"M": m, "N": n}
        yield "gather", picked, {"M": m, "N": n}
        yield "casts", casts, {"M": m, "N": n}


def milliseconds(kernel: Any, constants: dict[str, Any]) -> float:
    """A compile from the source to code that can be loaded."""
    kernel.known.clear()
    source = ASTSource(kernel, {"x": "*i32", "y": "*i32"}, constants)
    start = time.perf_counter()
    tz.compile(source, target="cpu")
    return (time.perf_counter() - start) * 1e3


def compile_times(rounds: int) -> dict[str, float]:
    """Row -> milliseconds of its slowest kernel, each the least of some rounds, without a cache on disk.

    The rows of LINES are kernels of so many lines of scalars.
    """
    folder, tz.knobs.cache.dir = tz.knobs.cache.dir, ""
    try:
        milliseconds(nothing, {})  # What a process does once is not counted.
        found: dict[str, float] = {}
        for name, kernel, constants in [*cases(), *((f"{n} lines", lines(n), {}) for n in LINES)]:
            best = min(milliseconds(kernel, constants) for _ in range(max(1, min(rounds, 3))))
            found[name] = max(found.get(name, 0.0), best)
        return found
    finally:
        tz.knobs.cache.dir = folder
