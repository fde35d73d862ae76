# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tools/new_pass.py in a tree of its own."""

import importlib.util
import sys
from pathlib import Path

import pytest

FILE = Path(__file__).resolve().parents[3] / "tools" / "new_pass.py"
TABLE = '#ifndef A\n#define A\n\ninclude "mlir/Pass/PassBase.td"\n\n#endif // A\n'


@pytest.fixture
def run(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("new_pass", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    for folder in ("Conversion", "Dialect/Tile/Transforms"):
        table = tmp_path / "include" / "terrazzo" / folder / "Passes.td"
        table.parent.mkdir(parents=True)
        table.write_text(TABLE)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["new_pass.py", *arguments])
        module.main()
        return tmp_path

    return call


@pytest.mark.parametrize(
    ("room", "source", "flag", "test", "definition"),
    [
        (
            "tile",
            "lib/Dialect/Tile/Transforms/MergeTransposes.cpp",
            "tz-tile-merge-transposes",
            "test/Dialect/Tile/merge-transposes.mlir",
            "TileMergeTransposes",
        ),
        (
            "conversion",
            "lib/Conversion/MergeTransposes/MergeTransposes.cpp",
            "tz-merge-transposes",
            "test/Conversion/MergeTransposes/merge-transposes.mlir",
            "MergeTransposes",
        ),
    ],
)
def test_files(run, room, source, flag, test, definition):
    root = run(room, "merge-transposes")
    text = (root / source).read_text()
    assert f"GEN_PASS_DEF_{definition.upper()}\n" in text
    assert f"impl::{definition}Base<MergeTransposes>" in text
    assert f"--{flag} |" in (root / test).read_text()
    folder = "Conversion" if room == "conversion" else "Dialect/Tile/Transforms"
    table = (root / "include" / "terrazzo" / folder / "Passes.td").read_text()
    assert f'def {definition} : Pass<"{flag}", ' in table
    assert table.endswith("}\n\n#endif // A\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tile", "MergeTransposes"), "lower-case words"),
        (("simt", "pipeline"), "the room must be set up first"),
    ],
)
def test_mistakes(run, arguments, message):
    with pytest.raises(SystemExit, match=message):
        run(*arguments)


def test_nothing_is_overwritten(run):
    run("tile", "fold")
    with pytest.raises(SystemExit, match="has a pass tz-tile-fold already"):
        run("tile", "fold")
