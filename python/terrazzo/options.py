# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launch options: what may be said beside a kernel's own arguments, as num_warps=8.

Options of all targets are known everywhere, so that a kernel tuned for one runs on the others; a target ignores what it
has no use for, and only what it has a use for makes it compile again.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, SupportsIndex

from .errors import ArgumentError


@dataclass(frozen=True)
class Option:
    """A launch option: its default, and what a value has to be (`check` gives the value to use)."""

    default: Any
    check: Callable
    targets: tuple = ()  # where it changes the code


def _at_least(low, power_of_two=False, optional=False):
    what = f"an integer of at least {low}" + (", a power of two" if power_of_two else "")

    def check(name, value: Any):
        if value is None and optional:
            return None
        if isinstance(value, bool) or not isinstance(value, SupportsIndex):
            raise ArgumentError(f"option '{name}' is {value!r}, expected {what}")
        number = operator.index(value)
        if number < low or (power_of_two and number & (number - 1)):
            raise ArgumentError(f"option '{name}' is {number}, expected {what}")
        return number

    return check


def _flag(name, value):
    if value not in (True, False) or isinstance(value, float):
        raise ArgumentError(f"option '{name}' is {value!r}, expected True or False")
    return bool(value)


# How a product may round float32 operands.
PRECISIONS = ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6")


def precision(name, value):
    """One of them, or None."""
    if value is None:
        return None
    if not isinstance(value, str) or value.lower() not in PRECISIONS:
        raise ArgumentError(f"{name} is {value!r}, expected one of {', '.join(map(repr, PRECISIONS))}")
    return value.lower()


def _precision(name, value):
    return precision(f"option '{name}'", value)


def _any(name, value):
    return value


def _not_promised(what):
    """The check of a flag that asks for something that no driver gives: ignoring it would let kernels hang."""

    def check(name, value):
        if _flag(name, value):
            raise ArgumentError(f"option '{name}' is True, expected False: {what}")
        return False

    return check


_GPUS = ("cuda", "hip")
_ALL = ("cpu", *_GPUS)
_ACCEPTED = Option(None, _any)  # known to other compilers; changes no code here

OPTIONS = {
    "num_warps": Option(4, _at_least(1, power_of_two=True), _GPUS),
    "num_stages": Option(3, _at_least(0), _GPUS),
    "num_ctas": Option(1, _at_least(1)),
    "maxnreg": Option(None, _at_least(1, optional=True), _GPUS),
    "debug": Option(False, _flag, _ALL),
    "sanitize_overflow": Option(False, _flag, _ALL),
    "strict": Option(False, _flag, _ALL),
    "enable_fp_fusion": Option(True, _flag, _ALL),
    "default_dot_input_precision": Option(None, _precision, _GPUS),
    "max_num_imprecise_acc_default": Option(2**30, _at_least(0), _GPUS),
    "launch_cooperative_grid": Option(
        False, _not_promised("the programs of a grid are not promised to run at the same time, on any target")
    ),
    **dict.fromkeys(
        ("ptx_version", "ptx_options", "ir_override", "enable_reflect_ftz", "launch_pdl",
         "launch_cluster", "clc", "min_shared_mem", "cluster_dims", "extern_libs",
         "allowed_dot_input_precisions", "supported_fp8_dtypes", "warp_size", "arch",
         "instrumentation_mode", "waves_per_eu", "matrix_instr_nonkdim", "kpack", "allow_flush_denorm", "schedule_hint",
         "instruction_sched_variant", "llvm_fn_attrs", "num_consumer_groups", "num_buffers_warp_spec",
         "reg_dec_producer", "reg_inc_consumer"), _ACCEPTED),
}  # yapf: disable


# Options that say where a launch runs; they are no part of the code.
PLACING = ("target", "device", "stream")


def checked(given):
    """All options of the code with the values that were given or else the defaults."""
    result = {name: option.default for name, option in OPTIONS.items()}
    for name, value in given.items():
        if name in PLACING:
            continue
        option = OPTIONS.get(name)
        if option is None:
            raise ArgumentError(f"unknown option '{name}'; launch options are {', '.join((*OPTIONS, *PLACING))}")
        result[name] = option.check(name, value)
    return result


def relevant(options, target):
    """The options that change the code on a target ("cpu", "cuda", "hip"), by name."""
    return {name: options[name] for name, option in OPTIONS.items() if target in option.targets}
