# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the stubs of a new pass: the entry in Passes.td, the source, the test.

    tools/new_pass.py tile merge-transposes         a pass of lib/Dialect/Tile/Transforms
    tools/new_pass.py conversion tile-to-simt      a conversion, lib/Conversion/TileToSimt

docs/howto/add-a-pass.md says what they must become. Nothing that exists is overwritten.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

ENTRY = """
def {cls} : Pass<"{flag}", "::mlir::ModuleOp"> {{
  let summary = "(one line: what it does)";
  let description = [{{
    Expects: (what the IR must be like).
    Ensures: (what it is like afterwards).
  }}];
}}
"""

SOURCE = """//===- {stem}.cpp - (what it does) {dashes}===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// (The idea; IR before and after if that is not obvious.)
// Contract: Passes.td. Every case: {test}.
//
//===----------------------------------------------------------------------===//

#include "{header}"

using namespace mlir;

namespace terrazzo {{
#define GEN_PASS_DEF_{macro}
#include "{header}.inc"

namespace {{

struct {stem} : impl::{cls}Base<{stem}> {{
  void runOnOperation() override {{}}
}};

}} // namespace
}} // namespace terrazzo
"""

TEST = """// RUN: tz-opt %s --{flag} | FileCheck %s

// (Why this case exists.)
// CHECK-LABEL: @matched
func.func @matched() {{
  // CHECK: return
  return
}}
"""


def camel(name: str) -> str:
    """merge-transposes -> MergeTransposes"""
    return "".join(part.capitalize() for part in name.split("-"))


class Pass:
    """The names and files of a pass, all derived from two words."""

    def __init__(self, room: str, name: str) -> None:
        conversion = room == "conversion"
        self.stem = camel(name)
        self.flag = f"tz-{name}" if conversion else f"tz-{room}-{name}"
        self.cls = self.stem if conversion else camel(room) + self.stem
        folder = "Conversion" if conversion else f"Dialect/{camel(room)}/Transforms"
        self.header = f"terrazzo/{folder}/Passes.h"
        self.table = ROOT / "include" / "terrazzo" / folder / "Passes.td"
        self.source = ROOT / "lib" / folder / (self.stem if conversion else "") / f"{self.stem}.cpp"
        self.lists = self.source.parent / "CMakeLists.txt"
        tests = f"Conversion/{self.stem}" if conversion else f"Dialect/{camel(room)}"
        self.test = ROOT / "test" / tests / f"{name}.mlir"

    def fill(self, template: str) -> str:
        """A template with the names put in."""
        dashes = "-" * max(1, 80 - len(f"//===- {self.stem}.cpp - (what it does) ===//"))
        test = self.test.relative_to(ROOT)
        names = {**vars(self), "dashes": dashes, "test": test, "macro": self.cls.upper()}
        return template.format(**names)


def add_entry(new: Pass) -> None:
    """Puts the definition before the end of Passes.td."""
    text = new.table.read_text()
    end = re.search(r"\n#endif[^\n]*\n\s*$", text)
    at = end.start() if end else len(text)
    new.table.write_text(text[:at].rstrip("\n") + "\n" + new.fill(ENTRY) + text[at:])


def main() -> None:
    parser = argparse.ArgumentParser(description="Writes the stubs of a new pass.")
    parser.add_argument("room", help="a dialect such as tile, or conversion")
    parser.add_argument("name", help="with-dashes, without the dialect")
    arguments = parser.parse_args()
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", arguments.name):
        sys.exit(f"new_pass: a name is lower-case words with dashes, found '{arguments.name}'")
    new = Pass(arguments.room, arguments.name)
    if not new.table.exists():
        sys.exit(f"new_pass: there is no {new.table.relative_to(ROOT)}: the room must be set up first")
    if f'"{new.flag}"' in new.table.read_text():
        sys.exit(f"new_pass: {new.table.relative_to(ROOT)} has a pass {new.flag} already")
    for path in (new.source, new.test):
        if path.exists():
            sys.exit(f"new_pass: {path.relative_to(ROOT)} exists already")
    add_entry(new)
    for path, template in ((new.source, SOURCE), (new.test, TEST)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(new.fill(template))
    for path in (new.table, new.source, new.test):
        print(path.relative_to(ROOT))
    print(f"now add {new.source.name} to {new.lists.relative_to(ROOT)}, and read docs/howto/add-a-pass.md")


if __name__ == "__main__":
    main()
