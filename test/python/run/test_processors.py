# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Code for named processors calls no library. (The compiler refuses it otherwise, too.)

Every op on every type, random kernels and the library's own are compiled, not run, for a processor of each level.
By default each kernel sees one of them, those of the library also sapphirerapids. TERRAZZO_FULL_MATRIX=1 compiles all.
"""

import struct

import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl
from random_kernels import Kernel, check, on_host, run
from terrazzo import compiler, targets
from terrazzo.language.extra import libdevice
from test_barriers import KERNELS_OF_OURS, type_of
from test_matrix import DTYPES, FULL, OPS, STATEMENTS, has, kernel_of

PROCESSORS = ("x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "sapphirerapids", "znver5")


@pytest.fixture(autouse=True)
def _no_cache(monkeypatch):
    monkeypatch.setattr(compiler.store, "get", lambda digest: None)
    monkeypatch.setattr(compiler.store, "put", lambda digest, data: None)


def _undefined(code):
    """The names that a relocatable ELF64 object leaves open."""
    table, count = struct.unpack_from("<Q", code, 0x28)[0], struct.unpack_from("<H", code, 0x3C)[0]
    sections = [struct.unpack_from("<IIQQQQII", code, table + 64 * i) for i in range(count)]
    names = set()
    for _, kind, _, _, offset, size, link, _ in sections:
        if kind == 2:  # SHT_SYMTAB; its link is the table of strings
            strings = sections[link][4]
            for at in range(offset + 24, offset + size, 24):
                name, _, _, section = struct.unpack_from("<IBBH", code, at)
                if section == 0:
                    names.add(code[strings + name : code.index(b"\0", strings + name)].decode())
    return names - {"_GLOBAL_OFFSET_TABLE_"}


def assert_self_contained(compiled):
    """The object of a kernel leaves no symbol open."""
    assert not _undefined(compiled.asm["obj"])


def _some(number):
    """The processors that a kernel is compiled for."""
    return PROCESSORS if FULL else (PROCESSORS[number % len(PROCESSORS)],)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_op(dtype):
    names = [name for name in (*OPS, *STATEMENTS) if has(name, dtype)]
    mock = tz.MockTensor(getattr(tl, dtype))
    for processor in _some(DTYPES.index(dtype)):
        assert_self_contained(kernel_of(names).warmup(mock, mock, mock, 5, target=f"cpu:{processor}", debug=True))


@pytest.mark.parametrize("processor", PROCESSORS)
def test_ops_on_halves(processor):
    """f16 is what LLVM has least instructions for."""
    heads = ("tl_", "lib_", "to_", "reduce", "scan", "clamp", "fma")
    names = [name for name in OPS if name.startswith(heads) and has(name, "float16")]
    mock = tz.MockTensor(tl.float16)
    for strict in (False, True):
        compiled = kernel_of(names).warmup(mock, mock, mock, 5, target=f"cpu:{processor}", strict=strict)
        assert_self_contained(compiled)


@pytest.mark.parametrize("first", range(0, 100, 20))
def test_random_kernels(first):
    for seed in range(first, first + 20):
        kernel = Kernel(seed)
        types = [tz.MockTensor(getattr(tl, dtype)) for _, dtype in kernel.inputs.values()]
        types += [tz.MockTensor(getattr(tl, value.dtype)) for _, (value, _) in kernel.outputs]
        options = {"target": f"cpu:{PROCESSORS[seed % len(PROCESSORS)]}", "num_warps": kernel.num_warps}
        assert_self_contained(kernel.compiled().warmup(*types, **options))


@pytest.mark.parametrize("processor", PROCESSORS[:3])
def test_older_code_runs_here(processor):
    """Code for the processors that every newer one is, with values: widths, roundings and fma differ."""
    with targets.using(f"cpu:{processor}"):
        for seed in range(200, 212):
            kernel = Kernel(seed)
            check(kernel, run(kernel, on_host))


def test_bits_do_not_depend_on_the_processor():
    """Functions of f64 fuse what they add, with an instruction or without."""

    @tz.jit
    def kernel(x, y):
        i = tl.arange(0, 512)
        v = tl.load(x + i)
        tl.store(y + i, tl.floor(tl.exp(v) * 16) + libdevice.round(v) + tl.fma(v, v, tl.sin(v)))

    x = np.random.default_rng(3).standard_normal(512) * 4
    found = []
    for target in ("cpu", "cpu:x86-64-v2", "cpu:x86-64"):
        y = np.zeros_like(x)
        with targets.using(target):
            kernel[(1,)](x, y)
        found.append(y.tobytes())
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("number", range(len(KERNELS_OF_OURS)), ids=list(KERNELS_OF_OURS))
def test_own_kernels(number):
    name, fn = list(KERNELS_OF_OURS.items())[number]
    values = [type_of(p, name) for p in fn.params]
    for narrow in ("*fp32",) if name.startswith("scan_") else ("*fp16", "*bf16"):  # the states of a scan are f32
        types = [v.replace("*fp32", narrow) if isinstance(v, str) else v for v in values]
        for processor in dict.fromkeys(("sapphirerapids", *_some(number))):
            assert_self_contained(fn.warmup(*types, target=f"cpu:{processor}"))


@pytest.mark.parametrize("block", [64, 128, 256, 512])
@pytest.mark.parametrize("name", ["softmax_kernel", "cross_entropy_kernel"])
def test_rows_of_halves(name, block):
    fn = KERNELS_OF_OURS[name]
    values = [block if p.name == "BLOCK" else type_of(p, name) for p in fn.params]
    values = [v.replace("*fp32", "*fp16") if isinstance(v, str) else v for v in values]
    assert_self_contained(fn.warmup(*values, target="cpu:sapphirerapids"))


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
    for processor in PROCESSORS[2:]:
        code = kernel.warmup(mock, mock, 5, target=f"cpu:{processor}").asm["asm"]
        assert "call" not in code.replace("callq\t*", ""), processor
