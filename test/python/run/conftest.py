# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The modules beside the tests are shared by them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
