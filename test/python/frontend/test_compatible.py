# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Spellings and habits of public kernels: keywords, lists for tuples, hints that turn out to be run-time values."""

import os
import threading

import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl

CASES = {
    "keywords": ("store(p, i, scaled(i, scale=3, b=1))", [1, 4, 7, 10]),
    "keywords passed on": ("store(p, i, passes_on(i, b=2, scale=1))", [2, 3, 4, 5]),
    "keywords of all names": ("store(p, i, all_of(a=1, b=i, c=n))", [6, 7, 8, 9]),
    "one element as a condition": ("if tl.full((1, 1), n, tl.int32) > 4:\n    store(p, i, 1)", [1] * 4),
    "one element as a number": ("store(p, i, tl.full((1,), n, tl.int32).item() + tl.sum(i).item())", [11] * 4),
    "a loop that one element ends": (
        "t = tl.full((1,), 0, tl.int32)\nwhile t < n:\n    t += 2\nstore(p, i, t)",
        [6] * 4,
    ),
    "modifiers of loads": (
        (
            "x = tl.load(p + i, cache_modifier='.cs') + tl.load(p + i, cache_modifier='.wb')\n"
            "tl.store(p + i, x + 1, cache_modifier='.wt')"
        ),
        [1] * 4,
    ),
    "both tiles of a broadcast": (
        (
            "a, b = tl.broadcast(i[:, None], i[None, :])\ntl.static_assert(a.shape == [N, N])\n"
            "store(p, i, tl.sum(a * b, 0))"
        ),
        [0, 6, 12, 18],
    ),
    "shapes are lists and tuples": (
        (
            "x = i[None, :]\ntl.static_assert(x.shape == [1, N] and x.shape == (1, N) and x.shape != [N])\n"
            "tl.static_assert([1, N] == x.shape)\nstore(p, i, tl.reshape(x, x.shape[1]))"
        ),
        [0, 1, 2, 3],
    ),
    "axes from the end": (
        (
            "x = i.unsqueeze(-1).unsqueeze(-3)\ntl.static_assert(x.shape == [1, N, 1])\n"
            "x = tl.expand_dims(x.squeeze(-1), -2)\nstore(p, i, x.reshape([N]))"
        ),
        [0, 1, 2, 3],
    ),
    "slices of None": ("x = i[slice(None, None, None), None]\nstore(p, i, tl.sum(x[:, slice(None)], 1))", [0, 1, 2, 3]),
    "fills of run time": ("store(p, i, tl.full([N], n, tl.float32) + tl.full((), n, tl.int32))", [10] * 4),
    "types that were constexprs": (
        "tl.static_assert(T.value == tl.int32)\nstore(p, i, tl.full([N], 2, T.value))",
        [2] * 4,
    ),
    "integer types by their widths": (
        (
            "t = tl.core.get_int_dtype(bitwidth=i.dtype.primitive_bitwidth, signed=True)\n"
            "store(p, i, i.to(t, bitcast=True))"
        ),
        [0, 1, 2, 3],
    ),
    "constexpr as a decorator": ("store(p, i, bits_of(i.dtype, N) + bits_of(i.dtype, N))", [72] * 4),
    "types of constexprs": ("tl.static_assert(N.type == tl.constexpr_type(4))\nstore(p, i, 1)", [1] * 4),
    "rounding that does not narrow": (
        "store(p, i, i.to(tl.float32).to(tl.float64, fp_downcast_rounding='rtz'))",
        [0, 1, 2, 3],
    ),
    "constexprs of run time": ("m: tl.constexpr = n + 1\nstore(p, i, m)", [6] * 4),
    "arguments for constexprs": ("store(p, i, plus(i, n))", [5, 6, 7, 8]),
    "types of block pointers": (
        (
            "b = tl.make_block_ptr(p, (N,), (1,), (0,), (N,), (0,))\n"
            "tl.static_assert(b.type.element_ty == tl.int32 and b.dtype.element_ty == tl.int32)\n"
            "b = tl.advance(b, [n * 0])\ntl.store(b, i)"
        ),
        [0, 1, 2, 3],
    ),
    "calls that stay calls elsewhere": ("store(p, i, apart(i))", [1, 2, 3, 4]),
    "combinations by name": (
        (
            "v, k = tl.reduce((i % 3, i), 0, tl.standard._argmax_combine_tie_break_left)\n"
            "s = tl.reduce(i, 0, tl.standard._sum_combine) + tl.reduce(i, 0, tl.standard._elementwise_max)\n"
            "store(p, i, v * 100 + k * 10 + s)"
        ),
        [229] * 4,
    ),
    "functions of device libraries": ("store(p, i, exponential(i.to(tl.float32) * 0.0))", [1] * 4),
}

