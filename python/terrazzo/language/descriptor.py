# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ruff: noqa: N801
"""Tensor descriptors: a strided tensor in memory that is read and written in blocks of one shape.

Here they are their scalars, which is what loops carry; an access makes the descriptor of the IR from them. Atomics,
gather and scatter expand to pointers and masks. What lies outside of the tensor reads as 0 (or NaN) and is not written.
"""

from ..errors import SemanticError
from . import atomics
from . import kinds as k
from .arithmetic import add, binary, mul
from .block_pointer import block_pointer, wide, wide_list
from .builder import builtin, emit, emit_effect
from .cast import cast_to, to_bool
from .comparison import compare_same
from .creation import arange_tile
from .dtypes import block_type, int8, int32, int64
from .memory import EVICTION, LOAD_CACHE, access_attributes, load, store_pointers, stored_value
from .promotion import along, broadcast_shape, constant, is_literal, splat
from .values import describe, static_shape, tensor

DESCRIPTOR = k.Kind("a tensor descriptor", lambda v: isinstance(v, tensor_descriptor))


def coordinate(value, what):
    """A scalar integer as int32, or as int64 where that may not hold it."""
    if is_literal(value) and isinstance(value, int):
        return constant(int(value), int32 if -(2**31) <= value < 2**31 else int64)
    is_scalar = isinstance(value, tensor) and not value.shape and value.dtype.is_int()
    if is_scalar and value.dtype.get_int_max_value() <= int32.get_int_max_value():
        return cast_to(value, int32)
    return wide(value, what)


class tensor_descriptor:
    """A tensor of `shape` and `strides` at `base`, accessed in blocks of `block_shape`; see make_tensor_descriptor."""

    def __init__(self, base, shape, strides, block_shape, padding_option, unit):
        self.base = base
        self.shape, self.strides = shape, strides
        self.block_shape = block_shape
        self.padding_option = padding_option
        self._unit = unit

    @property
    def dtype(self):
        """The type of the elements."""
        return self.base.dtype.element_ty

    @property
    def block_type(self):
        """The type of a block."""
        return block_type(self.dtype, self.block_shape)

    @property
    def type(self):
        """A type that stands for the descriptor."""
        return block_type(self.base.dtype, self.block_shape)

    def flatten(self):
        """The scalars that make the descriptor: base, shape, strides."""
        return [self.base, *self.shape, *self.strides]

    def unflatten(self, values):
        """The descriptor with other scalars."""
        rank = len(self.block_shape)
        values = list(values)
        return tensor_descriptor(
            values[0], values[1 : 1 + rank], values[1 + rank :], self.block_shape, self.padding_option, ()
        )

    def _make(self, padding=""):
        """The descriptor of the IR."""
        extents = "x".join(map(str, self.block_shape))
        type = f"!tile.descriptor<{extents}x{self._stored.ir}{padding}>"
        return emit("tile.make_descriptor", [value.handle for value in self.flatten()], type)

    @property
    def _stored(self):
        return int8 if self.dtype.is_bool() else self.dtype

    def _coordinates(self, offsets):
        """Offsets as handles of int32, or of int64 where that may not hold them."""
        offsets = offsets if isinstance(offsets, (list, tuple)) else [offsets]
        self._check_rank(offsets)
        return [coordinate(offset, f"element {i} of offsets").handle for i, offset in enumerate(offsets)]

    def _check_rank(self, offsets):
        rank = len(self.block_shape)
        if len(offsets) != rank:
            raise SemanticError(
                f"a descriptor of blocks of shape {list(self.block_shape)} takes {rank} offsets, found {len(offsets)}"
            )

    @builtin(offsets=k.OFFSETS, cache_modifier=k.choice(*LOAD_CACHE), eviction_policy=k.choice(*EVICTION))
    def load(self, offsets, cache_modifier="", eviction_policy=""):
        """The block at `offsets`."""
        offsets = self._coordinates(offsets)
        if self.padding_option == "nan" and not self.dtype.is_floating():
            raise SemanticError(f"padding_option 'nan' is for floats, found {self.dtype}")
        type = block_type(self._stored, self.block_shape)
        attributes = access_attributes(cache_modifier, eviction_policy, is_load=True)
        descriptor = self._make(", nan" if self.padding_option == "nan" else "")
        loaded = tensor(emit("tile.descriptor_load", [descriptor, *offsets], type.ir, attributes), type)
        return to_bool(loaded) if self.dtype.is_bool() else loaded

    @builtin(offsets=k.OFFSETS, value=k.VALUE)
    def store(self, offsets, value):
        """Writes `value`, of the shape of a block, at `offsets`."""
        offsets = self._coordinates(offsets)
        value = broadcast_shape(stored_value(self.base, value), self.block_shape, "value of store")
        emit_effect("tile.descriptor_store", [self._make(), *offsets, value.handle])

    def _at(self, offsets):
        offsets = wide_list(offsets, "offsets")
        self._check_rank(offsets)
        return block_pointer(self.base, self.shape, self.strides, offsets, self.block_shape, self._axes(), self._unit)

    def _axes(self):
        return list(range(len(self.block_shape)))

    def _atomic(self, name, offsets, value):
        pointers, mask, _ = self._at(offsets).expand(self._axes(), "")
        getattr(atomics, name)(pointers, value, mask, sem="relaxed")

    @builtin(offsets=k.OFFSETS, value=k.VALUE)
    def atomic_add(self, offsets, value):
        """Adds `value` to the block at `offsets`."""
        self._atomic("atomic_add", offsets, value)

    @builtin(offsets=k.OFFSETS, value=k.VALUE)
    def atomic_max(self, offsets, value):
        """Stores the greater of the block at `offsets` and `value`."""
        self._atomic("atomic_max", offsets, value)

    @builtin(offsets=k.OFFSETS, value=k.VALUE)
    def atomic_min(self, offsets, value):
        """Stores the lesser of the block at `offsets` and `value`."""
        self._atomic("atomic_min", offsets, value)

    @builtin(offsets=k.OFFSETS, value=k.VALUE)
    def atomic_and(self, offsets, value):
        """Stores the block at `offsets` & `value`."""
        self._atomic("atomic_and", offsets, value)

    @builtin(offsets=k.OFFSETS, value=k.VALUE)
    def atomic_or(self, offsets, value):
        """Stores the block at `offsets` | `value`."""
        self._atomic("atomic_or", offsets, value)

    @builtin(offsets=k.OFFSETS, value=k.VALUE)
    def atomic_xor(self, offsets, value):
        """Stores the block at `offsets` ^ `value`."""
        self._atomic("atomic_xor", offsets, value)

    def _rows(self, x_offsets, y_offset, name):
        """Pointers and mask of the rows x_offsets, a tile of integers of rank 1, from column y_offset on."""
        if len(self.block_shape) != 2 or self.block_shape[0] != 1:
            raise SemanticError(f"{name} takes a descriptor of blocks of shape [1, n], found {list(self.block_shape)}")
        if len(x_offsets.shape) != 1:
            raise SemanticError(f"{name} takes a tile of integers of rank 1 as rows, found {describe(x_offsets)}")
        rows = along(cast_to(x_offsets, int64), 0, 2)
        columns = cast_to(arange_tile(0, self.block_shape[1]), int64)
        columns = along(binary("arith.addi", columns, splat(wide(y_offset, "y_offset"), columns.shape)), 1, 2)
        mask = None
        for index, extent in ((rows, self.shape[0]), (columns, self.shape[1])):
            low = compare_same("ge", index, splat(constant(0, int64), index.shape))
            inside = binary("arith.andi", low, compare_same("lt", index, splat(extent, index.shape)))
            mask = inside if mask is None else mask & inside
        pointers = add(add(self.base, mul(rows, self.strides[0])), mul(columns, self.strides[1]))
        return pointers, mask

    @builtin(x_offsets=k.tiles(k.INTEGER), y_offset=k.SCALAR_INTEGER)
    def gather(self, x_offsets, y_offset):
        """The rows `x_offsets` from column y_offset on, as a tile of [rows, n]."""
        pointers, mask = self._rows(x_offsets, y_offset, "gather")
        return load(pointers, mask)

    @builtin(value=k.VALUE, x_offsets=k.tiles(k.INTEGER), y_offset=k.SCALAR_INTEGER)
    def scatter(self, value, x_offsets, y_offset):
        """Writes the rows of `value`, of shape [rows, n], to the rows `x_offsets` from column y_offset on."""
        pointers, mask = self._rows(x_offsets, y_offset, "scatter")
        store_pointers(pointers, value, broadcast_shape(mask, pointers.shape), {})


