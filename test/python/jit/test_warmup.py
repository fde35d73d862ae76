# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""warmup, compile, the stages of a kernel and what else a compiled kernel tells."""

import pickle

import ml_dtypes
import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl
import torch


@tz.jit
def scale(x_ptr, n, factor, BLOCK: tl.constexpr):
    """Multiplies in place."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) * factor, mask=i < n)


def fresh():
    return tz.jit(scale.fn)


def test_attributes():
    assert scale.__name__ == "scale"
    assert scale.__doc__ == "Multiplies in place."
    assert scale.arg_names == ["x_ptr", "n", "factor", "BLOCK"]
    assert [p.name for p in scale.params] == scale.arg_names
    assert [p.is_constexpr for p in scale.params] == [False, False, False, True]
    assert scale.src.startswith("def scale(x_ptr")
    assert callable(scale.fn)
    assert list(scale.signature.parameters) == scale.arg_names
    assert "scale" in repr(scale)
    assert isinstance(scale, tz.JITFunction)
    assert isinstance(scale, tz.KernelInterface)


def test_module_level_kernels_pickle():
    assert pickle.loads(pickle.dumps(scale)) is scale


def test_launch_gives_the_compiled_kernel(builds):
    kernel = fresh()
    x = np.ones(4, np.float32)
    first = kernel[(1,)](x, 4, 2.0, BLOCK=4)
    again = kernel[(1,)](x, 4, 3.0, BLOCK=4)
    empty = kernel[(0,)](x, 4, 3.0, BLOCK=4)
    assert first is again is empty
    assert isinstance(first, tz.CompiledKernel)
    assert len(builds) == 1


STANDS_FOR_ARRAY = [
    tl.float32, torch.float32, np.float32, np.dtype("float32"), tz.MockTensor(torch.float32), "*fp32:16",
    tl.pointer_type(tl.float32),
]  # fmt: skip


@pytest.mark.parametrize("x", STANDS_FOR_ARRAY, ids=lambda x: f"{type(x).__name__}-{getattr(x, 'dtype', x)}")
def test_warmup_without_arrays(x, builds):
    kernel = fresh()
    compiled = kernel.warmup(x, "i32:16", "fp32", BLOCK=16, grid=(1,))
    assert compiled.signature == "*fp32:16, i32:16, fp32, constexpr"
    y = np.arange(16, dtype=np.float32)
    while y.ctypes.data % 16:
        y = np.arange(16, dtype=np.float32)
    assert kernel[(1,)](y, 16, 2.0, BLOCK=16) is compiled
    assert len(builds) == 1
    assert y.tolist() == [2.0 * i for i in range(16)]


@pytest.mark.parametrize(
    ("types", "signature"),
    [
        (("*fp32", "i32", "fp32"), "*fp32, i32, fp32, constexpr"),
        (("*i16:16", "i64", "i1"), "*i16:16, i64, i1, constexpr"),
        (("*u8", "u64:16", 2), "*u8, u64:16, i32, constexpr"),
        (("*bf16:16", "i32:1", 0.5), "*bf16:16, i32:1, fp32, constexpr"),
        ((np.zeros(4, ml_dtypes.bfloat16), 1, True), None),
        ((torch.zeros(4), 5, 0.5), None),
    ],
)
def test_warmup_by_types(types, signature):
    compiled = fresh().warmup(*types, BLOCK=4, grid=(1,))
    assert signature in (None, compiled.signature)


def test_warmup_runs_nothing():
    x = np.ones(4, np.float32)
    scale.warmup(x, 4, 2.0, BLOCK=4, grid=(1,))
    scale.run(x, 4, 2.0, BLOCK=4, grid=(1,), warmup=True)
    assert x.tolist() == [1.0] * 4


@pytest.mark.parametrize(
    ("types", "message"),
    [
        (("*fp32", "u8", 0.5), "argument 'n': no Python value becomes a uint8"),
        (("*fp32:8", "i32", 0.5), "parameter 'x_ptr': '\\*fp32:8' says what a \\*fp32 cannot have"),
        (("*fp32", "fp32:16", 0.5), "parameter 'n': 'fp32:16' says what"),
        ((tl.float32, 1), "missing 1 required argument: 'factor'"),
    ],
)
def test_bad_warmups(types, message):
    with pytest.raises(tz.LaunchError, match=message):
        fresh().warmup(*types, BLOCK=4, grid=(1,))


def test_stages():
    kernel = fresh()
    assert dict(kernel.asm) == {}
    compiled = kernel.warmup(tl.float32, 4, 0.5, BLOCK=16, grid=(1,))
    assert list(compiled.asm) == ["tile", "vector", "llir", "asm", "obj"]
    assert "tile.load" in compiled.asm["tile"]
    assert "vector" in compiled.asm["vector"]
    assert "tile.load" not in compiled.asm["vector"]
    assert "define" in compiled.asm["llir"]
    assert "ret" in compiled.asm["asm"]
    assert compiled.asm["obj"][:4] == b"\x7fELF"
    assert kernel.asm["obj"] == compiled.asm["obj"]
    with pytest.raises(KeyError, match="no stage 'ptx', expected one of tile, vector"):
        compiled.asm["ptx"]


def test_facts_of_a_compiled_kernel():
    compiled = fresh().warmup(tl.float32, 4, 0.5, BLOCK=16, grid=(1,), num_warps=8)
    assert compiled.name == "scale"
    assert compiled.target == "cpu"
    assert compiled.constants == {"BLOCK": 16}
    assert compiled.metadata.num_warps == 8
    assert compiled.metadata._asdict()["num_stages"] == 3
    assert compiled.n_regs >= 0
    assert compiled.n_spills >= 0
    assert len(compiled.hash) == 64
    assert "scale" in repr(compiled)


@pytest.mark.parametrize("all_arguments", [True, False])
def test_compiled_kernels_launch(all_arguments):
    compiled = fresh().warmup(tl.float32, 4, 0.5, BLOCK=16, grid=(1,))
    x = np.ones(16, np.float32)
    compiled[(1,)](*([x, 16, 3.0, 16] if all_arguments else [x, 16, 3.0]))
    assert x.tolist() == [3.0] * 16


def test_compile_of_a_source():
    source = tz.ASTSource(fresh(), signature={"x_ptr": "*fp32", "n": "i32", "factor": "fp64"}, constexprs={"BLOCK": 8})
    compiled = tz.compile(source, target="cpu", options={"num_warps": 2})
    assert compiled.signature == "*fp32, i32, fp64, constexpr"
    assert compiled.asm["obj"]


def test_compile_of_positions_and_attributes():
    source = tz.ASTSource(
        fresh(),
        signature={0: "*fp32", "n": "i32", "factor": "fp32", "BLOCK": "constexpr"},
        constexprs={(3,): 8},
        attrs={(0,): [["tt.divisibility", 16]]},
    )
    assert tz.compile(source).signature == "*fp32:16, i32, fp32, constexpr"


@pytest.mark.parametrize(
    ("signature", "constexprs", "message"),
    [
        ({"x": "*fp32"}, {}, "has no parameter 'x'"),
        ({9: "*fp32"}, {}, "has 4 parameters, found position 9"),
        ({"x_ptr": "*fp32", "n": "i32"}, {"BLOCK": 8}, "parameter 'factor' has neither a type nor a value"),
        ({"x_ptr": "*fp33", "n": "i32", "factor": "fp32"}, {"BLOCK": 8}, "parameter 'x_ptr': '\\*fp33' is no type"),
    ],
)
def test_bad_sources(signature, constexprs, message):
    with pytest.raises(tz.TerrazzoError, match=message):
        tz.compile(tz.ASTSource(fresh(), signature, constexprs))


def test_compile_of_something_else():
    with pytest.raises(tz.TerrazzoError, match="takes an ASTSource, an IRSource or a path, found int"):
        tz.compile(5)
    source = tz.ASTSource(scale, {"x_ptr": "*fp32", "n": "i32", "factor": "fp32"}, {"BLOCK": 8})
    with pytest.raises(tz.TerrazzoError, match="no target 'abacus', expected one of: cpu, cuda, hip"):
        tz.compile(source, target="abacus")
    with pytest.raises(tz.TerrazzoError, match="unknown option 'num_wraps'"):
        tz.compile(source, options={"num_wraps": 4})


def test_hooks_around_launches():
    log = []

    def enter(metadata):
        log.append(("enter", metadata.get()["name"], metadata.get()["grid"], metadata.get().get("flops")))

    def leave(metadata):
        log.append("leave")

    kernel = tz.jit(
        scale.fn, launch_metadata=lambda grid, metadata, args: {"flops": args["BLOCK"] * grid[0] * args["n"]}
    )
    kernel.add_pre_run_hook(lambda **a: log.append(("pre", a["n"], a["BLOCK"])))
    hooks = tz.knobs.runtime
    hooks.launch_enter_hook.add(enter)
    hooks.launch_exit_hook.add(leave)
    try:
        kernel[(2,)](np.ones(8, np.float32), 8, 2.0, BLOCK=4)
    finally:
        hooks.launch_enter_hook.remove(enter)
        hooks.launch_exit_hook.remove(leave)
    kernel[(2,)](np.ones(8, np.float32), 7, 2.0, BLOCK=4)
    assert log == [("pre", 8, 4), ("enter", "scale", (2, 1, 1), 64), "leave", ("pre", 7, 4)]


def test_host_functions():
    assert [tz.cdiv(n, 4) for n in (0, 1, 4, 5)] == [0, 1, 1, 2]
    assert [tz.next_power_of_2(n) for n in (0, 1, 2, 3, 1000, 1024)] == [1, 1, 2, 4, 1024, 1024]
    assert type(tz.cdiv(5, 4)) is int

    @tz.constexpr_function
    def double(v):
        return 2 * v

    @tz.jit
    def kernel(x_ptr, N: tl.constexpr):
        tl.store(x_ptr, tz.cdiv(N, 4) * 100 + tz.next_power_of_2(N) + double(N) * 1000)

    x = np.zeros(1, np.int32)
    kernel[(1,)](x, 5)
    assert x[0] == 200 + 8 + 10000
