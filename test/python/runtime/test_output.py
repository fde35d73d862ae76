# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What kernels print, where nobody can take it: a line on standard error says so, and the program goes on."""

import os
import subprocess
import sys

import pytest
import terrazzo as tz

SCRIPT = """
import os, signal
import numpy as np, terrazzo as tz, terrazzo.language as tl

@tz.jit
def kernel(x):
    tl.device_print("value", tl.load(x))

x = np.ones(1, np.int32)
for _ in range(3):
    kernel[(4,)](x)
os._exit(5)
"""


@pytest.mark.parametrize(
    ("redirection", "reason"),
    [(">/dev/full", "No space left on device"), (">&-", "Bad file descriptor"), ("| true", "Broken pipe")],
    ids=["full", "closed", "pipe"],
)
def test_output_that_is_lost(tmp_path, redirection, reason):
    (tmp_path / "script.py").write_text(SCRIPT)
    env = {**os.environ, "TERRAZZO_CACHE_DIR": str(tmp_path / "c")}
    env["PYTHONPATH"] = os.path.dirname(os.path.dirname(tz.__file__))
    # A launch first, so that the reader of the pipe has gone when the second program prints.
    command = f"{sys.executable} script.py >/dev/null; ({sys.executable} script.py; echo $? >status) {redirection}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, env=env, stderr=subprocess.PIPE, text=True, timeout=120
    )
    assert done.stderr.splitlines() == [
        f"terrazzo: what kernels print is lost, standard output cannot be written: {reason}"
    ]
    assert (tmp_path / "status").read_text() == "5\n"
