# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names around launches, where other tools look for them."""

from .autotune import Autotuner, Config, Heuristics, autotune, heuristics
from .driver import driver
from .errors import InterpreterError, OutOfResources
from .interface import KernelInterface
from .jit import JITFunction
from .wrappers import MockTensor, TensorWrapper, reinterpret

__all__ = [
    "Autotuner",
    "Config",
    "Heuristics",
    "InterpreterError",
    "JITFunction",
    "KernelInterface",
    "MockTensor",
    "OutOfResources",
    "TensorWrapper",
    "autotune",
    "driver",
    "heuristics",
    "reinterpret",
]
