# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What importing the package and launching a small kernel do not do. How long they take is a row of `make bench`."""

import os
import subprocess
import sys

import numpy as np
import terrazzo as tz
import terrazzo.language as tl


@tz.jit
def nothing(a, b, c, d, e, f, n, BLOCK: tl.constexpr):
    pass


def test_a_launch_that_was_seen_before_calls_no_python_function():
    arrays = [np.zeros(64, np.float32) for _ in range(6)]
    nothing[(1,)](*arrays, 5, BLOCK=64)
    seen = []

    def profile(frame, event, argument):
        seen.append((event, getattr(argument, "__qualname__", frame.f_code.co_qualname)))

    sys.setprofile(profile)
    try:
        nothing[(1,)](*arrays, 5, BLOCK=64)
        nothing[(2,)](*arrays, 7, BLOCK=64)
    finally:
        sys.setprofile(None)
    assert [name for event, name in seen if event in ("call", "c_call")] == ["setprofile"]


def test_import_loads_no_heavy_package():
    code = "import terrazzo, sys; print(*sorted(sys.modules))"
    env = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(tz.__file__))}
    loaded = subprocess.check_output([sys.executable, "-c", code], env=env, text=True).split()
    assert "terrazzo.jit" in loaded
    assert not {"torch", "ml_dtypes", "pandas", "matplotlib", "sympy", "terrazzo.kernels", "terrazzo.trainer"} & set(
        loaded
    )
