# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Printing and checking, when a kernel is compiled and when it runs."""

from ..errors import CompileTimeAssertionFailure, SemanticError
from . import kinds as k
from .arithmetic import logical_not, logical_or
from .builder import builtin, emit_effect, i32_array, options, string
from .cast import to_bool
from .promotion import is_literal, to_tensor
from .values import describe, tensor


@builtin(values=k.ANY, sep=k.ANY, end=k.ANY, file=k.ANY, flush=k.ANY)
def static_print(*values, sep=" ", end="\n", file=None, flush=False):
    """Prints when the kernel is compiled."""
    print(*values, sep=sep, end=end, file=file, flush=flush)


@builtin(cond=k.ANY, msg=k.ANY)
def static_assert(cond, msg=""):
    """Fails the compilation unless the compile-time condition holds."""
    if isinstance(cond, tensor):
        raise SemanticError(
            f"static_assert takes a compile-time condition, found a run-time {cond.type}; use device_assert"
        )
    if not cond:
        raise CompileTimeAssertionFailure(f"static_assert failed{': ' if msg else ''}{msg}")


@builtin(prefix=k.TEXT, args=k.VALUE, hex=k.FLAG)
def device_print(prefix, *args, hex=False):
    """Prints, when the kernel runs, every element of `args` behind `prefix` and the program's index; with `hex` their
    bits.
    """
    if not isinstance(prefix, str):
        raise SemanticError(f"device_print takes a string as its first argument, found {describe(prefix)}")
    for arg in args:
        if not isinstance(arg, tensor) and not is_literal(arg):
            raise SemanticError(f"device_print prints numbers and run-time values, found {describe(arg)}")
    values = [to_tensor(a) for a in args]
    attributes = {"prefix": string(prefix), "isSigned": i32_array(int(v.dtype.is_int_signed()) for v in values)}
    if hex:
        attributes["hex"] = "unit"
    emit_effect("tile.print", [v.handle for v in values], attributes)


@builtin(args=k.ANY, sep=k.TEXT, end=k.TEXT, file=k.ANY, flush=k.FLAG, hex=k.FLAG)
def print_(*args, sep=" ", end="\n", file=None, flush=False, hex=False):
    """What `print` means in a kernel: device_print, where leading strings make the prefix."""
    words = []
    while args and not isinstance(args[0], tensor) and not is_literal(args[0]):
        words.append(str(args[0]))
        args = args[1:]
    device_print(sep.join(words), *args, hex=hex)


@builtin(cond=k.VALUE, msg=k.ANY, mask=k.MASK)
def device_assert(cond, msg="", mask=None):
    """Stops the kernel with `msg` unless every element of the condition holds, or has a mask of false.

    Does nothing unless the kernel is compiled with debug=True.
    """
    if not options().debug:
        return
    cond = to_bool(to_tensor(cond, "condition of device_assert"))
    if mask is not None:
        cond = logical_or(cond, logical_not(mask))
    emit_effect("tile.assert", [cond.handle], {"message": string(msg)})
