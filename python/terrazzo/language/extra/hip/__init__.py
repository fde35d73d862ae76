# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of AMD's GPUs."""

from . import libdevice

__all__ = ["libdevice"]
