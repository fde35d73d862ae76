# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Objects that stand for arrays as kernel arguments."""

from .errors import ArgumentError


class MockTensor:
    """Stands for an array of a dtype, in warmup: there is no memory behind it."""

    __tz_mock__ = True

    def __init__(self, dtype, shape=None):
        self.dtype = dtype
        self.shape = [1] if shape is None else shape

    @staticmethod
    def wrap_dtype(value):
        """A MockTensor for a dtype of torch, numpy or the language, everything else as it is."""
        name = type(value).__module__.partition(".")[0]
        if type(value).__name__.lower().endswith("dtype") and name in ("torch", "numpy", "terrazzo"):
            return MockTensor(value)
        return value

    @staticmethod
    def data_ptr():
        """An address that 16 divides."""
        return 0

    @staticmethod
    def ptr_range():
        """The extent of the memory; there is none."""
        return 0


class UnalignedMock(MockTensor):
    """A MockTensor whose address nothing is known of."""

    @staticmethod
    def data_ptr():
        return 1


class TensorWrapper:
    """An array seen with another dtype; made by reinterpret."""

    def __init__(self, base, dtype):
        self.base = base
        self.dtype = dtype
        self.shape = base.shape

    @property
    def data(self):
        """The array's own `data`."""
        return self.base.data

    @property
    def is_cpu(self):
        """Whether the memory is the host's."""
        return getattr(self.base, "is_cpu", True)

    @property
    def device(self):
        """Where the memory is."""
        is_gpu = hasattr(self.base, "__cuda_array_interface__")
        found = getattr(self.base, "device", "cuda" if is_gpu else "cpu")
        return f"cuda:{found.id}" if hasattr(found, "id") else found  # CuPy's devices

    def data_ptr(self):
        """The address of the first element."""
        if hasattr(self.base, "data_ptr"):
            return self.base.data_ptr()
        name = "__array_interface__" if hasattr(self.base, "__array_interface__") else "__cuda_array_interface__"
        return getattr(self.base, name)["data"][0]

    def stride(self, *args):
        """The strides of the array, in elements."""
        if hasattr(self.base, "stride"):
            return self.base.stride(*args)
        strides = tuple(s // self.base.itemsize for s in self.base.strides)
        return strides[args[0]] if args else strides

    def element_size(self):
        """Bytes of an element."""
        return self.base.element_size() if hasattr(self.base, "element_size") else self.base.itemsize

    def numel(self):
        """How many elements there are."""
        return self.base.numel() if hasattr(self.base, "numel") else self.base.size

    def __str__(self):
        return f"TensorWrapper[{self.dtype}]({self.base})"


def reinterpret(tensor, dtype):
    """The array with its elements taken as another dtype of the language, as a kernel argument."""
    if isinstance(tensor, TensorWrapper):
        return tensor.base if dtype == tensor.base.dtype else TensorWrapper(tensor.base, dtype)
    if any(hasattr(tensor, name) for name in ("data_ptr", "__array_interface__", "__cuda_array_interface__")):
        return TensorWrapper(tensor, dtype)
    raise ArgumentError(f"reinterpret takes an array, found an object of type '{type(tensor).__name__}'")
