# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The host side as tools around kernels use it: jit functions, compiled kernels, hooks, caches, wrapped arrays."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl
from terrazzo import cache_managers, store
from terrazzo.driver import driver


@tz.jit
def scale(x_ptr, n, factor, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) * factor, mask=i < n)


@tz.jit
def other(x_ptr):
    tl.store(x_ptr, 1.0)


def fresh(**options):
    return tz.jit(scale.fn, **options)


def ones(n=8):
    return np.ones(n, np.float32)


def test_a_function_of_another_text():
    kernel = fresh()
    before = kernel.cache_key
    kernel._unsafe_update_src(kernel.src.replace("* factor", "* factor + 1"))
    assert kernel.cache_key != before
    x = ones()
    kernel[(1,)](x, 8, 3.0, BLOCK=8)
    assert x.tolist() == [4.0] * 8
    kernel._unsafe_update_src(kernel.src.replace("* factor + 1", "* factor"))
    assert kernel.cache_key == before
    kernel[(1,)](x, 8, 2.0, BLOCK=8)
    assert x.tolist() == [8.0] * 8
    assert kernel.__globals__ is scale.fn.__globals__
    with pytest.raises(tz.CompileError, match=r"expected the text of a function scale\(\)"):
        kernel._unsafe_update_src("def other(): pass")
    with pytest.raises(AttributeError):
        kernel.src = "def scale(): pass"


@tz.jit
def inner(x):
    return x + 1


LIMIT = tl.constexpr(7)


@tz.jit
def outer(x_ptr):
    tl.store(x_ptr, inner(float(LIMIT)))


def test_callers_of_a_function_of_another_text():
    before, text = outer.cache_key, inner.src
    inner._unsafe_update_src(text.replace("+ 1", "+ 2"))
    outer.hash = None
    x = ones(1)
    assert outer.cache_key != before
    outer[(1,)](x)
    inner._unsafe_update_src(text)
    outer.hash = None
    assert outer.hash == before
    assert x[0] == 9
    outer[(1,)](x)
    assert x[0] == 8


def test_global_constants():
    assert [name for name, _ in outer.used_global_vals] == ["LIMIT"]
    assert scale.used_global_vals == {}


def test_names_with_constants():
    kernel = fresh(repr=lambda spec: f"scale<{spec.constants['BLOCK']}, {spec.signature['x_ptr']}>")
    compiled = kernel[(1,)](ones(), 8, 3.0, BLOCK=8)
    assert compiled.name == compiled.metadata.name == "scale_8___fp32_"
    assert "@scale_8___fp32_(" in compiled.asm["tile"]
    assert kernel[(1,)](ones(), 8, 3.0, BLOCK=4).name == "scale_4___fp32_"
    assert fresh().repr(None) == "scale"


def test_hooks_of_one_function():
    seen = []
    kernel = fresh()

    def named(**arguments):
        seen.append(sorted(k for k in arguments if k in kernel.arg_names))

    kernel.pre_run_hooks.append(named)
    kernel.pre_run_hooks.append(lambda x, n, *rest, **options: seen.append((n, options["BLOCK"])))
    kernel[(1,)](ones(), 8, 3.0, BLOCK=8)
    assert seen == [["BLOCK", "factor", "n", "x_ptr"], (8, 8)]
    kernel.pre_run_hooks.clear()
    kernel[(1,)](ones(), 8, 3.0, BLOCK=8)
    assert len(seen) == 2


def test_hooks_around_compilation():
    told = []
    knobs = tz.knobs.runtime
    with knobs.scope():
        knobs.jit_cache_hook = lambda **facts: told.append(("before", facts))
        knobs.jit_post_compile_hook = lambda **facts: told.append(("after", facts))
        kernel = fresh()
        for _ in range(2):
            kernel[(1,)](ones(), 8, 3.0, BLOCK=8, num_warps=2)
    assert [when for when, _ in told] == ["before", "after"]
    facts = told[0][1]
    assert facts["fn"].jit_function is kernel
    assert (facts["fn"].name, facts["is_manual_warmup"]) == ("scale", False)
    assert facts["compile"]["num_warps"] == 2
    assert facts["compile"]["constants"] == {"BLOCK": 8}
    assert facts["key"] == facts["compile"]["key"] == kernel.last.hash


def test_a_hook_that_takes_compilation_over():
    with tz.knobs.runtime.scope():
        tz.knobs.runtime.jit_cache_hook = lambda **facts: True
        assert fresh().warmup("*fp32", 8, 3.0, BLOCK=8, grid=(1,)) is None
        with pytest.raises(RuntimeError, match=r"jit_cache_hook took the compilation of scale\(\) over"):
            fresh()[(1,)](ones(), 8, 3.0, BLOCK=8)