TEXT = """
@tl.core.extern
def exponential(x, _semantic=None):
    symbols = {(tl.float32,): ("__nv_expf", tl.float32), (tl.float64,): ("__nv_exp", tl.float64)}
    return tl.core.extern_elementwise("libdevice", "", [x], symbols, is_pure=True, _semantic=_semantic)

@tl.constexpr
def bits_of(type, n):
    return type.primitive_bitwidth + n.value

@tz.jit
def store(p, i, x):
    tl.store(p + i, x)

@tz.jit
def scaled(x, *, scale=2, **others):
    return x * scale + others["b"]

@tz.jit
def passes_on(x, **others):
    return scaled(x, **others)

@tz.jit
def all_of(**named):
    total = 0
    for name in named:
        total += named[name]
    tl.static_assert("a" in named and "z" not in named)
    return total

@tz.jit
def plus(x, n: tl.constexpr):
    return x + n

@tz.jit(noinline=True)
def apart(x):
    return x + 1

@tz.jit
def kernel(p, n, N: tl.constexpr, T: tl.constexpr):
    i = tl.arange(0, N)
"""


@pytest.mark.parametrize("name", CASES)
def test_case(name, module):
    body, expected = CASES[name]
    made = module(TEXT + "".join(f"    {line}\n" for line in body.split("\n")))
    x = np.zeros(4, np.int32)
    made.kernel[(1,)](x, 5, 4, tl.int32)
    assert x.tolist() == expected


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("checked(n)", "the result of checked() is not used, and the call does nothing else; keep it"),
        (
            "b = tl.make_block_ptr(p, (N,), (1,), (0,), (N,), (0,))\ntl.advance(b, [1])",
            "the result of advance() is not used, and the call does nothing else; assign it",
        ),
        (
            "b = tl.make_block_ptr(p, (N,), (1,), (0,), (N,), (0,))\nb.advance([1])",
            "the result of advance() is not used",
        ),
        ("exponential(n)", "extern_elementwise takes (fp32) or (fp64), found (int32)"),
        ("unknown(n)", "extern_elementwise: no function '__nv_frobnicate', expected one of tl.extra.libdevice"),
        ("all_of(i)", "all_of() takes 0 positional arguments, found 1"),
    ],
)
def test_errors(body, message, module):
    text = TEXT.replace(
        "@tz.jit\ndef kernel",
        """@tz.must_use_result("keep it")
@tz.jit
def checked(x):
    return x

@tl.core.extern
def unknown(x, _semantic=None):
    return tl.core.extern_elementwise("libdevice", "", [x], {(tl.int32,): ("__nv_frobnicate", tl.int32)})

@tz.jit
def kernel""",
    )
    made = module(text + "".join(f"    {line}\n" for line in body.split("\n")))
    with pytest.raises(tz.CompileError) as caught:
        made.kernel[(1,)](np.zeros(4, np.int32), 5, 4, tl.int32)
    assert message in str(caught.value)


FILE = """
import terrazzo as tz
import terrazzo.language as tl

@tz.jit
def kernel(p):
    tl.store(p, {})
"""


def test_a_module_that_is_written_anew(tmp_path, monkeypatch):
    import importlib

    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    path, x = tmp_path / "written_anew.py", np.zeros(1, np.int32)
    path.write_text(FILE.format(1))
    made = importlib.import_module("written_anew")
    made.kernel[(1,)](x)
    assert x[0] == 1
    path.write_text("\n" + FILE.format(22))
    os.utime(path, ns=(1, 1))
    importlib.reload(made).kernel[(1,)](x)
    assert x[0] == 22


def test_threads_parse_at_once(module):
    from terrazzo.frontend.source import source_of

    texts = [
        "\n" * t + "\n".join(f"@tz.jit\ndef f{k}(p):\n    tl.store(p, {k})\n" for k in range(40)) for t in range(16)
    ]
    made = [module(text) for text in texts]
    found, start = [], threading.Barrier(len(made))

    def parse(names):
        start.wait()
        found.append([source_of(names[f"f{k}"].fn).node.name for k in range(40)])

    pool = [threading.Thread(target=parse, args=(m.names,)) for m in made]
    for thread in pool:
        thread.start()
    for thread in pool:
        thread.join()
    assert found == [[f"f{k}" for k in range(40)]] * len(made)
