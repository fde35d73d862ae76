# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a Python function to a module of the tile dialect.

The source of a kernel is parsed with Python's own `ast` and executed once, symbolically: compile-time values are
computed, run-time values become operations. docs/Rationale/Frontend.md says what was decided and why.
"""

from .dependencies import Dependencies, dependencies
from .module import build_module
from .source import Source, source_of

__all__ = ["Dependencies", "Source", "build_module", "dependencies", "source_of"]
