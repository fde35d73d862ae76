# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Atomic updates of memory; each returns what the memory held before.

`sem` is "relaxed", "acquire", "release" or, by default, "acq_rel"; `scope` is "cta", "sys" or, by default, "gpu".
Lanes whose mask is false are not touched and give 0.
"""

from ..errors import SemanticError
from . import kinds as k
from .builder import builtin, emit, enum_attributes, method
from .cast import bitcast_to, cast_pointee
from .dtypes import get_int_dtype
from .memory import check_mask, convert_value
from .promotion import broadcast_together
from .values import describe, tensor

_SEM = k.choice("relaxed", "acquire", "release", "acq_rel")
_SCOPE = k.choice("cta", "gpu", "sys")


def _ordering(sem, scope):
    return {
        "sem": enum_attributes("tile.MemSem")[sem or "acq_rel"],
        "scope": enum_attributes("tile.MemScope")[scope or "gpu"],
    }


def _check_pointer(pointer, name):
    if not isinstance(pointer, tensor) or not pointer.dtype.is_ptr():
        raise SemanticError(f"{name} expects a pointer or a tile of pointers, found {describe(pointer)}")
    if pointer.dtype.is_const():
        raise SemanticError(f"{name} through a pointer to constants ({pointer.dtype})")
    element = pointer.dtype.element_ty
    if element.is_bool() or element.is_ptr() or element.is_fp8():
        raise SemanticError(f"{name} works on integers and floats of 16 bits or more, found a pointer to {element}")
    return pointer


def _value(val, pointer, name):
    val = convert_value(val, pointer.dtype.element_ty, f"value of {name}")
    if val.shape and not pointer.shape:
        raise SemanticError(f"{name} through a scalar pointer takes a scalar, found {val.type}")
    return val


def _read_modify_write(kind, pointer, val, mask, sem, scope, name):
    val = _value(val, pointer, name)
    pointer, val = broadcast_together([pointer, val])
    mask = check_mask(mask, pointer, name)
    operands = [v.handle for v in (pointer, val, mask) if v is not None]
    attributes = {"kind": enum_attributes("tile.RMWKind")[kind], **_ordering(sem, scope)}
    return tensor(emit("tile.atomic_rmw", operands, val.type.ir, attributes), val.type)


@method
@builtin(pointer=k.POINTER, val=k.VALUE, mask=k.MASK, sem=_SEM, scope=_SCOPE)
def atomic_add(pointer, val, mask=None, sem=None, scope=None):
    """Adds `val`."""
    element = _check_pointer(pointer, "atomic_add").dtype.element_ty
    return _read_modify_write("fadd" if element.is_floating() else "add", pointer, val, mask, sem, scope, "atomic_add")


def _extreme(kind, pointer, val, mask, sem, scope):
    name = f"atomic_{kind}"
    element = _check_pointer(pointer, name).dtype.element_ty
    prefix = "f" if element.is_floating() else "u" if element.is_int_unsigned() else ""
    return _read_modify_write(prefix + kind, pointer, val, mask, sem, scope, name)


@method
@builtin(pointer=k.POINTER, val=k.VALUE, mask=k.MASK, sem=_SEM, scope=_SCOPE)
def atomic_max(pointer, val, mask=None, sem=None, scope=None):
    """Stores the greater of what is there and `val`; NaN loses."""
    return _extreme("max", pointer, val, mask, sem, scope)


@method
@builtin(pointer=k.POINTER, val=k.VALUE, mask=k.MASK, sem=_SEM, scope=_SCOPE)
def atomic_min(pointer, val, mask=None, sem=None, scope=None):
    """Stores the lesser of what is there and `val`; NaN loses."""
    return _extreme("min", pointer, val, mask, sem, scope)


def _bitwise(kind, pointer, val, mask, sem, scope):
    name = f"atomic_{kind}"
    element = _check_pointer(pointer, name).dtype.element_ty
    if not element.is_int():
        raise SemanticError(f"{name} works on integers, found a pointer to {element}")
    return _read_modify_write(kind, pointer, val, mask, sem, scope, name)


@method
@builtin(pointer=k.POINTER, val=k.VALUE, mask=k.MASK, sem=_SEM, scope=_SCOPE)
def atomic_and(pointer, val, mask=None, sem=None, scope=None):
    """Stores what is there & `val`."""
    return _bitwise("and", pointer, val, mask, sem, scope)


@method
@builtin(pointer=k.POINTER, val=k.VALUE, mask=k.MASK, sem=_SEM, scope=_SCOPE)
def atomic_or(pointer, val, mask=None, sem=None, scope=None):
    """Stores what is there | `val`."""
    return _bitwise("or", pointer, val, mask, sem, scope)


@method
@builtin(pointer=k.POINTER, val=k.VALUE, mask=k.MASK, sem=_SEM, scope=_SCOPE)
def atomic_xor(pointer, val, mask=None, sem=None, scope=None):
    """Stores what is there ^ `val`."""
    return _bitwise("xor", pointer, val, mask, sem, scope)


@method
@builtin(pointer=k.POINTER, val=k.VALUE, mask=k.MASK, sem=_SEM, scope=_SCOPE)
def atomic_xchg(pointer, val, mask=None, sem=None, scope=None):
    """Stores `val`."""
    _check_pointer(pointer, "atomic_xchg")
    return _read_modify_write("exch", pointer, val, mask, sem, scope, "atomic_xchg")


@method
@builtin(pointer=k.POINTER, cmp=k.VALUE, val=k.VALUE, sem=_SEM, scope=_SCOPE)
def atomic_cas(pointer, cmp, val, sem=None, scope=None):
    """Stores `val` where the bits there are those of `cmp`."""
    _check_pointer(pointer, "atomic_cas")
    cmp, val = _value(cmp, pointer, "atomic_cas"), _value(val, pointer, "atomic_cas")
    pointer, cmp, val = broadcast_together([pointer, cmp, val])
    operands = [pointer.handle, cmp.handle, val.handle]
    return tensor(emit("tile.atomic_cas", operands, val.type.ir, _ordering(sem, scope)), val.type)


def _as_bits(pointer, name):
    """The pointer with integers in place of floats, and the dtype of the elements."""
    element = _check_pointer(pointer, name).dtype.element_ty
    bits = element if element.is_int() else get_int_dtype(element.primitive_bitwidth, True)
    return cast_pointee(pointer, bits), element


@method
@builtin(pointer=k.POINTER, mask=k.MASK, sem=_SEM, scope=_SCOPE)
def atomic_load(pointer, mask=None, sem=None, scope=None):
    """What is there, read atomically; masked-off lanes give 0."""
    bits, element = _as_bits(pointer, "atomic_load")
    return bitcast_to(_read_modify_write("or", bits, 0, mask, sem or "acquire", scope, "atomic_load"), element)


@method
@builtin(pointer=k.POINTER, val=k.VALUE, mask=k.MASK, sem=_SEM, scope=_SCOPE)
def atomic_store(pointer, val, mask=None, sem=None, scope=None):
    """Stores `val` atomically and returns nothing."""
    _check_pointer(pointer, "atomic_store")
    _read_modify_write("exch", pointer, val, mask, sem or "release", scope, "atomic_store")
