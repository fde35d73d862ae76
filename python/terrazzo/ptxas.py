# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NVIDIA's assembler, where there is one. Kernels run without it: the driver assembles PTX itself."""

import functools
import os
import re
import shutil
import subprocess
import tempfile

from .errors import PTXASError, TerrazzoError


@functools.cache
def path():
    """Where ptxas is: TERRAZZO_PTXAS, or on the PATH, or in /usr/local/cuda; None if there is none."""
    given = os.environ.get("TERRAZZO_PTXAS")
    if given:
        return given if os.access(given, os.X_OK) else None
    return shutil.which("ptxas") or shutil.which("ptxas", path="/usr/local/cuda/bin")


def _run(ptx, chip):
    tool = path()
    if tool is None:
        raise TerrazzoError("ptxas is not there: expected it on the PATH, or at the path that TERRAZZO_PTXAS says")
    with tempfile.TemporaryDirectory() as folder:
        source, output = os.path.join(folder, "kernel.ptx"), os.path.join(folder, "kernel.cubin")
        with open(source, "w") as file:
            file.write(ptx)
        done = subprocess.run(
            [tool, "-v", f"-arch={chip}", source, "-o", output], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise PTXASError(f"ptxas does not take the PTX for {chip}: {(done.stderr or done.stdout).strip()}")
        with open(output, "rb") as file:
            return file.read(), done.stderr + done.stdout


def cubin(ptx, chip):
    """The machine code of PTX text."""
    return _run(ptx, chip)[0]


def resources(ptx, chip):
    """(registers of a thread, bytes that it spills) as ptxas says."""
    text = _run(ptx, chip)[1]
    registers = re.search(r"Used (\d+) registers", text)
    spills = re.search(r"(\d+) bytes spill stores", text)
    return (int(registers[1]) if registers else None), (int(spills[1]) if spills else 0)
