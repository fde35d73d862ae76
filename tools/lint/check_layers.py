# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fails on an include or import that the layers of docs/Architecture.md forbid.

C++: each folder may include itself and what its row of `ALLOWED` names; `_FOREIGN` says which folders may see LLVM and
MLIR. Python: a module imports only modules of its own layer or of lower ones, and torch only where it is allowed; no
modules import each other in a circle.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tree import Finding, files, run_lint

# Folder (longest match wins) -> folders it may include besides itself. A trailing * matches one path part.
_IR = ["Dialect/*/IR", "Support"]
_BELOW_CONVERSION = [*_IR, "Analysis", "Layout"]
_BELOW_TARGET = [*_BELOW_CONVERSION, "Conversion", "Dialect/*/Transforms", "Target"]
ALLOWED: dict[str, list[str]] = {
    "Support": [],
    "Layout": [],
    "Dialect/Tile/IR": ["Support"],
    "Dialect/Simt/IR": ["Dialect/Tile/IR", "Layout", "Support"],
    "Analysis": [*_IR, "Layout"],
    "Dialect/Tile/Transforms": _BELOW_CONVERSION,
    "Dialect/Simt/Transforms": _BELOW_CONVERSION,
    "Conversion": _BELOW_CONVERSION,
    "Target": _BELOW_TARGET,
    "Target/CPU": _BELOW_TARGET,
    "Target/NVPTX": _BELOW_TARGET,
    "Target/AMDGPU": _BELOW_TARGET,
    "Compiler": [*_BELOW_TARGET, "Target/*"],
    "Simulator": ["Support/Artifact.h"],
    "Runtime": [f"Support/{name}" for name in ("Artifact.h", "Checksum.h", "TileRegisters.h")],
    "CAPI": ["Compiler", "Runtime", *_BELOW_TARGET, "terrazzo-c"],
    "Bindings": ["terrazzo-c"],
    "terrazzo-c": [],
}
# Single files that may include more: the rows of the two drivers that execute code.
_EXTRA = {"lib/Runtime/Sim.cpp": ["Simulator"]}

# Folder -> first path parts of LLVM's headers that it may include. A folder that is not here may include them all.
_FOREIGN: dict[str, list[str]] = {
    "Support": [],
    "Layout": ["llvm/ADT", "llvm/Support"],
    "Simulator": [
        *("llvm/ADT", "llvm/BinaryFormat", "llvm/DebugInfo", "llvm/MC", "llvm/Object", "llvm/Support"),
        "llvm/TargetParser",
    ],
    "Runtime": [],
    "Bindings": ["mlir-c"],
    "terrazzo-c": ["mlir-c"],
}
# The cpu driver links code by LLVM's ORC.
_FOREIGN_FILES = {"lib/Runtime/Cpu/": ["llvm/ExecutionEngine", "llvm/Support", "llvm/ADT", "llvm/TargetParser"]}
_FOREIGN_FILES["lib/Runtime/Cpu/"] += ["llvm/Config", "llvm/IR/Mangler.h", "llvm/IR/DataLayout.h"]

# Lowest first. A module may import its own layer and the lower ones.
PYTHON_LAYERS = [
    ["errors", "turns"],
    ["knobs", "options"],
    ["language"],
    ["accepted", "fingerprints", "frontend", "sizes", "wrappers"],
    ["hooks", "specialize"],
    ["statuses", "targets"],
    ["devices"],
    ["cache_managers", "device", "disasm", "driver", "kernel", "ptxas", "report", "store", "testing", "timers"],
    ["compiler", "sources"],
    ["interface", "jit", "stand_ins"],
    ["autotune", "configurations", "heuristics"],
    ["runtime"],
    ["__init__"],
    ["compat", "tools"],
    ["kernels"],
    ["trainer"],
]
_LEVELS = {name: level for level, names in enumerate(PYTHON_LAYERS) for name in names}
# (Two functions of the driver, which Triton has too, return objects of torch.)
_TORCH_ROOMS = {"kernels", "trainer", "testing", "driver", "tools"}
_INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')
_LLVM_ROOTS = ("llvm/", "llvm-c/", "mlir/", "mlir-c/", "lld/", "clang/")


def folder_of(parts: tuple[str, ...]) -> str | None:
    """The longest folder of `ALLOWED` that a path (below lib/ or include/terrazzo/) lies in."""
    for length in range(len(parts), 0, -1):
        name = "/".join(parts[:length])
        if name in ALLOWED:
            return name
    return None


def _matches(pattern: str, included: str) -> bool:
    regex = re.escape(pattern).replace(r"\*", "[^/]+")
    return re.match(rf"{regex}(/|$)", included) is not None


def _allowed(folder: str, path: str, included: str) -> bool:
    """May a file of `folder` include the header `included` (below include/terrazzo/)?"""
    owner = folder_of(tuple(included.split("/"))) or included
    if owner == folder:
        return True
    patterns = ALLOWED[folder] + _EXTRA.get(path, [])
    # A row "Target" is the interface alone: Target/CPU must be named or matched by Target/*.
    if owner.startswith("Target/"):
        return any(_matches(pattern, included) for pattern in patterns if pattern.startswith("Target/"))
    return any(_matches(pattern, included) for pattern in patterns)


def _foreign_allowed(folder: str, path: str, included: str) -> bool:
    names = _FOREIGN.get(folder)
    if names is None:
        return True
    for prefix, more in _FOREIGN_FILES.items():
        if path.startswith(prefix):
            names = names + more
    return any(_matches(name, included) for name in names)


