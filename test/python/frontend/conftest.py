# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels from text, without a file: what tests of the frontend are made of."""

import itertools
import linecache
import sys
import textwrap
from pathlib import Path

import pytest
import terrazzo as tz
import terrazzo.language as tl
from terrazzo import frontend
from terrazzo.specialize import type_from_text

sys.path.insert(0, str(Path(__file__).parent))
_numbers = itertools.count()


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(tz.knobs.cache, "dir", str(tmp_path / "cache"))


class Module:
    """The names that a text defines; `file` is the name that errors show, `line(mark)` the line with a comment."""

    def __init__(self, text, **names):
        self.text = textwrap.dedent(text)
        self.file = f"<test {next(_numbers)}>"
        linecache.cache[self.file] = (len(self.text), None, self.text.splitlines(True), self.file)
        self.names = {"tz": tz, "tl": tl, "__name__": "kernels", **names}
        exec(compile(self.text, self.file, "exec"), self.names)

    def __getattr__(self, name):
        return self.names[name]

    def line(self, mark):
        lines = self.text.splitlines()
        found = [i for i, line in enumerate(lines, 1) if f"# {mark}" in line]
        assert len(found) == 1, f"{mark} marks {len(found)} lines"
        return found[0]


def build(kernel, options=None, **arguments):
    """The tile IR of a kernel, for types given as text ("*fp32", "i32") and constants."""
    types, constants = {}, {}
    for parameter in kernel.params:
        if parameter.name not in arguments:
            continue
        value = arguments[parameter.name]
        type = type_from_text(value) if isinstance(value, str) and not parameter.is_constexpr else None
        (constants if type is None else types)[parameter.name] = value if type is None else type
    return frontend.build_module(kernel, types, constants, {}, options or {}).str()


@pytest.fixture
def module():
    """Makes a Module of a text."""
    return Module


@pytest.fixture
def ir():
    """build(kernel, x="*fp32", n="i32", BLOCK=4)"""
    return build
