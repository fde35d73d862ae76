# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays that say they are on a GPU, on a machine that has none; and a cache of its own for each test."""

import pytest
import terrazzo as tz
from terrazzo import store


class Fake:
    """An array of a device: an address that nobody reads."""

    shape = (4,)

    def __init__(self, device="cuda:0", dtype="float32", address=64):
        self.device, self.dtype, self.address = device, dtype, address

    def data_ptr(self):
        return self.address


class Interface:
    """An array as CuPy has them: __cuda_array_interface__, and a device with a number."""

    shape, dtype = (4,), "float32"

    def __init__(self, number=None, typestr="<f4", address=64, read_only=False):
        self.__cuda_array_interface__ = {
            "data": (address, read_only), "typestr": typestr, "shape": (4,), "strides": None, "version": 3,
        }  # fmt: skip
        if number is not None:
            self.device = type("Device", (), {"id": number})()


@pytest.fixture
def fake():
    return Fake


@pytest.fixture
def interface():
    return Interface


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(tz.knobs.cache, "dir", str(tmp_path / "cache"))
    monkeypatch.setattr(store, "_open", {})
    monkeypatch.setattr(store, "_warned", set())


@pytest.fixture(autouse=True)
def _no_target():
    with tz.targets.using(None):
        yield
