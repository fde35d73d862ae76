# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that are wrong: the error says what, at the user's line (marked `# here`) and column, without our innards."""

import inspect
import sys

import pytest
import terrazzo as tz
from terrazzo.errors import CompileError, CompileTimeAssertionFailure, UnsupportedLanguageConstruct

PRELUDE = """
import collections
import enum
import math
PLAIN = 3
FLOATS = [1.0, 2.0]
STRING = "text"
CONSTANT = tl.constexpr(5)
Pair = collections.namedtuple("Pair", "first second")

def python_function(x):
    return x

@tz.jit
def helper(x, y, BLOCK: tl.constexpr = 4):
    return x + y

@tz.jit
def recursive(x):
    return recursive(x) + 1

@tz.jit
def ping(x):
    return pong(x)

@tz.jit
def pong(x):
    return ping(x)

@tz.jit
def kernel(p, n, f, N: tl.constexpr):
"""

# Body -> part of the message. The marked line is where the error is.
BAD = {
    # names
    "undefined": ("x = undefined + 1  # here", "name 'undefined' is not defined"),
    "misspelt": ("x = tl.loadd(p)  # here", "has no attribute 'loadd'; did you mean 'load'"),
    "misspelt name": ("value = 1\ntl.store(p, value_)  # here", "did you mean 'value'"),
    "before assignment": ("tl.store(p, x)  # here\nx = 1", "variable 'x' has no value yet"),
    "plain global": ("tl.store(p, n * PLAIN)  # here", "PLAIN = tl.constexpr(3)"),
    "list global": ("tl.store(p, FLOATS[0])  # here", "'FLOATS' is a plain global variable (list)"),
    "string global": ("tl.static_assert(STRING == 'text')  # here", "'STRING' is a plain global variable (str)"),
    "deleted": ("x = n\ndel x\ntl.store(p, x)  # here", "was deleted at line"),
    "one branch": ("if n > 0:\n    x = 1\ntl.store(p, x)  # here", "variable 'x' may have no value here"),
    "one branch of three": (
        "if n > 0:\n    x = 1\nelif n < -5:\n    y = 1\nelse:\n    x = 2\ntl.store(p, x)  # here",
        "variable 'x' may have no value here",
    ),
    "loop that may not run": (
        "for i in range(n):\n    x = i\ntl.store(p, x)  # here",
        "is first assigned inside a loop",
    ),
    "loop variable after the loop": (
        "for i in range(n):\n    pass\ntl.store(p, i)  # here",
        "the variable of a loop that may not have run",
    ),
    "while that may not run": (
        "while n > 5:\n    x = n\n    n -= 1\ntl.store(p, x)  # here",
        "variable 'x' may have no value here",
    ),
    "after continue": (
        "for i in range(4):\n    if n > i:\n        continue\n    x = i\ntl.store(p, x)  # here",
        "variable 'x' may have no value here",
    ),
    # types that change
    "int becomes float": (
        "s = 0\nfor i in range(n):\n    s += f  # here\ntl.store(p, s)",
        "variable 's' has type int32 before the loop",
    ),
    "in while": ("s = 0\nwhile s < n:\n    s = s + 0.5  # here", "becomes fp32 here"),
    "tile grows": (
        "x = tl.arange(0, 4)\nfor i in range(n):\n    x = x[None, :]  # here\ntl.store(p + x, x)",
        "variable 'x' has type <[4], int32> before the loop (line 44) but becomes <[1, 4], int32> here",
    ),
    "None becomes a number": (
        "x = None\nfor i in range(n):\n    x = i  # here\ntl.store(p, x)",
        "variable 'x' has type None before",
    ),
    "pointer becomes an integer": (
        "q = p\nfor i in range(n):\n    tl.store(q, i)\n    q = i  # here",
        "variable 'q' has type pointer",
    ),
    "branches": (
        "if n > 0:\n    x = 1\nelse:\n    x = 2.5  # here\ntl.store(p, x)",
        "'x' has two types after the branch",
    ),
    "branches, tiles": (
        "x = tl.zeros((4,), tl.int32)\nif n > 0:\n    x = tl.zeros((8,), tl.int32)  # here\ntl.store(p, tl.sum(x))",
        "'x' has two types after the branch",
    ),
    "tuple lengths": (
        "x = (n, n)\nfor i in range(n):\n    x = (n, n, n)  # here\ntl.store(p, x[0])",
        "variable 'x' has type",
    ),
    "returns": ("g = lambda a: a\ntl.store(p, two(n))", "returns fp32 (the constant 1.5) here and int32 at line"),
    "conditional expression": ("x = n if n > 0 else f  # here", "both sides must have one type"),
    "overflow of the carried type": (
        "x = n\nfor i in range(n):\n    tl.store(p, x)\n    x = 1 << 40  # here",
        "1099511627776 does not fit in int32",
    ),
    # control flow
    "condition is a tile": ("if tl.arange(0, 4) > n:  # here\n    tl.store(p, 1)", "a condition must be a scalar"),
    "while a tile": ("x = tl.arange(0, 4)\nwhile x < n:  # here\n    x += 1", "a condition must be a scalar"),
    "step of 0": ("for i in range(0, n, 0):  # here\n    pass", "must not be 0"),
    "range of floats": ("for i in range(f):  # here\n    pass", "takes integer scalars, found fp32"),
    "static_range of run-time value": ("for i in tl.static_range(n):  # here\n    pass", "compile-time bounds"),
    "for over a tile": ("for x in tl.arange(0, 4):  # here\n    pass", "found a run-time value (<[4], int32>)"),
    "for over a number": (
        "for x in 5:  # here\n    pass",
        "'for' takes range, tl.static_range, a tuple or a list, found",
    ),
    "too long an unrolled loop": ("for i in tl.static_range(1 << 20):  # here\n    pass", "too many to be unrolled"),
    "value returned": ("return n  # here", "a kernel returns nothing, found int32"),
    "missing return": ("tl.store(p, maybe(n))", "nothing on another way through it"),
    # calls
    "wrong arity": ("helper(n)  # here", "argument 'y' is missing"),
    "too many": ("helper(n, 1, 2, 3)  # here", "takes 3 positional arguments, found 4"),
    "unknown keyword": ("helper(n, y=1, z=2)  # here", "has no parameter 'z'; it has x, y, BLOCK"),
    "given twice": ("helper(n, 1, x=2)  # here", "'x' is given twice"),
    "builtin arity": ("tl.load()  # here", "load: missing a required argument: 'pointer'"),
    "builtin keyword": ("tl.load(p, masc=n > 0)  # here", "masc"),
    "recursion": ("recursive(n)", "recursive -> recursive"),
    "mutual recursion": ("ping(n)", "ping -> pong -> ping"),
    "python function": ("python_function(n)  # here", "decorate it with @jit"),
    "math of a run-time value": ("x = math.sqrt(f)  # here", "use tl.sqrt"),
    "call of a number": ("x = N(3)  # here", "is not a function"),
    "launch": ("helper[(1,)](n, n)  # here", "cannot be launched from kernels"),
    "method": ("n.too(tl.int64)  # here", "int32 has no attribute 'too'; did you mean 'to'"),
    # operators
    "None": ("x = n + None  # here", "operator + takes run-time values and numbers, found int32 and None"),
    "division by zero": ("x = N // 0  # here", "zero"),
    "string and number": ("x = 'a' + 1  # here", "'a' and 1"),
    "power": ("x = 2 ** 100000  # here", "too large"),
    "is": ("x = n is f  # here", "use =="),
    "unpack": ("a, b = (1, 2, 3)  # here", "expected 2 values to unpack, found 3"),
    "unpack a value": ("a, b = n  # here", "a run-time value (int32) cannot be unpacked"),
    "index of a tuple": ("x = (1, 2)[n]  # here", "must be known at compile time"),
    "index out of range": ("x = (1, 2)[2]  # here", "out of range"),
    "literal that does not fit": ("x = n.to(tl.int8) + 1000  # here", "1000 does not fit in int8"),
    "shapes": ("x = tl.arange(0, 4) + tl.arange(0, 8)  # here", "do not broadcast"),
    "format": ("x = f'{n}'  # here", "formatted at compile time"),
    "static_assert": ("tl.static_assert(N == 5, 'five is needed')  # here", "five is needed"),
    "assert": ("assert N == 5, 'five is needed'  # here", "assertion failed: five is needed"),
    "arange of a run-time value": ("tl.arange(0, n)  # here", "known at compile time"),
    "list in a branch": ("a = []\nif n > 0:\n    a.append(1)  # here", "a list cannot be changed in a branch or loop"),
    # what kernels cannot contain
    "list extended in a branch": ("a = []\nif n > 0:\n    a += [1]  # here", "a list cannot be changed in a branch"),
    "or of numbers in tiles": (
        "x = tl.arange(0, 4) or 7  # here",
        "'or' of tiles takes bools, found <[4], int32> and int32 (the constant 7); write (a != 0) | (b != 0)",
    ),
    "and of two kinds": ("x = n and p  # here", "both sides must have one type, found"),
    "in of a kernel": ("x = N in helper  # here", "'in' takes a tuple, list, string, or dict, found"),
    "shift": ("x = 1 << 1000000  # here", "1 << 1000000 is too large"),
    "repetition": ("x = (1, 2) * 10000000  # here", "elements is too long"),
    "seed": (
        "x = tl.rand(2**64, tl.arange(0, 4))  # here",
        "seed of rand is 18446744073709551616, which does not fit in 64 bits",
    ),
    "negative seed": (
        "x = tl.randint(-(2**63) - 1, 0)  # here",
        "seed of randint is -9223372036854775809, which does not fit in 64 bits",
    ),
    "try": ("try:  # here\n    pass\nexcept ValueError:\n    pass", "try cannot be used in a kernel"),
    "raise": ("raise ValueError('x')  # here", "raise cannot be used in a kernel"),
    "global": ("global q  # here", "global cannot be used in a kernel"),
    "import": ("import os  # here", "import cannot be used in a kernel"),
    "class": ("class A:  # here\n    pass", "a class cannot be used in a kernel"),
    "match": ("match n:  # here\n    case 1:\n        pass", "match cannot be used in a kernel"),
    "dict": ("x = {'a': 1}  # here", "a dict cannot be used in a kernel"),
    "set": ("x = {1, 2}  # here", "a set cannot be used in a kernel"),
    "dict comprehension": ("x = {i: 1 for i in (1, 2)}  # here", "a dict comprehension cannot be used in a kernel"),
    "yield": ("x = yield n  # here", "yield cannot be used in a kernel"),
    "complex": ("x = 1j  # here", "a complex literal cannot be used in a kernel"),
    "attribute assignment": ("n.x = 1  # here", "assignment to an attribute cannot be used in a kernel"),
    "starred keyword": ("helper(**n)  # here", "** of int32 cannot be used"),
    "object": ("collections.OrderedDict()  # here", "making an object of the class OrderedDict"),
}
EXTRA = """
@tz.jit
def two(a):
    if a > 0:
        return a
    else:
        return 1.5  # there

@tz.jit
def maybe(a):
    if a > 0:
        return a
"""


