# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The targets that kernels are compiled for: their names and chips, and which one a process wants.

A text names one: "cpu", "cuda", "hip:gfx942". What devices there are is the business of devices.py.
"""

import functools
import os
import re
from contextlib import contextmanager

from . import errors
from ._terrazzo import ir, runtime

SUPPORTED = ("cpu", "cuda", "hip")
GPUS = ("cuda", "hip")


def _chip_text(name, text):
    """A chip as the compiler names it: of "90", the compute capability 9.0, "sm_90a"."""
    if name == "cuda" and text.isascii() and text.isdecimal():
        return f"sm_{text}" + ("a" if int(text) >= 90 else "")
    return text


def _shortened(text):
    text = str(text)
    return text if len(text) <= 80 else f"{text[:77]}..."


def check_target(text):
    """(name, chip) of "cpu", "cuda", "hip", "cuda:sm_90a" and the like; an error lists the targets that exist."""
    name, colon, chip = str(text).partition(":")
    if name not in SUPPORTED or (colon and not chip):
        raise errors.LaunchError(
            f"no target '{_shortened(text)}', expected one of: {', '.join(SUPPORTED)}, or one with a chip such as "
            "cuda:sm_90a or hip:gfx942"
        )
    return name, _chip_text(name, chip)


_wanted = None
_words = {}  # text of a target -> its number in keys


def set_target(text):
    """Makes a target that of all launches: "cpu", "cuda", "hip:gfx942"; None: the arrays of a launch say it."""
    name, found = check_target(text) if text else ("", "")
    if found:
        check_chip(name, found)
    _use(text, name)


def _use(text, name):
    global _wanted
    _wanted = text or None
    runtime.set_target(name, _words.setdefault(text or "", len(_words)))


def wanted():
    """The target that TERRAZZO_TARGET or set_target says, or None."""
    if _wanted is not None:
        name, found = check_target(_wanted)
        if found:
            check_chip(name, found)
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
    try:
        _use(text, check_target(text)[0] if text else "")
    except errors.LaunchError:  # an error of the first launch, not of the import
        _wanted = text


_read_environment()


@functools.cache
def check_chip(name, chip):
    """An error, which lists what there is, unless a target knows a chip. (A GPU need not be here.)"""
    try:
        ir.compile("func.func @k() attributes {tile.kernel} { return }", f"{name}:{chip}")
    except ir.DiagnosticError as error:
        raise errors.LaunchError(errors.plain_diagnostic(error)) from None


@functools.cache
def host_chip():
    """This processor and what it has beyond its name's features, as the compiler takes it."""
    return ir.host_chip()


def warp_size(target):
    """Threads of a warp on a target with its chip."""
    name, chip = check_target(target)
    if name == "hip":
        return 64 if chip.startswith("gfx9") else 32
    return 32 if name == "cuda" else 1


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


def described(text):
    """The Target of a text with its chip: (backend, arch, warp size); of NVIDIA the arch is a number, 90."""
    name, chip = check_target(text)
    chip = chip or host_chip()
    arch = int(re.sub(r"\D", "", chip)) if name == "cuda" else chip.partition("+")[0]
    return Target(name, arch, warp_size(text))


def target_text(target):
    """The text of a Target: "cuda:90" of ("cuda", 90, 32)."""
    name = str(getattr(target, "backend", target))
    arch = getattr(target, "arch", None)
    return name if name == "cpu" or arch is None else f"{name}:{arch}"
