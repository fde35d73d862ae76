# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cache on disk: hits, damage, and doing without."""

import glob
import os
import random
import subprocess
import sys
import warnings

import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl
from terrazzo import store


def add_source(x_ptr, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(x_ptr + i, tl.load(x_ptr + i) + 1)


def launch(**kwargs):
    """Launches a new jit function of the same text, so that memory knows nothing of it."""
    kernel = tz.jit(add_source)
    x = np.zeros(8, np.float32)
    kernel[(1,)](x, n=8, **kwargs)
    assert x.tolist() == [1.0] * 8
    return kernel


def entries():
    return [p for p in glob.glob(os.path.join(tz.knobs.cache.dir, "**"), recursive=True) if os.path.isfile(p)]


def test_second_function_of_the_same_text_is_loaded(builds):
    launch()
    launch()
    assert len(builds) == 1


def test_cleared_functions_compile_again_from_disk(builds):
    kernel = launch()
    kernel.device_caches.clear()
    assert len(kernel.device_caches[0][0]) == 0
    kernel[(1,)](np.zeros(8, np.float32), n=8)
    assert len(builds) == 1
    assert len(kernel.device_caches[0][0]) == 1


def test_damaged_entry_is_compiled_again_with_a_warning(builds):
    launch()
    large = max(entries(), key=os.path.getsize)
    with open(large, "r+b") as file:
        file.seek(os.path.getsize(large) // 2)
        file.write(b"\0\1\2\3damage")
    with pytest.warns(tz.CacheWarning, match="compiled again"):
        launch()
    assert len(builds) == 2
    launch()
    assert len(builds) == 2


def test_without_a_cache(builds, monkeypatch):
    monkeypatch.setattr(tz.knobs.cache, "dir", "")
    launch()
    launch()
    assert len(builds) == 2


def test_directory_that_cannot_be_made(builds, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(tz.knobs.cache, "dir", str(tmp_path / "file" / "cache"))
    with pytest.warns(tz.CacheWarning, match="without a cache"):
        launch()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        launch()
    assert len(builds) == 2


def test_always_compile(builds, monkeypatch):
    launch()
    monkeypatch.setattr(tz.knobs.compilation, "always_compile", True)
    launch()
    assert len(builds) == 2


@tz.jit
def ignores(x_ptr, thing: tl.constexpr):
    tl.store(x_ptr, 1)


def test_objects_that_nobody_sees_into_stay_in_memory(builds):
    x = np.zeros(1, np.float32)
    kernel = tz.jit(ignores.fn)
    for thing in (random.Random(1), random.Random(1)):
        kernel[(1,)](x, thing)
        kernel[(1,)](x, thing)
    assert len(builds) == 2
    assert entries() == []


def test_objects_of_equal_contents_are_one_constant(builds):
    class Thing:
        def __init__(self, value):
            self.value = value

    x = np.zeros(1, np.float32)
    kernel = tz.jit(ignores.fn)
    for value in (8, 8, 9):
        kernel[(1,)](x, Thing(value))
    assert len(builds) == 2


@pytest.mark.parametrize(
    ("text", "size"), [("1000", 1000), ("5K", 5 << 10), ("500M", 500 << 20), ("2g", 2 << 30), ("1T", 1 << 40)]
)
def test_sizes(text, size):
    assert tz.knobs.size_from_text(text) == size


@pytest.mark.parametrize("text", ["", "0", "-5", "2X", "many", "1.5G"])
def test_bad_sizes(text):
    with pytest.raises(tz.TerrazzoError, match="TERRAZZO_CACHE_SIZE is"):
        tz.knobs.size_from_text(text)


SCRIPT = """
import numpy as np, terrazzo as tz
from terrazzo._terrazzo import ir
from cached_kernel import kernel
compile = ir.compile
def counted(*a):
    print("compiled")
    return compile(*a)
ir.compile = counted
x = np.zeros(8, np.float32)
kernel[(1,)](x, n=8)
kernel.device_caches.clear()
fresh = tz.jit(kernel.fn)
fresh[(1,)](x, n=8)
assert x.tolist() == [2.0] * 8, x
"""


def test_other_processes_find_it(tmp_path):
    (tmp_path / "cached_kernel.py").write_text(
        "import terrazzo as tz, terrazzo.language as tl\n@tz.jit\ndef kernel(x_ptr, n: tl.constexpr):\n"
        "    i = tl.arange(0, n)\n    tl.store(x_ptr + i, tl.load(x_ptr + i) + 1)\n"
    )
    env = {**os.environ, "TERRAZZO_CACHE_DIR": str(tmp_path / "c")}
    env["PYTHONPATH"] = os.pathsep.join([str(tmp_path), os.path.dirname(os.path.dirname(tz.__file__))])
    runs = [
        subprocess.run([sys.executable, "-c", SCRIPT], env=env, capture_output=True, text=True, timeout=120)
        for _ in range(2)
    ]
    assert [r.returncode for r in runs] == [0, 0], runs[0].stderr + runs[1].stderr
    assert runs[0].stdout.count("compiled") == 1
    assert "compiled" not in runs[1].stdout


def test_store_keeps_bytes():
    store.put("k" * 32, b"some bytes")
    assert store.get("k" * 32) == b"some bytes"
    assert store.get("m" * 32) is None
