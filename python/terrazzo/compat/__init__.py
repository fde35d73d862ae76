# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lets files that say `import triton` run on Terrazzo, unmodified.

After `import terrazzo.compat`, the module names triton, triton.language, triton.testing and so on mean Terrazzo's.
Without a line in the program: `python -m terrazzo.compat script.py arguments`.
"""

import importlib.machinery
import sys
import types

from .. import errors

# The version of the language that kernels may expect; they compare it.
VERSION = "3.8.0"


class _Alias(types.ModuleType):
    """A module that has the names of others, and some of its own."""

    def __init__(self, name, sources=(), **own):
        super().__init__(name, f"Terrazzo under the name {name}.")
        self.__path__ = []
        self.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
        self._sources = sources
        self.__dict__.update(own)

    def __getattr__(self, name):
        if not name.startswith("__"):
            for source in self.__dict__["_sources"]:
                if hasattr(source, name):
                    return getattr(source, name)
        raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")

    def __dir__(self):
        return sorted({*self.__dict__, *(n for s in self._sources for n in dir(s))})


def _modules():
    """{name: module} of everything that is put into sys.modules."""
    import terrazzo as tz

    from .. import compiler, driver, knobs, language, runtime, sizes, targets, testing
    from ..tools import tensor_descriptor

    jit, autotune = sys.modules["terrazzo.jit"], sys.modules["terrazzo.autotune"]
    error_names = _Alias(
        "triton.compiler.errors",
        (errors,),
        CompilationError=errors.CompileError,
        CompileTimeAssertionFailure=errors.CompileTimeAssertionFailure,
    )
    runtime_errors = _Alias(
        "triton.runtime.errors",
        (errors,),
        TritonError=errors.TerrazzoError,
        InterpreterError=errors.TerrazzoError,
        PTXASError=errors.CompileError,
    )
    found = {
        "triton": _Alias(
            "triton",
            (tz,),
            __version__=VERSION,
            TritonError=errors.TerrazzoError,
            InterpreterError=errors.TerrazzoError,
        ),
        "triton.language": language,
        "triton.testing": testing,
        "triton.knobs": knobs,
        "triton._utils": _Alias("triton._utils", (sizes, tz)),
        "triton.runtime": _Alias("triton.runtime", (runtime,), InterpreterError=errors.TerrazzoError),
        "triton.runtime.jit": jit,
        "triton.runtime.autotuner": autotune,
        "triton.runtime.driver": driver,
        "triton.runtime.errors": runtime_errors,
        "triton.compiler": _Alias("triton.compiler", (compiler,), CompilationError=errors.CompileError),
        "triton.compiler.compiler": compiler,
        "triton.compiler.errors": error_names,
        "triton.compiler.code_generator": _Alias("triton.compiler.code_generator", (errors,)),
        "triton.backends": _Alias("triton.backends"),
        "triton.backends.compiler": _Alias("triton.backends.compiler", (), GPUTarget=targets.Target),
        "triton.tools": _Alias("triton.tools"),
        "triton.tools.tensor_descriptor": tensor_descriptor,
    }
    prefix = "terrazzo.language."
    for name, module in list(sys.modules.items()):
        if name.startswith(prefix):
            found["triton.language." + name[len(prefix) :]] = module
    return found


def install():
    """Makes triton's module names mean Terrazzo's. An error if triton itself is imported already."""
    present = sys.modules.get("triton")
    if isinstance(present, _Alias):
        return
    if present is not None:
        raise errors.TerrazzoError(
            f"triton is imported already (from {getattr(present, '__file__', '?')}); import terrazzo.compat before it"
        )
    found = _modules()
    sys.modules.update(found)
    for name, module in found.items():
        parent, _, child = name.rpartition(".")
        if isinstance(found.get(parent), _Alias) and name != "triton.runtime.driver":
            setattr(found[parent], child, module)


def uninstall():
    """Takes the names out again."""
    for name in [n for n in sys.modules if n == "triton" or n.startswith("triton.")]:
        del sys.modules[name]


install()
