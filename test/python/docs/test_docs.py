# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The documentation against the tree: links lead somewhere, commands exist, examples run."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGES = sorted(
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs").glob("*/*.md")]
)
PAGES = [page for page in PAGES if "generated" not in page.parts]
EXAMPLES = [ROOT / "README.md", ROOT / "docs" / "howto" / "add-a-kernel.md"]
IDS = [str(page.relative_to(ROOT)) for page in PAGES]


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_links_lead_to_files(page):
    text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(), flags=re.DOTALL)
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text)
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_make_targets_exist(page):
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:^ {4}|`|· )make ([a-z]+)", page.read_text(), re.MULTILINE))
    assert named - targets == set()


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_paths_exist(page):
    """Paths in code spans that start at a folder of the checkout; not those to be made."""
    paths = re.findall(r"`((?:lib|include|tools|test|python|scripts|benchmarks|cmake)/[\w/.-]+)`", page.read_text())
    missing = [path for path in paths if not (ROOT / path).exists()]
    created = {
        "lib/Dialect/Tile/Transforms/MergeTransposes.cpp",
        "test/Dialect/Tile/merge-transposes.mlir",
        "lib/Target/T",
    }
    assert set(missing) <= created | {"test/Target/T"}


def _spelled_out(room):
    """Dialect/Tile/{IR,Transforms} -> Dialect/Tile/IR, Dialect/Tile/Transforms."""
    before, brace, rest = room.partition("{")
    if not brace:
        return [room]
    inner, _, after = rest.partition("}")
    return [before + part + after for part in inner.split(",")]


def _rooms_of_the_architecture():
    """A list of paths for each line of the tree that docs/Architecture.md draws, without those that come later."""
    tree = re.search(r"^## The tree\n\n((?: {4}.*\n)+)", (ROOT / "docs" / "Architecture.md").read_text(), re.MULTILINE)
    above = {}  # indentation -> the folders that lines below may lie in
    for line in tree[1].splitlines():
        indent = len(line) - len(line.lstrip())
        first = line.strip().split("  ")[0]
        rooms = [path for room in re.findall(r"[\w/-]+(?:\{[\w,]+\})?/?", first) for path in _spelled_out(room)]
        if indent > 12 or "(later)" in line:
            continue
        above = {i: folders for i, folders in above.items() if i < indent}
        bases = above[max(above)] if above else [""]
        above[indent] = [f"{base.rstrip('/')}/{room}".lstrip("/") for base in bases for room in rooms]
        yield above[indent]


def test_rooms_of_the_architecture_exist():
    lines = list(_rooms_of_the_architecture())
    assert ["include/terrazzo/Runtime/Cpu/", "lib/Runtime/Cpu/"] in lines
    assert [paths for paths in lines if not any((ROOT / path).is_dir() for path in paths)] == []


@pytest.mark.parametrize("page", EXAMPLES, ids=lambda page: page.name)
def test_examples_run(page):
    """The Python blocks of a page, one behind the other as a reader would type them."""
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    assert blocks
    scope = {"__name__": "example"}
    for block in blocks:
        exec(compile(block, f"<{page.name}>", "exec"), scope)


def test_every_decision_is_numbered_in_sequence():
    numbers = [int(path.name[:4]) for path in sorted((ROOT / "docs" / "adr").glob("*.md"))]
    assert numbers == list(range(1, len(numbers) + 1))
