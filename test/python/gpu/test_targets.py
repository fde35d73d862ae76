# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names of targets, what there is on a machine without a device, and options of the code by target."""

import os
import re
import subprocess
import sys

import pytest
import terrazzo as tz
import terrazzo.language as tl
from terrazzo import devices, options, statuses, targets

CHIPS = ("cuda:sm_90a", "hip:gfx942")


def python(code, **environment):
    env = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(tz.__file__)), **environment}
    done = subprocess.run([sys.executable, "-c", code], env=env, text=True, capture_output=True, check=False)
    return done.stdout + done.stderr


def test_names():
    assert targets.check_target("cpu") == ("cpu", "")
    assert targets.check_target("cuda:sm_90a") == ("cuda", "sm_90a")
    assert targets.check_target("cuda:90") == ("cuda", "sm_90a")
    assert targets.check_target("cuda:80") == ("cuda", "sm_80")
    assert targets.check_target("hip:gfx942") == ("hip", "gfx942")
    with pytest.raises(tz.LaunchError, match="no target 'nvptx', expected one of: cpu, cuda, hip, or one with a chip"):
        targets.check_target("nvptx")


def test_target_of_the_process():
    assert targets.wanted() is None
    with targets.using("hip:gfx942"):
        assert (targets.wanted(), devices.target(), devices.default_name()) == ("hip:gfx942", "hip:gfx942", "hip")
        with targets.using("cpu"):
            assert devices.target() == "cpu"
        assert devices.target() == "hip:gfx942"
    with pytest.raises(tz.LaunchError, match="no target 'abacus'"):
        targets.set_target("abacus")
    assert targets.wanted() is None


UNKNOWN = {
    "cpu:zzz": "target 'cpu' has no chip 'zzz': expected one of .*skylake.*; each may have, after a '.', features of",
    "cpu:znver3+foo": "target 'cpu' has no chip 'znver3.foo'",
    "cpu:znver3+": "target 'cpu' has no chip",
    "cpu:": "no target 'cpu:', expected one of: cpu, cuda, hip",
    "cuda:sm_999": "target 'cuda' has no chip 'sm_999': expected one of sm_80, sm_86",
    "cuda:999": "target 'cuda' has no chip 'sm_999a': expected one of sm_80",
    "cuda:²": "target 'cuda' has no chip .*: expected one of sm_80",
    "cuda:９０": "target 'cuda' has no chip .*: expected one of sm_80",
    "hip:gfx1": "target 'hip' has no chip 'gfx1': expected one of gfx90a, gfx942",
    "hip:gfx942 ": "target 'hip' has no chip 'gfx942 '",
    "größe": "no target 'größe', expected one of: cpu",
    "cpu:größe": "target 'cpu' has no chip",
    " ": "no target ' ', expected one of: cpu",
    "x" * 10000: "no target 'x{77}...', expected one of: cpu",
    "cuda:" + "x" * 10000: "target 'cuda' has no chip 'x{80}...': expected one of sm_80",
}


@pytest.mark.parametrize("name", UNKNOWN, ids=lambda name: name[:12])
def test_names_of_nothing(name):
    """Whatever is given for a target, the answer is what there is."""
    for use in (targets.set_target, devices.resolved):
        with pytest.raises(tz.LaunchError, match=UNKNOWN[name]) as caught:
            use(name)
        assert len(str(caught.value)) < 2500
    assert targets.wanted() is None
    assert devices.target() is not None
    assert re.search(UNKNOWN[name], python("import terrazzo as tz; tz.devices.target()", TERRAZZO_TARGET=name))


def test_launches_for_nothing():
    @tz.jit
    def kernel(x_ptr):
        tl.store(x_ptr, 1)

    for name, message in (("cpu:zzz", "target 'cpu' has no chip 'zzz'"), ("cuda:sm_1", "no chip 'sm_1'")):
        with pytest.raises(tz.LaunchError, match=message):
            kernel.warmup(tl.pointer_type(tl.int32), grid=(1,), target=name)


def test_names_of_processors():
    for name in ("cpu:x86-64", "cpu:znver3+avx2+fma", "cpu:generic+avx"):
        assert devices.resolved(name) == name


