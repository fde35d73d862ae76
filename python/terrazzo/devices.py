# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The devices of this machine: their drivers, what they offer, and which one code is for where nobody says."""

import functools
import sys

from . import errors
from ._terrazzo import runtime
from .statuses import statuses
from .targets import GPUS, check_chip, check_target, host_chip, wanted


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


def chip(wanted, device=0):
    """What the code of a target is generated for, as far as it matters to code; of the device if the text says none."""
    name, given = check_target(wanted)
    if given:
        check_chip(name, given)
        return given
    return host_chip() if name == "cpu" else properties(name, max(device, 0))["chip"]


def resolved(wanted, device=0):
    """The text that the compiler takes: a target with its chip, for the CPU also without."""
    name, given = check_target(wanted)
    if name == "cpu" and given:
        check_chip(name, given)
    return wanted if name == "cpu" else f"{name}:{chip(wanted, device)}"


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
