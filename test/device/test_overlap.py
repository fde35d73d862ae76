# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One array passed as two arguments of a GPU's kernel: a launch sees it, and barriers that the kernel has hold."""

import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl

torch = pytest.importorskip("torch")
needs_torch = pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no GPU")
WARPS = [1, 2, 4, 8]


@tz.jit
def turned(a, b, out, n, B: tl.constexpr, ORDERED: tl.constexpr):
    """Writes through `a`, and reads what other threads wrote through `b`."""
    i = tl.arange(0, B)
    total = tl.zeros((B,), tl.int32)
    for s in range(n):
        tl.store(a + i, i * i + s)
        if ORDERED:
            tl.debug_barrier()
        total += tl.load(b + (B - 1 - i))
        if ORDERED:
            tl.debug_barrier()
    tl.store(out + i, total)


@tz.jit
def shifted(x, y, n, B: tl.constexpr):
    """y[i] = x[i] + 1, all of x read before any of y is written."""
    i = tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


def expected(size, n):
    return (np.arange(size)[::-1] ** 2 * n + n * (n - 1) // 2).astype(np.int32)


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("warps", WARPS)
@pytest.mark.parametrize("n", [1, 2, 7, 100])
def test_one_array_twice(n, warps, ordered):
    for size in (128, 1024):
        array, out = (tz.DeviceArray((size,), "int32").zero_() for _ in range(2))
        compiled = turned[(1,)](array, array, out, n, B=size, ORDERED=ordered, num_warps=warps)
        np.testing.assert_array_equal(out.numpy(), expected(size, n))
        assert compiled.signature.count("overlaps") == 2


@needs_torch
@pytest.mark.parametrize("warps", WARPS)
def test_barriers_alone_order(warps):
    """The documented remedy of kernels that are launched by other means: code for arrays that are apart."""
    size, n = 1024, 20
    apart = [torch.zeros(size, dtype=torch.int32, device="cuda") for _ in range(3)]
    compiled = turned[(1,)](*apart, n, B=size, ORDERED=True, num_warps=warps)
    assert "overlaps" not in compiled.signature

    class Hidden:
        """An array whose extent nobody knows, and whose neighbour begins a byte later: it seems to be apart."""

        dtype, device = torch.int32, apart[0].device

        def __init__(self, tensor, offset):
            self.tensor, self.offset = tensor, offset

        def data_ptr(self):
            return self.tensor.data_ptr() + 4 * self.offset

    # b is a, seen from 16 elements before: the kernel adds them again.
    memory = torch.zeros(size + 16, dtype=torch.int32, device="cuda")
    out = torch.zeros(size, dtype=torch.int32, device="cuda")

    @tz.jit
    def turned_apart(a, b, out, n, B: tl.constexpr):
        i = tl.arange(0, B)
        total = tl.zeros((B,), tl.int32)
        for s in range(n):
            tl.store(a + i, i * i + s)
            tl.debug_barrier()
            total += tl.load(b + (16 + B - 1 - i))
            tl.debug_barrier()
        tl.store(out + i, total)

    compiled = turned_apart[(1,)](Hidden(memory, 16), Hidden(memory, 0), out, n, B=size, num_warps=warps)
    assert "overlaps" not in compiled.signature
    np.testing.assert_array_equal(out.cpu().numpy(), expected(size, n))


@needs_torch
@pytest.mark.parametrize("distance", [-512, -96, -33, -1, 0, 1, 32, 100, 511, 512])
def test_parts_of_a_tensor(distance):
    size = 512
    memory = torch.arange(3 * size, dtype=torch.float32, device="cuda")
    want = memory.clone()
    want[size + distance : 2 * size + distance] = memory[size : 2 * size] + 1
    x, y = memory[size : 2 * size], memory[size + distance : 2 * size + distance]
    compiled = shifted[(1,)](x, y, size, B=512, num_warps=4)
    assert torch.equal(memory, want)
    assert ("overlaps" in compiled.signature) == (abs(distance) < size)


@needs_torch
def test_extents_of_tensors():
    """Transposed, strided, broadcast and empty ones; what is apart has one kernel."""
    memory = torch.zeros(64, 64, device="cuda")
    other = torch.zeros(64, 64, device="cuda")
    for x, y, overlap in [
        (memory, other, False),
        (memory.t(), memory, True),
        (memory[:32].t(), memory[32:], False),
        (memory[:, :32], memory[:, 32:], True),  # rows in turn: their extents overlap
        (memory[0].expand(64, 64), memory[1:], False),
        (memory[0], memory[1], False),
        (memory.view(-1)[:65], memory[1], True),
        (memory[:0], memory, False),
        (torch.nn.Parameter(memory), memory, True),
    ]:
        compiled = shifted[(1,)](x, y, min(x.numel(), 1), B=64)
        assert ("overlaps" in compiled.signature) == overlap, (x.shape, x.stride(), y.shape, y.stride())
