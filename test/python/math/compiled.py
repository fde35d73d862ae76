# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles one-operation loops through tz-expand-math to a shared object and calls them on NumPy arrays."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import ml_dtypes
import numpy as np

LLVM_BIN = Path(os.environ.get("TERRAZZO_LLVM_BIN", "/usr/lib/llvm-22/bin"))
LANES = 16
# What the storage of an MLIR element type looks like to NumPy and to llvm.load.
STORAGE = {
    "f64": (np.float64, "f64"),
    "f32": (np.float32, "f32"),
    "f16": (np.float16, "f16"),
    "bf16": (ml_dtypes.bfloat16, "i16"),
    "f8E4M3FN": (ml_dtypes.float8_e4m3fn, "i8"),
    "f8E5M2": (ml_dtypes.float8_e5m2, "i8"),
    "f8E4M3FNUZ": (ml_dtypes.float8_e4m3fnuz, "i8"),
    "f8E5M2FNUZ": (ml_dtypes.float8_e5m2fnuz, "i8"),
    "i64": (np.int64, "i64"),
    "i32": (np.int32, "i32"),
    "i8": (np.int8, "i8"),
}


def find_tz_opt() -> str:
    """TZ_OPT, tz-opt on the path, or the one in a build folder beside the sources."""
    root = Path(__file__).resolve().parents[3]
    candidates = [os.environ.get("TZ_OPT"), shutil.which("tz-opt")]
    candidates += [str(p) for p in sorted(root.glob("build*/bin/tz-opt"))]
    for candidate in candidates:
        if candidate and Path(candidate).exists():
            return candidate
    raise FileNotFoundError("tz-opt: set TZ_OPT to the built tool")


@dataclass
class Library:
    """A set of loops, each applying `body` (MLIR text on %x0, %x1 giving %y) to whole arrays."""

    march: str = "native"
    options: str = ""
    loops: list[str] = field(default_factory=list)
    signatures: dict[str, tuple[Sequence[str], str]] = field(default_factory=dict)
    handle: ctypes.CDLL | None = None
    undefined: list[str] = field(default_factory=list)

    def add(self, name: str, operands: Sequence[str], result: str, body: str, scalar: bool = False) -> None:
        """`body` may use {0}, {1}.. and {r} for the types of operands and the result."""
        lanes = 1 if scalar else LANES

        def shaped(element: str) -> str:
            return element if scalar else f"vector<{LANES}x{element}>"

        self.signatures[name] = (operands, result)
        arguments = ", ".join(f"%p{i}: !llvm.ptr" for i in range(len(operands)))
        lines = [f"func.func @{name}({arguments}, %out: !llvm.ptr, %n: i64) {{"]
        lines += ["%zero = arith.constant 0 : i64", f"%step = arith.constant {lanes} : i64"]
        lines += ["scf.for %i = %zero to %n step %step : i64 {"]
        for i, element in enumerate(operands):
            stored = STORAGE[element][1]
            lines.append(f"%a{i} = llvm.getelementptr %p{i}[%i] : (!llvm.ptr, i64) -> !llvm.ptr, {stored}")
            source = f"%x{i}" if stored == element else f"%s{i}"
            lines.append(f"{source} = llvm.load %a{i} {{alignment = 1 : i64}} : !llvm.ptr -> {shaped(stored)}")
            if stored != element:
                lines.append(f"%x{i} = arith.bitcast %s{i} : {shaped(stored)} to {shaped(element)}")
        lines.append(body.format(*[shaped(e) for e in operands], r=shaped(result)))
        stored = STORAGE[result][1]
        value = "%y"
        if stored != result:
            lines.append(f"%z = arith.bitcast %y : {shaped(result)} to {shaped(stored)}")
            value = "%z"
        lines.append(f"%b = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> !llvm.ptr, {stored}")
        lines.append(f"llvm.store {value}, %b {{alignment = 1 : i64}} : {shaped(stored)}, !llvm.ptr")
        lines += ["}", "return", "}"]
        self.loops.append("\n".join(lines))

    def build(self, folder: Path) -> Library:
        """Compiles everything added; `undefined` lists what the object would need from libraries."""
        steps = [
            [find_tz_opt(), f"--tz-expand-math={self.options}", "--tz-guard-division", "--canonicalize", "--cse"],
            [
                str(LLVM_BIN / "mlir-opt"),
                "--convert-scf-to-cf",
                "--convert-vector-to-llvm",
                "--convert-to-llvm",
                "--reconcile-unrealized-casts",
            ],
            [str(LLVM_BIN / "mlir-translate"), "--mlir-to-llvmir"],
        ]
        text = "\n".join(self.loops)
        for step in steps:
            done = subprocess.run(step, input=text, capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{step[0]}: {done.stderr[:2000]}"
            text = done.stdout
        source, shared = folder / "loops.ll", folder / "loops.so"
        source.write_text(text)
        flags = ["-O1", f"-march={self.march}", "-fPIC", "-shared", "-nostdlib", "-Wno-override-module"]
        subprocess.run([str(LLVM_BIN / "clang"), *flags, str(source), "-o", str(shared)], check=True)
        list_names = [str(LLVM_BIN / "llvm-nm"), "-u", str(shared)]
        names = subprocess.run(list_names, capture_output=True, text=True, check=True).stdout
        self.undefined = [line.split()[-1] for line in names.splitlines() if line.strip()]
        if not self.undefined:
            self.handle = ctypes.CDLL(str(shared))
        return self

    def call(self, name: str, *operands: np.ndarray) -> np.ndarray:
        """The loop `name` on arrays of equal length."""
        types, result = self.signatures[name]
        count = len(operands[0])
        padded = -(-count // LANES) * LANES
        arrays = []
        for operand, element in zip(operands, types, strict=True):
            array = np.zeros(padded, STORAGE[element][0])
            array[:count] = operand
            arrays.append(array)
        out = np.zeros(padded, STORAGE[result][0])
        assert self.handle is not None, f"needs library functions: {self.undefined}"
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in [*arrays, out]]
        getattr(self.handle, name)(*pointers, ctypes.c_int64(padded))
        return out[:count]
