# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Code compiled ahead of time, launched by nothing but its description and ctypes."""

import ctypes
import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from terrazzo.tools.compile import main

KERNELS = """
import terrazzo as tz
import terrazzo.language as tl

@tz.jit
def scale(x_ptr, y_ptr, factor, shift: tl.int64, flag: tl.int1, n, one, BLOCK: tl.constexpr, NAME: tl.constexpr = "a"):
    pid = tl.program_id(0) + tl.program_id(1) * tl.num_programs(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i * one, mask=i < n, other=0.0)
    tl.store(y_ptr + i, tl.where(flag, x * factor + shift.to(tl.float32), x), mask=i < n)

@tz.jit
def through(p_ptr, x_ptr, y_ptr):
    tl.store(tl.load(p_ptr).to(tl.pointer_type(tl.float32)), tl.load(x_ptr))

@tz.jit
def checked(x_ptr, LIMIT: tl.constexpr):
    x = tl.load(x_ptr)
    tl.device_print("x", x)
    tl.store(x_ptr, x + LIMIT)
"""
SIGNATURE = ["--signature", "*fp32:16, *fp32, fp32, i64, i1, i32:16, i32:1", "--constexpr", "BLOCK=16"]
MODULE = """
func.func @fill(%p: !tile.ptr<i32> {tile.name = "p", tile.divisibility = 64 : i32}, %v: i32 {tile.name = "v"})
    attributes {tile.kernel} {
  tile.store %p, %v : !tile.ptr<i32>, i32
  return
}
"""
INTEGERS = {1: ctypes.c_int8, 2: ctypes.c_int16, 4: ctypes.c_int32, 8: ctypes.c_int64}
FLOATS = {4: ctypes.c_float, 8: ctypes.c_double}


class Context(ctypes.Structure):
    """KernelContext of CpuAbi.h."""

    _fields_ = (
        ("grid", ctypes.c_int32 * 3),
        ("cancel", ctypes.POINTER(ctypes.c_int32)),
        ("stop", ctypes.c_void_p),
        ("fail", ctypes.c_void_p),
        ("print", ctypes.c_void_p),
        ("runtime", ctypes.c_void_p),
    )


class Launcher:
    """Loads what a description names and calls it; knows no compiler."""

    def __init__(self, path):
        self.facts = json.loads(Path(path).read_text("utf-8"))
        assert (self.facts["format"], self.facts["version"]) == ("terrazzo-kernel", 1)
        assert self.facts["target"] == "cpu"
        code = Path(path).parent / self.facts["code"]["file"]
        data = code.read_bytes()
        assert len(data) == self.facts["code"]["bytes"]
        assert hashlib.sha256(data).hexdigest() == self.facts["code"]["sha256"]
        library = code.resolve().with_suffix(".so")
        linker = next(tool for tool in ("cc", "gcc", "clang", "clang-22") if shutil.which(tool))
        subprocess.run([linker, "-shared", "-o", library, code, "-lm"], check=True)
        self.function = getattr(ctypes.CDLL(str(library)), self.facts["entry"])
        self.function.restype = None
        self.function.argtypes = (ctypes.c_void_p, ctypes.POINTER(Context), ctypes.c_int64, ctypes.c_int64)

    def value(self, argument, given):
        if argument["equals"] is not None:
            assert given == argument["equals"]
        if argument["kind"] == "pointer":
            given = given.ctypes.data
        if argument["divisible_by"] > 1:
            assert given % argument["divisible_by"] == 0
        table = FLOATS if argument["kind"] == "float" else INTEGERS
        return table[argument["bytes"]](given)

    def __call__(self, grid, **given):
        values = [self.value(argument, given.pop(argument["name"])) for argument in self.facts["arguments"]]
        assert not given
        args = (ctypes.c_void_p * len(values))(*[ctypes.addressof(v) for v in values])
        running = ctypes.c_int32(0)
        context = Context((ctypes.c_int32 * 3)(*grid), ctypes.pointer(running))
        self.function(args, ctypes.byref(context), 0, grid[0] * grid[1] * grid[2])


def aligned(count, dtype):
    """An array at an address that 64 divides."""
    room = np.zeros(count * np.dtype(dtype).itemsize + 64, np.uint8)
    start = -room.ctypes.data % 64
    return room[start : start + count * np.dtype(dtype).itemsize].view(dtype)


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernels_to_launch.py").write_text(KERNELS)
    return "kernels_to_launch.py"


def described(path):
    return json.loads(Path(path).read_text("utf-8"))