def test_preload(builds):
    told = []
    with tz.knobs.runtime.scope():
        tz.knobs.runtime.jit_cache_hook = lambda **facts: told.append(facts["compile"]["specialization_data"])
        first = fresh().warmup("*fp32", 8, 3.0, BLOCK=8, grid=(1,))
    kernel = fresh()
    assert kernel.preload(told[0]).hash == first.hash
    assert kernel.warmup("*fp32", 8, 3.0, BLOCK=8, grid=(1,)).hash == first.hash
    assert len(kernel.device_caches[0][0]) == 1
    assert len(builds) == 1
    with pytest.raises(RuntimeError, match="Specialization data is for .*scale"):
        other.preload(told[0])
    with pytest.raises(tz.ArgumentError, match="takes the specialization_data that a hook was given"):
        kernel.preload(json.dumps({"name": 1}))


def test_hooks_around_launches_are_put_back():
    seen = []
    with tz.knobs.runtime.scope():
        tz.knobs.runtime.launch_enter_hook.add(lambda metadata: seen.append(metadata.get()["name"]))
        tz.knobs.runtime.launch_exit_hook = lambda metadata: seen.append("done")
        scale[(1,)](ones(), 8, 3.0, BLOCK=8)
    scale[(1,)](ones(), 8, 3.0, BLOCK=8)
    assert seen == ["scale", "done"]


def test_listener_of_compilation():
    told = []
    with tz.knobs.compilation.scope():
        tz.knobs.compilation.listener = lambda **facts: told.append(facts)
        fresh()[(1,)](ones(), 8, 3.0, BLOCK=8)
        fresh()[(1,)](ones(), 8, 3.0, BLOCK=8)
    assert [facts["cache_hit"] for facts in told] == [False, True]
    assert told[0]["times"].total_lowering > 0
    assert told[1]["times"].total_lowering == 0
    assert told[0]["src"].constants == {"BLOCK": 8}
    assert told[0]["metadata"]["name"] == "scale"


def test_knobs_of_absent_compilers_can_be_set():
    with tz.knobs.nvidia.scope():
        tz.knobs.nvidia.disable_ptxas_opt = True
        assert tz.knobs.nvidia.disable_ptxas_opt is True
    assert tz.knobs.nvidia.disable_ptxas_opt is None


def test_compiled_kernels():
    compiled = scale[(1,)](ones(), 8, 3.0, BLOCK=8)
    assert (compiled.n_regs, compiled.n_spills, compiled.shared) == (0, 0, compiled.metadata.shared)
    assert compiled.metadata.target.backend == "cpu"
    assert compiled.asm["ttir"] == compiled.asm["tile"]
    assert "ttir" in compiled.asm
    assert "ptx" not in compiled.asm
    x, calls = ones(), []
    told = compiled.launch_metadata((1, 1, 1))
    compiled.run(1, 1, 1, 0, compiled.function, compiled.packed_metadata, told, calls.append, calls.append, x, 8, 2.0)
    assert x.tolist() == [2.0] * 8
    assert [c["name"] for c in calls] == ["scale", "scale"]


def test_compiled_kernels_take_none_by_position():
    @tz.jit
    def fill(x_ptr, y_ptr, N: tl.constexpr):
        tl.store(x_ptr + tl.arange(0, N), 2.0 if y_ptr is None else 3.0)

    compiled = fill[(1,)](ones(), None, N=8)
    x = ones()
    compiled[(1,)](x, None)
    assert x.tolist() == [2.0] * 8


def test_modules_are_compiled_and_launched(tmp_path):
    path = tmp_path / "scale.ttir"
    path.write_text(scale.warmup("*fp32", 9, 3.0, BLOCK=8, grid=(1,)).asm["ttir"])
    compiled = tz.compile(str(path))
    x = ones()
    compiled[(1,)](x, 5, 3.0)
    assert x.tolist() == [3.0] * 5 + [1.0] * 3
    assert compiled.name == "scale"
    assert compiled.signature == "*fp32, i32, fp32"
    with pytest.raises(tz.ArgumentError, match="takes 3 arguments, found 1"):
        compiled[(1,)](x)
    path.write_text("module {}")
    with pytest.raises(tz.CompileError, match="expected a module with a kernel"):
        tz.compile(path)


def test_sources_take_descriptors_and_texts():
    facts = tz.sources.AttrsDescriptor(divisible_by_16=(0,))
    assert tz.sources.AttrsDescriptor.from_dict(facts.to_dict()) == facts
    compiled = tz.compile(tz.ASTSource(scale, "*fp32,i32,fp32", {"BLOCK": 8}, facts))
    assert compiled.signature == "*fp32:16, i32, fp32, constexpr"


