# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays in a device's memory, for programs without torch: made, filled and read through the driver.

x = terrazzo.device_array(numpy_array)        # a copy on the GPU at hand
y = terrazzo.device_array((n,), "float32")    # memory without values
kernel[grid](x, y, n)
y.numpy()                                     # a copy in host memory

Other libraries take one by __dlpack__ or __cuda_array_interface__ without a copy.
"""

import math
from typing import Any

import numpy as np

from . import devices, statuses, targets
from ._terrazzo import runtime
from .errors import ArgumentError
from .language.dtypes import dtype as language_dtype

# Types that numpy has none for: bytes of an element, and how DLPack says it.
_DLPACK = {"i": 0, "u": 1, "f": 2, "b": 6}


def place_of(device):
    """(target, number) of "cuda:1", a number, or None: the GPU at hand."""
    if device is None or isinstance(device, int):
        name = devices.default_name()
        return name, runtime.current_device(name) if device is None and name != "cpu" else device or 0
    name, _, number = str(device).partition(":")
    targets.check_target(name)
    if number and not number.isdigit():
        raise ArgumentError(f"'{device}' is no device, expected one such as cuda:0")
    return name, int(number or 0)


class DeviceArray:
    """A contiguous array in the memory of a device."""

    def __init__(self, shape, dtype: Any = "float32", device=None):
        self.target, self.index = place_of(device)
        self.shape = (shape,) if isinstance(shape, int) else tuple(int(n) for n in shape)
        self.dtype, self.itemsize = _element(dtype)
        self.size = math.prod(self.shape)
        self.nbytes = self.__tz_bytes__ = self.size * self.itemsize  # launches look whether arrays overlap
        self._address = 0
        self._driver = devices.opened(self.target)
        with statuses.statuses():
            self._address = self._driver.alloc(max(self.nbytes, 1), self.index)
        if self.target in targets.GPUS:
            devices.used.add((self.target, self.index))

    def __del__(self):
        if getattr(self, "_address", 0):
            self._driver.free(self._address, self.index)
            self._address = 0

    def _stream(self):
        return 0 if self.target == "cpu" else runtime.current_stream(self.target, self.index)

    @property
    def device(self):
        """Where the memory is: "cuda:0"."""
        return self.target if self.target == "cpu" else f"{self.target}:{self.index}"

    @property
    def ndim(self):
        """How many axes there are."""
        return len(self.shape)

    @property
    def strides(self):
        """Bytes from an element to the next one along each axis."""
        return tuple(step * self.itemsize for step in self.stride())

    def data_ptr(self):
        """The address of the first element."""
        return self._address

    def stride(self, axis=None):
        """Elements from one to the next along each axis, or along one."""
        steps, step = [], 1
        for extent in reversed(self.shape):
            steps.insert(0, step)
            step *= extent
        return tuple(steps) if axis is None else steps[axis]

    def numel(self):
        """How many elements there are."""
        return self.size

    def element_size(self):
        """Bytes of an element."""
        return self.itemsize

    def copy_from(self, array):
        """Copies an array of the host, or another of this device, here; waits until it is done.

        It is queued behind the launches so far, on the stream that they go to.
        """
        if isinstance(array, DeviceArray):
            nbytes, address = array.nbytes, array.data_ptr()
            if (array.target, array.index) != (self.target, self.index):
                raise ArgumentError(f"copy from {array.device} to {self.device}: go through numpy()")
        else:
            array = np.ascontiguousarray(array)
            nbytes, address = array.nbytes, array.ctypes.data
        if nbytes != self.nbytes:
            raise ArgumentError(f"an array of {nbytes} bytes, expected {self.nbytes}: shape {list(self.shape)}")
        if nbytes:
            with statuses.statuses():
                self._driver.copy(self._address, address, nbytes, self.index, self._stream())
        return self

    def zero_(self):
        """Sets all bytes to 0, on the stream that launches go to."""
        if self.nbytes:
            with statuses.statuses():
                self._driver.fill(self._address, 0, self.nbytes, self.index, self._stream())
        return self

    def numpy(self):
        """A copy in host memory; of types that numpy has none for, as unsigned integers of their size."""
        host = self.dtype if isinstance(self.dtype, np.dtype) else np.dtype(f"u{self.itemsize}")
        found = np.empty(self.shape, host)
        if self.nbytes:
            with statuses.statuses():
                self._driver.copy(found.ctypes.data, self._address, self.nbytes, self.index, self._stream())
        return found

    def clone(self):
        """Another array with the same values."""
        return DeviceArray(self.shape, self.dtype, self.device).copy_from(self)

    def copy_(self, array):
        """As copy_from."""
        return self.copy_from(array)

    @property
    def __cuda_array_interface__(self):
        if self.target == "cpu" or not isinstance(self.dtype, np.dtype) or self.dtype.kind not in _DLPACK:
            raise AttributeError("no __cuda_array_interface__ for this device or type")
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self._address, False),
            "strides": None,
            "version": 3,
        }

    def __dlpack_device__(self):
        return {"cpu": 1, "cuda": 2, "hip": 10}[self.target], self.index

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"the array is on {self.device}; it is not copied to another device")
        name = self.dtype.name if isinstance(self.dtype, np.dtype) else str(self.dtype)
        if name in ("bfloat16", "bf16"):
            code = 4
        elif isinstance(self.dtype, np.dtype) and self.dtype.kind in _DLPACK:
            code = _DLPACK[self.dtype.kind]
        else:
            raise BufferError(f"DLPack has no type {name} that others take")
        bits = 8 * self.itemsize
        return runtime.make_dlpack(self, self._address, code, bits, list(self.shape), self.target, self.index)

    def __len__(self):
        return self.shape[0]

    def __repr__(self):
        return f"DeviceArray(shape={self.shape}, dtype={self.dtype}, device='{self.device}')"


def _element(dtype):
    """(dtype, bytes) of what names an element type: numpy's, or else the language's."""
    if isinstance(dtype, language_dtype):
        try:
            found = np.dtype(str(dtype).replace("fp", "float") if dtype.name != "int1" else "bool")
        except TypeError:
            return dtype, max(1, dtype.primitive_bitwidth // 8)
        return found, found.itemsize
    try:
        found = np.dtype(dtype)
    except TypeError:
        name = runtime.dtype_by_name(str(dtype))
        if name is None:
            raise ArgumentError(f"{dtype!r} is no type of elements, expected one such as 'float32'") from None
        return _element(language_dtype(name))
    return found, found.itemsize


def device_array(source, dtype=None, device=None):
    """An array on a device: a copy of a numpy array, or of a shape, without values.

    `device` is such as "cuda:1"; left out, the GPU at hand, or the CPU where there is none.
    """
    if isinstance(source, (int, tuple, list)) and not isinstance(source, np.ndarray):
        return DeviceArray(source, dtype or "float32", device)
    host = np.asarray(source, dtype=dtype)
    return DeviceArray(host.shape, host.dtype, device).copy_from(host)
