# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the source of a function is found, and what a key for the cache is made of."""

import linecache
import os
import pty
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import terrazzo.language as tl
from terrazzo import frontend
from terrazzo.errors import CompileError

KERNEL = """
import terrazzo as tz
import terrazzo.language as tl

@tz.jit
def kernel(x):
    tl.store(x, 42)
"""


def launches(kernel):
    x = np.zeros(1, np.int32)
    kernel[(1,)](x)
    return x[0] == 42


def test_exec_of_a_variable():
    text, names = KERNEL, {}
    exec(text, names)
    assert launches(names["kernel"])


def test_exec_of_a_literal():
    names = {}
    exec(
        "import terrazzo as tz\nimport terrazzo.language as tl\n@tz.jit\ndef kernel(x):\n    tl.store(x, 42)\n",
        names,
    )
    assert launches(names["kernel"])


def test_exec_in_a_function_that_returned():
    def make():
        text, names = KERNEL.replace("42", "40 + 2"), {}
        exec(text, names)
        return names["kernel"]

    assert launches(make())


def test_exec_of_bytes_in_a_container():
    sources, names = [KERNEL.encode()], {}
    exec(sources[0], names)
    assert launches(names["kernel"])


def test_two_texts_with_one_name():
    first, second = KERNEL.replace("42", "1"), KERNEL
    names, others = {}, {}
    exec(first, names)
    exec(second, others)
    assert launches(others["kernel"])
    assert not launches(names["kernel"])


def test_cell_of_a_notebook():
    name = "/tmp/ipykernel_1/123.py"
    linecache.cache[name] = (len(KERNEL), None, KERNEL.splitlines(True), name)
    names = {}
    exec(compile(KERNEL, name, "exec"), names)
    assert launches(names["kernel"])


def test_text_that_nobody_holds():
    names = {}
    exec(KERNEL.replace("42", "-1"), names)
    with pytest.raises(CompileError, match=r"the source of kernel\(\) cannot be found; kernels are compiled from"):
        launches(names["kernel"])


def run_python(*arguments, text=None, stdin=None):
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path), TERRAZZO_CACHE_DIR="")
    done = subprocess.run(
        [sys.executable, *arguments], input=text, stdin=stdin, env=env, text=True, capture_output=True, timeout=120
    )
    return done.stdout + done.stderr


LAUNCH = KERNEL + "import numpy as np\nx = np.zeros(1, np.int32)\nkernel[(1,)](x)\nprint('found', x[0])\n"


def test_python_c():
    assert "found 42" in run_python("-c", LAUNCH)


def test_program_from_standard_input(tmp_path):
    path = tmp_path / "program"
    path.write_text(LAUNCH)
    with path.open() as file:
        assert "found 42" in run_python("-", stdin=file)


def test_interactive(tmp_path):
    """What is typed at a prompt comes back from readline's history."""
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path), TERRAZZO_CACHE_DIR="", HOME=str(tmp_path), TERM="dumb")
    typed = LAUNCH.replace("\nimport numpy", "\n\nimport numpy").strip() + "\nexit()\n"
    pid, fd = pty.fork()
    if pid == 0:
        os.execve(sys.executable, [sys.executable, "-q"], env)
    out = b""
    os.write(fd, typed.encode())
    try:
        while chunk := os.read(fd, 4096):
            out += chunk
    except OSError:
        pass
    os.waitpid(pid, 0)
    assert b"found 42" in out.replace(b"print('found'", b"")


def test_decorators_and_indentation(module):
    made = module("""
        def wrap(f):
            return f

        if True:
            class Room:
                @wrap
                @tz.jit(
                    debug=True,
                )
                def kernel(x,
                           y=3):
                    '''A docstring
                with odd indentation.'''
                    tl.store(x, undefined)  # here
    """)
    kernel = made.Room.kernel
    source = frontend.source_of(kernel.fn)
    assert source.text.startswith("def kernel(x,\n")
    assert source.first_line == 7
    with pytest.raises(CompileError) as caught:
        launches(kernel)
    assert caught.value.line == made.line("here")
    assert caught.value.source[caught.value.col :].startswith("undefined")


TWO = """
    K = tl.constexpr(3)
    class config:
        pass

    def outer(value):
        c = tl.constexpr(value)

        @tz.jit
        def helper(x):
            return x * c

        @tz.jit
        def kernel(p, n):
            tl.store(p, helper(n) + K)

        return kernel, helper
"""


def test_dependencies(module):
    made = module(TWO)
    kernel, helper = made.outer(5)
    found = frontend.dependencies(kernel)
    assert [name for name, _ in found.functions] == ["kernel", "helper"]
    assert {name: value.value for name, value in found.constants} == {"K": 3, "c": 5}
    assert ("entry", made.names, "K", made.K) in found.guards
    assert ("entry", made.names, "tl", tl) in found.guards
    assert helper in [g[3] for g in found.guards if g[0] == "cell"]
    assert frontend.dependencies(made.outer(5)[0]).digest == found.digest
    assert frontend.dependencies(made.outer(6)[0]).digest != found.digest


def test_digest_ignores_place_and_sees_text(module):
    def digest(text):
        return frontend.dependencies(module(text).outer(5)[0]).digest

    plain = textwrap.dedent(TWO)
    assert digest(plain) == digest("\n\n\n" + plain)
    assert digest(plain) != digest(plain.replace("x * c", "x + c"))
    assert digest(plain) != digest(plain.replace("constexpr(3)", "constexpr(4)"))
    assert digest(plain) != digest(plain.replace("constexpr(3)", "constexpr(3.0)"))


def test_constants_of_modules_are_dependencies(module):
    import types

    settings = types.ModuleType("settings")
    settings.SIZE = 4
    made = module(
        "@tz.jit\ndef kernel(x):\n    tl.store(x, 38 + settings.SIZE)\n",
        settings=settings,
    )
    assert launches(made.kernel)
    settings.SIZE = 5
    assert not launches(made.kernel)


def test_names_that_appear_later_are_guarded(module):
    made = module("@tz.jit\ndef kernel(x):\n    tl.store(x, LATER)\n")
    with pytest.raises(CompileError, match="'LATER' is not defined"):
        launches(made.kernel)
    made.names["LATER"] = tl.constexpr(42)
    assert launches(made.kernel)


def test_constexpr_function_is_a_dependency(module):
    def digest(body):
        text = f"@tz.constexpr_function\ndef f(x):\n    return {body}\n@tz.jit\ndef kernel(x):\n    tl.store(x, f(2))\n"
        return frontend.dependencies(module(text).kernel).digest

    assert digest("x + 1") == digest("x + 1")
    assert digest("x + 1") != digest("x + 2")