def compiled(text, module, ir):
    made = module(text)
    ir(made.kernel, p="*fp32", n="i32", f="fp32", N=4)
    return made


@pytest.mark.parametrize("name", BAD)
def test_error(name, module, ir):
    body, fragment = BAD[name]
    indented = "\n".join("    " + line for line in body.split("\n"))
    text = EXTRA + PRELUDE + indented + "\n"
    with pytest.raises(CompileError) as caught:
        compiled(text, module, ir)
    error = caught.value
    shown = str(error)
    assert fragment in shown
    assert "internal error" not in shown
    lines = text.split("\n")
    assert error.source == lines[error.line - 1]
    assert 0 <= error.col <= len(error.source)
    if "# here" in text:
        assert "# here" in error.source
    head, source, caret = shown.split("\n")[:3]
    assert head.startswith(f"{error.file}:{error.line}:{error.col + 1}: error: ")
    assert source == "    " + error.source
    assert caret == " " * (4 + error.col) + "^"
    assert error.__cause__ is None or error.__cause__.message == error.message
    assert error.error_message == error.message
    assert error.node is None or error.node.lineno == error.line
    assert error.src is None or error.source.strip() in error.src


def test_causes(module, ir):
    def cause(body):
        with pytest.raises(CompileError) as caught:
            compiled(EXTRA + PRELUDE + "    " + body + "\n", module, ir)
        return caught.value.__cause__

    assert cause("n + 'a'") is None
    assert cause("nowhere") is None
    assert cause("tl.static_assert(False)") is None
    assert cause("tl.sqrt(n)").line is None  # the error as the call of the language gave it
    inner = cause("helper(f, 'a')")
    assert isinstance(inner, CompileError)
    assert inner.notes == []
    assert "def helper" in inner.src


