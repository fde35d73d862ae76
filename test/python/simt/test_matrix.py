# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every op on every type, compiled for a chip of each generation.

What the language does not have for a type (`has`) the frontend refuses, whatever the target, by an error that says so.
All other ops of a type share a kernel, which must compile; if it does not, each is compiled alone to say which cannot.
By default each type sees two targets; TERRAZZO_FULL_MATRIX=1 runs all.
"""

import itertools
import linecache
import os
import re

import pytest
import terrazzo as tz
import terrazzo.language as tl
from terrazzo import compiler
from terrazzo.errors import CompileError

TARGETS = ["cuda:sm_90a", "hip:gfx942", "cuda:sm_80", "hip:gfx90a", "hip:gfx1100", "hip:gfx1201"]
DTYPES = [
    *("int1", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float32", "float64", "float8e4nv", "float8e5"),
]  # fmt: skip

FULL = os.environ.get("TERRAZZO_FULL_MATRIX") == "1"

# Each from x, y (tiles of 64 elements), X, Y (16 x 16), W (16 x 64), B (2 x 16 x 16), i (indices), m (a mask),
# p (addresses), s (a scalar), q (its address), n (a number).
BINARY = (
    "add:+ sub:- mul:* truediv:/ floordiv:// mod:% and:& or:| xor:^ shl:<< shr:>> lt:< le:<= eq:== ne:!= gt:> ge:>="
)
OPS = {name: f"x {op} y" for name, op in (pair.split(":") for pair in BINARY.split())}
OPS |= {f"tl_{name}": f"tl.{name}(x)" for name in (
    "abs exp exp2 log log2 sin cos sqrt sqrt_rn rsqrt erf floor ceil sigmoid sum max min argmax argmin prod xor_sum "
    "reduce_or reduce_and cumsum cumprod sort flip softmax"
).split()}  # fmt: skip
OPS |= {f"lib_{name}": f"libdevice.{name}(x)" for name in (
    "tanh sinh cosh tan asin acos atan asinh acosh atanh expm1 log1p log10 cbrt erfc trunc round isnan isinf"
).split()}  # fmt: skip
OPS |= {
    f"tl_{name}": f"tl.{name}(x, y)"
    for name in "maximum minimum div_rn fdiv umulhi cdiv pow join interleave cat".split()
}
OPS |= {f"to_{name}": f"x.to(tl.{name})" for name in DTYPES}
OPS |= {f"bitcast_{name}": f"x.to(tl.{name}, bitcast=True)" for name in DTYPES}
OPS |= {f"atomic_{name}": f"tl.atomic_{name}(p, x, mask=m)" for name in "add max min and or xor xchg".split()}
OPS |= {f"atomic_{name}_scalar": f"tl.atomic_{name}(q, s)" for name in "add max min and or xor xchg".split()}
OPS |= {
    "neg": "-x", "invert": "~x", "fma": "tl.fma(x, y, x)", "clamp": "tl.clamp(x, y, x)", "where": "tl.where(m, x, y)",
    "atomic_cas": "tl.atomic_cas(p, x, y)", "atomic_cas_scalar": "tl.atomic_cas(q, s, s)",
    "atomic_relaxed": "tl.atomic_add(p, x, sem='relaxed', scope='cta')",
    "atomic_sys": "tl.atomic_add(p, x, scope='sys')",
    "sum_rows": "tl.sum(X, 0)", "sum_columns": "tl.sum(X, 1)", "max_index": "tl.max(x, 0, return_indices=True)[1]",
    "sum_wide": "tl.sum(x, 0)", "scan_rows": "tl.cumsum(X, 0)", "scan_reverse": "tl.cumsum(x, 0, reverse=True)",
    "scan_max": "tl.associative_scan(x, 0, larger)", "reduce_max": "tl.reduce(x, 0, larger)",
    "recurrence": "tl.recurrence(step, x, (W,), 0)[1]", "trans": "tl.trans(X)", "reshape": "tl.reshape(X, [64, 4])",
    "broadcast": "x[:, None] + tl.zeros((1, 4), x.dtype)", "split": "tl.split(tl.join(x, y))[0]", "slice": "X[3, :]",
    "part": "X[2:8, 1:9]", "gather": "tl.gather(x, i, 0)", "histogram": "tl.histogram(x, 8)", "dot": "tl.dot(X, Y)",
    "dot_acc": "tl.dot(X, Y, acc=tl.zeros((16, 16), tl.float32))", "dot_batched": "tl.dot(B, B)",
    "load": "tl.load(p)", "load_masked": "tl.load(p, mask=m, other=0)", "load_volatile": "tl.load(p, volatile=True)",
    "load_volatile_scalar": "tl.load(q, volatile=True)",
    "load_cg": "tl.load(p, cache_modifier='.cg')", "load_last": "tl.load(p, eviction_policy='evict_last')",
    "load_first": "tl.load(p, eviction_policy='evict_first')", "load_scalar": "tl.load(q)",
    "full": "tl.full((8,), 1, x.dtype)",
    "map": "tl.map_elementwise(twice, x)", "topk": "tl.topk(x, 4)", "add_scalar": "x + s", "scalar": "s + s",
    "loop": "looped(x, y, n)", "while": "waited(x, n)", "branch": "branched(x, y, n)", "compare_scalar": "x < s",
    "loop_pointer": "walked(p, n)",
}  # fmt: skip
# Statements without a value.
STATEMENTS = {
    "store": "tl.store(p, x)", "store_masked": "tl.store(p, x, mask=m)", "store_scalar": "tl.store(q, s)",
    "store_cs": "tl.store(p, x, cache_modifier='.cs')",
    "print": "tl.device_print('x', x)", "barrier": "tl.debug_barrier()",
    "print_scalar": "tl.device_print('s', s)", "assert": "tl.device_assert(x == x, 'equal')",
}  # fmt: skip

FLOATS_ONLY = {f"tl_{n}" for n in (
    "exp exp2 log log2 sin cos sqrt sqrt_rn rsqrt erf floor ceil sigmoid softmax div_rn fdiv pow"
).split()} | {"fma", "dot_acc"}  # fmt: skip
INTEGERS_ONLY = {
    *(
        "and",
        "or",
        "xor",
        "shl",
        "shr",
        "invert",
        "histogram",
        "tl_xor_sum",
        "tl_reduce_or",
        "tl_reduce_and",
        "tl_cdiv",
    ),
    *(f"atomic_{n}{s}" for n in ("and", "or", "xor") for s in ("", "_scalar")),
}


def bits(dtype):
    return getattr(tl, dtype).primitive_bitwidth


def has(name, dtype):
    """Whether the language has an op for a type."""
    is_float = "float" in dtype
    if name in FLOATS_ONLY or name.startswith("lib_"):
        return is_float
    if name in INTEGERS_ONLY and is_float:
        return False
    if name.startswith("bitcast_"):
        return bits(name.removeprefix("bitcast_")) == bits(dtype)
    if name.startswith("atomic_"):
        return bits(dtype) >= (16 if is_float else 8)
    if name.startswith("dot"):
        return is_float or bits(dtype) == 8
    if name == "tl_umulhi":
        return not is_float and bits(dtype) >= 32
    return name != "tl_cdiv" or dtype != "int1"


HELPERS = """
@tz.jit
def larger(a, b):
    return tl.where(a > b, a, b)