@builtin(
    base=k.SCALAR_POINTER,
    shape=k.OFFSETS,
    strides=k.OFFSETS,
    block_shape=k.ANY,
    padding_option=k.choice("zero", "nan", ""),
)
def make_tensor_descriptor(base, shape, strides, block_shape, padding_option="zero"):
    """A descriptor of the tensor of `shape` and `strides` (integer scalars) at the scalar pointer `base`.

    Blocks have the compile-time `block_shape`; elements outside of the tensor read as 0, or as NaN with
    padding_option="nan", and are never written.
    """
    block_shape = static_shape(block_shape, "block_shape")
    for name, values in (("shape", shape), ("strides", strides)):
        count = len(values) if isinstance(values, (list, tuple)) else 1
        if count != len(block_shape):
            raise SemanticError(
                f"{name} of make_tensor_descriptor has {count} elements, expected {len(block_shape)} as block_shape has"
            )
    plain = strides if isinstance(strides, (list, tuple)) else [strides]
    unit = [i for i, s in enumerate(plain) if is_literal(s) and s == 1]
    return tensor_descriptor(
        base, wide_list(shape, "shape"), wide_list(strides, "strides"), block_shape, padding_option, unit
    )


@builtin(desc=DESCRIPTOR, offsets=k.OFFSETS)
def load_tensor_descriptor(desc, offsets):
    """desc.load(offsets)."""
    return desc.load(offsets)


@builtin(desc=DESCRIPTOR, offsets=k.OFFSETS, block_shape=k.STATIC_INTS, dtype=k.TYPE)
def _experimental_descriptor_load(desc, offsets, block_shape, dtype):
    """desc.load(offsets), as older files spell it; shape and type are those of the descriptor."""
    if tuple(block_shape) != tuple(desc.block_shape) or dtype != desc.dtype:
        raise SemanticError(
            f"the descriptor has blocks of shape {list(desc.block_shape)} of {desc.dtype}, found "
            f"{list(block_shape)} of {dtype}"
        )
    return desc.load(offsets)


@builtin(desc=DESCRIPTOR, value=k.VALUE, offsets=k.OFFSETS)
def _experimental_descriptor_store(desc, value, offsets):
    """desc.store(offsets, value), as older files spell it."""
    desc.store(offsets, value)


_experimental_make_tensor_descriptor = make_tensor_descriptor


@builtin(desc=DESCRIPTOR, offsets=k.OFFSETS, value=k.VALUE)
def store_tensor_descriptor(desc, offsets, value):
    """desc.store(offsets, value)."""
    desc.store(offsets, value)
