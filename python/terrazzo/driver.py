# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The driver as other tools of this language ask for it: `runtime.driver.active`."""

import os
import sys

from . import errors
from ._terrazzo import runtime
from .devices import default_name, opened, properties, resolved, target
from .targets import described


class _Utils:
    """What `driver.active.utils` offers."""

    @staticmethod
    def get_device_properties(device=0):
        """Facts about a device, by the names that GPU drivers use."""
        name = default_name()
        if name == "cpu":
            facts = {"shared_bytes": 1 << 20, "units": os.cpu_count() or 1, "warp_size": 1}
        else:
            facts = properties(name, device)
        return {
            "max_shared_mem": facts["shared_bytes"],
            "max_num_regs": facts.get("registers", 65536 if name != "cpu" else 32),
            "multiprocessor_count": facts["units"],
            "warpSize": facts["warp_size"],
            "sm_clock_rate": facts.get("clock_khz", 0),
            "mem_clock_rate": facts.get("memory_clock_khz", 0),
            "mem_bus_width": facts.get("memory_bus_bits", 0),
        }


def _torch_device_type():
    """What torch calls the devices of the target: torch built for AMD says cuda as well."""
    return "cpu" if default_name() == "cpu" else "cuda"


class Driver:
    """The driver that is in use: `runtime.driver.active`."""

    utils = _Utils()

    def get_current_target(self):
        """The target as (backend, arch, warp size); of NVIDIA the arch is a number, 90."""
        full = resolved(target(), self.get_current_device())
        return described(full)

    @classmethod
    def is_active(cls):
        """Whether there is a device for it; the CPU always is one."""
        return True

    def get_device_properties(self, device=0):
        """Facts about a device, by the names that GPU drivers use."""
        return self.utils.get_device_properties(device)

    def get_device_capability(self, device=None):
        """The compute capability of a GPU as (major, minor), (0, 0) of others."""
        target = self.get_current_target()
        return divmod(int(target.arch), 10) if target.backend == "cuda" else (0, 0)

    def get_current_device(self):
        """The number of the device."""
        name = default_name()
        return 0 if name == "cpu" else runtime.current_device(name)

    def set_current_device(self, device):
        """Makes a device the current one."""
        name = default_name()
        count = 1 if name == "cpu" else opened(name).device_count
        if not 0 <= device < count:
            raise errors.LaunchError(f"no device {device}, expected " + ("0" if count == 1 else f"0 to {count - 1}"))
        runtime.set_current_device(device)
        torch = sys.modules.get("torch")
        if name != "cpu" and torch is not None and torch.cuda.is_initialized():
            torch.cuda.set_device(device)

    def get_current_stream(self, device=0):
        """The stream that launches go to; 0 is the default one."""
        name = default_name()
        return 0 if name == "cpu" else runtime.current_stream(name, device or 0)

    def get_active_torch_device(self):
        """The torch device where tensors for kernels have to be."""
        import torch

        kind = _torch_device_type()
        return torch.device("cpu") if kind == "cpu" else torch.device(kind, self.get_current_device())

    def get_device_interface(self):
        """The torch module of the device, such as torch.cuda."""
        import torch

        return getattr(torch, _torch_device_type())

    def get_benchmarker(self):
        """The timer that autotune uses."""
        from .testing import do_bench

        return do_bench

    def get_empty_cache_for_benchmark(self):
        """An array as large as the last cache, to overwrite it."""
        if default_name() == "cpu":
            import numpy

            return numpy.zeros(64 << 20, numpy.int8)
        from .device import DeviceArray

        return DeviceArray((256 << 20,), "int8")

    def clear_cache(self, cache):
        """Overwrites an array from get_empty_cache_for_benchmark."""
        if hasattr(cache, "zero_"):
            cache.zero_()
        else:
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


class DriverConfig:
    """Holds the driver in use; others may put in their own."""

    def __init__(self):
        self.default = self.active = Driver()

    def set_active(self, driver):
        """Puts another driver in."""
        self.active = driver

    def reset_active(self):
        """Puts the built-in driver back."""
        self.active = self.default


driver = DriverConfig()
