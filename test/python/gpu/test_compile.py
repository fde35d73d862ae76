# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels compiled for GPUs that are not there: stages, options that are code, limits, reports."""

import re

import pytest
import terrazzo as tz
import terrazzo.language as tl
from terrazzo import compiler, ptxas
from terrazzo.tools import report as tool

CUDA, HIP = "cuda:sm_90a", "hip:gfx942"


@tz.jit
def rows(x_ptr, y_ptr, n, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    x = tl.load(x_ptr + at)
    tl.store(y_ptr + at, x / tl.sum(x, axis=0))


@tz.jit
def product(a_ptr, b_ptr, c_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    at = i[:, None] * N + i[None, :]
    tl.store(c_ptr + at, tl.dot(tl.load(a_ptr + at), tl.load(b_ptr + at)))


@tz.jit
def product_as(a_ptr, b_ptr, c_ptr, N: tl.constexpr, PRECISION: tl.constexpr, ALLOW: tl.constexpr):
    i = tl.arange(0, N)
    at = i[:, None] * N + i[None, :]
    c = tl.dot(tl.load(a_ptr + at), tl.load(b_ptr + at), input_precision=PRECISION, allow_tf32=ALLOW)
    tl.store(c_ptr + at, c)


@tz.jit
def asks(x_ptr):
    if tl.target_info.is_cuda():
        tl.store(x_ptr, tl.target_info.cuda_capability_geq(9, 0) + 10)
    elif tl.target_info.is_hip_cdna3():
        tl.store(x_ptr, 942)
    else:
        tl.store(x_ptr, 1)


def compiled(target, N=1024, **options):
    return rows.warmup(tl.float32, tl.float32, 16, N=N, target=target, **options)


@pytest.fixture
def builds(monkeypatch):
    """A list of the targets that the compiler ran for."""
    seen, build = [], compiler._build
    monkeypatch.setattr(compiler, "_build", lambda fn, spec, options, t: seen.append(t) or build(fn, spec, options, t))
    rows.device_caches.clear()
    return seen


@pytest.mark.parametrize(("target", "stages", "code"), [
    (CUDA, ["tile", "simt", "llir", "ptx"], ".target sm_90a"),
    (HIP, ["tile", "simt", "llir", "amdgcn", "hsaco"], "gfx942"),
])  # fmt: skip
def test_stages(target, stages, code):
    kernel = compiled(target)
    assert [name for name in kernel.asm if name != "cubin"] == stages
    assert "tile.num_warps = 4" in kernel.asm["tile"]
    assert "simt." in kernel.asm["simt"]
    assert "define" in kernel.asm["llir"]
    assert code in kernel.asm["asm"]
    assert kernel.asm["asm"] == kernel.asm["ptx" if target == CUDA else "amdgcn"]
    assert isinstance(kernel.asm["obj"], bytes)
    assert (kernel.asm["obj"][:4] == b"\x7fELF") == (target == HIP)
    with pytest.raises(KeyError, match=f"no stage 'vector', expected one of {', '.join(stages)}"):
        kernel.asm["vector"]
    assert kernel.n_max_threads == 4 * tz.targets.warp_size(target)
    assert kernel.target == target
    assert kernel.metadata.target == tz.targets.described(target)


def precision_of(target=CUDA, precision=None, allow=None, dtype=tl.float32, **options):
    """Whether a product is rounded to tf32: ("as the IR allows it", "by the instruction")."""
    compiled = product_as.warmup(
        dtype, dtype, tl.float32, N=32, PRECISION=precision, ALLOW=allow, target=target, **options
    )
    return "precision = 1 : i32" in compiled.asm["tile"], ".tf32.tf32." in compiled.asm["asm"]


def test_float32_products_are_tf32_on_gpus_by_default():
    assert precision_of() == (True, True)
    assert precision_of(allow=True) == precision_of(precision="TF32") == (True, True)
    # A chip that has no such instruction rounds nothing; no other type is asked.
    assert precision_of(HIP) == (True, False)
    assert precision_of(dtype=tl.float16) == (False, False)
    assert precision_of(strict=True)[1] is False
    assert precision_of("cpu") == (False, False)


def test_who_says_that_products_are_not_rounded(monkeypatch):
    exact = (False, False)
    assert precision_of(allow=False) == precision_of(precision="ieee") == exact
    assert precision_of(default_dot_input_precision="ieee") == exact
    monkeypatch.setattr(tz.knobs.language, "fp32_default", "IEEE")
    assert precision_of() == exact
    # What is said nearer to the product counts.
    assert precision_of(default_dot_input_precision="tf32") == precision_of(allow=True) == (True, True)
    monkeypatch.setattr(tz.knobs.language, "fp32_default", None)
    assert precision_of() == (True, True)


def test_the_default_precision_is_in_the_key(builds, monkeypatch):
    def compile(**options):
        precision_of(**options)
        return len(builds)

    product_as.device_caches.clear()
    assert compile() == 1
    assert compile(default_dot_input_precision="tf32") == 1
    monkeypatch.setattr(tz.knobs.language, "fp32_default", "ieee")
    assert compile() == 2
    assert compile(default_dot_input_precision="ieee") == 2
    assert compile(target="cpu") == 3
    monkeypatch.setattr(tz.knobs.language, "fp32_default", None)
    assert compile() == compile(target="cpu") == 3


def test_wrong_default_precisions(monkeypatch):
    with pytest.raises(
        tz.ArgumentError, match="'default_dot_input_precision' is 'fp8', expected one of 'ieee', 'tf32',"
    ):
        precision_of(default_dot_input_precision="fp8")
    monkeypatch.setenv("TRITON_F32_DEFAULT", "best")
    tz.knobs.language.reset()
    try:
        with pytest.raises(
            tz.ArgumentError, match="TERRAZZO_F32_DEFAULT .* is 'best', expected one of 'ieee', 'tf32',"
        ):
            precision_of()
        monkeypatch.setenv("TERRAZZO_F32_DEFAULT", "ieee")
        tz.knobs.language.reset()
        assert precision_of() == (False, False)
    finally:
        monkeypatch.undo()
        tz.knobs.language.reset()


@tz.jit
def ordered(x_ptr, y_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(y_ptr + at, tl.sort(tl.load(x_ptr + at)))


@tz.jit
def in_turns(x_ptr, y_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    low, high = tl.split(tl.reshape(tl.load(x_ptr + at), (N // 2, 2)))
    tl.store(y_ptr + at, tl.reshape(tl.join(high, low), (N,)))


@pytest.mark.parametrize("target", [CUDA, HIP])
@pytest.mark.parametrize(("kernel", "n", "most"), [(ordered, 4096, 5000), (in_turns, 65536, 600)])
def test_one_warp_with_much_to_do_is_short(kernel, n, most, target):
    """What many registers of a thread repeat is loops, also along a row and in pairs."""
    asm = kernel.warmup(tl.float32, tl.float32, N=n, target=target, num_warps=1).asm["asm"]
    assert len(asm.splitlines()) < most


def test_cubin_is_there_if_ptxas_is():
    kernel = compiled(CUDA)
    if ptxas.path():
        assert kernel.asm["cubin"][:4] == b"\x7fELF"
        assert "cubin" in kernel.asm
    else:
        assert "cubin" not in list(kernel.asm)
        with pytest.raises(tz.TerrazzoError, match="ptxas is not there"):
            kernel.asm["cubin"]


def test_options_make_a_gpu_compile_again(builds):
    for target in (CUDA, HIP):
        for options in ({}, {"num_warps": 8}, {"num_stages": 2}, {"maxnreg": 64}, {"strict": True}, {"num_warps": 4}):
            compiled(target, **options)
        assert builds == [target] * 5
        assert compiled(target, num_warps=8).n_max_threads == 8 * tz.targets.warp_size(target)
        compiled(target, kpack=2, waves_per_eu=3)
        assert builds == [target] * 5
        builds.clear()
    for options in ({}, {"num_warps": 8}, {"num_stages": 2}, {"maxnreg": 64}):
        compiled("cpu", **options)
    assert builds == ["cpu"]


def test_kernels_ask_about_their_target():
    texts = {t: asks.warmup(tl.int32, target=t).asm["tile"] for t in (CUDA, "cuda:sm_80", HIP, "hip:gfx90a", "cpu")}
    values = {CUDA: 11, "cuda:sm_80": 10, HIP: 942, "hip:gfx90a": 1, "cpu": 1}
    for target, value in values.items():
        assert f"{value} : i32" in texts[target], (target, texts[target])


@pytest.mark.parametrize(("target", "limit"), [(CUDA, 232448), (HIP, 65536)])
def test_shared_memory_over_the_limit(target, limit):
    with pytest.raises(tz.OutOfResources, match="shared memory") as caught:
        product.warmup(tl.float32, tl.float32, tl.float32, N=1024, target=target)
    assert caught.value.limit == limit < caught.value.required
    assert "product" in str(caught.value)


@pytest.mark.parametrize("target", ["cuda:sm_12", "hip:gfx1"])
def test_unknown_chip(target):
    name, chip = target.split(":")
    with pytest.raises(tz.LaunchError, match=f"target '{name}' has no chip '{chip}'"):
        compiled(target)


def test_without_a_chip_and_a_device():
    for name in tz.targets.GPUS:
        if not tz.devices.is_available(name):
            with pytest.raises(tz.LaunchError, match=name):
                compiled(name)


def test_arrays_that_may_overlap():
    """The signature says so, and so does the module."""
    texts = {"x_ptr": "*fp32:16:overlaps", "y_ptr": "*fp32:overlaps", "n": "i32"}
    kernel = tz.compile(tz.ASTSource(rows, texts, {"N": 64}), target=CUDA)
    assert kernel.signature == "*fp32:16:overlaps, *fp32:overlaps, i32, constexpr"
    assert kernel.asm["tile"].count("tile.overlaps") == 2
    apart = tz.compile(tz.ASTSource(rows, {**texts, "y_ptr": "*fp32"}, {"N": 64}), target=CUDA)
    assert apart.asm["tile"].count("tile.overlaps") == 1
    assert apart.hash != kernel.hash
    with pytest.raises(
        tz.ArgumentError, match="'x_ptr': '\\*fp32:overlaps' is for ahead-of-time compilation; launches see"
    ):
        rows.warmup("*fp32:overlaps", tl.float32, 16, N=64, target=CUDA)


def test_ahead_of_time():
    source = tz.ASTSource(rows, {"x_ptr": "*fp32:16", "y_ptr": "*fp32:16", "n": "i32"}, {"N": 64})
    for target in ("cuda:90", CUDA, tz.targets.Target("cuda", 90, 32)):
        assert tz.compile(source, target=target).target == CUDA
    assert tz.compile(source, target=tz.targets.Target("hip", "gfx942", 64)).target == HIP
    with tz.targets.using(HIP):
        assert tz.compile(source, options={"num_warps": 2}).n_max_threads == 128


def test_the_cache_keeps_targets_apart(builds):
    for _ in range(2):
        rows.device_caches.clear()
        assert len({compiled(t).hash for t in (CUDA, "cuda:sm_80", HIP, "cpu")}) == 4
    assert len(builds) == 4


def test_report():
    found = compiled(HIP, N=4096).report()
    assert found.registers > 0
    assert (found.spills, found.source, found.threads) == (0, "the code object", 256)
    assert found.widths("load") == {128: 4}
    assert found.widths("store") == {128: 4}
    assert found.barriers >= 1
    assert found.shared_bytes > 0
    found = compiled(CUDA, N=4096).report()
    assert found.registers is None
    assert found.widths("load") == found.widths("store") == {128: 8}
    assert "not known without a device" in str(found)
    if ptxas.path():
        assert compiled(CUDA, N=4096).report(assemble=True).registers > 8
    assert compiled("cpu").report().accesses == []


def test_masked_accesses_are_in_the_report():
    @tz.jit
    def masked(x_ptr, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)

    for target in (CUDA, HIP):
        found = masked.warmup(tl.float32, "i32", BLOCK=1024, target=target).report()
        assert sum(found.widths("load").values()) > 0
        assert sum(found.widths("store").values()) > 0


def test_tz_report(tmp_path, capsys):
    file = tmp_path / "kernels.py"
    file.write_text(
        "import terrazzo as tz\nimport terrazzo.language as tl\n\n@tz.jit\ndef one(x_ptr, N: tl.constexpr):\n"
        "    i = tl.arange(0, N)\n    tl.store(x_ptr + i, tl.load(x_ptr + i) + 1)\n"
    )
    arguments = [f"{file}::one", "--signature", "*fp32:16", "--constexpr", "N=512"]
    assert tool.main(arguments) == 0
    out = capsys.readouterr().out
    assert "one for cuda:sm_90a" in out
    assert "one for hip:gfx942" in out
    assert out.count("1 x load of 128 bits, global memory") == 1  # 512 elements, 128 threads
    assert tool.main([*arguments, "--targets", "gfx90a"]) == 0
    assert "hip:gfx90a" in capsys.readouterr().out
    for wrong, message in (("quux", "'quux' is no chip"), ("sm_1", "has no chip 'sm_1'")):
        assert tool.main([*arguments, "--targets", wrong]) == 2
        assert message in capsys.readouterr().err
    assert tool.main(["kernels.py"]) == 2
    assert "is not FILE.py::KERNEL" in capsys.readouterr().err


def test_autotune_compiles_all_configurations():
    @tz.autotune([tz.Config({"N": n}, num_warps=w) for n in (64, 256) for w in (1, 4)], key=["n"])
    @tz.jit
    def tuned(x_ptr, n, N: tl.constexpr):
        tl.store(x_ptr + tl.arange(0, N), n)

    assert [k.n_max_threads for k in tuned.warmup(tl.int32, 4, target=CUDA)] == [32, 128, 32, 128]


def test_random_kernels_compile():
    import sys
    from pathlib import Path

    sys.path.insert(0, str(Path(__file__).parent.parent / "run"))
    from random_kernels import Kernel

    for seed in range(24):
        kernel = Kernel(seed)
        types = [t for _, t in kernel.inputs.values()]
        types += ["int32" if v.dtype == "bool" else v.dtype for _, (v, _) in kernel.outputs]
        mocks = [tz.MockTensor(getattr(tl, t)) for t in types]
        for target in (CUDA, HIP):
            assert kernel.compiled().warmup(*mocks, target=target, num_warps=kernel.num_warps).target == target


@tz.jit
def eight_bit_product(a, b, c, MOST: tl.constexpr):
    """64 products for each element; both factors run along K."""
    i, k = tl.arange(0, 64)[:, None], tl.arange(0, 64)[None, :]
    x, y = tl.load(a + i * 64 + k), tl.load(b + i * 64 + k)
    tl.store(c + i * 64 + k, tl.dot(x, tl.trans(y), max_num_imprecise_acc=MOST))


def instruction_of(most=None, target=CUDA, **options):
    """What multiplies 8-bit floats."""
    types = tl.float8e4nv, tl.float8e4nv, tl.float32
    text = eight_bit_product.warmup(*types, MOST=most, target=target, **options).asm["asm"]
    return re.findall(r"(wgmma|mma\.sync)\S*?\.f32\.(\w+)\.", text)[0]


def test_who_says_that_sums_of_8_bit_floats_keep_all_bits():
    """wgmma keeps about 14 bits, so it needs leave for all 64 products; else they are of halves, summed in float32."""
    fast, exact = ("wgmma", "e4m3"), ("wgmma", "f16")
    assert instruction_of() == instruction_of(64) == fast
    assert instruction_of(0) == instruction_of(32) == exact
    assert instruction_of(max_num_imprecise_acc_default=0) == exact
    assert instruction_of(64, max_num_imprecise_acc_default=0) == fast
    # Where the assembler emulates mma.sync of them it is not asked to.
    assert instruction_of(target="cuda:sm_90") == ("mma.sync", "f16")
    assert instruction_of(target="cuda:sm_89") == ("mma.sync", "e4m3")
    with pytest.raises(tz.CompilationError, match="max_num_imprecise_acc must not be negative, found -1"):
        instruction_of(-1)