def test_kinds(module, ir):
    def kind(body):
        with pytest.raises(CompileError) as caught:
            compiled(PRELUDE + "    " + body, module, ir)
        return type(caught.value)

    assert kind("tl.static_assert(False)") is CompileTimeAssertionFailure
    assert kind("assert False") is CompileTimeAssertionFailure
    assert kind("yield") is UnsupportedLanguageConstruct
    assert tz.CompilationError is CompileError


def test_columns(module, ir):
    with pytest.raises(CompileError) as caught:
        compiled(PRELUDE + "    tl.store(p, 'ä' and  (n +   missing))", module, ir)
    assert caught.value.source[caught.value.col :].startswith("missing")


def test_callers_are_notes(module, ir):
    text = """
        @tz.jit
        def inner(x):
            return x + absent  # here

        @tz.jit
        def outer(x):
            return inner(x)  # outer

        @tz.jit
        def kernel(p, n, f, N: tl.constexpr):
            tl.store(p, outer(n))  # kernel
    """
    made = module(text)
    with pytest.raises(CompileError) as caught:
        ir(made.kernel, p="*fp32", n="i32", f="fp32", N=4)
    error = caught.value
    assert error.line == made.line("here")
    assert [
        f" is called at {made.file}:{made.line(mark)}:" in note for mark, note in zip(("outer", "kernel"), error.notes)
    ] == [True] * 2
    assert error.notes[0].startswith("'inner' is called at ")
    assert "return inner(x)" in error.notes[0]


