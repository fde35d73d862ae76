# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The backends as files for Triton ask for them: `triton.backends.backends[name]` has a driver and a compiler each."""

from .. import devices, options, targets
from ..driver import Driver, DriverConfig
from ..errors import ArgumentError

_NAMES = {"cuda": "nvidia", "hip": "amd", "cpu": "cpu"}


class DriverBase(Driver):
    """The driver of one target; `is_active` says whether launches without arrays go there."""

    target = None

    @classmethod
    def is_active(cls):
        """Whether there is a device, and it is the one in use."""
        return cls.target is not None and devices.default_name() == cls.target


class GPUDriver(DriverBase):
    """The driver of a GPU."""


class CudaDriver(GPUDriver):
    """The driver of NVIDIA's GPUs."""

    target = "cuda"


class HIPDriver(GPUDriver):
    """The driver of AMD's GPUs."""

    target = "hip"


class CPUDriver(DriverBase):
    """The driver of the CPU."""

    target = "cpu"


class BaseBackend:
    """What the compiler says of a target: whether it is supported, and its options."""

    target_name = None

    def __init__(self, target):
        if not self.supports_target(target):
            raise ArgumentError(f"{type(self).__name__} takes a target of {self.target_name}, found {target}")
        self.target = target

    @classmethod
    def supports_target(cls, target):
        """Whether a Target is of this backend."""
        return target.backend == cls.target_name

    def parse_options(self, given):
        """The launch options among some names, with all others at their defaults, as an object."""
        known = {name: value for name, value in given.items() if name in options.OPTIONS}
        return Options(options.checked(known))

    def hash(self):
        """A text that changes with the code that is made for the target."""
        from ..fingerprints import fingerprint

        return f"{fingerprint()}-{self.target}"


class Options:
    """Launch options by name."""

    def __init__(self, values):
        self.__dict__.update(values)

    def __repr__(self):
        return f"Options({self.__dict__})"


class CUDABackend(BaseBackend):
    """The compiler's side of NVIDIA's GPUs."""

    target_name = "cuda"


class HIPBackend(BaseBackend):
    """The compiler's side of AMD's GPUs."""

    target_name = "hip"


class CPUBackend(BaseBackend):
    """The compiler's side of the CPU."""

    target_name = "cpu"


class Backend:
    """A driver and a compiler of one target."""

    def __init__(self, compiler, driver):
        self.compiler, self.driver = compiler, driver


_PARTS = {"cuda": (CUDABackend, CudaDriver), "hip": (HIPBackend, HIPDriver), "cpu": (CPUBackend, CPUDriver)}
backends = {_NAMES[name]: Backend(*parts) for name, parts in _PARTS.items()}


def make_backend(target):
    """The compiler's side of a Target, or of its text."""
    target = targets.described(target) if isinstance(target, str) else target
    if target.backend not in _PARTS:
        raise ArgumentError(f"no backend for {target}, expected one of {', '.join(_PARTS)}")
    return _PARTS[target.backend][0](target)


def driver_names():
    """The names of `triton.backends.driver`."""
    return {"DriverBase": DriverBase, "GPUDriver": GPUDriver, "DriverConfig": DriverConfig}
