# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Failures while a kernel compiles or runs: assertions, interrupts, reproducers."""

import inspect
import os
import re
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl
from terrazzo import compiler


def guarded_source(x_ptr, n, N: tl.constexpr):
    p = tl.program_id(0)
    x = tl.load(x_ptr + p * N + tl.arange(0, N))
    tl.device_assert(x < n, "too large")
    tl.store(x_ptr + p * N + tl.arange(0, N), x + 1)


def test_device_assert_names_message_place_and_program():
    kernel = tz.jit(guarded_source, debug=True)
    x = np.arange(32, dtype=np.int32)
    kernel[(8,)](x, 100, N=4)
    assert x[0] == 1
    with pytest.raises(tz.DeviceAssertionError, match="too large") as caught:
        kernel[(8,)](x, 22, N=4)
    first = inspect.getsourcelines(guarded_source)[1]
    assert re.search(rf"{re.escape(os.path.basename(__file__))}:{first + 3}", str(caught.value))
    assert caught.value.line == first + 3
    assert caught.value.program_id[0] in (5, 6, 7)
    assert caught.value.program_id[1:] == (0, 0)


def test_device_assert_is_armed_by_launch_and_by_the_process(monkeypatch):
    kernel = tz.jit(guarded_source)
    x = np.arange(4, dtype=np.int32)
    kernel[(1,)](x, 0, N=4)
    with pytest.raises(tz.DeviceAssertionError):
        kernel[(1,)](x, 0, N=4, debug=True)
    monkeypatch.setattr(tz.knobs.runtime, "debug", True)
    with pytest.raises(tz.DeviceAssertionError):
        kernel[(1,)](x, 0, N=4)
    monkeypatch.setattr(tz.knobs.runtime, "debug", False)
    kernel[(1,)](x, 0, N=4)


def test_environment_arms_device_assert():
    code = "import terrazzo as tz; print(tz.knobs.runtime.debug)"
    env = {**os.environ, "TERRAZZO_DEBUG": "1", "PYTHONPATH": os.path.dirname(os.path.dirname(tz.__file__))}
    assert subprocess.check_output([sys.executable, "-c", code], env=env, text=True).strip() == "True"


@tz.jit
def endless(x_ptr):
    s = tl.load(x_ptr)
    while s >= 0:
        s = (s + 1) & 1023
    tl.store(x_ptr, s)


def test_interrupt():
    x = np.zeros(1, np.int32)
    endless.warmup(x, grid=(1,))
    pid = os.getpid()
    timer = threading.Timer(0.3, lambda: os.kill(pid, signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        endless[(4,)](x)
    timer.join()
    y = np.arange(4, dtype=np.int32)
    tz.jit(guarded_source)[(1,)](y, 9, N=4)
    assert y.tolist() == [1, 2, 3, 4]


def test_compile_error_shows_the_line():
    @tz.jit
    def kernel(x_ptr):
        tl.store(x_ptr, missing_name)  # noqa: F821

    with pytest.raises(tz.CompileError, match="missing_name") as caught:
        kernel[(1,)](np.zeros(1, np.int32))
    assert "tl.store(x_ptr, missing_name)" in str(caught.value)


def test_failing_pass_writes_a_reproducer(monkeypatch):
    def failing(source, target, stages=""):
        error = compiler.ir.DiagnosticError("the pass gave up")
        error.message, error.file, error.line, error.col = "the pass gave up", __file__, 1, 1
        raise error

    kernel = tz.jit(guarded_source)
    monkeypatch.setattr(compiler.ir, "compile", failing)
    with pytest.raises(tz.CompileError, match="the pass gave up") as caught:
        kernel[(1,)](np.zeros(4, np.int32), 0, N=4)
    found = re.search(r"reproducer: tz-opt --tz-pipeline-(\w+) (\S+\.mlir)", str(caught.value))
    assert found
    with open(found[2]) as file:
        assert "tile.load" in file.read()
    os.remove(found[2])


def test_unknown_target():
    code = "import terrazzo as tz\ntry:\n  tz.devices.target()\nexcept tz.TerrazzoError as e:\n  print(e)"
    env = {**os.environ, "TERRAZZO_TARGET": "abacus:90", "PYTHONPATH": os.path.dirname(os.path.dirname(tz.__file__))}
    text = subprocess.check_output([sys.executable, "-c", code], env=env, text=True)
    assert "no target 'abacus:90', expected one of: cpu, cuda, hip" in text
