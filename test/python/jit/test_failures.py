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


@pytest.fixture
def failing_compiler(monkeypatch):
    """A compiler that takes no module."""

    def failing(source, target, stages=""):
        error = compiler.ir.DiagnosticError("the pass gave up")
        error.message, error.file, error.line, error.col = "the pass gave up", __file__, 1, 1
        raise error

    monkeypatch.setattr(compiler.ir, "compile", failing)


def failure_text(function=guarded_source):
    with pytest.raises(tz.CompileError, match="the pass gave up") as caught:
        tz.jit(function)[(1,)](np.zeros(4, np.int32), 0, N=4)
    return str(caught.value)


@pytest.fixture
def reproducers(monkeypatch, tmp_path):
    """Where reproducers go."""
    folder = tmp_path / "open" / "reproducers"
    folder.parent.mkdir()
    folder.parent.chmod(0o1777)  # as /tmp is
    monkeypatch.setattr(tz.knobs.compilation, "reproducer_dir", str(folder))
    return folder


def test_failing_pass_writes_a_reproducer(failing_compiler, reproducers):
    found = re.search(r"reproducer: tz-opt --tz-pipeline-(\w+) (\S+\.mlir)", failure_text())
    assert found
    with open(found[2]) as file:
        assert "tile.load" in file.read()
    assert os.path.dirname(found[2]) == str(reproducers)
    assert os.stat(reproducers).st_mode & 0o777 == 0o700
    assert os.stat(found[2]).st_mode & 0o777 == 0o600


def test_reproducer_replaces_a_planted_link(failing_compiler, reproducers, tmp_path):
    """The name of the file can be guessed; a link of that name must lead nowhere."""
    secret = tmp_path / "secret"
    secret.write_text("secret")
    path = re.search(r"\S+\.mlir", failure_text())[0]
    os.remove(path)
    os.symlink(secret, path)
    failure_text()
    assert secret.read_text() == "secret"
    assert not os.path.islink(path)


def test_reproducer_stays_out_of_planted_folders(failing_compiler, reproducers, tmp_path):
    """The folder's name can be guessed, too: what another user made of it is refused, and the error is still told."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    os.mkdir(reproducers)
    os.chmod(reproducers, 0o777)
    assert "no reproducer could be written: open folder" in failure_text()
    assert not os.listdir(reproducers)
    os.rmdir(reproducers)
    if os.geteuid() == 0:  # only root can give a link away
        os.symlink(home, reproducers)
        os.lchown(reproducers, 65534, 65534)
        assert "is a link of user 65534" in failure_text()
        assert not os.listdir(home)
        os.remove(reproducers)
        os.mkdir(reproducers, mode=0o700)
        os.chown(reproducers, 65534, 65534)
        assert "it belongs to user 65534" in failure_text()
        assert not os.listdir(reproducers)


@pytest.mark.parametrize("name", ["../../escape", "x" * 400, "größe", "a b;rm"])
def test_reproducer_of_any_name(failing_compiler, reproducers, name):
    def kernel(x_ptr, limit, N: tl.constexpr):
        tl.store(x_ptr + tl.arange(0, N), limit)

    kernel.__name__ = name
    path = re.search(r"reproducer: .* (\S+\.mlir)", failure_text(kernel))[1]
    assert os.path.dirname(os.path.realpath(path)) == os.path.realpath(reproducers)


def test_no_reproducer_without_a_folder(failing_compiler, reproducers, monkeypatch):
    monkeypatch.setattr(tz.knobs.compilation, "reproducer_dir", "")
    assert "no reproducer is kept" in failure_text()
    assert not reproducers.exists()


def test_unknown_target():
    code = "import terrazzo as tz\ntry:\n  tz.devices.target()\nexcept tz.TerrazzoError as e:\n  print(e)"
    env = {**os.environ, "TERRAZZO_TARGET": "abacus:90", "PYTHONPATH": os.path.dirname(os.path.dirname(tz.__file__))}
    text = subprocess.check_output([sys.executable, "-c", code], env=env, text=True)
    assert "no target 'abacus:90', expected one of: cpu, cuda, hip" in text
