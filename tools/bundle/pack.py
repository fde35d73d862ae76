# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`make bundle`: packs libterrazzo, the Python package and what a GPU machine needs to test it into one archive.

    python tools/bundle/pack.py --build build/dev [--output build/terrazzo-bundle.tar.xz]

The archive unpacks to terrazzo-bundle/ and needs no LLVM and no network: install.py in it compiles the Python binding
against the machine's own Python (so the sources and the C headers of the binding are inside), tools/device/run.py tests
and measures. The same input gives the same bytes.
"""

from __future__ import annotations

import argparse
import io
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAME = "terrazzo-bundle"
# More than this does not travel well. The library is most of it.
LIMIT = 40_000_000
_INCLUDE = re.compile(r'^\s*#\s*include\s+["<]((?:mlir-c|llvm-c|terrazzo-c|llvm|mlir)/[^">]+)[">]', re.MULTILINE)
# Folders of the checkout that travel as they are.
FOLDERS = ("python/terrazzo", "lib/Bindings", "test/device", "test/python", "benchmarks", "tools/device")


def headers(build: Path) -> dict[str, Path]:
    """The C headers that the binding needs, by the path that they are included by."""
    roots = [ROOT / "include", build / "llvm-include"]
    found: dict[str, Path] = {}
    pending = sorted((ROOT / "lib" / "Bindings").rglob("*.*"))
    while pending:
        for name in _INCLUDE.findall(pending.pop().read_text()):
            if name in found:
                continue
            paths = [root / name for root in roots if (root / name).exists()]
            if not paths:
                sys.exit(f"bundle: the binding includes {name}, which is in none of {', '.join(map(str, roots))}")
            found[name] = paths[0]
            pending.append(paths[0])
    return found


def contents(build: Path) -> dict[str, Path]:
    """Path in the archive -> file."""
    home = re.search(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$", (build / "CMakeCache.txt").read_text(), re.MULTILINE)
    if home is None or Path(home.group(1)).resolve() != ROOT:
        sys.exit(f"bundle: expected a build of {ROOT}, found one of {home.group(1) if home else 'nothing'} in {build}")
    library = build / "shared" / "libterrazzo.so"
    if not library.exists():
        sys.exit(f"bundle: no {library}: build the target terrazzo-shared first")
    files = {
        "lib/libterrazzo.so": library,
        "bindings.json": build / "shared" / "bindings.json",
        "install.py": ROOT / "tools" / "bundle" / "install.py",
        "LICENSE": ROOT / "LICENSE",
        "pytest.ini": ROOT / "tools" / "bundle" / "pytest.ini",
    }
    # The runtime's own tests: there if the build has them.
    tests = build / "test" / "unit"
    if (tests / "RuntimeTestsStatic").exists():
        files["bin/RuntimeTests"] = tests / "RuntimeTestsStatic"
        files |= {f"bin/kernels/{path.name}": path for path in (tests / "Runtime").glob("*.o")}
    files |= {f"include/{name}": path for name, path in headers(build).items()}
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            parts = path.relative_to(ROOT).parts
            if path.is_file() and path.suffix != ".so" and not {"__pycache__", "results"} & set(parts):
                files["/".join(parts)] = path
    return files


def pack(files: dict[str, Path], output: Path) -> None:
    """Writes the archive: sorted, without times and owners."""
    if shutil.which("xz") is None:
        sys.exit("bundle: no xz on PATH: install xz-utils")
    output.parent.mkdir(parents=True, exist_ok=True)
    partial = output.with_name(f"{output.name}.partial")
    partial.unlink(missing_ok=True)
    with partial.open("xb") as target:
        xz = subprocess.Popen(["xz", "-T0", "-6", "-c"], stdin=subprocess.PIPE, stdout=target)
        assert xz.stdin is not None
        with xz.stdin, tarfile.open(fileobj=xz.stdin, mode="w|") as archive:
            for name, path in sorted(files.items()):
                data = path.read_bytes()
                entry = tarfile.TarInfo(f"{NAME}/{name}")
                entry.size, entry.mode = len(data), 0o755 if path.stat().st_mode & 0o100 else 0o644
                archive.addfile(entry, io.BytesIO(data))
        if xz.wait():
            sys.exit("bundle: xz failed")
    partial.replace(output)


def main() -> None:
    parser = argparse.ArgumentParser(description="Packs the bundle.")
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--output", type=Path, default=ROOT / "build" / f"{NAME}.tar.xz")
    arguments = parser.parse_args()
    files = contents(arguments.build.resolve())
    pack(files, arguments.output)
    size = arguments.output.stat().st_size
    if size > LIMIT:
        sys.exit(f"bundle: {arguments.output} has {size} bytes, expected at most {LIMIT}")
    unpacked = sum(path.stat().st_size for path in files.values())
    print(f"{arguments.output}: {size / 1e6:.1f} MB, unpacked {unpacked / 1e6:.1f} MB in {len(files)} files")


if __name__ == "__main__":
    main()
