# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a launcher has to know of code that was compiled ahead of time, as JSON; docs/howto/launch-compiled-code.md is
its definition.
"""

import hashlib
import json
import re

from ..specialize import UnstableConstantError, stable_text
from ..targets import warp_size

FORMAT, VERSION = "terrazzo-kernel", 1
# Of code that takes more than its arguments, which readers of version 1 would not pass.
WITH_TENSOR_MAPS = 2

# As the compiler prints them on a parameter; a module that was not traced may have any of them, or none.
_DIVISIBILITY = re.compile(r'tile\.divisibility = (\d+) : i32[^{}]*tile\.name = "([^"]*)"')


def _arguments(artifact, equal):
    """The run-time parameters in the order of the call; `equal` holds the values that some are known to have."""
    divisors = {name: int(number) for number, name in _DIVISIBILITY.findall(artifact.stages["tile"])}
    return [
        {
            "name": arg["name"],
            "kind": arg["kind"],
            "dtype": arg["dtype"],
            "bytes": arg["bytes"],
            "written": arg["written"],
            "divisible_by": divisors.get(arg["name"], 1),
            "equals": equal.get(arg["name"]),
        }
        for arg in artifact.args
    ]


def _prints(metadata):
    """What is printed, by line and operand: "print.LINE.OPERAND" of the metadata is "DTYPE SHAPE HEX"."""
    found = []
    for key, text in metadata.items():
        if key.startswith("print."):
            line, operand = map(int, key.split(".")[1:])
            dtype, shape, is_hex = text.split(" ")
            extents = [int(extent) for extent in re.findall(r"\d+", shape)]
            found.append({"line": line, "operand": operand, "dtype": dtype, "shape": extents, "hex": is_hex == "1"})
    return sorted(found, key=lambda entry: (entry["line"], entry["operand"]))


def _constant(value):
    """A constant as JSON has it, else as text."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    try:
        return stable_text(value)
    except UnstableConstantError:
        return type(value).__name__


def describe(artifact, target, code, file, kernel=None):
    """The description of code in a file, as a dict.

    `target` is the text that it was compiled for, `kernel` the CompiledKernel if it comes from Python.
    """
    facts = {} if kernel is None else kernel.specialization.arg_attrs
    equal = {name: fact["equal_to"] for name, fact in facts.items() if "equal_to" in fact}
    is_gpu = artifact.target != "cpu"
    tensor_maps = json.loads(artifact.tensor_maps)
    return {
        "format": FORMAT,
        "version": WITH_TENSOR_MAPS if tensor_maps else VERSION,
        "kernel": artifact.entry if kernel is None else kernel.name,
        "target": artifact.target,
        "chip": artifact.chip,
        "entry": artifact.entry,
        "code": {"file": file, "bytes": len(code), "sha256": hashlib.sha256(code).hexdigest()},
        "arguments": _arguments(artifact, equal),
        "constants": {} if kernel is None else {k: _constant(v) for k, v in kernel.constants.items()},
        "launch": {
            "threads": artifact.threads_per_block,
            "warps": artifact.threads_per_block // warp_size(target) if is_gpu else 1,
            "shared_bytes": artifact.shared_bytes,
            "stack_bytes": artifact.stack_bytes,
            "output": bool(artifact.lines),
            **({"tensor_maps": tensor_maps} if tensor_maps else {}),
        },
        "resources": {"registers": artifact.registers, "spills": artifact.spills},
        "lines": list(artifact.lines),
        "prints": _prints(artifact.metadata),
    }


def text_of(description):
    """The file's text."""
    return json.dumps(description, indent=2, ensure_ascii=False) + "\n"
