# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The redistributable library of this build: its exports and its needs. (`make test-bundle` tests that it works.)"""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
LLVM_BIN = Path("/usr/lib/llvm-22/bin")
SYSTEM_LIBRARIES = {"libc.so.6", "libm.so.6", "libz.so.1", "libzstd.so.1", "ld-linux-x86-64.so.2"}


@pytest.fixture(scope="module")
def library():
    """libterrazzo.so of the build that is tested."""
    build = Path(os.environ.get("TERRAZZO_BUILD", ROOT / "build" / "dev"))
    path = build / "shared" / "libterrazzo.so"
    assert path.exists(), f"no {path}: build the target terrazzo-shared"
    return path


def output_of(tool, *arguments):
    return subprocess.run([LLVM_BIN / tool, *arguments], capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def exported(library):
    """The names that other libraries can see."""
    return set(output_of("llvm-nm", "--dynamic", "--defined-only", "--just-symbol-name", library).split())


def test_exports_c_functions_only(exported):
    assert [name for name in exported if not re.fullmatch(r"(tz|mlir)[A-Z]\w*", name)] == []


def test_exports_the_whole_c_api(exported):
    declared = set()
    for header in (ROOT / "include" / "terrazzo-c").glob("*.h"):
        code = re.sub(r"//.*", "", header.read_text())
        declared |= set(re.findall(r"\b(tz[A-Z]\w*)\(", code))
    assert "tzCompile" in declared
    assert declared == {name for name in exported if name.startswith("tz")}


def test_exports_those_functions_of_mlir_that_the_binding_calls(exported):
    sources = "".join(path.read_text() for path in (ROOT / "lib" / "Bindings").rglob("*.cpp"))
    named = set(re.findall(r"\bmlir[A-Z]\w*", sources))
    found = {name for name in exported if name.startswith("mlir")}
    assert found
    assert found <= named


def test_needs_the_system_only(library):
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("llvm-readelf", "--dynamic-table", library)))
    assert "libc.so.6" in needed
    assert needed <= SYSTEM_LIBRARIES


def test_takes_nothing_of_llvm_from_elsewhere(library):
    undefined = output_of("llvm-nm", "--dynamic", "--undefined-only", "--just-symbol-name", library).split()
    assert "malloc" in " ".join(undefined)
    assert [name for name in undefined if re.match(r"_Z\w*(4llvm|4mlir|3lld)|LLVM|mlir|tz[A-Z]", name)] == []


def test_is_stripped(library):
    sections = output_of("llvm-readelf", "--sections", library)
    assert ".dynsym" in sections
    assert ".symtab" not in sections
    assert ".debug_info" not in sections
