# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Code for named processors calls nothing that the runtime does not offer. (The compiler refuses it otherwise, too.)

Every op on every type, random kernels and the library's own are compiled, not run, for a processor of each level.
By default each kernel sees one of them, those of the library also the oldest and sapphirerapids; these call nothing at
all. TERRAZZO_FULL_MATRIX=1 compiles all.
"""

import re
import struct
from pathlib import Path

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


LIST = Path(__file__).resolve().parents[3] / "include" / "terrazzo" / "Support" / "CpuSymbols.def"


def _offered():
    """The symbols that the list of the runtime spells out."""
    entries = re.findall(r"^(CPU_\w+)\((\w+)", LIST.read_text(), re.MULTILINE)
    return {name for _, name in entries} | {name + "f" for kind, name in entries if kind != "CPU_SYMBOL"}


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
    """Everything that the object of a kernel calls is offered."""
    assert _undefined(compiled.asm["obj"]) <= _offered()


def _some(number):
    """The processors that a kernel is compiled for."""
    return PROCESSORS if FULL else (PROCESSORS[number % 5],)


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
        options = {"target": f"cpu:{PROCESSORS[seed % 5]}", "num_warps": kernel.num_warps}
        assert_self_contained(kernel.compiled().warmup(*types, **options))


@pytest.mark.parametrize("number", range(len(KERNELS_OF_OURS)), ids=list(KERNELS_OF_OURS))
def test_own_kernels(number):
    name, fn = list(KERNELS_OF_OURS.items())[number]
    values = [type_of(p, name) for p in fn.params]
    for narrow in ("*fp32",) if name.startswith("scan_") else ("*fp16", "*bf16"):  # the states of a scan are f32
        types = [v.replace("*fp32", narrow) if isinstance(v, str) else v for v in values]
        for processor in dict.fromkeys(("sapphirerapids", "x86-64", *_some(number))):
            assert not _undefined(fn.warmup(*types, target=f"cpu:{processor}").asm["obj"])


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
    for processor in PROCESSORS[1:]:
        code = kernel.warmup(mock, mock, 5, target=f"cpu:{processor}").asm["asm"]
        assert "call" not in code.replace("callq\t*", ""), processor
