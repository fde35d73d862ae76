# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The IR that control flow becomes: which operation, and what it carries."""

import re

import pytest

# Body of `def kernel(p, n, q, N: tl.constexpr)` -> patterns that the IR has in this order, and ones that it has not.
LOWERED = {
    "for": (
        "s = 0\nfor i in range(n):\n    s += i\ntl.store(p, s)",
        [r"scf\.for %\w+ = %c0_i32\w* to %arg1 step %c1_i32\w* iter_args\(%\w+ = %c0_i32\w*\) -> \(i32\)  : i32"],
        ["scf.while", "scf.if"],
    ),
    "for of int64": ("for i in range(n.to(tl.int64)):\n    tl.store(p, i)", [r"scf\.for .* : i64"], []),
    "counting down": (
        "for i in range(n, 0, -2):\n    tl.store(p, i)",
        [r"arith\.divui", r"scf\.for unsigned %\w+ = %c0_i32\w* to %\w+ step %c1", r"arith\.muli", r"arith\.addi"],
        [],
    ),
    "steps that may pass the end of int32": (
        "for i in range(0, n, 64):\n    tl.store(p, i)",
        [r"arith\.extsi %arg1 : i32 to i64", r"scf\.for %\w+ = %c0_i64\w* to .* : i64", r"arith\.trunci"],
        ["arith.div"],
    ),
    "steps that may pass the end of int64": (
        "for i in range(0, n.to(tl.int64), 64):\n    tl.store(p, i)",
        [r"arith\.divui", r"scf\.for unsigned %\w+ = %c0_i64\w* to %\w+ step %c1_i64\w* .*: i64"],
        [],
    ),
    "hints": (
        "for i in tl.range(0, n, num_stages=3, loop_unroll_factor=2, flatten=True):\n    tl.store(p, i)",
        [r"tile\.flatten, tile\.loop_unroll_factor = 2 : i32, tile\.num_stages = 3 : i32"],
        [],
    ),
    "temporaries are not carried": (
        "x = tl.arange(0, 4)\nfor i in range(n):\n    x = tl.arange(0, 8) + i\n    tl.store(p + x, x)",
        [r"scf\.for"],
        ["iter_args"],
    ),
    "constants that only excluded code changes": (
        "k = 4\nfor i in range(n):\n    if N > 100:\n        k = 8\n    tl.store(p + tl.arange(0, k), i)",
        [r"scf\.for", r"tile\.arange 0 to 4"],
        ["iter_args"],
    ),
    "block pointers carry offsets": (
        "b = tl.make_block_ptr(p, (n,), (1,), (0,), (4,), (0,))\nfor i in range(n):\n    b = tl.advance(b, (4,))",
        [r"scf\.for .* iter_args\(%\w+ = %c0_i64\w*\) -> \(i64\)"],
        [],
    ),
    "while": (
        "k = n\nwhile k > 3:\n    k -= 2\ntl.store(p, k)",
        [r"scf\.while \(%\w+ = %arg1\) : \(i32\) -> i32", r"arith\.cmpi sgt", r"scf\.condition"],
        ["scf.if", "i1)"],
    ),
    "break": (
        "for i in range(n):\n    if i == 5:\n        break\n    tl.store(p + i, i)",
        [r"scf\.while", r"scf\.condition", r"scf\.if", r"scf\.yield"],
        ["scf.for"],
    ),
    "break that is excluded": (
        "for i in range(n):\n    if N > 100:\n        break\n    tl.store(p + i, i)",
        [r"scf\.for"],
        ["scf.while", "scf.if"],
    ),
    "continue": (
        "for i in range(n):\n    if i == 5:\n        continue\n    tl.store(p + i, i)",
        [r"scf\.for", r"scf\.if", r"} else {", r"tile\.store"],
        ["scf.while"],
    ),
    "early return": (
        "if n > 3:\n    return\ntl.store(p, n)",
        [r"scf\.if", r"} else {", r"tile\.store", r"return"],
        [],
    ),
    "if": (
        "x = n\nif n > 3:\n    x = 1\n    y = 2\ntl.store(p, x)",
        [r"scf\.if %\w+ -> \(i32\) {"],
        [],
    ),
    "literals take the type of the other branch": (
        "x = n.to(tl.int64)\nif n > 3:\n    x = 1\ntl.store(p, x)",
        [r"scf\.if %\w+ -> \(i64\)"],
        [],
    ),
    "static_range": ("for i in tl.static_range(3):\n    tl.store(p + i, i)", [r"(tile\.store[\s\S]*){3}"], ["scf."]),
    "pure operands of and": ("if n > 3 and n < 9:\n    tl.store(p, n)", [r"arith\.andi", r"scf\.if"], ["-> (i1)"]),
    "loads in and": (
        "if n > 3 and tl.load(p) < 9:\n    tl.store(p, n)",
        [r"scf\.if %\w+ -> \(i1\)", r"tile\.load"],
        [],
    ),
    "boolean operators of tiles": (
        "i = tl.arange(0, 4)\ntl.store(p + i, i, mask=i > 1 and i < 3)",
        [r"arith\.andi .* tensor<4xi1>"],
        ["scf."],
    ),
    "None": ("if q is not None:\n    tl.store(q, n)\nif q:\n    tl.store(q, n)", [r"return"], ["tile.store", "scf."]),
    "with": ("with nullcontext() as c:\n    tl.store(p, n)", [r"tile\.store"], []),
    "assert of a constant": ("assert N == 4, 'four'\ntl.store(p, N)", [r"tile\.store"], ["tile.assert"]),
    "print": ("print('value', n)", [r'tile\.print "value'], []),
    "methods of constants": ("tl.store(p, N.to(tl.int64) + (3).to(tl.int64))", [r"arith\.addi .* i64"], []),
    "strings": ("tl.static_assert(f'{N}-{p.dtype}' == '4-pointer<int32>')\ntl.store(p, n)", [r"tile\.store"], []),
}


