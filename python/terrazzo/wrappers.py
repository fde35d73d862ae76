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


def address_of(value):
    """The address of an array, or a number as it is."""
    if hasattr(value, "data_ptr"):
        return value.data_ptr()
    for name in ("__array_interface__", "__cuda_array_interface__"):
        if hasattr(value, name):
            return getattr(value, name)["data"][0]
    return value


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
        return address_of(self.base)

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

    def cpu(self):
        """A wrapped copy in the host's memory."""
        return TensorWrapper(self.base.cpu(), self.dtype)

    def to(self, device):
        """A wrapped copy on a device."""
        return TensorWrapper(self.base.to(device), self.dtype)

    def clone(self):
        """A wrapped copy."""
        return TensorWrapper(self.base.clone() if hasattr(self.base, "clone") else self.base.copy(), self.dtype)

    def copy_(self, other):
        """Takes the elements of another wrapped array."""
        source = other.base if isinstance(other, TensorWrapper) else other
        if hasattr(self.base, "copy_"):
            self.base.copy_(source)
        else:
            self.base[...] = source
        return self

    def new_empty(self, sizes, **kwargs):
        """A wrapped array of the same kind without values."""
        if hasattr(self.base, "new_empty"):
            return TensorWrapper(self.base.new_empty(sizes, **kwargs), self.dtype)
        empty = type(self.base)(sizes, dtype=self.base.dtype)
        return TensorWrapper(empty, self.dtype)

    def __str__(self):
        return f"TensorWrapper[{self.dtype}]({self.base})"


def reinterpret(tensor, dtype):
    """The array with its elements taken as another dtype of the language, as a kernel argument."""
    if isinstance(tensor, TensorWrapper):
        return tensor.base if dtype == tensor.base.dtype else TensorWrapper(tensor.base, dtype)
    if any(hasattr(tensor, name) for name in ("data_ptr", "__array_interface__", "__cuda_array_interface__")):
        return TensorWrapper(tensor, dtype)
    raise ArgumentError(
        f"Cannot reinterpret a {type(tensor).__name__}: reinterpret takes an array, found an object of type "
        f"'{type(tensor).__name__}'"
    )
