# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""load and store, through pointers, tiles of pointers and block pointers.

Lanes whose mask is false are not touched, whatever their pointer; a load gives 0 there, or `other`. bools are bytes
in memory: loads test for != 0, stores write 0 or 1.
"""

from ..errors import SemanticError
from . import kinds as k
from .block_pointer import BLOCK_POINTER, block_pointer
from .builder import builtin, current, emit, emit_effect, enum_attributes, method
from .cast import cast_pointee, cast_to, literal_as, to_bool
from .dtypes import int8, type_of
from .promotion import broadcast_shape, common_shape, is_literal, to_tensor
from .values import describe, tensor

LOAD_CACHE = ("", ".ca", ".cg", ".cv", ".cs", ".wb", ".wt")
STORE_CACHE = ("", ".wb", ".cg", ".cs", ".wt")
EVICTION = ("", "evict_first", "evict_last")


_OF_STORES = (".wb", ".wt")  # on loads they are accepted, and say nothing


def access_attributes(cache_modifier, eviction_policy, is_load=False):
    """The attributes of an access."""
    attributes = {}
    if cache_modifier and not (is_load and cache_modifier in _OF_STORES):
        attributes["cache"] = enum_attributes("tile.CacheModifier")[cache_modifier.removeprefix(".")]
    if eviction_policy:
        attributes["evict"] = enum_attributes("tile.EvictionPolicy")[eviction_policy]
    return attributes


def check_pointer(pointer, name):
    """The pointer or tile of pointers that `pointer` has to be, pointing to bytes where it points to bools."""
    if not isinstance(pointer, tensor) or not pointer.dtype.is_ptr():
        raise SemanticError(f"{name} expects a pointer or a tile of pointers, found {describe(pointer)}")
    if pointer.dtype.element_ty.is_bool():
        return cast_pointee(pointer, int8)
    return pointer


def check_mask(mask, pointer, name):
    """A mask as int1 of the pointer's shape, or None."""
    if mask is None:
        return None
    mask = to_tensor(mask, f"mask of {name}")
    if not mask.dtype.is_int():
        raise SemanticError(f"mask of {name} must be of bools, found {mask.type}")
    mask = to_bool(mask)
    if mask.shape and not pointer.shape:
        raise SemanticError(f"mask of {name} must be a scalar for a scalar pointer, found {mask.type}")
    return broadcast_shape(mask, pointer.shape, f"mask of {name}")


def convert_value(value, dtype, what):
    """A number or a run-time value with elements of `dtype`, converted by value."""
    if is_literal(value):
        return literal_as(value, dtype)
    if not isinstance(value, tensor):
        raise SemanticError(f"{what} must be a number or a run-time value, found {describe(value)}")
    if value.dtype.is_ptr() and not (dtype.is_ptr() or dtype.is_int()):
        raise SemanticError(
            f"{what} is {describe(value)}, expected {dtype}: a pointer is used as a value; load it first"
        )
    return cast_to(value, dtype)


def load_same(pointer, mask, other, element, attributes):
    """Emits a load of `element` values; mask and other have the pointer's shape, or are None."""
    stored = pointer.dtype.element_ty
    operands = [v.handle for v in (pointer, mask, other) if v is not None]
    sizes = f"array<i32: 1, {int(mask is not None)}, {int(other is not None)}>"
    type = type_of(stored, pointer.shape)
    loaded = tensor(emit("tile.load", operands, type.ir, {**attributes, "operandSegmentSizes": sizes}), type)
    return to_bool(loaded) if element.is_bool() else loaded


def _load_pointers(pointer, mask, other, attributes):
    element = pointer.dtype.element_ty if isinstance(pointer, tensor) and pointer.dtype.is_ptr() else None
    pointer = check_pointer(pointer, "load")
    if other is not None and mask is None:
        raise SemanticError("load takes `other` with a mask only: it is what masked-off lanes give")
    if pointer.shape:
        # A mask or an `other` of more dimensions, or of larger extents, makes the pointer broadcast along.
        shape = pointer.shape
        for value in (mask, other):
            if isinstance(value, tensor):
                shape = common_shape(shape, value.shape)
        pointer = broadcast_shape(pointer, shape)
    mask = check_mask(mask, pointer, "load")
    if other is not None:
        other = convert_value(other, element, "other of load")
        other = cast_to(other, int8) if element.is_bool() else other
        if other.shape and not pointer.shape:
            raise SemanticError(f"other of load must be a scalar for a scalar pointer, found {other.type}")
        other = broadcast_shape(other, pointer.shape, "other of load")
    return load_same(pointer, mask, other, element, attributes)