def _own_header(path: str, included: str, root: Path) -> str | None:
    """A header by its path below include/terrazzo or lib, also one that is included by a path beside the file."""
    if included.startswith("terrazzo/"):
        return included.removeprefix("terrazzo/")
    if included.startswith("terrazzo-c/"):
        return "terrazzo-c/" + included.removeprefix("terrazzo-c/")
    if (root / "lib" / included).exists():
        return included
    beside = (root / path).parent / included
    if beside.exists():
        for base in (root / "lib", root / "include" / "terrazzo"):
            if beside.resolve().is_relative_to(base):
                return beside.resolve().relative_to(base).as_posix()
    return None


def check_includes(root: Path) -> Iterator[Finding]:
    """The include rules of C++."""
    for file in files(root, ".cpp", ".h", ".inc", ".def"):
        path = file.relative_to(root)
        if path.parts[0] == "lib":
            parts = path.parts[1:]
        elif path.parts[:2] == ("include", "terrazzo"):
            parts = path.parts[2:]
        elif path.parts[:2] == ("include", "terrazzo-c"):
            parts = path.parts[1:]
        else:
            continue
        folder = folder_of(parts)
        if folder is None:
            if len(parts) > 1:
                yield Finding(str(path), 0, f"folder {'/'.join(parts[:-1])} has no row in tools/lint/check_layers.py")
            continue
        yield from _check_file(root, path.as_posix(), folder)


def _check_file(root: Path, path: str, folder: str) -> Iterator[Finding]:
    for number, line in enumerate((root / path).read_text().splitlines(), 1):
        match = _INCLUDE.match(line)
        if not match:
            continue
        included = match.group(1)
        if included.startswith(_LLVM_ROOTS):
            if not _foreign_allowed(folder, path, included):
                yield Finding(path, number, f"{folder} may not include {included}")
            continue
        own = _own_header(path, included, root)
        if own is not None and not _allowed(folder, path, own):
            yield Finding(path, number, f"{folder} may not include terrazzo/{own}")


def _layer_of(module: str) -> str:
    """`terrazzo.language.core` -> `language`."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def _imports(tree: ast.AST, module: str, is_package: bool) -> Iterator[tuple[str, int]]:
    """Absolute names of the modules that a module imports, those under TYPE_CHECKING left out."""
    skipped = {
        id(child)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for child in ast.walk(node)
    }
    package = module.split(".") if is_package else module.split(".")[:-1]
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            name = ".".join([*base, *([node.module] if node.module else [])])
            if name == "terrazzo":
                yield from ((f"terrazzo.{alias.name}", node.lineno) for alias in node.names)
            else:
                yield name, node.lineno


def check_python(root: Path) -> Iterator[Finding]:
    """The layers of the Python package."""
    package = root / "python" / "terrazzo"
    for file in files(root, ".py"):
        if not file.is_relative_to(package):
            continue
        parts = file.relative_to(root / "python").with_suffix("").parts
        is_package = parts[-1] == "__init__"
        module = ".".join(parts[:-1] if is_package else parts)
        layer = _layer_of(module)
        path = str(file.relative_to(root))
        level = _LEVELS.get(layer)
        if level is None:
            yield Finding(path, 0, f"module {module} has no layer in tools/lint/check_layers.py")
            continue
        for name, line in _imports(ast.parse(file.read_text()), module, is_package):
            top, target = name.split(".")[0], _layer_of(name)
            if top == "torch" and layer not in _TORCH_ROOMS:
                yield Finding(path, line, f"{layer} may not import torch")
            # terrazzo._terrazzo, the extension, and names of the package that are no modules have no level.
            elif top == "terrazzo" and _LEVELS.get(target, 0) > level:
                whole = target == "__init__"
                yield Finding(path, line, f"{layer} may not import {'the whole package' if whole else name}")


def _run_by_import(node: ast.AST) -> Iterator[ast.AST]:
    """What is below a node and runs when the module is imported."""
    for child in ast.iter_child_nodes(node):
        is_checking = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
        if not is_checking and not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield child
            yield from _run_by_import(child)


def _graph(modules: dict[str, Path]) -> dict[str, set[str]]:
    """Module -> the modules that its import imports, packages that are merely passed through left out."""
    graph = {}
    for module, file in modules.items():
        package = module.split(".")[: None if file.stem == "__init__" else -1]
        names = set()
        for node in _run_by_import(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = package[: len(package) - node.level + 1] if node.level else []
                source = ".".join([*base, *([node.module] if node.module else [])])
                inner = [f"{source}.{alias.name}" for alias in node.names]
                names.update(name if name in modules else source for name in inner)
        graph[module] = names & modules.keys() - {module}
    return graph


def check_circles(root: Path) -> Iterator[Finding]:
    """Python modules whose imports need each other."""
    modules = {}
    for file in files(root, ".py"):
        if file.is_relative_to(root / "python" / "terrazzo"):
            parts = file.relative_to(root / "python").with_suffix("").parts
            modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    graph = _graph(modules)
    for module, file in modules.items():
        reached, ahead = set(), [module]
        while ahead:
            found = graph[ahead.pop()] - reached
            reached |= found
            ahead += found
        if module in reached:
            yield Finding(str(file.relative_to(root)), 0, f"importing {module} imports it again, in a circle")


def check(root: Path) -> Iterator[Finding]:
    """All layer rules."""
    yield from check_includes(root)
    yield from check_python(root)
    yield from check_circles(root)


if __name__ == "__main__":
    run_lint("Checks the include and import layers.", check)
