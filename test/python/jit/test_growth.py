# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What compile time follows: how much code reaches LLVM, and how much of it in one function.

Times differ with the machine, so none is measured here (benchmarks/compile_times.py does). LLVM has passes whose time
grows with the square of a function's length or of its number of loops; a compile that takes n log n is one whose code
grows with the source, in functions that do not grow.
"""

import importlib.util
import itertools
import re

import pytest
import terrazzo as tz
import terrazzo.language as tl
from terrazzo.compiler import ASTSource

FUNCTION = re.compile(r"^define .*?^}", re.MULTILINE | re.DOTALL)
# An optimised function may be longer than what was cut, since LLVM unrolls, but not without bound.
LONGEST = 6_000


def sizes(kernel, signature, constexprs=None):
    """Instructions of each function of the optimised code."""
    compiled = tz.compile(ASTSource(kernel, signature, constexprs), target="cpu:znver3+avx+avx2+fma")
    return [len(re.findall(r"^  \S", text, re.MULTILINE)) for text in FUNCTION.findall(compiled.asm["llir"])]


@tz.jit
def sort_row(x, y, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(y + at, tl.sort(tl.load(x + at)))


@tz.jit
def sort_tile(x, y, N: tl.constexpr, DIM: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(y + at, tl.sort(tl.load(x + at), DIM))


@tz.jit
def top_8(x, y, N: tl.constexpr):
    tl.store(y + tl.arange(0, 8), tl.topk(tl.load(x + tl.arange(0, N)), 8))


@tz.jit
def counts(x, y, N: tl.constexpr):
    tl.store(y + tl.arange(0, N), tl.histogram(tl.load(x + tl.arange(0, N)), N))


@tz.jit
def sums(x, y, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(y + at, tl.cumsum(tl.cumsum(tl.load(x + at), 0), 1))


@tz.jit
def picked(x, y, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    v = tl.load(x + at)
    tl.store(y + at, tl.gather(v, v & (N - 1), 1))


@tz.jit
def casts(x, y, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    v = tl.load(x + at).to(tl.float32).to(tl.float8e5).to(tl.bfloat16).to(tl.float16)
    tl.store(y + at, v.to(tl.int32))


ROW, TILE = (256, 4096), (64, 256)


@pytest.mark.parametrize(
    ("kernel", "constexprs", "extents"),
    [
        (sort_row, {}, ROW),
        (sort_tile, {"DIM": 0}, TILE),
        (sort_tile, {"DIM": 1}, TILE),
        (top_8, {}, ROW),
        (counts, {}, ROW),
        (sums, {}, TILE),
        (picked, {}, TILE),
        (casts, {}, TILE),
    ],
    ids=["sort", "sort-columns", "sort-rows", "topk", "histogram", "scan", "gather", "casts"],
)
def test_extents_cost_nothing(kernel, constexprs, extents):
    signature = {"x": "*i32", "y": "*i32"}
    small, large = (sum(sizes(kernel, signature, {**constexprs, "N": n})) for n in extents)
    # LLVM unrolls short loops as it sees fit.
    assert large < 1.5 * small + 200
    assert large < 2500


numbers = itertools.count()

# A line of each kind of code, from its number; and what stands around.
LINES = {
    "scalars": ("a = tl.load(x)", "a = (a ^ {i}) * 3 + (a >> 5)", "tl.store(y, a)"),
    "chain": ("a = tl.load(x + at)", "a = (a ^ {i}) * 3 + (a >> 5)", "tl.store(y + at, a)"),
    "stores": ("", "tl.store(y + at + {i} * 64, tl.load(x + at + {i} * 64) + {i})", ""),
    "reductions": ("a = tl.load(x + at)", "a = a ^ tl.sum(a * {i})", "tl.store(y + at, a)"),
    "reshapes": (
        "a = tl.load(x + at)",
        "a = tl.reshape(tl.trans(tl.reshape(a + {i}, (8, 8))), (64,))",
        "tl.store(y + at, a)",
    ),
    "loops": ("a = tl.load(x)", "for i in range(a & 7):\n        a = a * 3 + {i}", "tl.store(y, a)"),
    "branches": ("a = tl.load(x)", "if a > {i}:\n        a = a - {i}", "tl.store(y, a)"),
}


def written(tmp_path, kind, count):
    """A kernel of so many lines of a kind."""
    before, line, after = LINES[kind]
    body = ["at = tl.arange(0, 64)", before, *(line.format(i=i + 1) for i in range(count)), after]
    name = f"growth_{next(numbers)}"
    path = tmp_path / f"{name}.py"
    text = "import terrazzo as tz\nimport terrazzo.language as tl\n\n\n@tz.jit\ndef kernel(x, y):\n"
    path.write_text(text + "".join(f"    {part}\n" for part in body if part))
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel


@pytest.mark.parametrize("kind", LINES)
def test_code_grows_with_the_source_in_functions_that_do_not(tmp_path, kind):
    signature = {"x": "*i32", "y": "*i32"}
    few, many = 150, 600
    small, large = (sizes(written(tmp_path, kind, count), signature) for count in (few, many))
    assert sum(large) < 1.3 * (many / few) * sum(small) + 200
    assert max(large) < LONGEST


@pytest.mark.parametrize("warps", [1, 4, 16])
def test_a_row_that_warps_share(warps):
    """On a GPU: each warp sorts a part by loops, and of the merges only the stages between parts are written out."""
    source = ASTSource(sort_row, {"x": "*fp32", "y": "*fp32"}, {"N": 16384})
    compiled = tz.compile(source, target="cuda:sm_90", options={"num_warps": warps})
    assert compiled.asm["ptx"].count("\n") < 8_000