@pytest.mark.parametrize("name", LOWERED)
def test_lowering(name, module, ir):
    body, patterns, absent = LOWERED[name]
    lines = "\n".join("    " + line for line in body.split("\n"))
    text = f"from contextlib import nullcontext\n@tz.jit\ndef kernel(p, n, q, N: tl.constexpr):\n{lines}\n"
    found = ir(module(text).kernel, p="*i32", n="i32", q=None, N=4)
    position = 0
    for pattern in patterns:
        match = re.compile(pattern).search(found, position)
        assert match, f"{pattern} in\n{found}"
        position = match.end()
    for text in absent:
        assert text not in found


def test_facts_of_arguments(module):
    from terrazzo import frontend
    from terrazzo.language.dtypes import int32, pointer_type
    from terrazzo.language.values import tuple_type

    kernel = module("""
        @tz.jit
        def kernel(p, n, one, t):
            tl.static_assert(one.dtype == tl.int32)
            tl.store(p + one.to(tl.int64), t[0] + t[1][0] + n)
    """).kernel
    types = {"p": pointer_type(int32), "n": int32, "one": int32, "t": tuple_type([int32, tuple_type([int32])])}
    facts = {"p": {"tile.divisibility": 16}, "one": {"equal_to": 1}, "t.1.0": {"tile.divisibility": 16}}
    text = frontend.build_module(kernel, types, {}, facts, {}).str()
    assert re.search(r"%arg0: !tile.ptr<i32> {tile.divisibility = 16 : i32, tile.name = \"p\"}", text)
    assert re.search(r"%arg2: i32 {tile.name = \"one\"}", text)
    assert re.search(r"%arg4: i32 {tile.divisibility = 16 : i32, tile.name = \"t.1.0\"}", text)
    assert "%arg2 " not in text.split("\n", 2)[2]


def test_locations(module):
    from terrazzo import frontend
    from terrazzo.language.dtypes import int32, pointer_type

    made = module("""
        @tz.jit
        def kernel(p, n):
            tl.store(p,
                     n * 7 +
                     n // 3)
    """)
    types = {"p": pointer_type(int32), "n": int32}
    text = frontend.build_module(made.kernel, types, {}, {}, {}).str(debug=True)
    places = {op: re.search(rf"{op} .*loc\((#?\w+|.*)\)", text) for op in ("arith.muli", "arith.divsi", "tile.store")}
    for op, (line, column) in {"arith.muli": (5, 14), "arith.divsi": (6, 14), "tile.store": (4, 5)}.items():
        assert places[op], text
        reference = re.search(rf"{re.escape(op)} .*loc\(([^)]*)\)", text)[1]
        where = reference if ":" in reference else re.search(rf"^{reference} = loc\((.*)\)$", text, re.M)[1]
        assert where == f'"{made.file}":{line}:{column}'


def test_debug_arms_assertions(module, ir):
    kernel = module("""
        @tz.jit
        def kernel(p, n):
            assert n > 3, "n is small"
            tl.device_assert(n < 9, "n is large")
    """).kernel
    assert ir(kernel, p="*i32", n="i32").count("tile.assert") == 0
    assert ir(kernel, {"debug": True}, p="*i32", n="i32").count("tile.assert") == 2


def test_no_depth_limit_on_elif(module, ir):
    lines = ["@tz.jit", "def kernel(p, n):", "    v = 0"]
    for k in range(300):
        lines += [f"    {'elif' if k else 'if'} n < {k}:", f"        v = {k}"]
    text = ir(module("\n".join([*lines, "    tl.store(p, v)"])).kernel, p="*i32", n="i32")
    assert text.count("scf.if") == 300


def test_options_of_the_module(module, ir):
    kernel = module("@tz.jit\ndef kernel(p):\n    tl.store(p, 1)").kernel
    text = ir(kernel, {"num_warps": 8, "num_stages": 2, "maxnreg": 96, "strict": True}, p="*i32")
    head = text.partition("{")[2].partition("}")[0]
    expected = ["tile.maxnreg = 96 : i32", "tile.num_stages = 2 : i32", "tile.num_warps = 8 : i32", "tile.strict"]
    assert head.split(", ") == expected
    assert "tile." not in ir(kernel, {"maxnreg": None, "strict": False}, p="*i32").partition("func.func")[0]
