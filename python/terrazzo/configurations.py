# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Configurations that autotune measures, and how the arrays that each starts afresh with are reset or saved."""


class Config:
    """One configuration: compile-time arguments of the kernel, and launch options.

    `pre_hook(arguments)` is called before each launch with this configuration.
    """

    def __init__(self, kwargs, num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, pre_hook=None, ir_override=None):
        self.kwargs = dict(kwargs)
        self.num_warps = num_warps
        self.num_stages = num_stages
        self.num_ctas = num_ctas
        self.maxnreg = maxnreg
        self.pre_hook = pre_hook
        self.ir_override = ir_override

    def all_kwargs(self):
        """Everything that the configuration adds to a launch."""
        options = {
            "num_warps": self.num_warps,
            "num_stages": self.num_stages,
            "num_ctas": self.num_ctas,
            "maxnreg": self.maxnreg,
            "ir_override": self.ir_override,
        }
        return {**self.kwargs, **{k: v for k, v in options.items() if v is not None}}

    def __eq__(self, other):
        return isinstance(other, Config) and self.all_kwargs() == other.all_kwargs() and self.pre_hook == other.pre_hook

    def __hash__(self):
        return hash((tuple((k, str(v)) for k, v in sorted(self.all_kwargs().items())), self.pre_hook))

    def __str__(self):
        return ", ".join(f"{k}: {v}" for k, v in self.all_kwargs().items())

    def __repr__(self):
        return f"Config({self})"


def zero(array):
    """Sets all elements of an array or tensor to 0."""
    if hasattr(array, "zero_"):
        array.zero_()
    else:
        array[...] = 0


def copy_of(array):
    """A copy of an array or tensor."""
    return array.clone() if hasattr(array, "clone") else array.copy()


def put_back(array, copy):
    """Gives an array or tensor the values of a copy again."""
    if hasattr(array, "copy_"):
        array.copy_(copy)
    else:
        array[...] = copy
