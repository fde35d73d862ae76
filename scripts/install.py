# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Puts the package and the tools into a virtual environment, and a copy for the tests into the build folder.

Why copies and no editable install: several clones may share one environment, and a copy stays right when one of them is
changed or deleted. The tests use the copy in their own build folder (`<build>/package`, on PYTHONPATH), so that they
test this checkout whatever another clone installs meanwhile. Files that have not changed are left alone.
"""

from __future__ import annotations

import argparse
import fcntl
import filecmp
import os
import shutil
import sysconfig
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = """#!{python}
import sys

from {module} import {function}

sys.exit({function}())
"""


def write(path: Path, text: str, mode: int = 0o644) -> None:
    """Writes a text file unless it has that text."""
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    path.chmod(mode)


def copy(source: Path, target: Path) -> None:
    """Copies by rename, so that a process that has the old file mapped keeps it."""
    if target.exists() and filecmp.cmp(source, target, shallow=False):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    shutil.copy2(source, temporary)
    os.replace(temporary, target)


def package_files(build: Path) -> dict[Path, Path]:
    """Path inside the package -> file: the Python sources and the extension module of the build."""
    source = ROOT / "python" / "terrazzo"
    files = {
        path.relative_to(source): path
        for path in source.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".so"
    }
    extensions = sorted(build.rglob("_terrazzo*.so"), key=lambda path: path.stat().st_mtime)
    extensions = [path for path in extensions if "package" not in path.relative_to(build).parts]
    if extensions:
        files[Path(extensions[-1].name)] = extensions[-1]
    return files


def sync(files: dict[Path, Path], target: Path) -> None:
    """Makes `target` hold exactly these files."""
    for name, source in files.items():
        copy(source, target / name)
    for path in sorted(target.rglob("*"), reverse=True):
        relative = path.relative_to(target)
        if path.is_dir():
            if not any(path.iterdir()):
                path.rmdir()
        elif "__pycache__" in relative.parts:
            if not (path.parent.parent / f"{path.name.split('.')[0]}.py").exists():
                path.unlink()
        elif relative not in files:
            path.unlink()


def write_metadata(site: Path, project: dict, files: list[Path]) -> None:
    """A dist-info folder, so that `pip list`, `pip uninstall` and importlib.metadata know the package."""
    name, version = project["name"], project["version"]
    info = site / f"{name}-{version}.dist-info"
    for old in site.glob(f"{name}-*.dist-info"):
        if old != info:
            shutil.rmtree(old)
    requires = [f"Requires-Dist: {line}" for line in project["dependencies"]]
    for extra, lines in project["optional-dependencies"].items():
        requires.append(f"Provides-Extra: {extra}")
        requires += [f"Requires-Dist: {line}; extra == '{extra}'" for line in lines]
    header = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", f"Summary: {project['description']}"]
    write(info / "METADATA", "\n".join([*header, *requires, ""]))
    write(info / "INSTALLER", "make install\n")
    scripts = "".join(f"{key} = {value}\n" for key, value in project["scripts"].items())
    write(info / "entry_points.txt", f"[console_scripts]\n{scripts}")
    own = [f"{info.name}/{file}" for file in ("METADATA", "INSTALLER", "entry_points.txt", "RECORD")]
    write(info / "RECORD", "".join(f"{path},,\n" for path in [*map(str, files), *own]))


def install(build: Path, venv: Path) -> None:
    """Package, tools and console scripts into the environment."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    site = Path(sysconfig.get_path("platlib", vars={"base": str(venv), "platbase": str(venv)}))
    files = package_files(build)
    sync(files, site / "terrazzo")
    installed = [Path("terrazzo") / name for name in files]
    for tool in sorted((build / "bin").glob("tz-*")):
        copy(tool, venv / "bin" / tool.name)
        installed.append(Path(os.path.relpath(venv / "bin" / tool.name, site)))
    for name, entry in project["scripts"].items():
        module, function = entry.split(":")
        script = SCRIPT.format(python=venv / "bin" / "python", module=module, function=function)
        write(venv / "bin" / name, script, 0o755)
        installed.append(Path(os.path.relpath(venv / "bin" / name, site)))
    write_metadata(site, project, installed)
    sync(files, build / "package" / "terrazzo")


def main() -> None:
    parser = argparse.ArgumentParser(description="Installs the package and the tools.")
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--venv", type=Path, required=True)
    arguments = parser.parse_args()
    venv = arguments.venv.resolve()
    with (venv / ".terrazzo-install.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        install(arguments.build.resolve(), venv)


if __name__ == "__main__":
    main()
