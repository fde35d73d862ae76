# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What Python's own functions mean in kernels: on compile-time values what they are, on run-time ones an operation."""

import builtins

from ..errors import SemanticError
from ..language import iterators
from ..language.cast import cast_to
from ..language.comparison import maximum, minimum
from ..language.debug import print_
from ..language.dtypes import float32, int1, int32
from ..language.math import abs as tl_abs
from ..language.values import constexpr, tensor, unwrap
from ..language.values import tuple as tl_tuple
from .patterns import describe_value
from .scope import is_static

_MISSING = object()
_ZERO = constexpr(0)


def _is_run_time(*values):
    return any(isinstance(unwrap(v), tensor) for v in values)


def _static(values, name):
    for value in values:
        if not is_static(unwrap(value)):
            raise SemanticError(f"{name}() takes compile-time values, found {describe_value(value)}")
    return [unwrap(v) for v in values]


def _len(tracer, node, value):
    if isinstance(value, iterators.range):
        return len(tracer.items(value, node, "len"))
    return len(unwrap(value) if isinstance(value, constexpr) else value)


def _list(tracer, node, value=()):
    return tracer.keep_list(tracer.items(value, node, "list"))


def _tuple(tracer, node, value=()):
    return tl_tuple(tracer.items(value, node, "tuple"))


def _range(tracer, node, *args):
    if not 1 <= len(args) <= 3:
        raise SemanticError(f"range takes 1 to 3 arguments, found {len(args)}")
    return iterators.range(*args)


def _number(kind, type, keep):
    def convert(tracer, node, *args):
        if args and _is_run_time(args[0]):
            value = unwrap(args[0])
            return value if keep(value.dtype) else cast_to(value, type)
        return kind(*_static(args, kind.__name__))

    return convert


def _isinstance(tracer, node, value, classes):
    kinds = unwrap(classes)
    kinds = kinds if isinstance(kinds, builtins.tuple) else (kinds,)
    plain = unwrap(value) if isinstance(value, constexpr) else value
    if constexpr in kinds and is_static(plain) and not isinstance(plain, builtins.tuple):
        return True
    return isinstance(value, kinds) or isinstance(plain, kinds)


def _getattr(tracer, node, value, name, default=_MISSING):
    (name,) = _static([name], "getattr")
    if default is not _MISSING and not _hasattr(tracer, node, value, name):
        return default
    return tracer.attribute(value, name, node)


def _hasattr(tracer, node, value, name):
    (name,) = _static([name], "hasattr")
    tracer.check_attribute(value, name, node)
    if isinstance(value, constexpr):
        return hasattr(value.value, name)
    return hasattr(value, name)


def _extreme(fn, python, name):
    def extreme(tracer, node, *args):
        values = tracer.items(args[0], node, name) if len(args) == 1 else list(args)
        if not values:
            raise SemanticError(f"{name}() takes one value at least")
        if not _is_run_time(*values):
            return python(_static(values, name))
        result = values[0]
        for value in values[1:]:
            result = fn(result, value)
        return result

    return extreme


def _abs(tracer, node, value):
    return tl_abs(value) if _is_run_time(value) else abs(unwrap(value))


def _sum(tracer, node, values, start=_ZERO):
    items = tracer.items(values, node, "sum")
    result = start
    for value in items:
        result = result + value
    return result


def _zip(tracer, node, *sequences, strict=False):
    columns = [tracer.items(s, node, "zip") for s in sequences]
    if unwrap(strict) and len({len(c) for c in columns}) > 1:
        raise SemanticError(f"zip(strict=True) of sequences of lengths {[len(c) for c in columns]}")
    return [tl_tuple(row) for row in zip(*columns)]


def _enumerate(tracer, node, values, start=_ZERO):
    first = unwrap(start)
    return [tl_tuple([constexpr(first + i), v]) for i, v in enumerate(tracer.items(values, node, "enumerate"))]


def _reversed(tracer, node, values):
    return tracer.items(values, node, "reversed")[::-1]


def _sorted(tracer, node, values, key=None, reverse=False):
    if unwrap(key) is not None:
        raise SemanticError("sorted() takes no key in a kernel")
    return tracer.keep_list(sorted(_static(tracer.items(values, node, "sorted"), "sorted"), reverse=unwrap(reverse)))


def _plain(fn):
    def evaluate(tracer, node, *args, **kwargs):
        names = list(kwargs)
        values = _static([*args, *kwargs.values()], fn.__name__)
        return fn(*values[: len(args)], **dict(zip(names, values[len(args) :])))

    return evaluate


def _truths(name, decisive):
    def test(tracer, node, values):
        flags = [tracer.truth(v, node) for v in tracer.items(values, node, name)]
        result = not decisive
        for flag in flags:
            result = tracer.either(result, flag) if decisive else tracer.both(result, flag)
        return result

    return test


def _pow(tracer, node, base, exponent):
    return base**exponent


def _print(tracer, node, *args, **kwargs):
    return print_(*args, **kwargs)


PYTHON_FUNCTIONS = {
    builtins.len: _len,
    builtins.list: _list,
    builtins.tuple: _tuple,
    builtins.range: _range,
    builtins.float: _number(float, float32, lambda t: t.is_floating()),
    builtins.int: _number(int, int32, lambda t: t.is_int() and not t.is_bool()),
    builtins.bool: _number(bool, int1, lambda t: t.is_bool()),
    builtins.isinstance: _isinstance,
    builtins.getattr: _getattr,
    builtins.hasattr: _hasattr,
    builtins.print: _print,
    builtins.min: _extreme(minimum, min, "min"),
    builtins.max: _extreme(maximum, max, "max"),
    builtins.abs: _abs,
    builtins.sum: _sum,
    builtins.zip: _zip,
    builtins.enumerate: _enumerate,
    builtins.reversed: _reversed,
    builtins.any: _truths("any", True),
    builtins.all: _truths("all", False),
    builtins.pow: _pow,
    builtins.sorted: _sorted,
    **{fn: _plain(fn) for fn in (str, repr, round, divmod, ord, chr, hex, bin, callable, issubclass)},
}
