# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of the language's public functions with arguments of any kinds, as kernels.

Half of the arguments are of a kind that a parameter of that name may take, so that calls get past the first check.
"""

import inspect
import random
import re

import terrazzo as tz
import terrazzo.language as tl

# What kernels are given, and values that they make of it.
PARAMETERS = {
    "p": "*fp32", "pi": "*i32", "pb": "*i1", "ph": "*fp16", "pq": "*fp8e5", "pl": "*i64",
    "f": "fp32", "h": "fp16", "d": "fp64", "i": "i32", "s": "i16", "l": "i64", "u": "u32", "w": "u64", "b": "i1",
}  # fmt: skip

RUN_TIME = {
    "i8": "tl.arange(0, 8)",
    "u8": "tl.arange(0, 8).to(tl.uint32)",
    "l8": "tl.arange(0, 8).to(tl.int64)",
    "c8": "tl.arange(0, 8).to(tl.int8)",
    "f8": "tl.arange(0, 8).to(tl.float32)",
    "h8": "tl.arange(0, 8).to(tl.float16)",
    "z8": "tl.arange(0, 8).to(tl.bfloat16)",
    "d8": "tl.arange(0, 8).to(tl.float64)",
    "q8": "tl.arange(0, 8).to(tl.float8e5)",
    "b8": "(tl.arange(0, 8) < i)",
    "f1": "tl.full((1,), 1.0, tl.float32)",
    "f24": "tl.full((2, 4), 1.0, tl.float32)",
    "f42": "tl.full((4, 2), 1.0, tl.float32)",
    "i24": "tl.full((2, 4), 1, tl.int32)",
    "h44": "tl.full((4, 4), 1.0, tl.float16)",
    "c44": "tl.full((4, 4), 1, tl.int8)",
    "u44": "tl.full((4, 4), 1, tl.uint8)",
    "f222": "tl.full((2, 2, 2), 1.0, tl.float32)",
    "b24": "(tl.full((2, 4), 1, tl.int32) < i)",
    "p8": "(p + tl.arange(0, 8))",
    "pi8": "(pi + tl.arange(0, 8))",
    "pb8": "(pb + tl.arange(0, 8))",
    "p24": "(p + tl.full((2, 4), 1, tl.int32))",
    "bp": "tl.make_block_ptr(p, (8, 8), (8, 1), (0, 0), (2, 4), (1, 0))",
    "bp1": "tl.make_block_ptr(pi, (i,), (1,), (0,), (8,), (0,))",
    "td": "tl.make_tensor_descriptor(p, [8, 8], [8, 1], [2, 4])",
    "pair": "(f, tl.arange(0, 8))",
}

STATIC = [
    "0", "1", "-1", "2", "3", "4", "7", "8", "1000", "2**31 - 1", "2**31", "-2**31", "2**32", "2**63", "2**64",
    "2**100", "GIANT", "-GIANT", "TOWER", "0.5", "-1.5", "INF", "NAN", "1e300", "True", "False", "None", "''", "'x'",
    "'nan'", "'relaxed'", "'tf32'", "'e2m1'", "'evict_first'", "'.cg'", "'rtz'", "(chr(10) * 3)", "()", "(0,)",
    "(1,)", "(8,)",
    "(2, 4)", "(4, 2)", "(1, 0)", "(0, 0)", "[1, 2]", "(2, 2, 2)", "(2**31, 2)", "(2**62,)", "(2**16, 2**16)", "(-1,)",
    "(-1, 4)", "(0.5, 1)", "('a', 'b')", "(None,)", "((1, 2), 3)", "(GIANT,)", "tl.float32", "tl.float16", "tl.int1",
    "tl.int8", "tl.int32", "tl.uint64", "tl.float8e5", "tl.float8e4b15", "tl.void", "tl.pointer_type(tl.float32)",
    "tl.block_type(tl.int32, (4,))", "tl.constexpr(3)", "tl.constexpr('x')", "OBJECT", "MAPPING", "BYTES", "...", "tl",
    "tl.sum", "tl.load", "tl.tensor", "tl.constexpr", "tl.PropagateNan.ALL", "helper", "unary", "(lambda x: x)",
    "(lambda x, y: x)", "(lambda: 0)", "slice(0, 2)", "tl.range(4)", "complex(1, 2)", "range(4)",
]  # fmt: skip

# What parameters of a name are often given, so that other arguments get their turn.
PLAUSIBLE = {
    "axis": ["0", "1", "-1", "None"],
    "dim": ["0", "1", "-1", "None"],
    "dtype": ["tl.float32", "tl.int32", "tl.float16", "tl.int64", "tl.uint8", "tl.float8e5", "tl.int1"],
    "out_dtype": ["tl.float32", "tl.float16", "tl.int32"],
    "shape": ["(8,)", "(2, 4)", "(1, 8)", "(4,)"],
    "block_shape": ["(2, 4)", "(8,)"],
    "strides": ["(8, 1)", "(1,)", "(i, 1)"],
    "offsets": ["(0, 0)", "(0,)", "(i, 4)"],
    "order": ["(1, 0)", "(0,)"],
    "mask": ["b8", "b", "None", "True", "b24"],
    "other": ["0.0", "None", "f", "f8"],
    "pointer": ["p", "p8", "pi8", "bp", "bp1", "pb", "p24", "pl"],
    "base": ["p", "bp", "pi", "p8"],
    "desc": ["td", "bp"],
    "combine_fn": ["helper", "(lambda x, y: x)", "(lambda a, b, c, d: (a, b))"],
    "scalar_fn": ["unary", "helper"],
    "step": ["(lambda c, x: (c, x))", "1", "2"],
    "init": ["f", "0", "f8", "(f, i)"],
    "xs": ["f8", "i8", "(f8, i8)", "f24"],
    "keep_dims": ["True", "False"],
    "descending": ["True", "False"],
    "reverse": ["True", "False"],
    "cond": ["b", "b8", "True"],
    "condition": ["b", "b8", "i8", "b24"],
    "num_bins": ["4", "16"],
    "k": ["2", "8"],
    "seed": ["0", "i", "u", "w"],
    "offset": ["i8", "u8", "l8"],
    "n_rounds": ["10", "4"],
    "sem": ["'relaxed'", "None", "'acquire'"],
    "scope": ["'cta'", "'gpu'", "None"],
    "cache_modifier": ["''", "'.cg'"],
    "eviction_policy": ["''", "'evict_first'"],
    "propagate_nan": ["tl.PropagateNan.ALL", "tl.PropagateNan.NONE"],
    "values": ["8", "(8,)", "[1, 4]"],
    "prefix": ["'x'"],
    "msg": ["'x'"],
    "lhs": ["q8", "u44", "h44", "c44"],
    "rhs": ["q8", "u44", "h44", "c44"],
    "lhs_format": ["'e2m1'", "'fp16'", "'e5m2'"],
    "rhs_format": ["'e2m1'", "'fp16'", "'e5m2'"],
    "lhs_scale": ["u44", "None", "u8"],
    "rhs_scale": ["u44", "None", "u8"],
    "index": ["i8", "i24", "0", "(0, 1)", "(i, 0)", "(0, slice(0, 2))"],
    "sep": ["' '"],
    "end": ["''"],
}

OPERATORS = "+ - * / // % & | ^ << >> ** < <= == != > @ and in is".split()

# Functions that are no part of calls in kernels: types and their makers that the frontend reads itself.
_LEFT_OUT = {
    "constexpr_function",
    "constexpr_type",
    "tuple_type",
    "tuple",
    "slice",
    "tensor",
    "dtype",
    "const",
    "static_print",
}


def _parameters(function):
    """[(name, kind, whether it has a default)], or None."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return []
    return [(p.name, p.kind, p.default is not p.empty) for p in signature.parameters.values() if p.name != "self"]


