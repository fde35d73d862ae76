# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python -m terrazzo.compat script.py [arguments]: runs a program that imports triton on Terrazzo."""

import os
import runpy
import sys

from . import install


def main():
    """Runs the script of the command line as __main__."""
    if len(sys.argv) < 2:
        print("usage: python -m terrazzo.compat script.py [arguments]", file=sys.stderr)
        return 2
    script = sys.argv[1]
    if not os.path.exists(script):
        print(f"terrazzo.compat: error: no such file: {script}", file=sys.stderr)
        return 2
    install()
    sys.argv = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    runpy.run_path(script, run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
