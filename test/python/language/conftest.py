# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A kernel under construction, without the frontend: the functions of the language are called on its arguments."""

import pytest
from terrazzo._terrazzo import ir
from terrazzo.language import builder, full, tensor


class Kernel:
    """Arguments of the given types; `text()` is the IR so far, `verified()` that of the finished, verified module."""

    def __init__(self, options):
        self.builder = ir.Builder()
        self.options = options
        self.is_open = False

    def __call__(self, *types):
        # Kernels take scalars, so a tile is made of one in each element.
        block = self.builder.func("kernel", [t.scalar.ir for t in types], [{} for _ in types])
        builder.push(self.builder, self.options)
        self.is_open = True
        scalars = [tensor(handle, type.scalar) for handle, type in zip(block.args, types, strict=True)]
        values = [full(t.shape, s) if t.is_block() else s for s, t in zip(scalars, types, strict=True)]
        return values[0] if len(values) == 1 else values

    def text(self):
        return self.builder.str()

    def verified(self):
        self.builder.create("func.return", [], {}, [])
        self.close()
        self.builder.verify()
        return self.builder.str()

    def close(self):
        if self.is_open:
            builder.pop()
            self.is_open = False


@pytest.fixture
def kernel(request):
    """Call it with types to get arguments; parametrize it indirectly with `Options` to compile in another way."""
    made = Kernel(getattr(request, "param", builder.Options()))
    yield made
    made.close()
