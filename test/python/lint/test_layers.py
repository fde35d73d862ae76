# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_layers.py on good and bad trees, one include or import a case."""

import check_layers
import pytest


def messages(root):
    return [str(finding) for finding in check_layers.check(root)]


@pytest.mark.parametrize(
    ("file", "include"),
    [
        ("lib/Layout/LinearLayout.cpp", "llvm/ADT/SmallVector.h"),
        ("lib/Dialect/Tile/IR/TileOps.cpp", "terrazzo/Dialect/Tile/IR/Tile.h"),
        ("include/terrazzo/Dialect/Simt/IR/Simt.h", "terrazzo/Dialect/Tile/IR/Tile.h"),
        ("lib/Dialect/Tile/Transforms/Canonical.cpp", "terrazzo/Analysis/AxisInfo.h"),
        ("lib/Conversion/TileToVector/Dot.cpp", "terrazzo/Dialect/Tile/IR/Tile.h"),
        ("lib/Target/CPU/Target.cpp", "terrazzo/Target/Target.h"),
        ("lib/Target/CPU/Target.cpp", "terrazzo/Conversion/TileToVector/TileToVector.h"),
        ("lib/Compiler/Registration.cpp", "terrazzo/Target/CPU/Target.h"),
        ("lib/Runtime/Driver.cpp", "terrazzo/Support/Artifact.h"),
        ("lib/Runtime/Cpu/Loader.cpp", "llvm/ExecutionEngine/Orc/LLJIT.h"),
        ("lib/Runtime/Sim.cpp", "terrazzo/Simulator/AMDGPU/Wave.h"),
        ("lib/CAPI/Compiler.cpp", "terrazzo/Compiler/Compiler.h"),
        ("lib/Bindings/IR/Builder.cpp", "mlir-c/IR.h"),
        ("lib/Bindings/IR/Builder.cpp", "terrazzo-c/Compiler.h"),
        ("include/terrazzo-c/Compiler.h", "mlir-c/IR.h"),
        ("tools/tz-opt/tz-opt.cpp", "mlir/Tools/mlir-opt/MlirOptMain.h"),
    ],
)
def test_allowed_include(tree, file, include):
    assert messages(tree({file: f'#include "{include}"\n#include <vector>\n'})) == []


@pytest.mark.parametrize(
    ("file", "include"),
    [
        ("include/terrazzo/Support/Artifact.h", "llvm/ADT/SmallVector.h"),
        ("lib/Layout/LinearLayout.cpp", "mlir/IR/Builders.h"),
        ("lib/Layout/LinearLayout.cpp", "terrazzo/Support/Artifact.h"),
        ("lib/Dialect/Tile/IR/TileOps.cpp", "terrazzo/Dialect/Simt/IR/Simt.h"),
        ("lib/Dialect/Tile/IR/TileOps.cpp", "terrazzo/Dialect/Tile/Transforms/Passes.h"),
        ("lib/Dialect/Tile/Transforms/A.cpp", "terrazzo/Dialect/Simt/Transforms/Passes.h"),
        ("lib/Dialect/Tile/Transforms/A.cpp", "terrazzo/Conversion/TileToVector/TileToVector.h"),
        ("lib/Analysis/AxisInfo.cpp", "terrazzo/Conversion/TileToVector/TileToVector.h"),
        ("lib/Conversion/TileToVector/Dot.cpp", "terrazzo/Target/Target.h"),
        ("lib/Target/CPU/Target.cpp", "terrazzo/Target/NVPTX/Target.h"),
        ("lib/Target/CPU/Target.cpp", "terrazzo/Compiler/Compiler.h"),
        ("lib/Runtime/Driver.cpp", "mlir/IR/BuiltinOps.h"),
        ("lib/Runtime/Driver.cpp", "llvm/ADT/StringRef.h"),
        ("lib/Runtime/Gpu/Cuda.cpp", "terrazzo/Simulator/AMDGPU/Wave.h"),
        ("lib/Runtime/Driver.cpp", "terrazzo/Compiler/Compiler.h"),
        ("lib/CAPI/Compiler.cpp", "terrazzo/Target/CPU/Target.h"),
        ("lib/Bindings/IR/Builder.cpp", "mlir/IR/Builders.h"),
        ("lib/Bindings/Runtime.cpp", "terrazzo/Runtime/Driver.h"),
        ("include/terrazzo-c/Compiler.h", "terrazzo/Compiler/Compiler.h"),
    ],
)
def test_forbidden_include(tree, file, include):
    found = messages(tree({file: f'// a comment\n#include "{include}"\n'}))
    assert len(found) == 1
    assert found[0].startswith(f"{file}:2: ")
    assert include.removeprefix("terrazzo/") in found[0]


def test_include_beside_the_file_counts(tree):
    root = tree({"lib/Runtime/A.cpp": '#include "../Compiler/B.h"\n', "lib/Compiler/B.h": ""})
    assert messages(root) == ["lib/Runtime/A.cpp:1: Runtime may not include terrazzo/Compiler/B.h"]


def test_new_folder_needs_a_row(tree):
    assert "has no row" in messages(tree({"lib/Utilities/A.cpp": ""}))[0]


def python_tree(tree, module, text, **others):
    contents = {f"python/terrazzo/{name.replace('__', '/')}.py": body for name, body in others.items()}
    return tree({**contents, f"python/terrazzo/{module}": text})


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("frontend/codegen.py", "from ..language import tensor\nfrom ..errors import CompileError\n"),
        ("jit.py", "from . import errors, frontend\nfrom ._terrazzo import runtime\n"),
        ("kernels/softmax.py", "import torch\nimport terrazzo as tz\n"),
        ("trainer/model.py", "from terrazzo.kernels import softmax\n"),
        ("language/values.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from terrazzo.jit import X\n"),
        ("__init__.py", "from . import language\nfrom .jit import jit\n"),
    ],
)
def test_allowed_import(tree, module, text):
    assert messages(python_tree(tree, module, text)) == []


@pytest.mark.parametrize(
    ("module", "text", "message"),
    [
        ("errors.py", "from .language import tensor\n", "errors may not import terrazzo.language"),
        ("language/values.py", "def f():\n    from ..jit import jit\n", "language may not import terrazzo.jit"),
        ("language/values.py", "import terrazzo\n", "language may not import the whole package"),
        ("frontend/source.py", "from terrazzo import autotune\n", "frontend may not import terrazzo.autotune"),
        ("kernels/gelu.py", "from terrazzo.trainer import model\n", "kernels may not import terrazzo.trainer"),
        ("jit.py", "import torch\n", "jit may not import torch"),
        ("__init__.py", "import torch.nn\n", "__init__ may not import torch"),
    ],
)
def test_forbidden_import(tree, module, text, message):
    found = messages(python_tree(tree, module, text))
    assert len(found) == 1
    assert message in found[0]


def test_unknown_module_needs_a_layer(tree):
    assert "has no layer" in messages(python_tree(tree, "helpers.py", ""))[0]


@pytest.mark.parametrize(
    ("init", "core", "found"),
    [
        ("from . import core\n", "from . import values\n", 0),
        ("from . import core\n", "def f():\n    from . import values\n    from .. import language\n", 0),
        ("from . import core\n", "from . import *\n", 2),
        ("from .core import f\n", "from .values import g\nfrom .. import language\n", 2),
    ],
)
def test_modules_in_a_circle(tree, init, core, found):
    texts = {"__init__": init, "core": core, "values": ""}
    found_in = messages(tree({f"python/terrazzo/language/{name}.py": text for name, text in texts.items()}))
    assert len([message for message in found_in if "in a circle" in message]) == found
