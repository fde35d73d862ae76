# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What lies beyond the core of the language: libdevice, and functions of one vendor's hardware."""

from . import libdevice  # isort: skip
from . import cuda, hip

__all__ = ["cuda", "hip", "libdevice"]