@tz.jit
def twice(a):
    return a + a

@tz.jit
def looped(x, y, n):
    for k in range(n):
        x = tl.where(y > x, y, x)
    return x

@tz.jit
def waited(x, n):
    while n > 0:
        x = tl.where(x == x, x, x)
        n -= 1
    return x

@tz.jit
def branched(x, y, n):
    if n > 3:
        x = y
    return x

@tz.jit
def walked(p, n):
    x = tl.load(p)
    for k in range(n):
        x = tl.where(x > tl.load(p), x, x)
        p += 64
    return x

@tz.jit
def step(h, now):
    return tl.where(now[0] > h, now[0], h), h
"""
KEEP = """
@tz.jit
def keep(r, c):
    if len(r.shape) == 0:
        tl.store(c.to(tl.pointer_type(r.dtype)), r)
    else:
        flat = tl.ravel(r)
        tl.store(c.to(tl.pointer_type(r.dtype)) + tl.arange(0, flat.shape[0]), flat)
"""
HEAD = """
@tz.jit
def kernel(a, b, c, n):
    i = tl.arange(0, 64)
    m = i < n
    p, q = a + i, a
    x, y, s = tl.load(p), tl.load(b + i), tl.load(q)
    j = tl.arange(0, 16)
    X, Y = tl.load(a + j[:, None] * 16 + j[None, :]), tl.load(b + j[:, None] * 16 + j[None, :])
    W = tl.load(a + j[:, None] * 64 + i[None, :])
    B = tl.load(a + j[:2, None, None] * 256 + j[None, :, None] * 16 + j[None, None, :])
