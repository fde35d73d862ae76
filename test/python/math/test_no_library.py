# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No op on any float format needs a library, as scalar or vector, on the oldest CPUs or the host."""

from __future__ import annotations

import pytest
from compiled import Library
from references import BINARY, UNARY

NATIVE = ["absf", "sqrt", "floor", "ceil", "trunc", "round", "roundeven"]
PAIRS = ["addf", "subf", "mulf", "divf", "remf", "maxnumf", "minnumf", "maximumf", "minimumf"]


CASTS = {"sitofp": True, "uitofp": True, "fptosi": False, "fptoui": False}


def add_all(lib: Library, element: str, scalar: bool) -> None:
    """Every op on one element type."""
    wide = element in ("f32", "f64")
    # Functions of narrow floats are those of f32; one stands for all.
    for name in [*NATIVE, *(UNARY if wide else ["tanh"])]:
        lib.add(f"{name}_{element}", [element], element, f"%y = math.{name} %x0 : {{r}}", scalar)
    for name in [*BINARY, "copysign"] if wide else ["copysign"]:
        lib.add(f"{name}_{element}", [element] * 2, element, f"%y = math.{name} %x0, %x1 : {{r}}", scalar)
    for name in PAIRS:
        lib.add(f"{name}_{element}", [element] * 2, element, f"%y = arith.{name} %x0, %x1 : {{r}}", scalar)
    lib.add(f"fma_{element}", [element] * 3, element, "%y = math.fma %x0, %x1, %x2 : {r}", scalar)
    for integer in ("i32", "i64"):
        for name, to_float in CASTS.items():
            source, result = (integer, element) if to_float else (element, integer)
            body = f"%y = arith.{name} %x0 : {{0}} to {{r}}"
            lib.add(f"{name}_{source}_{result}", [source], result, body, scalar)


@pytest.mark.parametrize("scalar", [False, True])
@pytest.mark.parametrize(
    ("march", "options"),
    [
        ("native", ""),
        ("x86-64-v3", ""),
        ("x86-64-v2", "fma=false f16-native=false"),
        ("x86-64", "fma=false f16-native=false rounding=false"),
    ],
)
def test_no_library(march: str, options: str, scalar: bool, tmp_path) -> None:
    lib = Library(march=march, options=options)
    for element in ("f16", "bf16", "f32", "f64", "f8E4M3FN"):
        add_all(lib, element, scalar)
    assert lib.build(tmp_path).undefined == []
