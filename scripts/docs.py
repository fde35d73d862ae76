# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`make docs`: the pages of dialects and passes, by mlir-tblgen, into docs/generated."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include"
OUT = ROOT / "docs" / "generated"
LLVM = Path("/usr/lib/llvm-22")


def generate(source: Path, page: str, *flags: str) -> Path:
    """One page from one .td file."""
    includes = ["-I", str(INCLUDE), "-I", str(LLVM / "include")]
    command = [str(LLVM / "bin" / "mlir-tblgen"), *flags, *includes, str(source)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit(f"docs: mlir-tblgen failed on {source.relative_to(ROOT)}:\n{result.stderr}")
    OUT.mkdir(parents=True, exist_ok=True)
    path = OUT / page
    path.write_text(result.stdout)
    return path


def pages() -> list[Path]:
    """All pages: one a dialect, one a Passes.td."""
    made = []
    for source in sorted(INCLUDE.rglob("*Ops.td")):
        dialect = re.search(r"class \w+_Op<.*?Op<(\w+)_Dialect", source.read_text(), re.DOTALL)
        if dialect:
            name = dialect.group(1)
            made.append(generate(source, f"{name}Dialect.md", "-gen-dialect-doc", f"-dialect={name.lower()}"))
    for source in sorted(INCLUDE.rglob("Passes.td")):
        name = "".join(part for part in source.relative_to(INCLUDE / "terrazzo").parts[:-1] if part != "Transforms")
        made.append(generate(source, f"{name}Passes.md", "-gen-pass-doc"))
    return made


if __name__ == "__main__":
    for path in pages():
        print(path.relative_to(ROOT))
