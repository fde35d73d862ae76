# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The frontend: Python functions to tile IR.

build_module traces a kernel; dependencies says what its text alone leaves open; source_of and remember find and keep
the source of a function.
"""

from .dependencies import Dependencies, dependencies
from .kernel import build_module
from .source import Source, remember, source_of

__all__ = ["Dependencies", "Source", "build_module", "dependencies", "remember", "source_of"]
