# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The target that kernels are compiled for and run on, and how the runtime's failures become exceptions."""

import functools
import hashlib
import os
import re
import sys
from contextlib import contextmanager
from pathlib import Path

from . import errors
from ._terrazzo import ir, runtime

SUPPORTED = ("cpu", "cuda", "hip")
GPUS = ("cuda", "hip")


def _chip_text(name, text):
    """A chip as the compiler names it: of "90", the compute capability 9.0, "sm_90a"."""
    if name == "cuda" and text.isdigit():
        return f"sm_{text}" + ("a" if int(text) >= 90 else "")
    return text


def check_target(text):
    """(name, chip) of "cpu", "cuda", "hip", "cuda:sm_90a" and the like; an error lists the targets that exist."""
    name, _, chip = str(text).partition(":")
    if name not in SUPPORTED:
        raise errors.LaunchError(
            f"no target '{text}', expected one of: {', '.join(SUPPORTED)}, or one with a chip such as cuda:sm_90a or "
            "hip:gfx942"
        )
    return name, _chip_text(name, chip)


_wanted = None
_words = {}  # text of a target -> its number in keys


def set_target(text):
    """Makes a target that of all launches: "cpu", "cuda", "hip:gfx942"; None: the arrays of a launch say it."""
    global _wanted
    name = check_target(text)[0] if text else ""
    _wanted = text or None
    runtime.set_target(name, _words.setdefault(text or "", len(_words)))


def wanted():
    """The target that TERRAZZO_TARGET or set_target says, or None."""
    if _wanted is not None:
        check_target(_wanted)
    return _wanted


@contextmanager
def using(text):
    """Makes a target that of the launches inside."""
    before = _wanted
    set_target(text)
    try:
        yield
    finally:
        set_target(before)


def _read_environment():
    global _wanted
    text = os.environ.get("TERRAZZO_TARGET") or None
    if text is None or text.partition(":")[0] in SUPPORTED:
        set_target(text)
    else:  # an error of the first launch, not of the import
        _wanted = text


_read_environment()


@contextmanager
def statuses():
    """Turns what the runtime reports inside into the exceptions of terrazzo.errors."""
    try:
        yield
    except runtime.StatusError as error:
        file, line, column, text = (getattr(error, k, None) for k in ("file", "line", "column", "text"))
        raise_status(error.status, str(error), file, line, column, text, getattr(error, "program_id", ()))


def opened(name):
    """The driver of a kind of device; the same object for the life of the process is not promised."""
    with statuses():
        return runtime.Driver(name)


@functools.cache
def properties(name, device=0):
    """Facts about a device, by the names of the runtime; an error says what is missing."""
    with statuses():
        return opened(name).properties(device)


@functools.cache
def is_available(name):
    """Whether there is a device of a target."""
    try:
        return opened(name).device_count > 0
    except errors.LaunchError:
        return False


def default_name():
    """The target of launches without arrays: the one asked for, else that of a GPU at hand, else the CPU."""
    text = wanted()
    if text is not None:
        return check_target(text)[0]
    return next((name for name in GPUS if is_available(name)), "cpu")


def target():
    """The target of this process, as text: the one asked for, else that of a GPU at hand, else "cpu"."""
    return wanted() or default_name()


@functools.cache
def _known(name, chip):
    """Raises unless the compiler has code for a chip."""
    try:
        ir.compile("func.func @k() attributes {tile.kernel} { return }", f"{name}:{chip}")
    except ir.DiagnosticError as error:
        raise errors.LaunchError(f"target '{name}:{chip}': {str(error.message).splitlines()[0]}") from None


def chip(wanted, device=0):
    """What the code of a target is generated for, as far as it matters to code; of the device if the text says none."""
    name, given = check_target(wanted)
    if name == "cpu":
        return given or _host_chip()
    given = given or properties(name, max(device, 0))["chip"]
    _known(name, given)
    return given


@functools.cache
def _host_chip():
    return ir.host_chip()


def resolved(wanted, device=0):
    """The text that the compiler takes: a target with its chip, for the CPU also without."""
    name = check_target(wanted)[0]
    return wanted if name == "cpu" else f"{name}:{chip(wanted, device)}"


def warp_size(target):
    """Threads of a warp on a target with its chip."""
    name, chip = check_target(target)
    if name == "hip":
        return 64 if chip.startswith("gfx9") else 32
    return 32 if name == "cuda" else 1


used = set()  # (target, device) of the GPUs that kernels or arrays are on


def synchronize(device=None):
    """Waits until the work of a device is done ("cuda:1", or a number), or of all that are in use.

    What kernels printed comes out, and a kernel that failed raises here, if no launch did before.
    """
    if device is None:
        places = sorted(used)
    elif isinstance(device, int):
        places = [(default_name(), device)]
    else:
        name, _, number = str(device).partition(":")
        check_target(name)
        places = [(name, int(number or 0))]
    torch = sys.modules.get("torch")
    for name, number in places:
        if name not in GPUS:
            continue
        if torch is not None and torch.cuda.is_initialized():
            torch.cuda.synchronize(number)  # all of its streams
        with statuses():
            opened(name).synchronize(number)


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


def out_of_resources(message):
    """An OutOfResources with the text of the compiler or a driver; the numbers are read from it."""
    error = errors.OutOfResources.__new__(errors.OutOfResources)
    Exception.__init__(error, message)
    required = re.search(r"(?:required|needs?|expected|uses)\D{0,40}?(\d+)", message)
    limit = re.search(r"(?:limit|at most|has|allows|found)\D{0,40}?(\d+)", message)
    error.required = int(required[1]) if required else None
    error.limit = int(limit[1]) if limit else None
    error.name = message
    return error


def raise_status(status, message, file, line, column, text, pid):
    """Raises what a failed call of the runtime reports; called by the extension module."""
    if status == "assertion failed":
        error = errors.DeviceAssertionError(message)
        error.file, error.line, error.column, error.text, error.program_id = file, line, column, text, tuple(pid)
        raise error
    if status == "out of resources":
        raise out_of_resources(message)
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


def target_text(target):
    """The text of a Target: "cuda:90" of ("cuda", 90, 32)."""
    name = str(getattr(target, "backend", target))
    arch = getattr(target, "arch", None)
    return name if name == "cpu" or arch is None else f"{name}:{arch}"


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
        name, found = full.partition(":")[0], chip(full)
        arch = int(re.sub(r"\D", "", found)) if name == "cuda" else found.partition("+")[0]
        return Target(name, arch, warp_size(full))

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
    "GPUS",
    "SUPPORTED",
    "Driver",
    "Target",
    "check_target",
    "chip",
    "driver",
    "fingerprint",
    "is_available",
    "properties",
    "raise_status",
    "resolved",
    "runtime",
    "set_target",
    "synchronize",
    "target",
    "target_text",
    "using",
    "wanted",
]
