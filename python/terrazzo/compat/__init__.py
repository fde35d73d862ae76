# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lets files that say `import triton` run on Terrazzo, unmodified.

After `import terrazzo.compat`, the module names triton, triton.language, triton.testing and so on mean Terrazzo's.
Without a line in the program: `python -m terrazzo.compat script.py arguments`.
"""

import importlib.machinery
import sys
import types

from .. import errors
from ..targets import Target

# The version of the language that kernels may expect; they compare it.
VERSION = "3.8.0"


class _Alias(types.ModuleType):
    """A module that has the names of others, and some of its own. Sources given as text are imported when asked for."""

    def __init__(self, name, sources=(), **own):
        super().__init__(name, f"Terrazzo under the name {name}.")
        self.__path__ = []
        self.__file__ = __file__
        self.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
        self._sources = sources
        self.__dict__.update(own)

    def _loaded(self):
        return [importlib.import_module(s) if isinstance(s, str) else s for s in self.__dict__["_sources"]]

    def __getattr__(self, name):
        if not name.startswith("__"):
            for source in self._loaded():
                if hasattr(source, name):
                    return getattr(source, name)
        raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")

    def __dir__(self):
        return sorted({*self.__dict__, *(n for s in self._loaded() for n in dir(s))})


def _host_modules():
    """{name: module} of what programs call."""
    import terrazzo as tz

    from .. import cache_managers, driver, kernel, knobs, language, runtime, sizes, testing

    compiler, sources = (sys.modules[f"terrazzo.{name}"] for name in ("compiler", "sources"))
    jit, autotune = sys.modules["terrazzo.jit"], sys.modules["terrazzo.autotune"]
    from . import backends

    compiling = {
        "CompilationError": errors.CompileError,
        "GPUTarget": Target,
        "LazyDict": kernel.LaunchMetadata,
        "make_backend": backends.make_backend,
    }
    return {
        "triton": _Alias("triton", (tz,), __version__=VERSION, TritonError=errors.TerrazzoError),
        "triton.language": language,
        "triton.testing": testing,
        "triton.knobs": knobs,
        "triton._utils": _Alias("triton._utils", (sizes, tz)),
        "triton.runtime": _Alias("triton.runtime", (runtime,)),
        "triton.runtime.jit": jit,
        "triton.runtime.autotuner": _Alias("triton.runtime.autotuner", (autotune,), driver=driver.driver),
        "triton.runtime.cache": cache_managers,
        "triton.runtime.driver": driver,
        "triton.runtime.errors": _Alias("triton.runtime.errors", (errors,), TritonError=errors.TerrazzoError),
        "triton.runtime._allocation": _Alias("triton.runtime._allocation", ("terrazzo.accepted",)),
        "triton.runtime._async_compile": _Alias("triton.runtime._async_compile", ("terrazzo.accepted",)),
        "triton.compiler": _Alias("triton.compiler", (compiler, sources, cache_managers), **compiling),
        "triton.compiler.compiler": _Alias(
            "triton.compiler.compiler", (compiler, sources, kernel, cache_managers), **compiling
        ),
        "triton.compiler.errors": _Alias("triton.compiler.errors", (errors,)),
        "triton.compiler.code_generator": _Alias("triton.compiler.code_generator", (errors,)),
    }


def _tool_modules():
    """{name: module} of backends and tools."""
    from .. import sources
    from . import backends

    tensor_descriptor = importlib.import_module("terrazzo.tools.tensor_descriptor")
    own = backends.driver_names()
    return {
        "triton.backends": _Alias("triton.backends", backends=backends.backends, Backend=backends.Backend),
        "triton.backends.compiler": _Alias(
            "triton.backends.compiler",
            GPUTarget=Target,
            BaseBackend=backends.BaseBackend,
            AttrsDescriptor=sources.AttrsDescriptor,
        ),
        "triton.backends.driver": _Alias("triton.backends.driver", **own),
        "triton.backends.nvidia": _Alias("triton.backends.nvidia"),
        "triton.backends.nvidia.driver": _Alias("triton.backends.nvidia.driver", CudaDriver=backends.CudaDriver),
        "triton.backends.nvidia.compiler": _Alias(
            "triton.backends.nvidia.compiler", CUDABackend=backends.CUDABackend, CUDAOptions=backends.Options
        ),
        "triton.backends.amd": _Alias("triton.backends.amd"),
        "triton.backends.amd.driver": _Alias("triton.backends.amd.driver", HIPDriver=backends.HIPDriver),
        "triton.backends.amd.compiler": _Alias(
            "triton.backends.amd.compiler", HIPBackend=backends.HIPBackend, HIPOptions=backends.Options
        ),
        "triton.tools": _Alias("triton.tools"),
        "triton.tools.tensor_descriptor": tensor_descriptor,
        "triton.tools.mxfp": _Alias("triton.tools.mxfp", ("terrazzo.tools.mxfp",)),
        "triton.tools.disasm": _Alias("triton.tools.disasm", ("terrazzo.disasm",)),
    }


def _modules():
    """{name: module} of everything that is put into sys.modules."""
    found = {**_host_modules(), **_tool_modules()}
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
