# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""heuristics: computes arguments of a kernel from the others, at each launch."""

from .errors import ArgumentError
from .interface import Wrapper
from .options import OPTIONS


class Heuristics(Wrapper):
    """A kernel some of whose arguments are computed from the others; see heuristics()."""

    def __init__(self, fn, values):
        super().__init__(fn)
        self.values = dict(values)
        for name in self.values:
            if name not in self.arg_names and name not in OPTIONS:
                raise ArgumentError(
                    f"heuristics of {self.__name__}(): it has no argument '{name}'; it has {', '.join(self.arg_names)}"
                )

    def _complete(self, args, kwargs):
        for name, compute in self.values.items():
            kwargs[name] = compute(self.named(args, kwargs))
        return kwargs

    def run(self, *args, **kwargs):
        """Launches with the computed arguments."""
        return self.fn.run(*args, **self._complete(args, kwargs))

    def warmup(self, *args, **kwargs):
        """Compiles with the computed arguments."""
        return self.fn.warmup(*args, **self._complete(args, kwargs))


def heuristics(values):
    """Computes arguments from the others at each launch: {name: function of the dictionary of arguments}."""

    def decorate(fn):
        return Heuristics(fn, values)

    return decorate
