# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""TensorDescriptor: an array with its shape, strides and the shape of the blocks that a kernel reads of it."""

from dataclasses import dataclass
from typing import Any

from .. import language as tl
from ..errors import ArgumentError
from ..language.values import constexpr, tuple_type


class descriptor_type(tuple_type):  # noqa: N801 (named like the types of the language)
    """The type of a TensorDescriptor as an argument: address, shape and strides, and what is fixed at compile time."""

    def __init__(self, members):
        super().__init__(members)
        self.constants = tuple(member.value for member in members[-2:])

    def make(self, values):
        """The descriptor that the kernel sees, from the values of the members."""
        block_shape, padding = self.constants
        rank = len(block_shape)
        return tl.make_tensor_descriptor(
            values[0], list(values[1 : 1 + rank]), list(values[1 + rank : 1 + 2 * rank]), list(block_shape), padding
        )


@dataclass
class TensorDescriptor:
    """An argument that kernels see as a tensor descriptor: `desc.load([i, j])`, `desc.store([i, j], block)`.

    `strides` count elements. What lies outside of `shape` reads as 0, or as NaN with padding="nan", and is not written.
    """

    base: Any
    shape: list
    strides: list
    block_shape: list
    padding: str = "zero"
    round_f32_to_tf32: bool = False

    def __post_init__(self):
        rank = len(self.shape)
        if not 1 <= rank <= 5:
            raise ArgumentError(f"a tensor descriptor has 1 to 5 dimensions, found {rank}")
        for name in ("strides", "block_shape"):
            if len(getattr(self, name)) != rank:
                raise ArgumentError(f"a tensor descriptor of {rank} dimensions has {len(getattr(self, name))} {name}")
        if self.padding not in ("zero", "nan"):
            raise ArgumentError(f"the padding of a tensor descriptor is {self.padding!r}, expected 'zero' or 'nan'")

    @staticmethod
    def from_tensor(tensor, block_shape, padding="zero", round_f32_to_tf32=False):
        """The descriptor of a whole array or tensor."""
        strides = tensor.stride() if hasattr(tensor, "stride") else [s // tensor.itemsize for s in tensor.strides]
        return TensorDescriptor(
            tensor, list(tensor.shape), list(strides), list(block_shape), padding, round_f32_to_tf32
        )

    def __tz_flatten__(self):
        """The parts of the argument; the dispatcher asks for them at each launch."""
        fixed = (constexpr(tuple(self.block_shape)), constexpr(self.padding))
        return (self.base, *map(int, self.shape), *map(int, self.strides), *fixed)

    @staticmethod
    def __tz_type__(members):
        """The type of the argument from the types of its parts."""
        return descriptor_type(members)
