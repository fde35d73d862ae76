# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What goes wrong on a GPU, and what kernels print there."""

import os
import subprocess
import sys

import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl


@tz.jit(debug=True)
def checked(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    tl.device_assert(x < 100, "too large", mask=i < n)
    tl.store(x_ptr + i, x + 1, mask=i < n)


@tz.jit
def shout(x_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.device_print("x", x)
    tl.device_print("sum", tl.sum(x, axis=0), tl.program_id(0))


@tz.jit
def product(a_ptr, b_ptr, c_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    at = i[:, None] * N + i[None, :]
    tl.store(c_ptr + at, tl.dot(tl.load(a_ptr + at), tl.load(b_ptr + at)))


def test_assertion_raises_at_the_next_synchronize():
    x = tz.device_array(np.array([1, 2, 500, 3], np.int32))
    checked[(1,)](x, 2, BLOCK=4)
    tz.synchronize()
    checked[(1,)](x, 4, BLOCK=4)
    with pytest.raises(tz.DeviceAssertionError, match="too large") as caught:
        tz.synchronize()
    assert "checked" in str(caught.value)
    assert caught.value.file == __file__
    assert caught.value.line == checked.starting_line_number + 4
    assert tuple(caught.value.program_id) == (0, 0, 0)
    # The device goes on.
    tz.synchronize()
    checked[(1,)](x, 2, BLOCK=4)
    tz.synchronize()
    assert x.numpy().tolist()[:2] == [4, 5]


def test_assertion_raises_at_a_later_launch():
    x = tz.device_array(np.full(4, 500, np.int32))
    checked[(1,)](x, 4, BLOCK=4)
    with pytest.raises(tz.DeviceAssertionError, match="too large"):
        for _ in range(10000):
            checked[(1,)](x, 4, BLOCK=4)
    tz.synchronize()


def test_prints_are_the_same_as_on_the_cpu(capfd):
    values = np.array([3, -1, 4, 1], np.int32)
    shout[(2,)](values, BLOCK=4)
    on_host = capfd.readouterr().out
    x = tz.device_array(values)
    shout[(2,)](x, BLOCK=4)
    tz.synchronize()
    on_device = capfd.readouterr().out
    assert on_host
    assert sorted(on_device.splitlines()) == sorted(on_host.splitlines())


def test_shared_memory_over_the_limit(target):
    n = 1024
    a = tz.device_array((n, n), "float32").zero_()
    with pytest.raises(tz.OutOfResources, match="shared memory") as caught:
        product[(1,)](a, a, a, N=n)
    assert caught.value.required > caught.value.limit >= 65536 - 1024


def test_threads_over_the_limit():
    x = tz.device_array(4, "int32").zero_()
    with pytest.raises(tz.OutOfResources, match="threads of a block") as caught:
        shout[(1,)](x, BLOCK=4, num_warps=64)
    assert caught.value.limit == 1024


def test_memory_that_is_not_there(target):
    with pytest.raises(MemoryError):
        tz.device_array((1 << 46,), "int8")


def test_a_device_that_is_not_there(target):
    with pytest.raises(tz.LaunchError, match="device"):
        tz.device_array(4, device=f"{target}:99")


def test_an_illegal_address_names_the_kernel(tmp_path):
    """The context is lost by it, so in a process of its own."""
    program = """
import numpy as np, terrazzo as tz, terrazzo.language as tl
@tz.jit
def stray(x_ptr):
    tl.store(x_ptr + (1 << 44), 1.0)
x = tz.device_array(4, "float32")
stray[(1,)](x)
try:
    tz.synchronize()
except tz.LaunchError as error:
    print("caught", error)
"""
    (tmp_path / "stray.py").write_text(program)
    path = os.path.dirname(os.path.dirname(tz.__file__))
    done = subprocess.run([sys.executable, tmp_path / "stray.py"], capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": path})  # fmt: skip
    assert "caught" in done.stdout, done.stdout + done.stderr
    assert "stray" in done.stdout