def test_what_nobody_named_is_not_checked(monkeypatch):
    """A check compiles a kernel, which must not show in the first launch of a kernel that is in the cache."""
    monkeypatch.setattr(devices, "properties", lambda name, device: {"chip": "gfx0"})
    monkeypatch.setattr(devices, "check_chip", lambda name, chip: pytest.fail(f"{name}:{chip} is checked"))
    assert devices.chip("cpu") == targets.host_chip()
    assert devices.chip("hip") == "gfx0"


def test_a_device_that_the_compiler_does_not_know(monkeypatch):
    monkeypatch.setattr(devices, "properties", lambda name, device: {"chip": "gfx0"})
    with pytest.raises(tz.LaunchError, match="target 'hip' has no chip 'gfx0'"):
        nothing.warmup(tl.float32, 4, target="hip")


def test_target_of_the_environment():
    show = "import terrazzo as tz; print(tz.devices.target(), tz.driver.driver.active.get_current_target())"
    text = python(show, TERRAZZO_TARGET="cuda:sm_90a")
    assert text.startswith("cuda:sm_90a GPUTarget(backend='cuda', arch=90, warp_size=32)"), text
    text = python(show, TERRAZZO_TARGET="hip:gfx942")
    assert text.startswith("hip:gfx942 GPUTarget(backend='hip', arch='gfx942', warp_size=64)"), text


def test_warp_sizes():
    sizes = {"cpu": 1, "cuda:sm_90a": 32, "hip:gfx942": 64, "hip:gfx90a": 64, "hip:gfx1100": 32, "hip:gfx1201": 32}
    assert {name: targets.warp_size(name) for name in sizes} == sizes


def test_targets_of_other_tools():
    assert targets.target_text(targets.Target("cuda", 90, 32)) == "cuda:90"
    assert targets.target_text(targets.Target("hip", "gfx942", 64)) == "hip:gfx942"
    assert targets.target_text(targets.Target("cpu", "x", 1)) == "cpu"


NO_DEVICE = """
import terrazzo as tz
from terrazzo import devices
for use in (lambda: tz.device_array(4, device=NAME), lambda: devices.chip(NAME)):
    try:
        use()
    except tz.LaunchError as error:
        print("LaunchError:", error)
"""


@pytest.mark.parametrize("name", ["cuda", "hip"])
def test_no_device(name):
    """Where there is one, it is hidden."""
    hidden = dict.fromkeys(("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"), "-1")
    lines = python(NO_DEVICE.replace("NAME", repr(name)), **hidden).splitlines()
    assert len(lines) == 2 and all(line.startswith("LaunchError:") and name in line for line in lines), lines


def test_options_that_are_code():
    given = options.checked({"num_warps": 8, "num_stages": 2, "maxnreg": 64, "waves_per_eu": 2, "target": "cpu"})
    assert "target" not in given
    assert "num_warps" not in options.relevant(given, "cpu")
    for name in ("cuda", "hip"):
        found = options.relevant(given, name)
        assert (found["num_warps"], found["num_stages"], found["maxnreg"]) == (8, 2, 64)
        assert set(options.relevant(given, "cpu")) < set(found)


@tz.jit
def nothing(x_ptr, n):
    pass


@pytest.mark.parametrize(("target", "warps", "threads"), [("cuda:sm_90a", 64, 2048), ("hip:gfx942", 32, 2048)])
def test_too_many_warps(target, warps, threads):
    with pytest.raises(tz.OutOfResources, match=f"threads of a block of nothing.*required: {threads}.*1024") as caught:
        nothing.warmup(tl.float32, 4, target=target, num_warps=warps)
    assert (caught.value.required, caught.value.limit) == (threads, 1024)
    nothing.warmup(tl.float32, 4, target="cpu", num_warps=warps)


def test_numbers_are_read_from_messages():
    error = statuses.out_of_resources("out of resources: shared memory: required 300000 bytes, the limit is 232448")
    assert (error.required, error.limit) == (300000, 232448)
    assert isinstance(error, tz.OutOfResources)
    with pytest.raises(tz.OutOfResources, match="shared memory"):
        statuses.raise_status("out of resources", "needs 300000 bytes of shared memory, at most 1000", *[None] * 4, ())


def test_synchronize_of_nothing():
    tz.synchronize()
    with pytest.raises(tz.LaunchError, match="no target 'abacus'"):
        tz.synchronize("abacus:0")
