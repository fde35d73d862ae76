# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ctrl-C while a kernel is compiled: what it does, and that nothing of the compile is left.

Each case is a process of its own, which interrupts itself once its compile has begun. The module is so long that the
compile outlasts every wait here; a case passes by the order of events, not by a time.
"""

import os
import signal
import subprocess
import sys
import textwrap

import pytest
import terrazzo as tz

# Text of a module whose compile takes long: `count` operations in a row, none of which folds.
COMMON = """
import os, signal, sys, threading, time
# Where the suite was started in the background, its children have SIGINT ignored, and Python leaves it so.
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
import terrazzo as tz
import terrazzo.language as tl
from terrazzo._terrazzo import ir

def module(count):
    lines = ["module {", "func.func @long(%x: !tile.ptr<i32>, %n: i32) attributes {tile.kernel} {",
             "%0 = tile.load %x : !tile.ptr<i32> -> i32"]
    for i in range(count):
        op = ("arith.muli", "arith.xori", "arith.addi")[i % 3]
        lines.append(f"%{i + 1} = {op} %{i}, %{'n' if i % 2 else i} : i32")
    lines += [f"tile.store %x, %{count} : !tile.ptr<i32>, i32", "return", "}", "}"]
    return "\\n".join(lines)

def interrupt_soon(number=signal.SIGINT):
    def run():
        time.sleep(0.3)
        os.kill(os.getpid(), number)
    threading.Thread(target=run).start()

@tz.jit
def small(x):
    tl.store(x, tl.load(x) + 1)

def compiles_again():
    x = np.zeros(1, np.int32)
    small[(1,)](x)
    assert x[0] == 1

ended = []
def watched(text):
    try:
        ir.compile(text, "cpu")
    finally:
        ended.append(True)

LONG = module(400_000)
"""


def run(tmp_path, body, returncode=0):
    script = tmp_path / "script.py"
    script.write_text(COMMON + textwrap.dedent(body))
    env = {
        **os.environ,
        "PYTHONPATH": os.path.dirname(os.path.dirname(tz.__file__)),
        "TERRAZZO_CACHE_DIR": str(tmp_path / "cache"),
    }
    done = subprocess.run([sys.executable, script], env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == returncode, done.stderr
    return done.stdout.split()


def test_interrupts_in_the_middle(tmp_path):
    # A compile that is left behind still runs when the next one is done: nobody waited for it.
    body = """
        interrupt_soon()
        try:
            ir.compile(LONG, "cpu")
            print("finished")
        except KeyboardInterrupt:
            print("interrupted")
        compiles_again()
        print("again")
    """
    assert run(tmp_path, body) == ["interrupted", "again"]


def test_ends_like_every_interrupted_process(tmp_path):
    assert run(tmp_path, 'interrupt_soon()\nir.compile(LONG, "cpu")\n', -signal.SIGINT) == []


@pytest.mark.parametrize("status", [0, 7])
def test_exit_does_not_wait(tmp_path, status):
    # What is left behind neither holds the exit up nor changes its status.
    body = f"""
        import atexit
        atexit.register(lambda: print("bye"))
        interrupt_soon()
        try:
            ir.compile(LONG, "cpu")
        except KeyboardInterrupt:
            sys.exit({status})
    """
    assert run(tmp_path, body, status) == ["bye"]


def test_the_users_handler_decides(tmp_path):
    body = """
        class Enough(Exception):
            pass
        calls = []
        def note(number, frame):
            calls.append(number)
        def refuse(number, frame):
            raise Enough
        # One that returns lets the compile go on ...
        signal.signal(signal.SIGUSR1, note)
        interrupt_soon(signal.SIGUSR1)
        ir.compile(module(20_000), "cpu")
        while not calls:
            time.sleep(0.01)
        print("finished")
        # ... one that raises ends it by its own exception.
        signal.signal(signal.SIGINT, refuse)
        interrupt_soon()
        try:
            ir.compile(LONG, "cpu")
        except Enough:
            print("refused")
        compiles_again()
    """
    assert run(tmp_path, body) == ["finished", "refused"]


def test_compiles_of_other_threads_are_not_in_the_way(tmp_path):
    # Python runs handlers in its main thread: that one is free, and the thread's compile runs to its end.
    body = """
        thread = threading.Thread(target=watched, args=(module(30_000),))
        thread.start()
        interrupt_soon()
        try:
            while True:
                time.sleep(1)
        except KeyboardInterrupt:
            print("interrupted")
        compiles_again()
        thread.join()
        print("joined" if ended else "lost")
    """
    assert run(tmp_path, body) == ["interrupted", "joined"]


def test_exit_with_a_compile_in_a_daemon_thread(tmp_path):
    body = """
        threading.Thread(target=watched, args=(LONG,), daemon=True).start()
        time.sleep(0.5)
        print("leaving")
    """
    assert run(tmp_path, body) == ["leaving"]


def test_a_launch_leaves_no_entry_in_the_cache(tmp_path):
    # The compile of a launch is interrupted, then the same launch is right: from the compiler, not from half an entry.
    lines = "".join(f"            a = (a ^ {i}) * 3 + (a >> 5)\n" for i in range(6000))
    body = """
        @tz.jit
        def long_kernel(x):
            a = tl.load(x)
LINES
            tl.store(x, a)

        real = ir.compile
        def slow(*args):
            print("compiling", flush=True)
            interrupt_soon()
            return real(LONG, "cpu")
        from terrazzo import compiler, store
        compiler.ir.compile = slow
        x = np.ones(1, np.int32)
        try:
            long_kernel[(1,)](x)
        except KeyboardInterrupt:
            print("interrupted")
        compiler.ir.compile = real
        left = [name for _, _, files in os.walk(os.environ["TERRAZZO_CACHE_DIR"]) for name in files]
        print(len([name for name in left if "long_kernel" in name]), x[0])
        long_kernel[(1,)](x)
        want = 1
        for i in range(6000):
            want = ((want ^ i) * 3 + (want >> 5)) & 0xFFFFFFFF
            want -= (want >> 31) << 32
        print(x[0] == want)
    """.replace("LINES\n", lines)
    assert run(tmp_path, body) == ["compiling", "interrupted", "0", "1", "True"]
