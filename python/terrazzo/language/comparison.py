# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Comparisons, selection, minimum and maximum.

Comparisons give int1. bools and unsigned integers compare unsigned, pointers by address; a NaN is unequal to
everything, and all other comparisons with it are false.
"""

from enum import Enum

from ..errors import SemanticError
from . import kinds as k
from .arithmetic import binary, through_wider
from .builder import builtin, emit, enum_attributes, method
from .cast import cast_to, to_bool
from .dtypes import float16, int1, int64, type_of, uint64
from .promotion import broadcast_together, is_literal, promote, to_tensor
from .values import constexpr, describe, tensor

# predicate -> (signed cmpi, unsigned cmpi, cmpf); "ugt" and "ult" hold for a NaN in either operand, too.
_PREDICATES = {
    "eq": ("eq", "eq", "oeq"),
    "ne": ("ne", "ne", "une"),
    "lt": ("slt", "ult", "olt"),
    "le": ("sle", "ule", "ole"),
    "gt": ("sgt", "ugt", "ogt"),
    "ge": ("sge", "uge", "oge"),
    "ugt": ("sgt", "ugt", "ugt"),
    "ult": ("slt", "ult", "ult"),
}
_SYMBOLS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


class PropagateNan(Enum):
    """What minimum, maximum and clamp do with a NaN: NONE drops it where the other operand is a number, ALL returns
    it.
    """

    NONE = 0
    ALL = 0xFFFF


def compare_same(predicate, a, b):
    """Compares two operands of one dtype and shape."""
    if a.dtype.is_fp8():
        a, b = cast_to(a, float16), cast_to(b, float16)
    signed, unsigned, ordered = _PREDICATES[predicate]
    if a.dtype.is_floating():
        name, code = "arith.cmpf", enum_attributes("arith.CmpFPredicate")[ordered]
    else:
        code = enum_attributes("arith.CmpIPredicate")[signed if a.dtype.is_int_signed() else unsigned]
        name = "arith.cmpi"
    return binary(name, a, b, int1, {"predicate": code})


def _compare_pointers(predicate, a, b):
    symbol = _SYMBOLS[predicate]
    for value in (a, b):
        if not isinstance(value, tensor) or not (value.dtype.is_ptr() or value.dtype in (int64, uint64)):
            raise SemanticError(
                f"operator {symbol} compares a pointer with a pointer, found {describe(a)} and {describe(b)}; "
                "load the value that it points to first"
            )
    a, b = broadcast_together([cast_to(a, uint64), cast_to(b, uint64)])
    return compare_same(predicate, a, b)


def _comparison(predicate):
    @builtin(x=k.ANY, y=k.ANY)
    def compare(x, y):
        for value in (x, y):
            if not isinstance(value, tensor) and not is_literal(value):
                # None and strings are never equal to a run-time value; everything else has no order with one.
                if predicate in ("eq", "ne"):
                    return constexpr(predicate == "ne")
                raise SemanticError(f"operator {_SYMBOLS[predicate]} compares numbers, found {describe(value)}")
        if any(isinstance(v, tensor) and v.dtype.is_ptr() for v in (x, y)):
            return _compare_pointers(predicate, x, y)
        (a, b), _ = promote([x, y])
        return compare_same(predicate, a, b)

    compare.__doc__ = f"x {_SYMBOLS[predicate]} y, as int1."
    return compare


equal, not_equal, less_than, less_equal, greater_than, greater_equal = (
    _comparison(p) for p in ("eq", "ne", "lt", "le", "gt", "ge")
)
tensor.__eq__, tensor.__ne__, tensor.__lt__ = equal, not_equal, less_than
tensor.__le__, tensor.__gt__, tensor.__ge__ = less_equal, greater_than, greater_equal


def select(condition, x, y):
    """x where the condition holds, else y; operands of one shape, x and y of one type."""
    return tensor(emit("arith.select", [condition.handle, x.handle, y.handle], x.type.ir), x.type)


@builtin(condition=k.VALUE, x=k.VALUE, y=k.VALUE)
def where(condition, x, y):
    """x where the condition is true (not 0), else y, broadcast together; of the dtype that x and y promote to.

    Both are computed, but nothing of the one that is not chosen shows. Two pointers of one type may be chosen from,
    too.
    """
    condition = to_bool(to_tensor(condition, "condition of where"))
    pointers = [isinstance(v, tensor) and v.dtype.is_ptr() for v in (x, y)]
    if any(pointers):
        if not all(pointers) or x.dtype != y.dtype:
            raise SemanticError(f"where chooses between pointers of one type, found {describe(x)} and {describe(y)}")
        condition, x, y = broadcast_together([condition, x, y])
    else:
        (x, y), _ = promote([x, y])
        condition, x, y = broadcast_together([condition, x, y])
    return select(condition, x, y)


def extreme_same(kind, a, b, propagate_nan):
    """The "min" or "max" of two operands of one dtype and shape."""
    if a.dtype.is_floating():
        name = f"arith.{kind}{'imum' if propagate_nan else 'num'}f"
        return through_wider(lambda x, y: binary(name, x, y), [a, b])
    return binary(f"arith.{kind}{'si' if a.dtype.is_int_signed() else 'ui'}", a, b)


PROPAGATE = k.Kind("tl.PropagateNan.NONE or tl.PropagateNan.ALL", lambda v: isinstance(v, PropagateNan))


def propagates(propagate_nan):
    """Whether a PropagateNan says that NaN is returned."""
    return propagate_nan is PropagateNan.ALL


def _extreme(kind, python, x, y, propagate_nan):
    propagate = propagates(propagate_nan)
    if is_literal(x) and is_literal(y):
        return constexpr(python(x, y))
    (a, b), _ = promote([x, y])
    return extreme_same(kind, a, b, propagate)


@builtin(x=k.NUMBER, y=k.NUMBER, propagate_nan=PROPAGATE)
def minimum(x, y, propagate_nan=PropagateNan.NONE):
    """The lesser of x and y, elementwise; a NaN loses unless `propagate_nan` says ALL."""
    return _extreme("min", min, x, y, propagate_nan)


@builtin(x=k.NUMBER, y=k.NUMBER, propagate_nan=PROPAGATE)
def maximum(x, y, propagate_nan=PropagateNan.NONE):
    """The greater of x and y, elementwise; a NaN loses unless `propagate_nan` says ALL."""
    return _extreme("max", max, x, y, propagate_nan)


@method
@builtin(x=k.NUMBER, min=k.NUMBER, max=k.NUMBER, propagate_nan=PROPAGATE)
def clamp(x, min, max, propagate_nan=PropagateNan.NONE):
    """minimum(maximum(x, min), max). A NaN in x gives `min`, or NaN if `propagate_nan` says ALL; `min` must not
    exceed `max`.
    """
    propagate = propagates(propagate_nan)
    (x, low, high), dtype = promote([x, min, max])
    if not dtype.is_floating():
        return extreme_same("min", extreme_same("max", x, low, False), high, False)

    def compute(x, low, high):
        type = type_of(x.dtype, x.shape)
        attributes = {"propagateNan": "unit"} if propagate else {}
        return tensor(emit("tile.clamp", [x.handle, low.handle, high.handle], type.ir, attributes), type)

    return through_wider(compute, [x, low, high])


@builtin(args=k.ANY, propagate_nan=PROPAGATE)
def builtin_min(*args, propagate_nan=PropagateNan.NONE):
    """What `min` means in a kernel: the least of two or more numbers, or of the members of one tuple."""
    return _fold_extreme("min", minimum, args, propagate_nan)


@builtin(args=k.ANY, propagate_nan=PROPAGATE)
def builtin_max(*args, propagate_nan=PropagateNan.NONE):
    """What `max` means in a kernel: the greatest of two or more numbers, or of the members of one tuple."""
    return _fold_extreme("max", maximum, args, propagate_nan)


def _fold_extreme(name, fn, args, propagate_nan):
    if len(args) == 1 and isinstance(args[0], (list, tuple)):
        args = args[0]
    if not args or (len(args) == 1 and isinstance(args[0], tensor)):
        raise SemanticError(f"{name} takes two or more numbers or one tuple; for the {name} of a tile use tl.{name}")
    result = constexpr(args[0]) if is_literal(args[0]) else args[0]
    for value in args[1:]:
        result = fn(result, value, propagate_nan)
    return result
