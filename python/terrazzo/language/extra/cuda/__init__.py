# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of NVIDIA's GPUs.

Programs of one launch never depend on another launch here, so that the two functions of programmatic dependent launch
have nothing to do.
"""

from ...builder import builtin
from . import libdevice


@builtin
def gdc_wait():
    """Waits until the kernels that this launch depends on are done; launches start in order, so they are."""


@builtin
def gdc_launch_dependents():
    """Allows the launches that depend on this one to start; a hint."""


__all__ = ["gdc_launch_dependents", "gdc_wait", "libdevice"]