def functions():
    """{expression: parameters} of all public functions and methods."""
    found = {}
    modules = {
        "tl": tl.__all__,
        "tl.math": [n for n in vars(tl.math) if not n.startswith("_")],
        "tl.extra.libdevice": [n for n in vars(tl.extra.libdevice) if not n.startswith("_")],
        "tl.extra.cuda": tl.extra.cuda.__all__,
        "tl.target_info": [n for n in vars(tl.target_info) if not n.startswith("_")],
        "tl.standard": [*vars(tl.standard)],
        "tl.core": ["builtin_max", "builtin_min"],
    }
    for name in ("dtype", "pointer_type", "block_type", "tensor", "tuple", "slice", "constexpr", "PropagateNan"):
        found[f"tl.{name}"] = _parameters(getattr(tl, name))
    found |= {f"tz.{name}": _parameters(getattr(tz, name)) for name in ("cdiv", "next_power_of_2")}
    seen = set()
    for module, names in modules.items():
        home = eval(module, {"tl": tl})
        for name in names:
            function = getattr(home, name)
            is_public = getattr(function, "__tl_builtin__", False) and callable(function) and name not in _LEFT_OUT
            if is_public and id(function) not in seen:
                seen.add(id(function))
                found[f"{module}.{name}"] = _parameters(function)
    return found


