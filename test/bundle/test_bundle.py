# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The bundle after its installation: it is small, complete, and lives beside other copies of LLVM in one process."""

import os
import subprocess
import sys

import pytest

MEGABYTE = 1_000_000

KERNEL = """
import numpy
import terrazzo
import terrazzo.language as tl

@terrazzo.jit
def exp_kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.exp(tl.load(x + i, mask=i < n)), mask=i < n)

def use_terrazzo():
    x = numpy.linspace(-3, 3, 1000, dtype=numpy.float32)
    y = numpy.empty_like(x)
    exp_kernel[(8,)](x, y, 1000, BLOCK=128)
    numpy.testing.assert_allclose(y, numpy.exp(x), rtol=1e-5)
"""
TORCH = """
import torch

def use_torch():
    a = torch.randn(64, 64, dtype=torch.float64)
    torch.testing.assert_close(torch.linalg.inv(a) @ a, torch.eye(64, dtype=torch.float64), atol=1e-6, rtol=0)
    scripted = torch.jit.script(lambda_of_two)
    torch.testing.assert_close(scripted(a, a), a * a + a)

def lambda_of_two(x, y):
    return x * y + x
"""
TRITON = """
import triton
import triton.language
from triton.backends.compiler import GPUTarget

@triton.jit
def copy_kernel(x, y, BLOCK: triton.language.constexpr):
    i = triton.language.program_id(0) * BLOCK + triton.language.arange(0, BLOCK)
    triton.language.store(y + i, triton.language.load(x + i))

def use_triton():
    kinds = {"x": "*fp32", "y": "*fp32", "BLOCK": "constexpr"}
    source = triton.compiler.ASTSource(copy_kernel, kinds, constexprs={(2,): 128})
    compiled = triton.compile(source, target=GPUTarget("cuda", 90, 32))
    assert ".entry copy_kernel" in compiled.asm["ptx"]
"""
PARTS = {"terrazzo": KERNEL, "torch": TORCH, "triton": TRITON}


def test_is_small(archive):
    assert archive.stat().st_size < 40 * MEGABYTE


def test_holds_what_a_gpu_machine_needs(unpacked):
    for name in (
        "install.py",
        "lib/libterrazzo.so",
        "include/mlir-c/IR.h",
        "include/terrazzo-c/Runtime.h",
        "python/terrazzo/__init__.py",
        "tools/device/run.py",
        "benchmarks/gpu/compare.py",
    ):
        assert (unpacked / name).exists(), name
    assert [path for path in unpacked.rglob("*.so") if path.name != "libterrazzo.so"] == []


def test_loads_no_llvm_of_the_machine(run):
    maps = run(KERNEL + "use_terrazzo()\nprint(open('/proc/self/maps').read())")
    assert "libterrazzo.so" in maps
    assert "libLLVM" not in maps
    assert "libMLIR" not in maps


@pytest.mark.parametrize(
    "order",
    [
        ("terrazzo", "torch"),
        ("torch", "terrazzo"),
        ("terrazzo", "triton"),
        ("triton", "terrazzo"),
        ("torch", "triton", "terrazzo"),
        ("terrazzo", "triton", "torch"),
    ],
    ids="-".join,
)
def test_shares_a_process(run, order, tmp_path):
    """Each imports in this order, then all are used, in both orders, and once more."""
    uses = "\n".join(f"use_{name}()" for name in (*order, *reversed(order)))
    prefix = f"import os\nos.environ['TRITON_CACHE_DIR'] = {str(tmp_path / 'triton')!r}\n"
    run(prefix + "".join(PARTS[name] for name in order) + uses)


def test_errors_cross_the_library(run):
    """A diagnostic of the compiler's, a failure of the runtime's (thrown in the library, caught there)."""
    code = """
@terrazzo.jit
def wrong(x, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), tl.arange(0, 2 * BLOCK))

try:
    wrong[(1,)](numpy.zeros(8, numpy.int32), BLOCK=4)
except terrazzo.CompileError as error:
    print(error)

from terrazzo._terrazzo import runtime
try:
    runtime.Driver("abacus")
except Exception as error:
    print(error)
use_terrazzo()
"""
    output = run(KERNEL + code)
    assert "program.py" in output
    assert "found 'abacus'" in output


def test_the_runtime_passes_its_tests_here(unpacked, environment):
    env = {**environment, "TERRAZZO_TEST_KERNELS": str(unpacked / "bin" / "kernels")}
    command = [str(unpacked / "bin" / "RuntimeTests"), "--gtest_filter=*DriverConformance*"]
    result = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "[  PASSED  ]" in result.stdout


def test_tests_in_the_bundle_run_on_the_installed_package(unpacked, environment):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test/python/runtime"]
    result = subprocess.run(command, cwd=unpacked, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert " passed" in result.stdout


def test_installation_says_what_is_missing(unpacked, tmp_path):
    command = [sys.executable, str(unpacked / "install.py"), "--target", str(tmp_path)]
    env = {**os.environ, "CXX": "no-such-compiler"}
    result = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "no C++ compiler: expected one of no-such-compiler" in result.stderr
