# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of every public function with arguments of any kinds: what is refused is refused in the product's own words, at
the user's line.
"""

import collections
import re
import warnings

import pytest
import terrazzo.language as tl
from terrazzo.errors import CompileError
from terrazzo.language import builder, kinds
from wrong_calls import PARAMETERS, Generator, functions

COUNT, GROUP = 3000, 100
LONGEST = 500  # characters of a message

# What only those who wrote the product can make something of.
INTERNAL = re.compile(
    r"internal error|0x[0-9a-f]{5,}|'\w+\.\w+' op|object at|Traceback|NoneType|unsupported operand|' object has no"
    r"|not supported between|' object is not|' object cannot be|argument of type|must be str|mlir|Exceeds the limit"
    r"|positional arguments but|takes no keyword|Invoked with|incompatible function|' object does not|not iterable"
    r"|not subscriptable|not callable|unhashable|__init__|invalid literal|has no attribute '_"
)
CONSTANTS = {
    "GIANT": 10**400,
    "TOWER": 10**5000,
    "INF": float("inf"),
    "NAN": float("nan"),
    "OBJECT": object(),
    "MAPPING": {1: 2},
    "BYTES": b"xy",
    "PAIR": collections.namedtuple("Pair", "first second"),
}
HELPERS = """
@tz.jit
def helper(x, y):
    return x + y

@tz.jit
def unary(x):
    return x * 2

