# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The target that kernels are compiled for and run on, and how the runtime's failures become exceptions."""

import functools
import hashlib
import os
from pathlib import Path

from . import errors
from ._terrazzo import ir, runtime

SUPPORTED = ("cpu",)


def check_target(text):
    """(name, chip) of "cpu" or "cpu:CHIP"; an error lists the targets that exist."""
    name, _, chip = str(text).partition(":")
    if name not in SUPPORTED:
        raise errors.LaunchError(f"target '{text}' is not supported yet; expected one of: {', '.join(SUPPORTED)}")
    return name, chip


_target = None


def target():
    """The target of this process, "cpu" unless TERRAZZO_TARGET says otherwise."""
    global _target
    if _target is None:
        wanted = os.environ.get("TERRAZZO_TARGET") or "cpu"
        check_target(wanted)
        _target = wanted
    return _target


@functools.cache
def chip(wanted):
    """What the code of a target is generated for, as far as it matters to code."""
    name, given = check_target(wanted)
    return given or (ir.host_chip() if name == "cpu" else "")


@functools.cache
def fingerprint():
    """A string that changes whenever other code may be made: by the compiler, the language or the frontend."""
    digest = hashlib.sha256(ir.fingerprint().encode())
    package = Path(__file__).parent
    for layer in ("frontend", "language"):
        for path in sorted((package / layer).rglob("*.py")):
            digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return f"{ir.fingerprint()}-{digest.hexdigest()[:16]}"


_ERRORS = {
    "invalid argument": errors.ArgumentError,
    "out of memory": MemoryError,
}


def raise_status(status, message, file, line, column, text, pid):
    """Raises what a failed call of the runtime reports; called by the extension module."""
    if status == "assertion failed":
        error = errors.DeviceAssertionError(message)
        error.file, error.line, error.column, error.text, error.program_id = file, line, column, text, tuple(pid)
        raise error
    if status == "out of resources":
        error = errors.OutOfResources.__new__(errors.OutOfResources)
        Exception.__init__(error, message)
        error.required = error.limit = None
        error.name = message
        raise error
    raise _ERRORS.get(status, errors.LaunchError)(message)


class Target:
    """A target as other tools name it: `backend`, `arch`, `warp_size`."""

    def __init__(self, backend, arch, warp_size):
        self.backend, self.arch, self.warp_size = backend, arch, warp_size

    def __eq__(self, other):
        return isinstance(other, Target) and vars(self) == vars(other)

    def __hash__(self):
        return hash((self.backend, self.arch, self.warp_size))

    def __repr__(self):
        return f"GPUTarget(backend={self.backend!r}, arch={self.arch!r}, warp_size={self.warp_size!r})"


class _Utils:
    """What `driver.active.utils` offers."""

    @staticmethod
    def get_device_properties(device=0):
        """Facts about a device, by the names that GPU drivers use."""
        return {
            "max_shared_mem": 1 << 20,
            "max_num_regs": 32,
            "multiprocessor_count": os.cpu_count() or 1,
            "warpSize": 1,
            "sm_clock_rate": 0,
            "mem_clock_rate": 0,
            "mem_bus_width": 0,
        }


class Driver:
    """The driver that is in use: `runtime.driver.active`."""

    utils = _Utils()

    def get_current_target(self):
        """The target as (backend, arch, warp size)."""
        return Target(check_target(target())[0], chip(target()).partition("+")[0], 1)

    def get_current_device(self):
        """The number of the device."""
        return 0

    def set_current_device(self, device):
        """Makes a device the current one; there is one only."""
        if device != 0:
            raise errors.LaunchError(f"no device {device}, expected 0")

    def get_current_stream(self, device=0):
        """The stream that launches go to; 0 is the default one."""
        return 0

    def get_active_torch_device(self):
        """The torch device where tensors for kernels have to be."""
        import torch

        return torch.device("cpu")

    def get_device_interface(self):
        """The torch module of the device, such as torch.cuda."""
        import torch

        return torch.cpu

    def get_benchmarker(self):
        """The timer that autotune uses."""
        from .testing import do_bench

        return do_bench

    def get_empty_cache_for_benchmark(self):
        """An array as large as the last cache, to overwrite it."""
        import numpy

        return numpy.zeros(64 << 20, numpy.int8)

    def clear_cache(self, cache):
        """Overwrites an array from get_empty_cache_for_benchmark."""
        cache[...] = 0

    def map_python_to_cpp_type(self, ty):
        """The C type of an argument given as "*fp32" or "i32"."""
        from .specialize import type_from_text

        found = type_from_text(ty)
        if found.is_ptr():
            return "void*"
        if found.is_floating():
            return {16: "uint16_t", 32: "float", 64: "double"}[found.primitive_bitwidth]
        return ("" if found.is_int_signed() else "u") + f"int{max(8, found.primitive_bitwidth)}_t"


class _Active:
    """Holds the driver in use; others may put in their own."""

    active = Driver()

    def set_active(self, driver):
        """Puts another driver in."""
        self.active = driver

    def reset_active(self):
        """Puts the built-in driver back."""
        self.active = Driver()


driver = _Active()

__all__ = [
    "SUPPORTED",
    "Driver",
    "Target",
    "check_target",
    "chip",
    "driver",
    "fingerprint",
    "raise_status",
    "runtime",
    "target",
]
