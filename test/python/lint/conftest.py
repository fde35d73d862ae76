# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the lints importable and gives each test a tree to fill."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools" / "lint"))


@pytest.fixture
def tree(tmp_path):
    """Writes files into an empty tree: `tree({"lib/Layout/A.cpp": "..."})` -> its root."""

    def write(contents):
        for name, text in contents.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return write
