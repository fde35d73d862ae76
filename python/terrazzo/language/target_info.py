# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a kernel may ask about the target that it is compiled for; every answer is a constexpr."""

from . import kinds as k
from .builder import builtin, options
from .values import constexpr


def _split():
    """The kind of the target and its chip: ("cuda", "90"), ("hip", "gfx942"), ("cpu", "")."""
    kind, _, chip = options().target.partition(":")
    if kind == "sim":
        kind = "hip"
    return kind, chip


@builtin
def current_target():
    """The target as text, "cpu", "cuda:90" or "hip:gfx942"."""
    return constexpr(options().target)


@builtin
def is_cuda():
    """Whether the target is a GPU of NVIDIA."""
    return constexpr(_split()[0] == "cuda")


@builtin
def is_hip():
    """Whether the target is a GPU of AMD."""
    return constexpr(_split()[0] == "hip")


@builtin
def is_cpu():
    """Whether the target is a processor."""
    return constexpr(_split()[0] == "cpu")


@builtin(major=k.AXIS, minor=k.AXIS)
def cuda_capability_geq(major, minor=0):
    """Whether the target is a GPU of NVIDIA of compute capability major.minor or above."""
    kind, chip = _split()
    digits = "".join(c for c in chip if c.isdigit())
    return constexpr(kind == "cuda" and bool(digits) and int(digits) >= 10 * major + minor)


def _is_chip(name):
    kind, chip = _split()
    return constexpr(kind == "hip" and chip == name)


@builtin
def is_hip_cdna3():
    """Whether the target is a gfx942."""
    return _is_chip("gfx942")


@builtin
def is_hip_cdna4():
    """Whether the target is a gfx950."""
    return _is_chip("gfx950")


@builtin
def is_hip_gfx1250():
    """Whether the target is a gfx1250."""
    return _is_chip("gfx1250")
