# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values that stand for arguments in a warmup, which says their types only."""

from .errors import ArgumentError
from .language.dtypes import dtype, pointer_type
from .specialize import spec_from_text, type_from_text
from .wrappers import MockTensor, UnalignedMock

_VALUES = {"int32": 2, "int64": (1 << 32) + 2, "uint64": (1 << 63) + 2, "fp32": 0.5, "int1": True}


def stand_in(value, parameter):
    """A value of the type that a dtype, a numpy scalar type, or a text means; other arguments as they are."""
    if parameter.is_constexpr:
        return value
    if isinstance(value, pointer_type):
        return MockTensor(value.element_ty)
    if isinstance(value, type) and value.__module__ == "numpy":
        import numpy

        return MockTensor(numpy.dtype(value))
    if isinstance(value, str) and type_from_text(value.partition(":")[0]) is not None:
        spec = spec_from_text(value, parameter.name)
        if spec[0] == "ptr":
            if spec[3]:
                raise ArgumentError(
                    f"argument '{parameter.name}': '{value}' is for ahead-of-time compilation; launches see for "
                    "themselves which arrays overlap"
                )
            return MockTensor(dtype(spec[1])) if spec[2] else UnalignedMock(dtype(spec[1]))
        if parameter.fixed_type == dtype(spec[1]):
            return 0
        if spec[1] not in _VALUES:
            raise ArgumentError(
                f"argument '{parameter.name}': no Python value becomes a {spec[1]} unless the parameter is annotated so"
            )
        scale = {"int32": 16, "int64": 1 << 32, "uint64": 1 << 63}
        return scale[spec[1]] if spec[2] else 1 if spec[3] else _VALUES[spec[1]]
    return MockTensor.wrap_dtype(value)