"""


def source(names):
    lines = []
    for number, name in enumerate(names):
        if name in STATEMENTS:
            lines.append(STATEMENTS[name])
        else:  # Each result to a place of its own: none is dead.
            lines += [f"r = {OPS[name]}", f"keep(r, c + {number * 8192})"]
    return HELPERS + KEEP + HEAD + "".join(f"    {line}\n" for line in lines)


def kernel_of(names):
    """The jit function with these ops."""
    text = source(names)
    file = f"<matrix {' '.join(names)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope = {"tz": tz, "tl": tl, "libdevice": tl.extra.libdevice, "__name__": "matrix"}
    exec(compile(text, file, "exec"), scope)
    return scope["kernel"]


def build(names, dtype, target):
    mock = tz.MockTensor(getattr(tl, dtype))
    return kernel_of(names).warmup(mock, mock, mock, 5, target=target, num_warps=2, debug=True)


@pytest.fixture(autouse=True)
def _no_cache(monkeypatch):
    monkeypatch.setattr(compiler.store, "get", lambda digest: None)
    monkeypatch.setattr(compiler.store, "put", lambda digest, data: None)


def failure(names, dtype, target):
    """What the compiler says of a kernel, or None; anything but a CompileError is the test's."""
    try:
        build(names, dtype, target)
    except CompileError as error:
        return str(error)
    return None


PAIRS = list(itertools.product(DTYPES, TARGETS))
if not FULL:  # Each target sees types of all kinds.
    PAIRS = [(d, TARGETS[k % 6]) for n, d in enumerate(DTYPES) for k in (n, n + 3)]


@pytest.mark.parametrize(("dtype", "target"), PAIRS)
def test_compiles(dtype, target):
    names = [name for name in (*OPS, *STATEMENTS) if has(name, dtype)]
    if failure(names, dtype, target) is None:
        return
    alone = {name: failure([name], dtype, target) for name in names}
    broken = [f"{name} on {dtype} for {target}: {said}" for name, said in alone.items() if said is not None]
    pytest.fail("\n".join(broken) or f"only all ops together do not compile on {dtype} for {target}")


@pytest.mark.parametrize("dtype", DTYPES if FULL else ["uint8"])
def test_refused(dtype):
    type_name = re.sub(r"^(b?)float", r"\1f" if dtype == "bfloat16" else "fp", dtype)
    for name in (*OPS, *STATEMENTS):
        if not has(name, dtype):
            said = failure([name], dtype, "cuda:sm_90a")
            assert said is not None, f"{name} on {dtype} compiles"
            assert type_name in said or name == "dot_acc", said
