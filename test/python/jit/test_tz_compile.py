# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tz-compile: what it writes, and how it refuses."""

import os
import subprocess
import sys

import pytest
import terrazzo as tz
from terrazzo import ptxas
from terrazzo.tools.compile import main, split_list

KERNELS = """
import terrazzo as tz
import terrazzo.language as tl

LIMIT = 5


@tz.jit
def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr, MODE: tl.constexpr = "a,b", T: tl.constexpr = tl.float32):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n).to(T)
    tl.store(y_ptr + i, x * (2 if MODE == "a,b" else 3), mask=i < n)


@tz.autotune([tz.Config({"BLOCK": 4})], key=[])
@tz.jit
def tuned(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, BLOCK)


@tz.jit
def broken(x_ptr):
    tl.store(x_ptr, nothing)
"""
TYPES = ["--signature", "*bf16:16, *fp32:16, i32", "--constexpr", "BLOCK=64"]


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "some_kernels.py").write_text(KERNELS)
    return "some_kernels.py"


@pytest.mark.parametrize(
    ("emit", "text"), [("tile", "tile.load"), ("vector", "func"), ("llir", "define"), ("asm", "ret")]
)
def test_text_stages(file, capsys, emit, text):
    assert main([f"{file}::scale", *TYPES, "--emit", emit]) == 0
    assert text in capsys.readouterr().out


def test_objects(file, tmp_path):
    assert main([f"{file}::scale", *TYPES, "--target", "cpu", "-o", "out.o"]) == 0
    assert (tmp_path / "out.o").read_bytes()[:4] == b"\x7fELF"
    assert main([f"{file}::scale", *TYPES]) == 0
    assert (tmp_path / "scale.o").read_bytes() == (tmp_path / "out.o").read_bytes()


@pytest.mark.parametrize(
    ("target", "emit", "text"),
    [
        ("cuda:sm_80", "ptx", ".target sm_80"),
        ("cuda:90", "ptx", ".target sm_90a"),
        ("cuda:sm_90a", "simt", "simt.layout"),
        ("cuda:sm_90a", "llir", "nvptx64-nvidia-cuda"),
        ("hip:gfx942", "amdgcn", "global_load"),
        ("hip:gfx1100", "simt", "simt.layout"),
    ],
)
def test_gpu_text(file, capsys, target, emit, text):
    assert main([f"{file}::scale", *TYPES, "--target", target, "--emit", emit]) == 0
    assert text in capsys.readouterr().out


def test_gpu_code(file, capsys, tmp_path, monkeypatch):
    assert main([f"{file}::scale", *TYPES, "--target", "hip:gfx942"]) == 0
    assert (tmp_path / "scale.hsaco").read_bytes()[:4] == b"\x7fELF"
    assert main([f"{file}::scale", *TYPES, "--target", "cuda:sm_90a"]) == 0
    assert ".entry scale(" in capsys.readouterr().out
    if ptxas.path():
        assert main([f"{file}::scale", *TYPES, "--target", "cuda:sm_90a", "--emit", "cubin"]) == 0
        assert (tmp_path / "scale.cubin").read_bytes()[:4] == b"\x7fELF"
    monkeypatch.setattr(ptxas, "path", lambda: None)
    assert main([f"{file}::scale", *TYPES, "--target", "cuda:sm_90a", "--emit", "cubin"]) == 1
    assert "ptxas is not there" in capsys.readouterr().err


def test_values(file, capsys):
    constants = "BLOCK=8, MODE='x,y', T=tl.float64"
    assert main([f"{file}::scale", "--signature", "*fp32,*fp64,i64", "--constexpr", constants, "--emit", "tile"]) == 0
    assert "f64" in capsys.readouterr().out
    assert main([f"{file}::tuned", "--signature", "*i32", "--constexpr", "BLOCK=4", "--emit", "tile"]) == 0
    assert main([f"{file}::scale", *TYPES, "--option", "num_warps=8,debug=True", "--emit", "tile"]) == 0


def test_module_text(file, capsys, tmp_path):
    assert main([f"{file}::scale", *TYPES, "--emit", "tile", "-o", "m.mlir"]) == 0
    assert main(["m.mlir", "--emit", "llir"]) == 0
    assert "define" in capsys.readouterr().out
    assert main(["m.mlir"]) == 0
    assert (tmp_path / "scale.o").exists()


