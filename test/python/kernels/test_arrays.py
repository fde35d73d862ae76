# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What host functions have in common: `out`, memory orders, and life without torch."""

import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
import torch
from terrazzo.kernels import arrays, gelu, layernorm, rmsnorm, softmax, swiglu

HOSTS = {
    "softmax": softmax.softmax,
    "rmsnorm": lambda x, out=None: rmsnorm.rmsnorm(x, x[0], out=out),
    "layernorm": lambda x, out=None: layernorm.layernorm(x, x[0], out=out),
    "swiglu": lambda x, out=None: swiglu.swiglu(x, x, out),
    "gelu": lambda x, out=None: gelu.gelu(x, out=out),
}


@pytest.mark.parametrize("name", HOSTS)
def test_out(name, normal):
    x = normal(5, 12)
    for out in (torch.empty(5, 12), torch.empty(5, 12, dtype=torch.bfloat16), x.clone()):
        assert HOSTS[name](x, out=out) is out
        assert torch.equal(out, HOSTS[name](x).to(out.dtype))
    with pytest.raises(ValueError, match=r"'out': expected shape \[5, 12\], found \[12, 5\]"):
        HOSTS[name](x, out=torch.empty(12, 5))
    with pytest.raises(ValueError, match=r"'out': expected a contiguous array, found strides \[1, 5\]"):
        HOSTS[name](x, out=torch.empty(12, 5).T)


@pytest.mark.parametrize("name", HOSTS)
def test_numpy_bfloat16(name):
    x = np.linspace(-2, 2, 60, dtype=np.float32).reshape(5, 12).astype(ml_dtypes.bfloat16)
    y = HOSTS[name](x)
    assert y.dtype == x.dtype
    np.testing.assert_array_equal(y, HOSTS[name](torch.from_numpy(x.astype(np.float32)).bfloat16()).float())


def test_memory_orders():
    for x in (np.zeros((2, 3, 4), np.float32), torch.zeros(2, 3, 4)):
        turned = x.swapaxes(0, 1)
        assert arrays.strides(turned) == (4, 12, 1)
        assert arrays.strides(arrays.empty_like(turned)) == (4, 12, 1)
        assert arrays.dense_rows(turned) is turned
        assert arrays.strides(arrays.dense_rows(x.swapaxes(1, 2))) == (12, 3, 1)
        assert arrays.strides(arrays.empty_rows_like(x.swapaxes(1, 2))) == (12, 3, 1)
        assert arrays.rows(x) == (6, 4)


def test_kernels_work_without_torch():
    program = """
import sys
sys.modules["torch"] = None
import importlib, pkgutil
import numpy as np
import terrazzo.kernels
for module in pkgutil.iter_modules(terrazzo.kernels.__path__):
    if module.name != "torch_ops":
        importlib.import_module("terrazzo.kernels." + module.name)
x = np.array([[0, 1, 2]], np.float32)
print(np.allclose(terrazzo.kernels.softmax.softmax(x), terrazzo.kernels.softmax.reference(x)))
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.stdout.strip() == "True", result.stderr
