# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every kernel of the library, forward and backward, fits every chip: no launch of it runs out of shared memory.

The library's own functions are called with their launches taken away, so that the sizes of blocks are those that they
choose for a GPU. What they would launch is lowered as far as shared memory is decided, barriers checked; some of it all
the way.
"""

import itertools
import os
import re
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
import terrazzo as tz
import terrazzo.language as tl
import torch
from terrazzo import compiler
from terrazzo.errors import OutOfResources
from terrazzo.jit import JITFunction
from terrazzo.kernels import arrays
from terrazzo.kernels import torch_ops as ops
from terrazzo.wrappers import MockTensor

CHIPS = [
    *(f"cuda:sm_{chip}" for chip in ("80", "86", "89", "90a", "100", "120")),
    *(f"hip:gfx{chip}" for chip in ("90a", "942", "950", "1100", "1201")),
]
PASSES = ["--canonicalize", "--cse", "--tz-tile-to-simt", "--tz-simt-prefetch", "--tz-simt-decompose",
          "--canonicalize", "--cse", "--tz-fit-shared", "--tz-insert-mma-waits", "--tz-allocate-shared",
          "--tz-insert-barriers", "--tz-check-barriers"]  # fmt: skip
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
HEADS = (16, 64, 80, 128, 192, 256)
STATES = (8, 16, 32, 64)


def tz_opt():
    build = os.environ.get("TERRAZZO_BUILD", "build/dev")
    found = os.environ.get("TZ_OPT") or shutil.which(f"{build}/bin/tz-opt") or shutil.which("tz-opt")
    assert found, "tz-opt: TERRAZZO_BUILD names a build"
    return found


def run_backward(results):
    for result in results:
        first = result[0] if isinstance(result, tuple) else result
        first.float().sum().backward()  # the gradient's own kernels, by torch's engine


def call_library(dtype):
    """Each function of the library in a type, with extents that differ in what they ask of a block."""

    def new(*shape):
        return torch.zeros(*shape, requires_grad=True, dtype=dtype)

    results = []
    for width in (100, 4096, 50304):
        x = new(8, width)
        results += [ops.softmax(x), ops.rmsnorm(x, new(width)), ops.layernorm(x, new(width), new(width)), ops.gelu(x),
                    ops.gelu(x, approximate="tanh"), ops.swiglu(x, new(8, width)), ops.add(x, x), ops.negative_exp(x),
                    ops.cross_entropy(x, torch.zeros(8, dtype=torch.int64))]  # fmt: skip
    results += [ops.linear(new(m, k), new(n, k), new(n)) for m, k, n in ((33, 70, 50), (512, 512, 512), (1, 4096, 1))]
    for size, time in itertools.product(HEADS, (1, 16, 128)):
        results.append(ops.attention(new(1, 2, time, size), new(1, 1, 128, size), new(1, 1, 128, size)))
    for n in STATES:
        bt, ct = new(2, 64, n), new(2, 64, n)
        results.append(ops.selective_scan(new(2, 64, 64), new(2, 64, 64), new(64, n), bt, ct, new(64), new(2, 64, 64),
                                          new(64), delta_softplus=True))  # fmt: skip
    results += [ops.causal_conv1d(new(2, 64, 64), new(64, 4), new(64), "silu"),
                ops.embedding(torch.zeros(2, 64, dtype=torch.int64), new(100, 64)),
                ops.rope(new(2, 2, 64, 64), new(2, 2, 64, 64), torch.zeros(64, 32), torch.zeros(64, 32))]  # fmt: skip
    run_backward(results)
    p, g, m, v = (torch.zeros(100, dtype=t) for t in (dtype, dtype, torch.float32, torch.float32))
    ops.adamw_(p, g, m, v, step=1, lr=0.1)
    ops.sum_of_squares([p, g])


class Stopped(Exception):
    """What is asked for is known."""


@contextmanager
def module_of():
    """A list that takes up the module of a kernel whose compilation is asked for inside, and ends there."""
    texts = []

    def stop(builder, *rest):
        texts.append(builder.str(debug=True))
        raise Stopped

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiler, "ir", SimpleNamespace(compile=stop, DiagnosticError=compiler.ir.DiagnosticError))
        patch.setattr(compiler.store, "get", lambda digest: None)
        with pytest.raises(Stopped):
            yield texts


@pytest.fixture(scope="module")
def launches():
    """What the library launches on a GPU: {(kernel, text of its module): a function that compiles it for a chip}."""
    found = {}
    patch = pytest.MonkeyPatch()
    # An array on a GPU, as far as the library looks.
    patch.setattr(arrays, "is_on_cpu", lambda x: False)

    def launched(self, grid):
        del grid

        def launch(*args, **kwargs):
            args = [MockTensor(a.dtype) if isinstance(a, torch.Tensor) else a for a in args]
            warmup = lambda chip: JITFunction.warmup(self, *args, **{**kwargs, "target": chip})  # noqa: E731
            with module_of() as texts:
                warmup("cuda:sm_90a")
            found.setdefault((self.__name__, texts[0]), warmup)

        return launch

    patch.setattr(JITFunction, "__getitem__", launched)
    try:
        for dtype in DTYPES.values():
            call_library(dtype)
    finally:
        patch.undo()
    return found


def test_all_kernels_are_there(launches):
    """The calls above reach each kernel that has programs of its own."""
    seen = {name for name, _ in launches}
    source = "".join(p.read_text() for p in Path(tz.__file__).parent.joinpath("kernels").glob("*.py"))
    own = set(re.findall(r"^def (\w+_kernel)\(", source, re.MULTILINE))
    assert own == seen & own, own - seen
    assert len(launches) > 100


def lower(texts, chip, *passes):
    """The errors of some modules on their way, and what became of each."""
    text = "\n// -----\n".join(texts)
    done = subprocess.run([tz_opt(), "-", "--split-input-file", f"--tz-attach-target=target={chip}", *passes],
                          input=text, capture_output=True, text=True, check=False)  # fmt: skip
    return re.findall(r"^.*error:.*$", done.stderr, re.MULTILINE), done.stdout.split("\n// -----\n")


@pytest.mark.parametrize("chip", CHIPS)
def test_kernels_fit(launches, chip):
    errors, modules = lower([text for _, text in launches], chip, *PASSES)
    assert errors == []
    assert len(modules) == len(launches)
    needs = [int(n) for m in modules for n in re.findall(r"simt.shared_bytes = (\d+) : i64", m)]
    limit = int(re.search(r"(?<!simt\.)shared_bytes = (\d+)", modules[0])[1])
    print(f"{chip}: the largest of {len(needs)} kernels takes {max(needs)} of {limit} bytes")
    assert len(needs) == len(launches)
    assert max(needs) <= limit
    if chip not in ("cuda:sm_89", "hip:gfx942", "hip:gfx1100"):
        return
    # All the way: what goes through shared memory in rounds, one of each kernel.
    cut = {name: warmup for ((name, _), warmup), m in zip(launches.items(), modules, strict=True) if "within" in m}
    assert "scan_backward_kernel" in cut
    for warmup in cut.values():
        assert warmup(chip).metadata.shared <= limit


@tz.jit
def product_kernel(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, OUT: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * N + n[None, :])
    tl.store(c + m[:, None] * N + n[None, :], tl.dot(x, y, out_dtype=OUT))


PRODUCTS = [("fp64", tl.float64), ("fp32", tl.float32), ("fp16", tl.float32), ("fp16", tl.float16),
            ("bf16", tl.float32), ("i8", tl.int32), ("fp8e5", tl.float32)]  # fmt: skip


@pytest.fixture(scope="module")
def products():
    """Modules of products of all types at extents of 16 to 128."""
    found = []
    for (element, out), extents in itertools.product(PRODUCTS, itertools.product((16, 64, 128), repeat=3)):
        with module_of() as texts:
            product_kernel.warmup(f"*{element}", f"*{element}", tl.pointer_type(out), *extents, out,
                                  target="cuda:sm_90a")  # fmt: skip
        found += texts
    return found


@pytest.mark.parametrize("chip", ["cuda:sm_89", "cuda:sm_80", "hip:gfx942", "hip:gfx1100"])
def test_products_fit(products, chip):
    errors, modules = lower(products, chip, *PASSES)
    assert errors == []
    assert len(modules) == len(products) == 27 * len(PRODUCTS)
    assert any("within" in m for m in modules)


@tz.jit
def long_rows(x, y, E: tl.constexpr):
    def step(h, now):
        return h + now[0], h

    at = tl.arange(0, 8)[:, None] * E + tl.arange(0, E)[None, :]
    _, out = tl.recurrence(step, tl.zeros((E,), tl.float32), (tl.load(x + at),), 0)
    tl.store(y + at, out)


def test_what_cannot_be_cut_is_shown():
    """Rows that are larger than what there is: the error is at the line that wants them."""
    with pytest.raises(OutOfResources) as caught:
        long_rows.warmup(tl.float32, tl.float32, E=16384, target="hip:gfx942")
    assert caught.value.limit == 65536 < caught.value.required
    text = str(caught.value)
    line = next(n for n, t in enumerate(Path(__file__).read_text().splitlines(), 1) if "tl.recurrence(step" in t)
    assert re.search(rf"test_chips.py:{line}:\d+: error: out of resources: shared memory: required \d+ bytes", text)
    assert "in kernel long_rows" in text
    assert "tl.recurrence(step" in text
