# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which descriptors the copy engine of sm_90 gets, and what a launch is told of them."""

import json
import subprocess

import pytest
import terrazzo as tz
import terrazzo.language as tl
from terrazzo import ptxas
from terrazzo.tools.description import describe

CUDA = "cuda:sm_90a"
COPY = "cp.async.bulk.tensor.2d"


@tz.jit
def product(
    a_ptr, b_ptr, c_ptr, M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PADDING: tl.constexpr = "zero",
):  # fmt: skip
    a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK], padding_option=PADDING)
    b = tl.make_tensor_descriptor(b_ptr, [K, N], [2 * N, 1], [BK, BN], padding_option=PADDING)
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([m, k]), b.load([k, n]), acc)
    c.store([m, n], acc)


def compiled(m=128, n=64, k=512, target=CUDA, block=(128, 64, 64), **options):
    sizes = dict(zip(("BM", "BN", "BK"), block, strict=True))
    return product.warmup(tl.float16, tl.float16, tl.float32, m, n, k, **sizes, target=target, **options)


def test_maps_are_products_of_arguments():
    kernel = compiled(m=100)
    assert COPY in kernel.asm["ptx"]
    assert "cp.async.wait_group" not in kernel.asm["ptx"]
    a, b = json.loads(kernel.artifact.tensor_maps)
    number = lambda *arguments, factor=1, size=4: {"factor": factor, "arguments": list(arguments), "bytes": size}
    assert (a["base"], a["dtype"], a["padding"]) == (0, "f16", "zero")
    assert (a["shape"], a["strides"]) == ([number(3), number(5)], [number(5)])
    assert (a["box"], a["swizzle_bytes"]) == ([128, 64], 128)
    assert (b["base"], b["shape"]) == (1, [number(5), number(4)])
    assert b["strides"] == [number(4, factor=2)]
    assert (b["box"], b["swizzle_bytes"]) == ([64, 64], 128)


def test_launchers_are_told():
    """Those that know no maps read version 1."""
    with_maps, without = compiled(), compiled(num_stages=1)
    told = describe(with_maps.artifact, CUDA, b"", "product.ptx", with_maps)
    assert told["version"] == 2
    assert [each["base"] for each in told["launch"]["tensor_maps"]] == [0, 1]
    told = describe(without.artifact, CUDA, b"", "product.ptx", without)
    assert told["version"] == 1
    assert "tensor_maps" not in told["launch"]


@pytest.mark.parametrize("change", [
    {"k": 500},  # rows that do not begin at multiples of 16 bytes
    {"num_stages": 1},  # nothing is copied ahead
    {"PADDING": "nan"},
    {"target": "cuda:sm_80"},
    {"target": "cuda:sm_90"},  # reads no factors from shared memory
    {"target": "hip:gfx942"},
])  # fmt: skip
def test_what_has_none(change):
    kernel = compiled(**change)
    maps = json.loads(kernel.artifact.tensor_maps)
    assert all(each["base"] == 1 for each in maps) if "k" in change else maps == []


@pytest.mark.parametrize("block", [(128, 256, 64), (128, 128, 64), (128, 64, 128), (64, 256, 64)])
def test_products_stay_in_flight(block, tmp_path):
    """The assembler, where it is, says so if it cannot leave products in flight, or spills."""
    kernel = compiled(m=4096, n=4096, k=4096, block=block, num_warps=8 if block[0] * block[1] > 16384 else 4)
    assert COPY in kernel.asm["ptx"]
    if not ptxas.path():
        return
    file = tmp_path / "kernel.ptx"
    file.write_text(kernel.asm["ptx"])
    command = [ptxas.path(), "-arch=sm_90a", "-v", file, "-o", tmp_path / "kernel.cubin"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "C75" not in done.stderr, done.stderr
    assert "0 bytes spill stores" in done.stderr, done.stderr