@builtin(
    pointer=k.POINTER | BLOCK_POINTER,
    mask=k.MASK,
    other=k.VALUE,
    boundary_check=k.STATIC_INTS,
    padding_option=k.choice("", "zero", "nan"),
    cache_modifier=k.choice(*LOAD_CACHE),
    eviction_policy=k.choice(*EVICTION),
    volatile=k.FLAG,
)
def load(
    pointer,
    mask=None,
    other=None,
    boundary_check=(),
    padding_option="",
    cache_modifier="",
    eviction_policy="",
    volatile=False,
):
    """What is at a pointer (a scalar), a tile of pointers or a block pointer (a tile).

    Lanes whose `mask` is false are not read and give `other`, by default 0; mask and other broadcast with the
    pointers. For a block pointer, `boundary_check` names the dimensions in which the block may reach over the edge;
    what lies outside is 0, or NaN with padding_option="nan". cache_modifier: "", ".ca", ".cg", ".cv";
    eviction_policy: "", "evict_first", "evict_last".
    """
    attributes = access_attributes(cache_modifier, eviction_policy, is_load=True)
    if volatile:
        attributes["isVolatile"] = "unit"
    if isinstance(pointer, block_pointer):
        if mask is not None or other is not None:
            raise SemanticError("load of a block pointer takes boundary_check and padding_option, no mask and no other")
        pointers, mask, other = pointer.expand(boundary_check, padding_option)
        return _load_pointers(pointers, mask, other, attributes)
    if boundary_check or padding_option:
        raise SemanticError(
            "load takes boundary_check and padding_option for block pointers only, found "
            f"{describe(pointer)}; use mask and other"
        )
    return _load_pointers(pointer, mask, other, attributes)


def stored_value(pointer, value):
    """`value` as what a store through a pointer, or a tile of pointers, writes."""
    if pointer.dtype.is_const():
        raise SemanticError(f"store through a pointer to constants ({pointer.dtype})")
    element = pointer.dtype.element_ty
    value = convert_value(value, element, "value of store")
    return cast_to(value, int8) if element.is_bool() else value


def store_pointers(pointer, value, mask, attributes):
    """Stores through a pointer or a tile of pointers."""
    given, pointer = pointer, check_pointer(pointer, "store")
    value = stored_value(given, value)
    if value.shape and not pointer.shape:
        raise SemanticError(f"store through a scalar pointer takes a scalar, found {value.type}")
    value = broadcast_shape(value, pointer.shape, "value of store")
    mask = check_mask(mask, pointer, "store")
    operands = [v.handle for v in (pointer, value, mask) if v is not None]
    emit_effect("tile.store", operands, attributes)


@method
@builtin(
    pointer=k.POINTER | BLOCK_POINTER,
    value=k.VALUE,
    mask=k.MASK,
    boundary_check=k.STATIC_INTS,
    cache_modifier=k.choice(*STORE_CACHE),
    eviction_policy=k.choice(*EVICTION),
)
def store(pointer, value, mask=None, boundary_check=(), cache_modifier="", eviction_policy=""):
    """Writes `value`, converted to what the pointers point to, where `mask` is true.

    value and mask broadcast to the pointers' shape. For a block pointer, `boundary_check` names the dimensions in
    which the block may reach over the edge; what lies outside is not written. cache_modifier: "", ".wb", ".cg",
    ".cs", ".wt".
    """
    attributes = access_attributes(cache_modifier, eviction_policy)
    if isinstance(pointer, block_pointer):
        if mask is not None:
            raise SemanticError("store to a block pointer takes boundary_check, no mask")
        pointers, mask, _ = pointer.expand(boundary_check, "")
        return store_pointers(pointers, value, mask, attributes)
    if boundary_check:
        raise SemanticError(f"store takes boundary_check for block pointers only, found {describe(pointer)}; use mask")
    return store_pointers(pointer, value, mask, attributes)


@builtin
def debug_barrier():
    """Orders the memory accesses of one program: what stands before is done before what stands after."""
    current().create("tile.barrier", [], {}, [])
