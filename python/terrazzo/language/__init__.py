# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The language that kernels are written in: `import terrazzo.language as tl`.

Values are scalars and tiles (`tensor`) and compile-time constants (`constexpr`); the functions here are called in
kernels, where they emit operations of the tile dialect.
"""

from . import core, extra, math, public, random, standard, target_info
from .descriptor import (
    _experimental_descriptor_load,
    _experimental_descriptor_store,
    _experimental_make_tensor_descriptor,
)
from .public import *

__all__ = [name for name in vars(public) if not name.startswith("_")]
__all__ += ["core", "extra", "math", "random", "standard", "target_info"]
