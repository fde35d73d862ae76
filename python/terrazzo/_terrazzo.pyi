# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The extension module (lib/Bindings), which type checkers cannot look into.
from typing import Any

ir: Any
runtime: Any
