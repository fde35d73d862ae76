# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files that say `import triton` run unmodified."""

import os
import subprocess
import sys
import textwrap

import pytest
import terrazzo as tz

SCRIPT = """
import sys
import numpy as np
import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.runtime import driver
from triton.runtime.jit import JITFunction
from triton.compiler.errors import CompilationError, CompileTimeAssertionFailure
from triton.compiler import ASTSource, CompiledKernel
from triton.backends.compiler import GPUTarget
from triton.tools.tensor_descriptor import TensorDescriptor
from triton import Config, autotune, cdiv, heuristics, jit, next_power_of_2
import triton.testing

@triton.autotune(configs=[triton.Config({"BLOCK": b}, num_warps=4) for b in (16, 32)], key=["n"])
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def add(x_ptr, y_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, tl.math.exp(x) + 1, mask=mask)

x, y = np.zeros(100, np.float32), np.zeros(100, np.float32)
add[lambda meta: (triton.cdiv(100, meta["BLOCK"]),)](x, y, 100)
assert (y == 2).all()
assert isinstance(add.base_fn, JITFunction)
assert tuple(int(p) for p in triton.__version__.split(".")) >= (3, 0, 0)
assert driver.active.get_current_target().backend == "cpu"
assert triton.runtime.driver.active.get_current_device() == 0
assert GPUTarget("cuda", 90, 32).arch == 90
assert triton.testing.do_bench(lambda: None, warmup=1, rep=1) >= 0
assert triton.language is tl

@triton.jit
def bad(x_ptr):
    tl.static_assert(1 == 2, "no")

for kind in (CompilationError, triton.TritonError, CompileTimeAssertionFailure, triton.CompilationError):
    try:
        bad[(1,)](x)
    except kind as error:
        assert "no" in str(error)
    else:
        sys.exit("no error")
print("done", *sys.argv[1:])
"""


def run(*arguments, cwd, **env):
    env = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(tz.__file__)), "TERRAZZO_CACHE_DIR": "", **env}
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, cwd=cwd, env=env, timeout=200)


def test_runs_a_script(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    found = run("-m", "terrazzo.compat", "script.py", "a", "--b", cwd=tmp_path)
    assert (found.stdout, found.returncode) == ("done a --b\n", 0), found.stderr


def test_import_of_compat(tmp_path):
    (tmp_path / "script.py").write_text("import terrazzo.compat\n" + SCRIPT)
    found = run("script.py", cwd=tmp_path)
    assert (found.stdout, found.returncode) == ("done\n", 0), found.stderr


@pytest.mark.parametrize(("arguments", "message"), [((), "usage: "), (("gone.py",), "no such file: gone.py")])
def test_bad_command_lines(arguments, message, tmp_path):
    found = run("-m", "terrazzo.compat", *arguments, cwd=tmp_path)
    assert found.returncode == 2
    assert message in found.stderr
    assert "Traceback" not in found.stderr


def test_triton_that_is_there_already(tmp_path):
    (tmp_path / "triton.py").write_text("x = 1\n")
    (tmp_path / "script.py").write_text("import triton\nimport terrazzo.compat\n")
    found = run("script.py", cwd=tmp_path)
    assert "TerrazzoError: triton is imported already" in found.stderr


def test_modules_have_specs_and_names(tmp_path):
    (tmp_path / "script.py").write_text(
        textwrap.dedent("""
        import importlib.util, sys
        import terrazzo.compat
        import triton
        assert importlib.util.find_spec("triton") is not None
        assert "jit" in dir(triton)
        try:
            triton.no_such_name
        except AttributeError as error:
            assert "module 'triton' has no attribute 'no_such_name'" in str(error)
        terrazzo.compat.install()
        terrazzo.compat.uninstall()
        assert "triton" not in sys.modules
        """)
    )
    found = run("script.py", cwd=tmp_path)
    assert found.returncode == 0, found.stderr