def test_a_launcher_needs_nothing_else(file):
    assert main([f"{file}::scale", *SIGNATURE]) == 0
    launcher = Launcher("scale.o.json")
    x, y = aligned(48, np.float32), aligned(48, np.float32)
    x[:] = np.arange(48)
    launcher((3, 1, 1), x_ptr=x, y_ptr=y, factor=2.5, shift=-3, flag=1, n=48, one=1)
    assert np.array_equal(y, x * np.float32(2.5) - 3)
    y[:] = 0
    launcher((1, 2, 1), x_ptr=x, y_ptr=y, factor=2.5, shift=-3, flag=0, n=32, one=1)
    assert y[:32].tolist() == x[:32].tolist()
    assert not y[32:].any()


def test_description(file):
    assert main([f"{file}::scale", *SIGNATURE, "-o", "out/../named.o"]) == 2  # no such folder
    assert main([f"{file}::scale", *SIGNATURE, "-o", "named.o"]) == 0
    facts = described("named.o.json")
    rows = {a["name"]: (a["kind"], a["dtype"], a["bytes"], a["divisible_by"], a["equals"]) for a in facts["arguments"]}
    assert list(rows) == ["x_ptr", "y_ptr", "factor", "shift", "flag", "n", "one"]
    assert rows["x_ptr"] == ("pointer", "f32", 8, 16, None)
    assert rows["y_ptr"] == ("pointer", "f32", 8, 1, None)
    assert rows["factor"] == ("float", "f32", 4, 1, None)
    assert rows["shift"] == ("int", "i64", 8, 1, None)
    assert rows["flag"] == ("int", "i1", 1, 1, None)
    assert rows["n"] == ("int", "i32", 4, 16, None)
    assert rows["one"] == ("int", "i32", 4, 1, 1)
    assert [a["name"] for a in facts["arguments"] if a["written"]] == ["y_ptr"]
    assert facts["constants"] == {"BLOCK": 16, "NAME": "a"}
    assert facts["kernel"] == "scale"
    assert facts["code"]["file"] == "named.o"
    assert facts["launch"]["threads"] == facts["launch"]["warps"] == 1
    assert facts["launch"]["stack_bytes"] > 0
    assert facts["launch"]["output"] is False


def test_a_pointer_of_unknown_origin_may_write_any_array(file):
    assert main([f"{file}::through", "--signature", "*i64, *fp32, *fp32", "-o", "through.o"]) == 0
    assert all(a["written"] for a in described("through.o.json")["arguments"])


@pytest.mark.parametrize(("target", "warp"), [("cuda:sm_90a", 32), ("hip:gfx942", 64), ("hip:gfx1100", 32)])
def test_description_for_gpus(file, target, warp):
    command = [f"{file}::checked", "--signature", "*i32:16", "--constexpr", "LIMIT=2", "--target", target]
    assert main([*command, "--option", "num_warps=2", "-o", "code"]) == 0
    facts = described("code.json")
    assert f"{facts['target']}:{facts['chip']}" == target
    assert facts["launch"]["threads"] == 2 * warp
    assert facts["launch"]["warps"] == 2
    assert facts["launch"]["output"] is True
    assert [(line["text"], Path(line["file"]).name) for line in facts["lines"]] == [("x", file)]
    assert facts["prints"] == [{"line": 0, "operand": 0, "dtype": "i32", "shape": [], "hex": False}]
    assert facts["entry"].encode() in Path("code").read_bytes()


def test_modules_are_described_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("fill.mlir").write_text(MODULE)
    assert main(["fill.mlir", "-o", "fill.o"]) == 0
    launcher = Launcher("fill.o.json")
    assert launcher.facts["arguments"][0]["divisible_by"] == 64
    p = aligned(1, np.int32)
    launcher((1, 1, 1), p=p, v=-7)
    assert p[0] == -7


@pytest.mark.parametrize("emit", ["obj", "asm", "llir"])
def test_a_stage_is_written_alone(file, emit):
    assert main([f"{file}::scale", *SIGNATURE, "--emit", emit, "-o", "alone"]) == 0
    assert not Path("alone.json").exists()


def test_every_key_is_documented(file):
    """The page in docs/howto is the definition: it names each key of a description."""
    page = (Path(__file__).parents[3] / "docs" / "howto" / "launch-compiled-code.md").read_text("utf-8")
    assert main([f"{file}::scale", *SIGNATURE]) == 0
    facts = described("scale.o.json")
    plain = [key for key in facts if key != "launch"]
    for key in (*plain, *facts["code"], *facts["arguments"][0], *facts["resources"]):
        assert f"`{key}`" in page, key
    for key in facts["launch"]:
        assert f"`launch.{key}`" in page, key
