# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches on a GPU: arrays of all kinds, streams, graphs, grids."""

import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl

torch = pytest.importorskip("torch")
needs_torch = pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no GPU")


@tz.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=mask) + tl.load(y_ptr + i, mask=mask), mask=mask)


@tz.jit
def scale(x_ptr, factor, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) * factor, mask=i < n)


@tz.jit
def spin(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    for _ in range(n):
        x = x * 1.000001 + 1e-9
    tl.store(x_ptr + i, x)


@tz.jit
def programs(out_ptr):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    at = (z * tl.num_programs(1) + y) * tl.num_programs(0) + x
    tl.store(out_ptr + at, x + 100 * y + 10000 * z)


def cuda(*shape, **options):
    return torch.randn(*shape, device="cuda", **options)


class Interface:
    """A tensor as CuPy would show it."""

    def __init__(self, tensor):
        self.tensor = tensor
        self.__cuda_array_interface__ = tensor.__cuda_array_interface__


class Dlpack:
    """A tensor that only knows DLPack."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, **options):
        return self.tensor.__dlpack__(**options)


@needs_torch
@pytest.mark.parametrize("n", [1, 5, 1000, 4097, 1 << 20])
def test_tensors(n):
    x, y, out = cuda(n), cuda(n), torch.full((n + 64,), 7.0, device="cuda")
    add[(tz.cdiv(n, 1024),)](x, y, out, n, BLOCK=1024)
    assert torch.equal(out[:n], x + y)
    assert (out[n:] == 7).all()


@needs_torch
@pytest.mark.parametrize("wrap", [Interface, Dlpack, lambda t: t.__dlpack__(), lambda t: tz.reinterpret(t, tl.float32)],
                         ids=["interface", "dlpack", "capsule", "reinterpret"])  # fmt: skip
def test_other_arrays(wrap):
    x, y, out = cuda(100), cuda(100), torch.empty(100, device="cuda")
    add[(1,)](wrap(x), wrap(y), wrap(out), 100, BLOCK=128)
    assert torch.equal(out, x + y)


def test_cupy():
    cupy = pytest.importorskip("cupy")
    x, y = cupy.arange(100, dtype=cupy.float32), cupy.ones(100, dtype=cupy.float32)
    add[(1,)](x, y, y, 100, BLOCK=128)
    assert cupy.asnumpy(y).tolist() == list(range(1, 101))


def test_device_arrays(target):
    x = tz.device_array(np.arange(1000, dtype=np.float32))
    out = tz.device_array(1000, "float32").zero_()
    assert x.device == f"{target}:0"
    add[(1,)](x, x, out, 900, BLOCK=1024)
    assert np.array_equal(out.numpy(), np.where(np.arange(1000) < 900, 2 * np.arange(1000), 0).astype(np.float32))
    assert np.array_equal(out.clone().numpy(), out.numpy())


@needs_torch
def test_device_arrays_and_torch_share_memory():
    x = tz.device_array(np.arange(8, dtype=np.float32))
    seen = torch.from_dlpack(x)
    assert seen.is_cuda
    assert seen.data_ptr() == x.data_ptr()
    seen += 1
    torch.cuda.synchronize()
    assert x.numpy().tolist() == list(range(1, 9))
    assert torch.as_tensor(x, device="cuda").data_ptr() == x.data_ptr()


@needs_torch
def test_host_memory_is_refused():
    x = cuda(10)
    with pytest.raises(tz.ArgumentError, match="argument 'y_ptr': .*host memory, but argument 'x_ptr' is on"):
        add[(1,)](x, x.cpu(), x, 10, BLOCK=16)
    with pytest.raises(tz.ArgumentError, match="argument 'x_ptr': .*host memory, expected"):
        add[(1,)](np.zeros(10), x, x, 10, BLOCK=16, target="cuda")


@needs_torch
def test_the_cpu_is_there_too():
    x = torch.arange(10.0)
    add[(1,)](x, x, x, 10, BLOCK=16)
    assert x.tolist() == [2.0 * i for i in range(10)]


@needs_torch
@pytest.mark.parametrize("grid", [(1,), (7,), (3, 5), (2, 3, 4), (1, 1, 7), (70000,), (1, 60000)])
def test_grids(grid):
    x, y, z = (*grid, 1, 1)[:3]
    out = torch.zeros(x * y * z, dtype=torch.int32, device="cuda")
    programs[grid](out)
    zs, ys, xs = torch.meshgrid(*(torch.arange(n, device="cuda") for n in (z, y, x)), indexing="ij")
    assert torch.equal(out, (xs + 100 * ys + 10000 * zs).reshape(-1).int())


@needs_torch
def test_grids_that_are_empty_or_too_large():
    out = torch.zeros(4, dtype=torch.int32, device="cuda")
    programs[(0,)](out)
    programs[(3, 0, 2)](out)
    assert not out.any()
    with pytest.raises(tz.LaunchError, match=r"65535|65536"):
        programs[(1, 65536)](out)


@needs_torch
@pytest.mark.parametrize("warps", [1, 2, 4, 8, 16, 32])
def test_warps(warps):
    x, y, out = cuda(5000), cuda(5000), torch.empty(5000, device="cuda")
    compiled = add[(5,)](x, y, out, 5000, BLOCK=1024, num_warps=warps)
    assert torch.equal(out, x + y)
    assert compiled.n_max_threads == warps * tz.targets.warp_size(compiled.target)
    assert compiled.n_regs > 0


@needs_torch
def test_current_stream_is_used():
    stream, x = torch.cuda.Stream(), torch.ones(1024, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        spin[(1,)](x, 3_000_000, BLOCK=1024)
        assert not stream.query()
        assert torch.cuda.default_stream().query()
        scale[(1,)](x, 2.0, 1024, BLOCK=1024)
    stream.synchronize()
    assert (x > 2).all()


@needs_torch
def test_stream_option():
    stream, x = torch.cuda.Stream(), torch.ones(1024, device="cuda")
    torch.cuda.synchronize()
    for given in (stream, stream.cuda_stream):
        spin[(1,)](x, 3_000_000, BLOCK=1024, stream=given)
        assert not stream.query()
        assert torch.cuda.default_stream().query()
        stream.synchronize()


@needs_torch
def test_graph_capture_and_replay():
    x, y, out = cuda(3000), cuda(3000), torch.zeros(3000, device="cuda")
    add[(3,)](x, y, out, 3000, BLOCK=1024)  # compiles and loads
    scale[(3,)](out, 0.5, 3000, BLOCK=1024)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        add[(3,)](x, y, out, 3000, BLOCK=1024)
        scale[(3,)](out, 0.5, 3000, BLOCK=1024)
    for _ in range(3):
        x.normal_()
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(out, (x + y) * 0.5)


@needs_torch
def test_many_launches_in_order():
    x = torch.ones(64, device="cuda")
    for _ in range(5000):
        scale[(1,)](x, -1.0, 64, BLOCK=64)
    assert (x == 1).all()


@needs_torch
def test_timers():
    from terrazzo.testing import do_bench, do_bench_cudagraph

    x, y, out = cuda(1 << 24), cuda(1 << 24), torch.empty(1 << 24, device="cuda")
    run = lambda: add[(1 << 14,)](x, y, out, 1 << 24, BLOCK=1024)
    want = do_bench(lambda: torch.add(x, y, out=out))
    assert 0.3 * want < do_bench(run) < 10 * want
    assert 0.3 * want < do_bench_cudagraph(run) < 10 * want


def test_timers_without_torch(target):
    from terrazzo.timers import DriverTimer

    x = tz.device_array(1 << 24, "float32").zero_()
    run = lambda: scale[(1 << 14,)](x, 1.0, 1 << 24, BLOCK=1024)
    run()
    timer = DriverTimer(target, 0, 0)
    assert timer.estimate(run, 5) > 0
    assert all(0.001 < t < 100 for t in timer.times(run, 5))


@needs_torch
def test_autotune():
    @tz.autotune(
        [tz.Config({"BLOCK": b}, num_warps=w) for b in (128, 1024) for w in (1, 4)], key=["n"], warmup=2, rep=5
    )
    @tz.jit
    def tuned(x_ptr, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x_ptr + i, i.to(tl.float32), mask=i < n)

    x = torch.empty(10000, device="cuda")
    tuned[lambda meta: (tz.cdiv(10000, meta["BLOCK"]),)](x, 10000)
    assert torch.equal(x, torch.arange(10000.0, device="cuda"))
    assert all(t[0] < 1 for t in tuned.configs_timings.values())
