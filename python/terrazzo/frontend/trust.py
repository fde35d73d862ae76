# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whose code is known by its name: that of this package, and of libraries that do not change without their version.

Everything else that a kernel reads is known by its contents; see reach.py.
"""

import sys

_OWN = ("terrazzo", "triton")
_OWN_KERNELS = ("terrazzo.kernels", "terrazzo.trainer")  # are kernels like those of users

# Modules of Python whose functions depend on their arguments alone.
_PURE = {"abc", "bisect", "builtins", "cmath", "collections", "contextlib", "copy", "copyreg", "dataclasses", "decimal"}
_PURE |= {"enum", "fractions", "functools", "heapq", "itertools", "keyword", "math", "numbers", "operator", "re"}
_PURE |= {"reprlib", "statistics", "string", "struct", "textwrap", "types", "typing", "typing_extensions", "warnings"}
_PURE |= {"_abc", "_bisect", "_collections", "_collections_abc", "_decimal", "_functools", "_heapq", "_operator"}
_PURE |= {"_pydecimal", "_struct", "_typing", "_weakrefset"}
VERSIONED = {"numpy", "torch", "ml_dtypes"}


def top(module):
    """The package that a module's name begins with; classes made in C may have something else for a name."""
    return module.partition(".")[0] if isinstance(module, str) else ""


def is_own(module):
    """Whether a module of this name belongs to the compiler; its code is part of every key."""
    return top(module) in _OWN and not module.startswith(_OWN_KERNELS)


def is_python(module):
    """Whether a module of this name comes with Python."""
    return top(module) in sys.stdlib_module_names


def code_version_of(module):
    """As version_of, for functions: None for those that may see more than their arguments."""
    module = module or ""
    return None if top(module) == "torch" or module.startswith("numpy.random") else version_of(module)


def version_of(module):
    """The version by which the code of a module is known, None if it is not known by that."""
    package = top(module)
    if is_own(module) or package == "builtins":
        return ""
    if package in VERSIONED:
        return str(getattr(sys.modules.get(package), "__version__", ""))
    if package in _PURE and is_python(package):
        return sys.version.partition(" ")[0]
    return None