def test_wrapped_arrays():
    x = np.arange(4, dtype=np.float32)
    wrapped = tz.reinterpret(x, tl.uint32)
    copy = wrapped.clone()
    assert (copy.dtype, copy.data_ptr() != wrapped.data_ptr()) == (tl.uint32, True)
    copy.base[:] = 0
    assert wrapped.copy_(copy) is wrapped
    assert x.tolist() == [0.0] * 4
    with pytest.raises(TypeError, match="Cannot reinterpret a int"):
        tz.reinterpret(5, tl.int32)


def test_cached_files(tmp_path):
    manager = cache_managers.get_cache_manager("ab" * 32)
    assert not manager.has_file("a.txt")
    path = manager.put("text", "a.txt", binary=False)
    assert manager.get_file("a.txt") == path
    with open(path) as file:
        assert file.read() == "text"
    manager.put_group("all", {"a.txt": path, "gone": str(tmp_path / "gone")})
    assert manager.get_group("all") == {"a.txt": path}
    assert manager.get_group("none") is None
    assert cache_managers.triton_key() == store.fingerprint()


class Recorded(cache_managers.FileCacheManager):
    """A manager that notes what is asked of it."""

    log = []  # noqa: RUF012

    def get_file(self, filename):
        self.log.append("get")
        return super().get_file(filename)

    def put(self, data, filename, binary=True):
        self.log.append("put")
        return super().put(data, filename, binary)


def test_a_manager_by_its_name_keeps_kernels(monkeypatch, builds):
    monkeypatch.setattr(tz.knobs.cache, "manager_class", f"{__name__}:Recorded")
    monkeypatch.setitem(__import__("sys").modules, __name__, __import__("types").SimpleNamespace(Recorded=Recorded))
    Recorded.log.clear()
    for _ in range(2):
        fresh()[(1,)](ones(), 8, 3.0, BLOCK=8)
    assert Recorded.log == ["get", "put", "get"]
    assert len(builds) == 1


class Elsewhere(cache_managers.RemoteCacheBackend):
    """A store in a dictionary."""

    files = {}  # noqa: RUF012

    def __init__(self, key):
        self.key = key

    def get(self, filenames):
        return {n: self.files[self.key, n] for n in filenames if (self.key, n) in self.files}

    def put(self, filename, data):
        self.files[self.key, filename] = data


def test_a_store_elsewhere(monkeypatch, builds):
    monkeypatch.setattr(tz.knobs.cache, "manager_class", cache_managers.RemoteCacheManager)
    with pytest.warns(tz.CacheWarning, match="expects a class in knobs.cache.remote_manager_class, found None"):
        fresh()[(1,)](ones(), 8, 3.0, BLOCK=8)
    monkeypatch.setattr(tz.knobs.cache, "remote_manager_class", Elsewhere)
    for _ in range(2):
        fresh()[(1,)](ones(), 8, 3.0, BLOCK=8)
    assert len(builds) == 2
    assert len(Elsewhere.files) == 1


def test_names_of_files_for_triton():
    code = """
import terrazzo.compat, triton, triton.language as tl, triton.runtime.driver as driver
from triton.backends import backends
from triton.backends.compiler import AttrsDescriptor, BaseBackend, GPUTarget
from triton.backends.driver import DriverBase, GPUDriver
from triton.backends.nvidia.driver import CudaDriver
from triton.compiler import CompiledKernel, IRSource, make_backend
from triton.compiler.compiler import LaunchMetadata, LazyDict, triton_key
from triton.runtime.autotuner import Autotuner, OutOfResources, PTXASError
from triton.runtime.cache import FileCacheManager, default_cache_dir, get_cache_manager
from triton.runtime.errors import AutotunerError, InterpreterError
from triton.runtime.jit import JITCallable, JITFunction, KernelParam, TensorWrapper
from triton.tools.disasm import get_sass
from triton.tools.mxfp import MXFP4Tensor, MXScaleTensor
assert driver.active.get_benchmarker() is triton.testing.do_bench
assert [name for name, b in backends.items() if b.driver.is_active()] == ["cpu"]
assert make_backend(driver.active.get_current_target()).parse_options({"num_warps": 8}).num_warps == 8
assert tl.core.CONSTEXPR_0.value == 0 and isinstance(tl.core.CONSTEXPR_0, tl.core.base_value)
assert triton.aggregate is tl.core._aggregate
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_driver():
    active = driver.active
    assert active.get_current_target().backend == "cpu"
    assert active.get_device_capability() == (0, 0)
    assert active.get_current_stream(0) == 0
    assert active.utils.get_device_properties(0)["multiprocessor_count"] == os.cpu_count()
    driver.set_active("mine")
    assert driver.active == "mine"
    driver.reset_active()
    assert driver.active is driver.default