def methods():
    """[(receiver expressions, name, parameters)] of the methods of values."""
    found = []
    for cls, receivers in ((tl.tensor, None), (tl.block_pointer, ["bp", "bp1"]), (tl.tensor_descriptor, ["td"])):
        for name, member in vars(cls).items():
            if not name.startswith("_") and callable(member) and name not in ("flatten", "unflatten", "flatten_all"):
                found.append((receivers or list(RUN_TIME)[:22], name, _parameters(member)[0 if receivers else 1 :]))
    return found


class Generator:
    """Calls as text, and the kernels around them."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.functions = functions()
        self.methods = methods()
        self.values = [*PARAMETERS, *RUN_TIME]

    def argument(self, name=None):
        """An expression for the parameter of a name."""
        r = self.random
        if name in PLAUSIBLE and r.random() < 0.6:
            return r.choice(PLAUSIBLE[name])
        if r.random() < 0.5:
            return r.choice(self.values)
        return r.choice(STATIC)

    def arguments(self, parameters):
        """The text between a call's parentheses."""
        r, parts, named = self.random, [], False
        for name, kind, has_default in parameters:
            if kind is inspect.Parameter.VAR_POSITIONAL:
                parts += [self.argument(name) for _ in range(r.randrange(4) * (not named))]
                named = True
                continue
            if kind is inspect.Parameter.VAR_KEYWORD or (has_default and r.random() < 0.6):
                named = True
                continue
            if r.random() < 0.03:
                named = True
                continue
            text = self.argument(name)
            parts.append(f"{name}={text}" if named or kind is inspect.Parameter.KEYWORD_ONLY else text)
        if r.random() < 0.02:
            parts.append(f"nonsense={self.argument()}")
            named = True
        if not named and r.random() < 0.02:
            parts.append(self.argument())
        return ", ".join(parts)

    def call(self):
        """An expression."""
        r = self.random
        way = r.random()
        if way < 0.68:
            name = r.choice(list(self.functions))
            return f"{name}({self.arguments(self.functions[name])})"
        if way < 0.84:
            receivers, name, parameters = r.choice(self.methods)
            return f"{r.choice(receivers)}.{name}({self.arguments(parameters)})"
        a, b = self.argument(), self.argument()
        if way < 0.94:
            return f"({a}) {r.choice(OPERATORS)} ({b})"
        if way < 0.97:
            return f"({a})[{b}]"
        return f"{r.choice(['-', '~', 'not ', '+'])}({a})"

    def kernel(self, call):
        """The text of a kernel whose last line is the call."""
        words = set(re.findall(r"\w+", call))
        made = [f"    {name} = {text}" for name, text in RUN_TIME.items() if name in words]
        lines = [f"def kernel({', '.join(PARAMETERS)}):", *made, f"    x = {call}"]
        return "\n".join(lines) + "\n"
