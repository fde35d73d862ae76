# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Installs an unpacked bundle: compiles the Python binding against this Python, then puts the package where it belongs.

    python3 install.py [--target DIR] [--jobs N]

Needs Python 3.10 or newer with its headers, pybind11, and g++ or another C++20 compiler ($CXX); no LLVM, no CMake, no
network. Without --target the package goes to this Python's site-packages. libterrazzo.so lies beside the binding.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
OLDEST = (3, 10)
FLAGS = ["-std=c++20", "-O2", "-DNDEBUG", "-fPIC", "-fvisibility=hidden", "-g0"]


def die(text: str) -> None:
    """Ends with one line that says what to do."""
    sys.exit(f"install: {text}")


def compiler() -> list[str]:
    """The C++ compiler: $CXX, else the first that is there."""
    names = [os.environ["CXX"]] if os.environ.get("CXX") else ["g++", "c++", "clang++"]
    for name in names:
        command = shlex.split(name)
        if command and shutil.which(command[0]):
            return command
    die(f"no C++ compiler: expected one of {', '.join(names)} on PATH (or set CXX)")
    raise AssertionError


def includes() -> list[str]:
    """Include folders: the bundle's, Python's, pybind11's."""
    folder = Path(sysconfig.get_path("include"))
    if not (folder / "Python.h").exists():
        die(f"no Python.h in {folder}: install Python's development files")
    try:
        import pybind11
    except ImportError:
        die(f"{sys.executable} has no pybind11: install it, as by `{sys.executable} -m pip install pybind11`")
        raise
    return [f"-I{path}" for path in (HERE / "include", HERE / "lib", folder, pybind11.get_include())]


def run(command: list[str]) -> None:
    """Runs a command; a failure shows its output and ends."""
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        die(f"failed: {shlex.join(command)}\n{result.stdout}{result.stderr}")


def build(jobs: int, folder: Path) -> Path:
    """Compiles the binding into `folder`."""
    recipe = json.loads((HERE / "bindings.json").read_text())
    command = [*compiler(), *FLAGS, *includes()]

    def compile_one(source: str) -> str:
        output = str(folder / f"{source.replace('/', '-')}.o")
        run([*command, "-c", str(HERE / "lib" / "Bindings" / source), "-o", output])
        return output

    with ThreadPoolExecutor(jobs) as pool:
        objects = list(pool.map(compile_one, recipe["sources"]))
    module = folder / f"_terrazzo{sysconfig.get_config_var('EXT_SUFFIX')}"
    library = HERE / "lib" / "libterrazzo.so"
    run([*compiler(), "-shared", "-s", "-o", str(module), *objects, str(library), "-Wl,-rpath,$ORIGIN"])
    return module


def install(module: Path, target: Path) -> None:
    """Replaces the package in `target`; each file by rename, so that a process that has the old one mapped keeps it."""
    package, fresh = target / "terrazzo", target / f".terrazzo.{os.getpid()}"
    target.mkdir(parents=True, exist_ok=True)
    shutil.copytree(HERE / "python" / "terrazzo", fresh)
    shutil.copy2(module, fresh)
    shutil.copy2(HERE / "lib" / "libterrazzo.so", fresh)
    if package.exists():
        shutil.rmtree(package)
    fresh.rename(package)


def check(target: Path) -> str:
    """Imports what was installed, in a process of its own."""
    code = "import terrazzo; from terrazzo._terrazzo import runtime; print(terrazzo.__version__, terrazzo.__file__)"
    env = {**os.environ, "PYTHONPATH": str(target)}
    result = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    if result.returncode:
        last = (result.stderr.strip().splitlines() or ["no message"])[-1]
        die(f"installed in {target}, but the import fails: {last}\n{result.stderr}")
    return result.stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description="Installs an unpacked bundle of Terrazzo.")
    parser.add_argument("--target", type=Path, help="a folder for PYTHONPATH (default: this Python's site-packages)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    if sys.version_info < OLDEST:
        die(f"Python {'.'.join(map(str, OLDEST))} or newer is needed, this is {sys.version.split()[0]}")
    target = (arguments.target or Path(sysconfig.get_path("platlib"))).resolve()
    with tempfile.TemporaryDirectory(prefix="terrazzo-install-") as folder:
        install(build(arguments.jobs, Path(folder)), target)
    print(f"installed terrazzo {check(target)}")


if __name__ == "__main__":
    main()
