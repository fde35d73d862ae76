# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs clang-tidy over the C++ sources, those that have not changed since they last passed left out.

A source counts as unchanged if its text, that of every header of the project and the build that it includes (ninja
knows them), the compile command, .clang-tidy and clang-tidy's version are the same. The record of what passed is a
folder of empty files under the user's cache, so that a fresh clone profits from it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tree import ROOT

TIDY = os.environ.get("CLANG_TIDY", "clang-tidy-22")
_FOLDERS = ("lib", "tools")


def record_folder() -> Path:
    """Where the names of what passed are kept."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "terrazzo" / "clang-tidy"


def dependencies(build: Path) -> dict[str, list[Path]]:
    """Object file -> the headers and the source that it was made of, as far as they are the project's."""
    result = subprocess.run(["ninja", "-C", str(build), "-t", "deps"], capture_output=True, text=True, check=True)
    found: dict[str, list[Path]] = {}
    current: list[Path] = []
    for line in result.stdout.splitlines():
        if line.startswith(" "):
            path = build / line.strip()
            if path.is_relative_to(ROOT) or path.is_relative_to(build):
                current.append(path)
        elif ": #deps" in line:
            current = found.setdefault(line.split(":")[0], [])
    return found


def output_of(entry: dict[str, str]) -> str:
    """The object file of a compile command, as ninja names it. (CMake's Ninja generators write no "output".)"""
    words = shlex.split(entry["command"])
    return entry.get("output") or words[words.index("-o") + 1]


def _anywhere(text: bytes, build: Path) -> bytes:
    """A text without the folders that it was made in: CMake writes them into commands and headers."""
    return text.replace(str(build).encode(), b"<build>").replace(str(ROOT).encode(), b"<root>")


def key_of(entry: dict[str, str], headers: list[Path], build: Path, common: bytes) -> str:
    """Changes with everything that clang-tidy's answer can depend on."""
    digest = hashlib.sha256(common)
    digest.update(_anywhere(entry["command"].encode(), build))
    # A path may be written in two ways, by way of the build folder or not.
    paths = {Path(os.path.normpath(path)) for path in (Path(entry["file"]), *headers)}
    named = {os.path.relpath(path, build if path.is_relative_to(build) else ROOT): path for path in paths}
    for name, path in sorted(named.items()):
        if path.suffix in {".pch", ".d"}:
            continue
        digest.update(f"\0{name}\0".encode())
        digest.update(_anywhere(path.read_bytes(), build) if path.exists() else b"")
    return digest.hexdigest()


def run_one(source: str, build: Path) -> tuple[str, bool, str]:
    """clang-tidy on one file: name, did it pass, what it printed."""
    command = [TIDY, "--quiet", "-p", str(build), source]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    output = "\n".join(line for line in result.stdout.splitlines() if line.strip())
    if result.returncode and not output:
        output = result.stderr
    return source, result.returncode == 0, output


def main() -> None:
    parser = argparse.ArgumentParser(description="Runs clang-tidy over changed C++ sources.")
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--all", action="store_true", help="also those that passed before")
    parser.add_argument("files", nargs="*", type=Path, help="only these sources")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    version = subprocess.run([TIDY, "--version"], capture_output=True, check=True).stdout
    # (ninja does not say what the precompiled header was made of.)
    common = version + (ROOT / ".clang-tidy").read_bytes() + (ROOT / "cmake" / "pch.h").read_bytes()
    record = record_folder()
    record.mkdir(parents=True, exist_ok=True)

    headers = dependencies(build)
    wanted = {path.resolve() for path in arguments.files}
    # A source that is compiled more than once has a key each time.
    pending: dict[str, list[Path]] = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = Path(entry["file"])
        if not any(path.is_relative_to(ROOT / folder) for folder in _FOLDERS) or (wanted and path not in wanted):
            continue
        passed = record / key_of(entry, headers.get(output_of(entry), []), build, common)
        if arguments.all or not passed.exists():
            pending.setdefault(entry["file"], []).append(passed)

    failed = 0
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for source, ok, output in pool.map(lambda source: run_one(source, build), pending):
            if ok:
                for passed in pending[source]:
                    passed.touch()
            else:
                failed += 1
                print(output.replace(f"{ROOT}/", ""), flush=True)
    if failed:
        print(f"clang-tidy: {failed} of {len(pending)} changed sources have findings")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