def test_branch_conflict_names_both_lines(module, ir):
    made = module("""
        @tz.jit
        def kernel(p, n):
            if n > 0:
                picked = tl.full((4,), 1, tl.int32)  # first
            else:
                picked = tl.full((4,), 2.5, tl.float32)  # second
            tl.store(p + tl.arange(0, 4), picked)  # read
    """)
    with pytest.raises(CompileError) as caught:
        ir(made.kernel, p="*fp32", n="i32")
    shown = str(caught.value)
    assert caught.value.line == made.line("second")
    assert f"line {made.line('first')}" in shown
    assert f":{made.line('read')}: it is read here" in shown
    assert "<[4], int32>" in shown
    assert "<[4], fp32>" in shown


def test_deep_expressions_from_a_deep_stack(module, ir):
    chain = " + ".join(["n"] * 700)
    nested = "-(" * 60 + "n" + ")" * 60
    made = module(f"@tz.jit\ndef kernel(p, n):\n    tl.store(p, {chain})\n    tl.store(p, {nested})\n")
    limit = sys.getrecursionlimit()

    def call(depth):
        return ir(made.kernel, p="*i32", n="i32") if depth == 0 else call(depth - 1)

    text = call(limit - len(inspect.stack()) - 60)
    assert text.count("arith.addi") == 699
    assert sys.getrecursionlimit() == limit


def test_excluded_code_is_never_compiled(module, ir):
    made = module("""
        @tz.jit
        def kernel(p, n, q, N: tl.constexpr):
            if N > 3:
                tl.store(p, 1)
            else:
                nonsense(undefined)
            if q is None:
                tl.store(p, 2)
            elif q.dtype.element_ty == tl.int32 and undefined:
                raise ValueError
            x = 3 if N == 4 else undefined
            y = N == 4 or undefined
            while N < 0:
                undefined()
            if N == 4:
                return
            yield undefined
    """)
    assert ir(made.kernel, p="*fp32", n="i32", q=None, N=4).count("tile.store") == 2
