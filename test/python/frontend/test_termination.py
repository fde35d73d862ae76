# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every operator and protocol on every kind of object ends: with a value, or with an error at its line."""

import importlib
import inspect
import os
import pkgutil
import subprocess
import sys

import pytest
import terrazzo as tz

OBJECTS = {
    "jit": "g",
    "tuned": "tuned",
    "heuristic": "heuristic",
    "launcher": "launcher",
    "type": "tl.float32",
    "pointer type": "pointer",
    "scalar": "n",
    "tile": "t",
    "pointer": "p",
    "pointers": "p + t",
    "constant": "C",
    "float": "1.5",
    "text": "'ab'",
    "none": "None",
    "tuple": "(1, n)",
    "list": "[1, 2]",
    "range": "range(3)",
    "static range": "tl.static_range(3)",
    "module": "tl",
    "function": "tl.load",
    "compile-time function": "late",
    "lambda": "(lambda a: a)",
    "class": "Plain",
    "object": "instance",
    "sequence without end": "endless",
    "enum": "Kind",
    "member": "Kind.A",
    "dict": "TABLE",
    "named tuple": "pair",
    "block pointer": "tl.make_block_ptr(p, (4,), (1,), (0,), (4,), (0,))",
    "descriptor": "tl.make_tensor_descriptor(p, [4], [1], [4])",
}
RIGHTS = ["jit", "scalar", "tile", "text", "tuple", "sequence without end"]
UNARY = {
    **{f"{sign}x": f"{sign}({{0}})" for sign in ("-", "+", "~", "not ")},
    **{f"{name}(x)": f"{name}({{0}})" for name in (
        "len list tuple sum min max any all abs enumerate reversed sorted zip range int float bool str repr round ord "
        "chr hex bin iter next set dict").split()},
    "f(*x)": "late(*{0})",
    "f(**x)": "late(**{0})",
    "unpacking": "[a for a in ({0})]",
    "star": "(*({0}),)",
    "index": "({0})[0]",
    "slice": "({0})[0:1]",
    "attribute": "({0}).name",
    "call": "({0})()",
    "grid": "({0})[(1,)]",
    "text": 'f"{{{0}}}"',
    "condition": "1 if ({0}) else 2",
}  # fmt: skip
BINARY = {
    sign: f"({{0}}) {sign} ({{1}})"
    for sign in ["+", "*", "//", "**", "|", "<<", "@", "==", "<", "in", "not in", "is", "and", "or"]
}
STATEMENTS = {
    "for": "for x in ({0}):\n        pass",
    "unpack": "a, b = ({0})",
    "element": "y = ({0})\n    y[0] = 1",
    "augmented": "y = ({0})\n    y += ({0})",
    "with": "with ({0}):\n        pass",
    "delete": "y = ({0})\n    del y",
    "while": "while ({0}) is None:\n        break",
    "assert": "assert ({0})",
}
HEAD = """
import enum, sys
from typing import Any, NamedTuple
import terrazzo as tz
import terrazzo.language as tl
from terrazzo import frontend
from terrazzo.errors import CompileError
from terrazzo.language.dtypes import pointer_type

class Pair(NamedTuple):
    a: Any
    b: Any
class Plain:
    pass
class Endless:
    def __getitem__(self, index):
        return index
class Kind(enum.Enum):
    A = 1
@tz.constexpr_function
def late(*args, **kwargs):
    return 1
@tz.jit
def g(x):
    return x
tuned = tz.autotune([tz.Config({})], key=[])(tz.jit(g.fn))
heuristic = tz.heuristics({})(tz.jit(g.fn))
launcher = tl.constexpr(g[(1,)])
pointer = pointer_type(tl.float32)
instance = tl.constexpr(Plain())
endless = tl.constexpr(Endless())
pair = Pair(tl.constexpr(1), tl.constexpr(2))
TABLE: tl.constexpr = {"a": 1}
C = tl.constexpr(3)
"""
RUN = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
resource.setrlimit(resource.RLIMIT_CPU, (200, 200))  # seconds of a processor, however busy it is
types = {"p": pointer_type(tl.float32), "n": tl.int32}
for line in sys.stdin:
    name = line.strip()
    kernel = kernels[name]
    print("begin", name, flush=True)
    try:
        frontend.build_module(kernel, types, {}, {}, {})
    except CompileError as error:
        if error.line is None or error.message.startswith("internal error"):
            print("bad", name, error.line, " ".join(error.message.split()), flush=True)
    print("end", name, flush=True)
"""


def kernels(bodies):
    """The text of a program with a kernel for each body, which traces those that it is told to."""
    text = [HEAD, "kernels = {}\n"]
    for name, body in bodies.items():
        text.append(
            f"@tz.jit\ndef k_{name}(p, n):\n    t = tl.arange(0, 4)\n    {body}\nkernels['{name}'] = k_{name}\n"
        )
    return "".join([*text, RUN])


def bodies():
    found = {}
    for kind, template in [*UNARY.items(), *BINARY.items()]:
        for left, a in OBJECTS.items():
            rights = [OBJECTS[name] for name in RIGHTS] if kind in BINARY else [""]
            for b in rights:
                found[f"k{len(found)}"] = f"r = {template.format(a, b)}"
    for template in STATEMENTS.values():
        for a in OBJECTS.values():
            found[f"k{len(found)}"] = template.format(a)
    return found


@pytest.mark.parametrize("part", range(4))
def test_all_operators_on_all_objects(tmp_path, part):
    every = list(bodies().items())[part::4]
    (tmp_path / "program.py").write_text(kernels(dict(every)))
    env = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(tz.__file__))}
    names = "\n".join(name for name, _ in every)
    try:
        done = subprocess.run(
            [sys.executable, "program.py"],
            cwd=tmp_path,
            env=env,
            input=names,
            capture_output=True,
            text=True,
            timeout=240,
        )
        out, status = done.stdout, done.returncode
    except subprocess.TimeoutExpired as stopped:
        out, status = (stopped.stdout or b"").decode(), "no end"
    lines = out.splitlines()
    bad = [line for line in lines if line.startswith("bad")]
    shown = [f"{line} <- {dict(every)[line.split()[1]]!r}" for line in bad[:20]]
    assert not bad, "\n".join(shown)
    ended = {line.split()[1] for line in lines if line.startswith("end")}
    unfinished = [body for name, body in every if name not in ended]
    assert status == 0 and not unfinished, (
        f"{status}: {unfinished[:1]}\n{'' if status == 'no end' else done.stderr[-2000:]}"
    )


def test_what_can_be_indexed_without_end_is_no_sequence():
    """Python iterates over whatever has [i] by counting i up: a class of ours says whether it is a sequence."""
    found = []
    for module in pkgutil.walk_packages(tz.__path__, "terrazzo."):
        # (compat would take over the names of another package in this process.)
        if module.name.startswith(("terrazzo.trainer", "terrazzo._", "terrazzo.compat")):
            continue
        for name, kind in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if kind.__module__ == module.name and hasattr(kind, "__getitem__") and not hasattr(kind, "__iter__"):
                found.append(f"{module.name}.{name}")
    assert found == []


def test_kernels_are_no_sequences():
    @tz.jit
    def kernel(x):
        pass

    for action in (lambda: 3 in kernel, lambda: list(kernel), lambda: [*kernel], lambda: dict([kernel])):
        with pytest.raises(TypeError):
            action()
