# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The machine instructions of NVIDIA's GPUs as text, from the disassembler of the CUDA toolkit where it is."""

import os
import re
import shutil
import subprocess
import tempfile

from .errors import TerrazzoError

_INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s*(.+?)\s*;")


def path():
    """Where cuobjdump is: TERRAZZO_CUOBJDUMP, or on the PATH, or in /usr/local/cuda; None if there is none."""
    given = os.environ.get("TERRAZZO_CUOBJDUMP")
    if given:
        return given
    return shutil.which("cuobjdump") or shutil.which("cuobjdump", path="/usr/local/cuda/bin")


def extract(file, fun=None):
    """The instructions in a file with a cubin, one a line, of all functions or of the one named `fun`."""
    tool = path()
    if tool is None:
        raise TerrazzoError("cuobjdump is not there: expected it on the PATH, or at the path TERRAZZO_CUOBJDUMP says")
    chosen = [] if fun is None else ["-fun", fun]
    done = subprocess.run([tool, "-sass", *chosen, file], capture_output=True, text=True, check=False)
    if done.returncode:
        raise TerrazzoError(f"cuobjdump cannot read {file}: {(done.stderr or done.stdout).strip()}")
    lines = []
    for line in done.stdout.splitlines():
        if "Function :" in line:
            lines.append(line.strip())
        elif found := _INSTRUCTION.search(line):
            lines.append(f"    {found[1]};")
    return "\n".join(lines)


def get_sass(cubin, fun=None):
    """The instructions of a cubin, given as bytes."""
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "kernel.cubin")
        with open(name, "wb") as file:
            file.write(cubin)
        return extract(name, fun)
