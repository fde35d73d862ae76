# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Code for named processors calls nothing that the runtime does not offer: the compiler refuses it otherwise.

Every op on every type, random kernels and the library's own are compiled, not run, for a processor of each level.
By default each kernel sees one of them, those of the library also sapphirerapids; TERRAZZO_FULL_MATRIX=1 compiles all.
"""

import pytest
import terrazzo as tz
import terrazzo.language as tl
from random_kernels import Kernel
from terrazzo import compiler
from test_barriers import KERNELS_OF_OURS, type_of
from test_matrix import DTYPES, FULL, OPS, STATEMENTS, has, kernel_of

PROCESSORS = ("x86-64-v2", "x86-64-v3", "x86-64-v4", "sapphirerapids", "znver5")


@pytest.fixture(autouse=True)
def _no_cache(monkeypatch):
    monkeypatch.setattr(compiler.store, "get", lambda digest: None)
    monkeypatch.setattr(compiler.store, "put", lambda digest, data: None)


def _some(number):
    """The processors that a kernel is compiled for."""
    return PROCESSORS if FULL else (PROCESSORS[number % 5],)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_op(dtype):
    names = [name for name in (*OPS, *STATEMENTS) if has(name, dtype)]
    mock = tz.MockTensor(getattr(tl, dtype))
    for processor in _some(DTYPES.index(dtype)):
        kernel_of(names).warmup(mock, mock, mock, 5, target=f"cpu:{processor}", debug=True)


@pytest.mark.parametrize("processor", PROCESSORS)
def test_ops_on_halves(processor):
    """f16 is what LLVM has least instructions for."""
    heads = ("tl_", "lib_", "to_", "reduce", "scan", "clamp", "fma")
    names = [name for name in OPS if name.startswith(heads) and has(name, "float16")]
    mock = tz.MockTensor(tl.float16)
    for strict in (False, True):
        kernel_of(names).warmup(mock, mock, mock, 5, target=f"cpu:{processor}", strict=strict)


@pytest.mark.parametrize("first", range(0, 100, 20))
def test_random_kernels(first):
    for seed in range(first, first + 20):
        kernel = Kernel(seed)
        types = [tz.MockTensor(getattr(tl, dtype)) for _, dtype in kernel.inputs.values()]
        types += [tz.MockTensor(getattr(tl, value.dtype)) for _, (value, _) in kernel.outputs]
        kernel.compiled().warmup(*types, target=f"cpu:{PROCESSORS[seed % 5]}", num_warps=kernel.num_warps)


@pytest.mark.parametrize("number", range(len(KERNELS_OF_OURS)), ids=list(KERNELS_OF_OURS))
def test_own_kernels(number):
    name, fn = list(KERNELS_OF_OURS.items())[number]
    values = [type_of(p, name) for p in fn.params]
    if not name.startswith("scan_"):  # the states of a scan are f32
        values = [v.replace("*fp32", "*fp16") if isinstance(v, str) else v for v in values]
    for processor in dict.fromkeys(("sapphirerapids", *_some(number))):
        fn.warmup(*values, target=f"cpu:{processor}")


@pytest.mark.parametrize("block", [64, 128, 256, 512])
@pytest.mark.parametrize("name", ["softmax_kernel", "cross_entropy_kernel"])
def test_rows_of_halves(name, block):
    fn = KERNELS_OF_OURS[name]
    values = [block if p.name == "BLOCK" else type_of(p, name) for p in fn.params]
    values = [v.replace("*fp32", "*fp16") if isinstance(v, str) else v for v in values]
    fn.warmup(*values, target="cpu:sapphirerapids")


def test_no_calls_for_halves_and_fills(tmp_path):
    """What LLVM makes calls of by itself: the larger of two halves, clearing and copying memory."""

    @tz.jit
    def kernel(x, y, n):
        i = tl.arange(0, 1024)
        tl.store(y, tl.max(tl.load(x + i), 0))
        a = tl.zeros((64, 64), tl.float16)
        for k in range(n):
            a = tl.where(tl.sum(a) > 3, a + 1, tl.trans(a))
        tl.store(y + 1 + tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :], a)

    mock = tz.MockTensor(tl.float16)
    for processor in PROCESSORS[1:]:
        code = kernel.warmup(mock, mock, 5, target=f"cpu:{processor}").asm["asm"]
        assert "call" not in code.replace("callq\t*", ""), processor
