# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a launch takes of the host. Tests of time: tools/device/run.py runs them alone."""

import time

import pytest
import terrazzo as tz
import terrazzo.language as tl

torch = pytest.importorskip("torch")


@tz.jit
def spin(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    for _ in range(n):
        x = x * 1.000001 + 1e-9
    tl.store(x_ptr + i, x)


@tz.jit
def nothing(a, b, c, d, e, f, n, BLOCK: tl.constexpr):
    pass


def test_launches_return_at_once():
    x = torch.ones(1024, device="cuda")
    spin[(1,)](x, 16, BLOCK=1024)  # compiles and loads
    torch.cuda.synchronize()
    start = time.perf_counter()
    spin[(1,)](x, 10_000_000, BLOCK=1024)
    launched = time.perf_counter() - start
    tz.synchronize()
    assert launched < 0.2 * (time.perf_counter() - start)


def test_host_time_of_a_launch():
    arrays = [torch.zeros(64, device="cuda") for _ in range(6)]
    nothing[(1,)](*arrays, 5, BLOCK=64)
    best = float("inf")
    for _ in range(20):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(500):
            nothing[(1,)](*arrays, 5, BLOCK=64)
        best = min(best, (time.perf_counter() - start) / 500)
    print(f"a launch takes {best * 1e6:.2f} us of the host")
    assert best <= 6e-6
