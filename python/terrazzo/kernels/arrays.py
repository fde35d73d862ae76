# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What host functions need to know of an array, be it of NumPy or of torch; torch is never imported here.

An output is an array of the same library, on the same device, as the input that it is made `like`.
"""

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import devices

FLOATS = ("float16", "bfloat16", "float32")
INTEGERS = ("int32", "int64")


def is_torch(x: Any) -> bool:
    """Whether x is a torch tensor."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def dtype_name(x: Any) -> str:
    """The element type by its NumPy name, `float32`."""
    return str(x.dtype).removeprefix("torch.")


def _dtype(like: Any, dtype: Any) -> Any:
    if dtype is None:
        return like.dtype
    name = str(np.dtype(dtype)) if isinstance(dtype, type) else str(dtype).removeprefix("torch.")
    if is_torch(like):
        return getattr(sys.modules["torch"], name)
    return dtype if name == "bfloat16" and not isinstance(dtype, str) else np.dtype(name)


def empty(shape: Sequence[int], like: Any, dtype: Any = None) -> Any:
    """A contiguous array without values, of like's library, device and (unless given) dtype."""
    if is_torch(like):
        return sys.modules["torch"].empty(tuple(shape), dtype=_dtype(like, dtype), device=like.device)
    return np.empty(tuple(shape), dtype=_dtype(like, dtype))


def empty_like(x: Any, dtype: Any = None) -> Any:
    """An array of x's shape without values; where x is dense, in x's memory order (a transposed x gives the same)."""
    if is_torch(x):
        return sys.modules["torch"].empty_like(x, dtype=_dtype(x, dtype))
    return np.empty_like(x, dtype=_dtype(x, dtype))


def output(out: Any, like: Any, dtype: Any = None) -> Any:
    """A caller's `out`, checked to be a contiguous array of like's shape, or when it is None a new one."""
    if out is None:
        return empty(like.shape, like, dtype)
    check("out", out, shape=like.shape, dtypes=FLOATS)
    if not is_contiguous(out):
        raise ValueError(f"'out': expected a contiguous array, found strides {list(strides(out))}")
    return out


def zeros(shape: Sequence[int], like: Any, dtype: Any = None) -> Any:
    """A contiguous array of zeros."""
    if is_torch(like):
        return sys.modules["torch"].zeros(tuple(shape), dtype=_dtype(like, dtype), device=like.device)
    return np.zeros(tuple(shape), dtype=_dtype(like, dtype))


def is_on_cpu(x: Any) -> bool:
    """Whether the CPU target works on x."""
    return not is_torch(x) or x.device.type == "cpu"


def has_wgmma(x: Any) -> bool:
    """Whether x is of 16-bit floats and on a GPU whose matrix unit multiplies those from shared memory (sm_90a)."""
    if is_on_cpu(x) or dtype_name(x) not in ("float16", "bfloat16"):
        return False
    return devices.chip(devices.target(), x.device.index or 0) == "sm_90a"


def contiguous(x: Any) -> Any:
    """x itself when it is row-major without gaps, else a copy that is."""
    return x.contiguous() if is_torch(x) else np.ascontiguousarray(x)


def is_contiguous(x: Any) -> bool:
    """Whether x is row-major without gaps."""
    return x.is_contiguous() if is_torch(x) else x.flags.c_contiguous


def strides(x: Any) -> tuple[int, ...]:
    """Strides in elements."""
    if is_torch(x):
        return tuple(x.stride())
    return tuple(stride // x.itemsize for stride in x.strides)


def dense_rows(x: Any) -> Any:
    """x itself when the elements of its last axis are neighbours, else a contiguous copy."""
    return x if x.shape[-1] == 1 or strides(x)[-1] == 1 else contiguous(x)


def empty_rows_like(x: Any) -> Any:
    """As empty_like, but the elements of the last axis are neighbours whatever x's memory order."""
    y = empty_like(x)
    return y if y.shape[-1] == 1 or strides(y)[-1] == 1 else empty(x.shape, x)


def numel(x: Any) -> int:
    """How many elements there are."""
    return x.numel() if is_torch(x) else x.size


def rows(x: Any) -> tuple[int, int]:
    """x as a matrix: the product of all but the last extent, and the last."""
    columns = x.shape[-1]
    return (numel(x) // columns if columns else 0), columns


def check(
    name: str,
    array: Any,
    rank: int | None = None,
    shape: Sequence[int | None] | None = None,
    dtypes: Sequence[str] | None = None,
) -> None:
    """Raises a ValueError that names the argument when it is not as expected; None in a shape accepts any extent."""
    if not hasattr(array, "shape") or not hasattr(array, "dtype"):
        raise ValueError(f"'{name}': expected an array, found {type(array).__name__}")
    found = tuple(array.shape)
    if rank is not None and len(found) != rank:
        raise ValueError(f"'{name}': expected {rank} dimensions, found shape {list(found)}")
    if shape is not None:
        fits = len(found) == len(shape) and all(want in (None, have) for want, have in zip(shape, found))
        if not fits:
            expected = ", ".join("any" if want is None else str(want) for want in shape)
            raise ValueError(f"'{name}': expected shape [{expected}], found {list(found)}")
    if dtypes is not None and dtype_name(array) not in dtypes:
        raise ValueError(f"'{name}': expected {' or '.join(dtypes)}, found {dtype_name(array)}")


def cast(x: Any, like: Any) -> Any:
    """x in the dtype of another array."""
    if x.dtype == like.dtype:
        return x
    return x.to(like.dtype) if is_torch(x) else x.astype(like.dtype)