SCALE = "some_kernels.py::scale"
BAD = {
    "nothing": ([], "the following arguments are required"),
    "unknown flag": ([SCALE, "--emti", "obj"], "unrecognized arguments: --emti"),
    "flag without value": ([SCALE, "--emit"], "argument --emit: expected one argument"),
    "no kernel": (["some_kernels.py"], "is neither FILE.py::KERNEL nor a file that ends in .mlir"),
    "empty kernel": (["some_kernels.py::"], "is neither FILE.py::KERNEL"),
    "no file": (["gone.py::scale"], "no such file: gone.py"),
    "no such kernel": (["some_kernels.py::scal"], "has no kernel 'scal'; it has broken, scale, tuned"),
    "not a kernel": (["some_kernels.py::LIMIT"], "has no kernel 'LIMIT'"),
    "text file": (["notes.txt::scale"], "notes.txt is neither a Python file nor an .mlir file"),
    "file that fails": (["fails.py::k"], "fails.py fails when it is imported: ZeroDivisionError"),
    "no mlir file": (["gone.mlir"], "gone.mlir cannot be read"),
    "signature for mlir": (["gone.mlir", "--signature", "i32"], "--signature has no meaning for an .mlir file"),
    "emit": ([SCALE, *TYPES, "--emit", "ptx"], "--emit is 'ptx', expected one of tile, vector, llir, asm, obj"),
    "target": ([SCALE, *TYPES, "--target", "abacus:90"], "--target: no target 'abacus:90', expected one of: cpu"),
    "hip": ([SCALE, *TYPES, "--target", "hip:gfx1"], "--target: .*'hip'"),
    "chip": ([SCALE, *TYPES, "--target", "cpu:x+fma+mmx2"], "--target: target 'cpu' has no chip 'x\\+fma\\+mmx2'"),
    "no chip after the colon": ([SCALE, *TYPES, "--target", "cpu:"], "--target: no target 'cpu:', expected"),
    "deep constant": ([SCALE, *TYPES, "--constexpr", f"BLOCK={'-' * 100000}1"], "BLOCK is -{77}..., expected"),
    "deep list": ([SCALE, *TYPES, "--constexpr", f"BLOCK={'(' * 5000}1{')' * 5000}"], "BLOCK is .{77}..., expected"),
    "no value": ([SCALE, *TYPES, "--constexpr", "BLOCK={[1]: 2}"], "--constexpr: BLOCK is .*, expected a number"),
    "gpu chip": ([SCALE, *TYPES, "--target", "cuda:sm_1"], "target 'cuda' has no chip 'sm_1': expected one of sm_80, "),
    "no gpu chip": ([SCALE, *TYPES, "--target", "hip"], "target 'hip' needs a chip: expected one of gfx90a, gfx942, "),
    "gpu emit": ([SCALE, *TYPES, "--target", "hip:gfx942", "--emit", "ptx"], "one of tile, simt, llir, amdgcn"),
    "signature short": ([SCALE, "--signature", "*i1", "--constexpr", "BLOCK=4"], "1 types, expected 3: x_ptr, y_"),
    "signature long": ([SCALE, "--signature", "*fp32,*fp32,i32,i32", "--constexpr", "BLOCK=4"], "4 types, expected 3"),
    "signature missing": ([SCALE, "--constexpr", "BLOCK=4"], "--signature lists 0 types, expected 3"),
    "type": ([SCALE, "--signature", "*fp32,*fp32,int", "--constexpr", "BLOCK=4"], "parameter 'n': 'int' is no type"),
    "fact": ([SCALE, "--signature", "*fp32:1,*fp32,i32", "--constexpr", "BLOCK=4"], "parameter 'x_ptr': .*cannot have"),
    "empty fact": ([SCALE, "--signature", "*fp32:,*fp32,i32", "--constexpr", "BLOCK=4"], "parameter 'x_ptr'"),
    "empty entry": ([SCALE, "--signature", "*fp32,,i32", "--constexpr", "BLOCK=4"], "--signature: an empty entry"),
    "no constexpr": ([SCALE, "--signature", "*fp32,*fp32,i32"], "--constexpr: scale needs a value of BLOCK"),
    "unknown constexpr": ([SCALE, *TYPES[:3], "BLOCK=4,BLOK=4"], "--constexpr: scale has no parameter 'BLOK'"),
    "constexpr twice": ([SCALE, *TYPES[:3], "BLOCK=4,BLOCK=8"], "BLOCK is given twice"),
    "no equals": ([SCALE, *TYPES[:3], "BLOCK"], "'BLOCK' is not NAME=VALUE"),
    "no name": ([SCALE, *TYPES[:3], "=4"], "'=4' is not NAME=VALUE"),
    "bare word": ([SCALE, *TYPES[:3], "BLOCK=4,MODE=add"], "MODE is add, expected a number, .* a quoted string"),
    "no such dtype": ([SCALE, *TYPES[:3], "BLOCK=4,T=tl.float33"], "T is tl.float33, expected"),
    "brackets": ([SCALE, *TYPES[:3], "BLOCK=(4"], "--constexpr: unbalanced quotes or brackets"),
    "option": ([SCALE, *TYPES, "--option", "num_wraps=4"], "unknown option 'num_wraps'"),
    "option value": ([SCALE, *TYPES, "--option", "num_warps=3"], "option 'num_warps' is 3"),
    "output": ([SCALE, *TYPES, "-o", "no/such/folder/k.o"], "-o: no/such/folder/k.o cannot be written: No such file"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD, ids=str)
def test_bad_command_lines(file, case, capsys, tmp_path):
    (tmp_path / "fails.py").write_text("1 / 0\n")
    (tmp_path / "notes.txt").write_text("")
    arguments, message = BAD[case]
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("tz-compile: error: ")
    assert err.count("\n") == 1
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(err)


def test_kernel_that_does_not_compile(file, capsys):
    assert main([f"{file}::broken", "--signature", "*i32"]) == 1
    err = capsys.readouterr().err
    assert "some_kernels.py:" in err
    assert "nothing" in err
    assert "Traceback" not in err


def test_module_that_does_not_parse(tmp_path, capsys):
    (tmp_path / "bad.mlir").write_text("func.func @f( {")
    assert main([str(tmp_path / "bad.mlir")]) == 1
    assert "expected" in capsys.readouterr().err


def test_split_list():
    assert split_list("a, (b, c), 'd,e', [f,{g,h}]", "x") == ["a", "(b, c)", "'d,e'", "[f,{g,h}]"]
    assert split_list("a,", "x") == ["a"]
    assert tz.__version__


DEEP = {
    # A chain of calls, each inlined into the one before.
    "calls": "".join(f"@tz.jit\ndef f{i}(x):\n    return f{i + 1}(x) + 1\n" for i in range(1000))
    + "@tz.jit\ndef f1000(x):\n    return x\n@tz.jit\ndef k(p, n):\n    tl.store(p, f0(n))\n",
    "sum": "@tz.jit\ndef k(p, n):\n    x = " + " + ".join(["n"] * 3000) + "\n    tl.store(p, x)\n",
    "signs": "@tz.jit\ndef k(p, n):\n    x = " + "-" * 50000 + "n\n    tl.store(p, x)\n",
    "attributes": "@tz.jit\ndef k(p, n):\n    x = n" + ".to(tl.int32)" * 3000 + "\n    tl.store(p, x)\n",
    "parentheses": "@tz.jit\ndef k(p, n):\n    x = " + "(" * 5000 + "n" + ")" * 5000 + "\n    tl.store(p, x)\n",
    "branches": "@tz.jit\ndef k(p, n):\n    x = n\n"
    + "".join("    " * (i + 1) + f"if n > {i}:\n" for i in range(90))
    + "    " * 91
    + "x = 1\n    tl.store(p, x)\n",
    "import": "def f(n):\n    return f(n + 1)\nf(0)\n@tz.jit\ndef k(p, n):\n    tl.store(p, n)\n",
}


@pytest.mark.parametrize("name", DEEP)
def test_deep_sources_compile_or_are_refused(name, tmp_path):
    """In a process of its own, which a stack that overflows would end without a word."""
    (tmp_path / "deep.py").write_text(f"import terrazzo as tz\nimport terrazzo.language as tl\n{DEEP[name]}")
    command = [
        sys.executable,
        "-m",
        "terrazzo.tools.compile",
        "deep.py::k",
        "--signature",
        "*i32, i32",
        "--emit",
        "tile",
    ]
    env = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(tz.__file__))}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False, timeout=200)
    if name in ("signs", "parentheses", "import"):  # Python itself takes no such text
        assert done.returncode == 2, done.stderr[-300:]
        assert done.stderr.startswith("tz-compile: error: deep.py fails when it is imported: ")
        assert done.stderr.count("\n") == 1
    else:
        assert done.returncode == 0, done.stderr[-300:]
        assert "tile.store" in done.stdout
