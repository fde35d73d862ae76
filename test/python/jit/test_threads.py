# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Many threads launch the same kernel, first launches included."""

import threading

import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl


def make():
    @tz.jit
    def affine(x_ptr, y_ptr, n, a, b, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) * a + b, mask=i < n)

    return affine


def test_first_launches_compile_once(builds, run_all):
    kernel = make()

    def work(t):
        x, y = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
        kernel[(7,)](x, y, 100, 2.0, float(t), BLOCK=16)
        assert np.array_equal(y, x * 2 + t)

    run_all(work)
    assert len(builds) == 1


def test_many_specialisations_at_once(builds, run_all):
    kernel = make()
    blocks = (4, 8, 16, 32)

    def work(t):
        for k in range(40):
            block = blocks[(t + k) % 4]
            n = 1 + (t * 7 + k * 13) % 200
            x, y = np.arange(n, dtype=np.float32), np.zeros(n, np.float32)
            kernel[(tz.cdiv(n, block),)](x, y, n, 3.0, float(k), BLOCK=block)
            assert np.array_equal(y, x * 3 + k), (t, k)

    run_all(work)
    assert len(builds) == len(set(map(repr, builds)))


def test_failing_compilations_fail_in_every_thread(run_all):
    @tz.jit
    def broken(x_ptr):
        tl.store(x_ptr, undefined_name)  # noqa: F821

    def work(t):
        with pytest.raises(tz.CompileError, match="undefined_name"):
            broken[(1,)](np.zeros(1, np.float32))

    run_all(work, 4)


def test_other_python_threads_run_meanwhile():
    @tz.jit
    def spin(x_ptr, n):
        s = 0.0
        for i in range(n):
            s = s * 0.5 + tl.load(x_ptr)
        tl.store(x_ptr + 1, s)

    x = np.zeros(2, np.float32)
    spin[(1,)](x, 3)
    done, ticks = threading.Event(), []

    def tick():
        while not done.is_set():
            ticks.append(1)
            done.wait(0.001)

    ticker = threading.Thread(target=tick)
    ticker.start()
    ticks.clear()
    spin[(1,)](x, 100_000_000)
    seen = len(ticks)
    done.set()
    ticker.join()
    assert seen >= 10
