# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of NVIDIA's GPUs.

Programs of one launch never depend on another launch here, so that the two functions of programmatic dependent launch
have nothing to do. The others are errors on other targets.
"""

from ....errors import SemanticError
from ...builder import builtin, current, options
from ...dtypes import int32, int64
from ...values import constexpr, tensor
from . import libdevice


@builtin
def gdc_wait():
    """Waits until the kernels that this launch depends on are done; launches start in order, so they are."""


@builtin
def gdc_launch_dependents():
    """Allows the launches that depend on this one to start; a hint."""


def _check_target(name):
    found = options().target
    if found.partition(":")[0] != "cuda":
        raise SemanticError(f"tl.extra.cuda.{name}() is of NVIDIA's GPUs, found the target {found}")


def _register(name, operation, dtype):
    """What a special register holds."""
    _check_target(name)
    return tensor(current().create(operation, [], {}, [dtype.ir]).result, dtype)


@builtin
def globaltimer():
    """A counter of nanoseconds, int64; threads of one program may read it at different times."""
    return _register("globaltimer", "nvvm.read.ptx.sreg.globaltimer", int64)


@builtin
def smid():
    """The number of the multiprocessor that the program runs on, int32."""
    return _register("smid", "nvvm.read.ptx.sreg.smid", int32)


@builtin
def num_warps():
    """How many warps a program has, as a constexpr."""
    _check_target("num_warps")
    return constexpr(options().num_warps)


@builtin
def num_threads():
    """How many threads a program has, as a constexpr."""
    _check_target("num_threads")
    return constexpr(32 * options().num_warps)


__all__ = ["gdc_launch_dependents", "gdc_wait", "globaltimer", "libdevice", "num_threads", "num_warps", "smid"]
