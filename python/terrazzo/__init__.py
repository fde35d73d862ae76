# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Terrazzo: a compiler and runtime for tile kernels written in Python.

import terrazzo as tz
import terrazzo.language as tl

@tz.jit
def add(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) + 1, mask=i < n)

add[(tz.cdiv(n, 256),)](x, y, n, BLOCK=256)
"""

import importlib

from . import errors, knobs, language
from .accepted import AsyncCompileMode, FutureKernel, set_allocator
from .autotune import Autotuner, Config, Heuristics, autotune, heuristics
from .compiler import CompiledKernel, compile
from .devices import synchronize
from .errors import (
    ArgumentError,
    ArgumentRangeError,
    CacheWarning,
    CompilationError,
    CompileError,
    CompileTimeAssertionFailure,
    DeviceAssertionError,
    InterpreterError,
    LaunchError,
    OutOfResources,
    SemanticError,
    TerrazzoError,
    UnsupportedLanguageConstruct,
)
from .interface import KernelInterface
from .jit import JITFunction, jit
from .language.aggregates import aggregate
from .language.builder import must_use_result
from .language.values import constexpr_function
from .sizes import cdiv, next_power_of_2
from .sources import ASTSource, IRSource
from .wrappers import MockTensor, TensorWrapper, reinterpret

__version__ = "0.1.0"

# Imported when first used.
_LAZY = ("compat", "devices", "driver", "kernels", "runtime", "testing", "tools", "trainer")
_LAZY_NAMES = {"DeviceArray": "device", "device_array": "device"}

__all__ = [name for name in dir() if not name.startswith("_") and name != "importlib"]
__all__ += ["driver", "runtime", "testing", "tools", "DeviceArray", "device_array"]


def __getattr__(name):
    if name in _LAZY:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _LAZY_NAMES:
        return getattr(importlib.import_module(f"{__name__}.{_LAZY_NAMES[name]}"), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__():
    return sorted({*globals(), *_LAZY, *_LAZY_NAMES})