@tz.jit
"""


def problem_of(error, line):
    """What is wrong with an error of a call in a line; None if nothing is."""
    if not isinstance(error, CompileError):
        return f"{type(error).__name__}: {error}"
    found = INTERNAL.search(error.message)
    if found:
        return f"'{found[0]}' in: {error.message}"
    if len(error.message) > LONGEST:
        return f"too long: {error.message[:LONGEST]}"
    called = error.line if not error.notes else line  # inside of a helper, whose call the notes show
    if called != line or error.col is None or error.source is None or "^" not in str(error):
        return f"no place in the user's line: {error}"
    return None


@pytest.mark.parametrize("seed", range(COUNT // GROUP))
def test_wrong_calls(module, ir, seed):
    generator = Generator(seed)
    constants = {name: tl.constexpr(value) for name, value in CONSTANTS.items()}
    problems, refused = [], 0
    for _ in range(GROUP):
        call = generator.call()
        text = HELPERS + generator.kernel(call)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            kernel = module(text, **constants).kernel
        try:
            ir(kernel, **PARAMETERS)
        except Exception as error:
            refused += 1
            problem = problem_of(error, text.count("\n"))
            if problem:
                problems.append(f"{call}\n    {problem}")
    assert not problems, f"seed {seed}:\n" + "\n".join(problems)
    assert 0.5 * GROUP < refused < GROUP, f"seed {seed}: {refused} of {GROUP} are refused"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("tl.argmin(p8, 0)", "input of argmin must be a tile of numbers, found <[8], pointer<fp32>>"),
        ("tl.histogram(i8, 2**31)", "num_bins of histogram must be a compile-time integer from 1 to 2147483647"),
        ("tl.multiple_of(i, 2**31)", "values of multiple_of must be a compile-time integer from 1 to 2147483647"),
        ("tl.extra.libdevice.select(b, f8, f24)", "select() is a Python function, which cannot be called in a kernel"),
        ("tl.pair_uniform_to_normal(f8, f24)", "shapes [8] and [2, 4] do not broadcast"),
        ("tl.extra.libdevice.brev(f)", "x of brev must be an integer or a run-time value of integers, found fp32"),
        ("tl.load_tensor_descriptor(f8, (0,))", "desc of load_tensor_descriptor must be a tensor descriptor"),
        ("tl.store(p, GIANT)", "value of store is an integer of 1329 bits, which does not fit in 64 bits"),
        ("tl.store(p, TOWER)", "value of store is an integer of 16610 bits, which does not fit in 64 bits"),
        ("tl.full((2**16, 2**16), 0, tl.int8)", "a tile has 1073741824 elements at most, found 4294967296"),
        ("tl.load(OBJECT)", "found an object of the class object"),
        ("tl.load(p, volatile=p)", "volatile of load must be True or False, found a pointer"),
        ("tl.exp(p)", "x of exp must be a float or a run-time value of floats, found a pointer"),
        ("tl.exp(p)", "; load what it points to first"),
        ("tl.zeros((8,), i)", "; it has to be known at compile time: declare it tl.constexpr"),
        ("tl.tensor(p, 1)", "making an object of the class tensor cannot be used in a kernel"),
        (
            "tl.extra.libdevice.cast_to(f, tl.int8)",
            "cast_to() is a Python function, which cannot be called in a kernel",
        ),
        ("bp.pointers()", "a block pointer of <[2, 4], fp32> has no attribute 'pointers'"),
        ("tl.block_type(tl.int32)", "block_type: missing a required argument: 'shape'"),
        ("tl.block_type(p, (4,))", "element_ty of block_type must be a scalar type, found a pointer"),
        ("tl.pointer_type(tl.int32, 'x')", "address_space of pointer_type must be a compile-time integer from 0 to"),
        ("tl.dtype(3)", "name of dtype must be a string, found 3 (int)"),
        ("tl.slice(0, f)", "stop of slice must be None or a compile-time integer, found fp32"),
        ("tz.cdiv(i)", "cdiv: missing a required argument: 'y'"),
        ("tz.next_power_of_2()", "next_power_of_2: missing a required argument: 'n'"),
        ("PAIR(1)", "Pair(): missing a required argument: 'second'"),
        ("PAIR(1, 2, third=3)", "Pair(): got an unexpected keyword argument 'third'"),
        ("7 in helper", "'in' takes a tuple, list, string, or dict, found the function helper"),
    ],
)
def test_messages(module, ir, call, message):
    text = HELPERS + Generator(0).kernel(call)
    kernel = module(text, **{name: tl.constexpr(value) for name, value in CONSTANTS.items()}).kernel
    with pytest.raises(CompileError) as caught:
        ir(kernel, **PARAMETERS)
    assert message in caught.value.message
    assert problem_of(caught.value, text.count("\n")) is None


def test_every_public_function_is_called():
    """The generator knows the whole surface, so that a new function is tested without further ado."""
    known = {name.rpartition(".")[2] for name in functions()}
    public = {name for name in tl.__all__ if getattr(getattr(tl, name), "__tl_builtin__", False)}
    assert public - known <= {"constexpr_function", "static_print"}
    assert len(known) > 200


def test_parameters_without_a_kind_are_refused():
    with pytest.raises(AssertionError, match="does not declare"):
        builder.builtin(x=kinds.VALUE)(lambda x, y: x)
    with pytest.raises(AssertionError, match="does not declare"):
        builder.builtin(lambda x: x)


def test_an_internal_error_says_so(module, ir, monkeypatch):
    """An exception in a function whose arguments are right is a fault of the product, and is told as one."""

    def broken(*args):
        raise KeyError("broken")

    broken.__tl_builtin__ = True
    monkeypatch.setattr(tl, "abs", broken)
    kernel = module("@tz.jit\ndef kernel(f):\n    x = tl.abs(f)\n").kernel
    with pytest.raises(CompileError, match="internal error: KeyError: 'broken'") as caught:
        ir(kernel, f="fp32")
    assert caught.value.line == 3


def test_errors_of_the_users_own_functions(module, ir):
    """What a constexpr_function raises is told at the call, and is no internal error."""
    text = "@tz.constexpr_function\ndef half(x):\n    return {}[x]\n@tz.jit\ndef kernel(f):\n    x = half(3)\n"
    made = module(text)
    with pytest.raises(CompileError, match=r"half\(\) raises KeyError: 3") as caught:
        ir(made.kernel, f="fp32")
    assert caught.value.line == 6
    with pytest.raises(KeyError):
        made.half(3)
