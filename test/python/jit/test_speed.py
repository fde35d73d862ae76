# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times that users feel: importing the package and launching a small kernel. Limits leave room for a busy machine."""

import os
import subprocess
import sys
import time

import numpy as np
import terrazzo as tz
import terrazzo.language as tl


@tz.jit
def nothing(a, b, c, d, e, f, n, BLOCK: tl.constexpr):
    pass


def test_launch_overhead():
    arrays = [np.zeros(64, np.float32) for _ in range(6)]
    nothing[(1,)](*arrays, 5, BLOCK=64)
    best = float("inf")
    for _ in range(20):
        start = time.perf_counter()
        for _ in range(1000):
            nothing[(1,)](*arrays, 5, BLOCK=64)
        best = min(best, (time.perf_counter() - start) / 1000)
    assert best < 10e-6  # 5 us on a quiet machine


def test_import():
    code = (
        "import time; t = time.perf_counter(); import terrazzo; print(time.perf_counter() - t); import sys;"
        "assert not {'torch', 'ml_dtypes', 'pandas', 'matplotlib'} & set(sys.modules)"
    )
    env = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(tz.__file__))}
    times = [float(subprocess.check_output([sys.executable, "-c", code], env=env, text=True)) for _ in range(5)]
    assert min(times) < 0.5  # 0.25 s on a quiet machine
