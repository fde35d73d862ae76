# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The modules beside the tests are shared by them, and those of the tests of GPUs that list kernels and operations."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "simt")]
