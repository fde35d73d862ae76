# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What can be launched: the interface of kernels, and of what autotune and heuristics put around them."""

import functools
import importlib
import pickle

from .errors import ArgumentError


def _find(module, name, depth=0):
    """What a name of a module is, with `depth` of the wrappers around a kernel taken off."""
    found = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    for _ in range(depth):
        found = found.fn
    return found


class KernelInterface:
    """What kernel[grid](...) can be said of: jit functions, and what autotune and heuristics make of them.

    They pickle and copy as functions do: by name, and to themselves.
    """

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        module, name = self.__module__, self.__qualname__
        try:
            layer = _find(module, name)
        except (ImportError, AttributeError):
            layer = None
        depth = 0
        while layer is not self and isinstance(layer, Wrapper):
            layer, depth = layer.fn, depth + 1
        if layer is not self:
            raise pickle.PicklingError(
                f"kernel {name} cannot be pickled: it is not what {module}.{name} names; define it at the top level of "
                "its module"
            )
        return _find, (module, name, depth)

    # [grid] never ends, so that Python must not take it for a sequence.
    __iter__ = __contains__ = None

    def __getitem__(self, grid):
        return functools.partial(self.run, grid=grid, warmup=False)

    def warmup(self, *args, grid=None, **kwargs):
        """Compiles for these arguments without a launch."""
        return self.run(*args, grid=grid, warmup=True, **kwargs)


class Wrapper(KernelInterface):
    """A kernel with something around its launches; it has the kernel's attributes too."""

    def __init__(self, fn):
        self.fn = fn
        self.arg_names = fn.arg_names
        self.base_fn = fn
        while isinstance(self.base_fn, Wrapper):
            self.base_fn = self.base_fn.fn
        self.__name__, self.__doc__ = self.base_fn.__name__, self.base_fn.__doc__
        self.__module__, self.__qualname__ = self.base_fn.__module__, self.base_fn.__qualname__

    def __getattr__(self, name):
        if name in ("fn", "base_fn") or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.fn, name)

    def named(self, args, kwargs):
        """The arguments by name."""
        if len(args) > len(self.arg_names):
            raise ArgumentError(
                f"{self.__name__}() takes {len(self.arg_names)} positional arguments but {len(args)} were given"
            )
        return {**dict(zip(self.arg_names, args)), **kwargs}

    def __call__(self, *args, **kwargs):
        return self.base_fn(*args, **kwargs)
