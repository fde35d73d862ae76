# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The narrow formats of the OCP microscaling specification on torch tensors: elements (e2m1) and scales (e8m0).

Made for tests and for preparing operands of tl.dot_scaled: values go to the format, round to nearest even, and back.
"""

from typing import Any

import torch

from ..errors import ArgumentError

# What the three low bits of an e2m1 number mean; the fourth is the sign.
_MAGNITUDES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
_BIAS = 127  # of e8m0, which holds 2 ** (bits - 127) and NaN as 255
_NAN = 255


def _place(data, size: Any, device, name):
    """(size, device) of data or of a size."""
    if (data is None) == (size is None):
        raise ArgumentError(f"{name} takes either data or a size")
    if data is not None:
        return tuple(data.shape), data.device
    return (size if isinstance(size, tuple) else (size,)), device


class MXFP4Tensor:
    """Numbers of the format e2m1, one in a byte: `data` has them in the low four bits.

    Made of a tensor of floats, which are rounded, or of a `size`, to be filled by random().
    """

    def __init__(self, data=None, size=None, device=None):
        self.size: Any
        self.size, self.device = _place(data, size, device, "MXFP4Tensor")
        self.data: Any = None if data is None else self._from_float(data)

    def random(self):
        """Fills it with numbers of all bit patterns."""
        self.data = torch.randint(0, 16, self.size, dtype=torch.uint8, device=self.device)
        return self

    def to(self, dtype):
        """The numbers as floats."""
        table = torch.tensor(_MAGNITUDES, dtype=torch.float32, device=self.data.device)
        found = table[(self.data & 7).long()]
        return torch.where(self.data & 8 != 0, -found, found).to(dtype)

    @staticmethod
    def _from_float(values):
        """The nearest numbers, ties to the one whose last bit is 0; what is too large becomes the largest."""
        magnitude = values.abs().to(torch.float32)
        bits = torch.zeros(values.shape, dtype=torch.uint8, device=values.device)
        for low in range(len(_MAGNITUDES) - 1):
            middle = (_MAGNITUDES[low] + _MAGNITUDES[low + 1]) / 2
            # A tie goes up where the number below is odd.
            goes_up = magnitude >= middle if low % 2 else magnitude > middle
            bits = torch.where(goes_up, torch.full_like(bits, low + 1), bits)
        return bits | (torch.signbit(values).to(torch.uint8) << 3)

    def to_packed_tensor(self, dim):
        """Two numbers in a byte along an axis, the first of them in the low bits; an odd extent is filled up by 0."""
        data = self.data.movedim(dim, -1)
        if data.shape[-1] % 2:
            data = torch.nn.functional.pad(data, (0, 1))
        packed = data[..., 0::2] | (data[..., 1::2] << 4)
        return packed.movedim(-1, dim)

    @staticmethod
    def unpack_packed_tensor(packed, dim, original_shape):
        """The bytes of one number each that to_packed_tensor packed."""
        data = packed.movedim(dim, -1)
        pairs = torch.stack((data & 15, data >> 4), -1).flatten(-2)
        return pairs[..., : original_shape[dim]].movedim(-1, dim)


class MXScaleTensor:
    """Scales of the format e8m0, powers of two: `data` has their bytes.

    Made of a tensor of floats, which go to the power of two below, or of a `size`, to be filled by random().
    """

    def __init__(self, data=None, size=None, device=None):
        self.size: Any
        self.size, self.device = _place(data, size, device, "MXScaleTensor")
        self.data: Any = None if data is None else self._from_float(data)

    def random(self, low=None, high=None):
        """Fills it with powers of two, if they are given from `low` to below `high`."""
        first = 0 if low is None else max(0, self._exponent(low))
        last = _NAN if high is None else max(first + 1, self._exponent(high))
        self.data = torch.randint(first, min(last, _NAN), self.size, dtype=torch.uint8, device=self.device)
        return self

    @staticmethod
    def _exponent(value):
        return int(torch.log2(torch.tensor(float(value), dtype=torch.float64)).floor().item()) + _BIAS

    def to(self, dtype):
        """The scales as floats."""
        found = torch.exp2(self.data.to(torch.float64) - _BIAS)
        return torch.where(self.data == _NAN, torch.full_like(found, float("nan")), found).to(dtype)

    @staticmethod
    def _from_float(values):
        exponent = torch.floor(torch.log2(values.to(torch.float64))) + _BIAS
        bits = torch.nan_to_num(exponent, nan=0, posinf=_NAN - 1, neginf=0).clamp(0, _NAN - 1).to(torch.uint8)
        wrong = torch.isnan(values) | (values < 0) | torch.isinf(values)
        return torch.where(wrong, torch.full_like(bits, _NAN), bits)
