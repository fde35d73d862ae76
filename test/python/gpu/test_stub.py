# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The way of a launch to a driver, with a library of the runtime's tests in the place of libcuda.

Its memory is the host's, and it runs a function of its own that has the kernel's name: all but the instructions is
tested.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import terrazzo as tz

STUB = Path(os.environ.get("TERRAZZO_BUILD", "build/dev")) / "test" / "unit" / "Runtime" / "libCudaStub.so"

PROGRAM = """
import ctypes, sys
import numpy as np
import terrazzo as tz
import terrazzo.language as tl

stub = ctypes.CDLL("libcuda.so.1")
stub.stubViolation.restype = ctypes.c_char_p

@tz.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=mask) + tl.load(y_ptr + i, mask=mask), mask=mask)

@tz.jit
def nothing(a, b, c, d, e, f, n, BLOCK: tl.constexpr):
    pass

def arrays(count, n=128):
    return [tz.device_array(np.arange(n, dtype=np.float32)) for _ in range(count)]

"""
CASES = {
    "launch": """
x, y, out = arrays(3)
out.zero_()
compiled = add[(1,)](x, y, out, 100, BLOCK=128)
assert compiled.target == "cuda:sm_90a", compiled.target
assert compiled.n_regs == 24
assert compiled.report().registers == 24 and compiled.report().source == "the device's driver"
want = np.where(np.arange(128) < 100, 2 * np.arange(128), 0)
assert np.array_equal(out.numpy(), want), out.numpy()
again = add[(1,)](x, y, out, 100, BLOCK=128)
assert again is compiled and add._plan_count() == 1
""",
    "properties": """
active = tz.driver.driver.active
assert repr(active.get_current_target()) == "GPUTarget(backend='cuda', arch=90, warp_size=32)"
facts = active.utils.get_device_properties(0)
assert (facts["max_shared_mem"], facts["multiprocessor_count"], facts["warpSize"]) == (102400, 4, 32)
assert tz.devices.default_name() == "cuda" and active.get_current_device() == 0 and active.get_current_stream() == 0
x = np.arange(6, dtype=np.float32)
moved = tz.testing.to_device({"a": [x]})["a"][0]
assert moved.device == "cuda:0" and np.array_equal(tz.testing.to_host(moved), x)
assert np.array_equal(moved.clone().numpy(), x)
""",
    "streams": """
x, y, out = arrays(3)
driver = tz.devices.opened("cuda")
stream = driver.create_stream()
add[(1,)](x, y, out, 100, BLOCK=128, stream=stream)
from terrazzo._terrazzo import runtime
assert runtime.last_gpu_launch()[1:] == ("cuda", 0, stream)
add[(1,)](x, y, out, 100, BLOCK=128)
assert runtime.last_gpu_launch()[3] == 0
driver.synchronize(0, stream)
driver.destroy_stream(stream)
""",
    "failures": """
x, y, out = arrays(3)
add[(1,)](x, y, out, 100, BLOCK=128)
stub.stubSet(b"fail cuLaunchKernel", 701)
stub.stubSet(b"fail cuLaunchKernelEx", 701)
try:
    add[(1,)](x, y, out, 100, BLOCK=128)
except tz.LaunchError as error:
    assert "add" in str(error), error
else:
    raise AssertionError("no error")
add[(1,)](x, y, out, 100, BLOCK=128)
try:
    tz.device_array((1 << 40,), "int8")
except MemoryError as error:
    assert "cuda" in str(error)
else:
    raise AssertionError("no error")
try:
    tz.device_array(4, device="cuda:7")
except tz.LaunchError as error:
    assert "device" in str(error)
else:
    raise AssertionError("no error")
""",
    "overlap": """
class Part:
    "Elements of an array from one on; it says how many as tensors do."
    dtype, device = "float32", "cuda:0"
    def __init__(self, base, first, *shape, steps=None):
        self.base, self.first, self.shape = base, first, shape
        self.steps = steps or tuple(int(np.prod(shape[i + 1:])) for i in range(len(shape)))
    def data_ptr(self):
        return self.base.data_ptr() + 4 * self.first
    def stride(self):
        return self.steps
    def element_size(self):
        return 4

x, y, out = arrays(3)
apart = add[(1,)](x, y, out, 100, BLOCK=128)
assert "overlaps" not in apart.signature
assert add[(1,)](y, x, out, 100, BLOCK=128) is apart
assert add[(1,)](x, x, out, 100, BLOCK=128) is apart  # both are read only
assert add._plan_count() == 1
shared = add[(1,)](x, y, x, 100, BLOCK=128)
assert shared.signature == "*fp32:16:overlaps, *fp32:16, *fp32:16:overlaps, i32, constexpr", shared.signature
assert np.array_equal(x.numpy()[:100], 2.0 * np.arange(100)) and x.numpy()[100] == 100
assert add[(1,)](out, y, out, 100, BLOCK=128) is shared
assert add._plan_count() == 2
memory = tz.device_array(np.zeros(1024, np.float32))
def parts(first, *shape, steps=None):
    return add[(1,)](Part(memory, first, *shape, steps=steps), y, Part(memory, 512, 100), 100, BLOCK=128)
assert parts(384, 128) is apart and parts(384, 132) is shared and parts(608, 100) is shared and parts(612, 100) is apart
assert parts(256, 2, 128) is apart and parts(256, 2, 132) is shared
assert parts(0, 4, 32, steps=(128, 1)) is apart and parts(0, 4, 32, steps=(161, 1)) is shared
assert parts(512, 0) is shared  # one address is one array
nothing[(1,)](x, x, x, x, x, x, 5, BLOCK=64)
assert nothing._plan_count() == 1  # it writes nothing
""",
    "timers": """
from terrazzo.testing import do_bench
x, y, out = arrays(3)
assert do_bench(lambda: add[(1,)](x, y, out, 100, BLOCK=128), warmup=1, rep=2) >= 0
""",
    "overhead": """
xs = arrays(6)
nothing[(1,)](*xs, 5, BLOCK=64)
seen = []
sys.setprofile(lambda frame, event, argument: seen.append(frame.f_code.co_name) if event == "call" else None)
nothing[(1,)](*xs, 5, BLOCK=64)
sys.setprofile(None)
# A launch that was seen before asks each array for its place and address, and calls no other Python function.
assert seen == ["device", "data_ptr"] * 6, seen
""",
}


@pytest.mark.parametrize("case", CASES)
def test_with_a_stub(case, tmp_path):
    assert STUB.exists(), f"no {STUB}: TERRAZZO_BUILD names a build with the tests"
    (tmp_path / "libcuda.so.1").symlink_to(STUB.resolve())
    file = tmp_path / "program.py"
    file.write_text(PROGRAM + CASES[case] + "tz.synchronize()\nassert stub.stubViolation() is None\nprint('done')\n")
    env = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path), "PYTHONPATH": str(Path(tz.__file__).parent.parent)}
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, env=env, check=False)
    assert done.stdout.strip().endswith("done"), done.stdout + done.stderr
