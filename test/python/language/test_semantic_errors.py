# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Wrong calls: each is a SemanticError that says what was expected and what was found."""

import pytest
import terrazzo.language as tl
from terrazzo.errors import CompileTimeAssertionFailure, SemanticError

P, CP = tl.pointer_type(tl.float32), tl.pointer_type(tl.float32, const=True)
PI = tl.pointer_type(tl.int32)


def tile(dtype, *shape):
    return tl.block_type(dtype, shape)


F4, F8, I4 = tile(tl.float32, 4), tile(tl.float32, 8), tile(tl.int32, 4)
PT = tile(P, 4)
F = tl.float32


def pair(a, b, c, d):
    return a + c, b + d


CASES = [
    # operators
    ("shapes", [F4, F8], lambda a, b: a + b, r"shapes \[4\] and \[8\] do not broadcast"),
    ("pointer as a value", [P, F4], lambda p, a: a * p, "operator . does not take pointers"),
    ("pointer compared", [P, F4], lambda p, a: p < 1.0, "compares a pointer with a pointer"),
    ("sum of pointers", [P, P], lambda p, q: p + q, "cannot add two pointers"),
    ("difference of pointers", [P, P], lambda p, q: p - q, "does not take pointers"),
    ("float offset", [P], lambda p: p + 1.5, "a pointer moves by integers"),
    ("float tile offset", [P, F4], lambda p, a: p + a, "a pointer moves by integers, found"),
    ("bits of a float", [F4], lambda a: a & 1, "operator & takes integers"),
    ("invert a float", [F4], lambda a: ~a, "operator ~ takes integers"),
    ("shift of a float", [F4], lambda a: a >> 1, "operator >> takes integers"),
    ("string operand", [F4], lambda a: a + "x", "must be a number or a run-time value"),
    ("string order", [F4], lambda a: a < "x", "compares numbers"),
    ("truth", [tl.int32], lambda a: bool(a), "has to be known at compile time"),
    ("iteration", [F4], lambda a: list(a), "cannot be iterated"),
    ("index of range", [tl.int32], lambda a: [0][a], "compile-time integer is expected"),
    # creation
    ("arange order", [F], lambda a: tl.arange(4, 4), "end of arange must be greater"),
    ("arange at run time", [tl.int32], lambda n: tl.arange(0, n), "end of arange must be known at compile time"),
    ("arange of floats", [F], lambda a: tl.arange(0, 4.0), "must be an integer, found 4.0"),
    ("arange too far", [F], lambda a: tl.arange(0, 2**31), "must fit in int32"),
    ("shape at run time", [tl.int32], lambda n: tl.zeros((n, 4), tl.float32), "extent 0 of shape must be known"),
    ("shape of floats", [F], lambda a: tl.zeros((2.0,), tl.float32), "extent 0 of shape must be an integer"),
    ("empty extent", [F], lambda a: tl.zeros((4, 0), tl.float32), "extent 1 of shape must be 1 or more"),
    ("full of a tile", [F4], lambda a: tl.full((4,), a, tl.float32), "full takes a scalar"),
    ("full without dtype", [F], lambda a: tl.full((4,), 1), "full needs a dtype"),
    ("dtype", [F], lambda a: tl.zeros((4,), "float32"), "dtype of zeros must be a type such"),
    ("grid axis", [F], lambda a: tl.program_id(3), "must be a compile-time integer from 0 to 2, found 3"),
    ("missing argument", [F], lambda a: tl.full((4,)), "full: missing a required argument"),
    ("unknown keyword", [F], lambda a: tl.zeros((4,), tl.int32, fill=1), "unexpected keyword argument 'fill'"),
    # casts
    ("bitcast width", [F4], lambda a: a.to(tl.int16, bitcast=True), "cannot bitcast fp32 of 32 bits to int16 of 16"),
    ("pointer to float", [P], lambda p: p.to(tl.float32), "pointers convert to and from integers"),
    ("rounding name", [F4], lambda a: a.to(tl.float16, fp_downcast_rounding="up"), "must be 'rtne' or 'rtz'"),
    ("legacy type", [F4], lambda a: a.to(tl.float8e4b15), "values of fp8e4b15 do not exist"),
    # shapes
    ("reshape", [F8], lambda a: a.reshape(3, 3), r"cannot reshape \[8\] to \[3, 3\]"),
    ("reshape -1", [F8], lambda a: a.reshape(-1, 3), "no multiple of 3"),
    ("broadcast_to", [F4], lambda a: a.broadcast_to(8), r"shapes \[4\] and \[8\] do not broadcast"),
    ("broadcast_to smaller", [tile(F, 4, 4)], lambda a: a.broadcast_to(4), "does not broadcast to"),
    ("expand_dims axis", [F4], lambda a: tl.expand_dims(a, 2), r"must be in \[-2, 2\)"),
    ("permute", [tile(F, 2, 4)], lambda a: tl.permute(a, 0, 0), "needs a permutation of the 2 dimensions"),
    ("permute count", [tile(F, 2, 4)], lambda a: a.permute(0), "needs a permutation"),
    ("trans of rank 1", [F4], lambda a: tl.trans(a), "rank 2 or more"),
    ("split", [F4], lambda a: tl.split(a), "last extent is 2"),
    ("join", [F4, F8], lambda a, b: tl.join(a, b), "do not broadcast"),
    ("cat", [tile(F, 2, 4), tile(F, 2, 8)], lambda a, b: tl.cat(a, b, dim=0), "agree in all other extents"),
    ("flip", [F4], lambda a: tl.flip(a, 1), r"dim of flip must be in \[-1, 1\)"),
    ("gather index", [F4, F4], lambda a, b: tl.gather(a, b, 0), "index of gather must be a tile of integers"),
    ("gather rank", [F4, tile(tl.int32, 2, 2)], lambda a, i: tl.gather(a, i, 0), "operands of one rank"),
    ("squeeze", [F4], lambda a: a.squeeze(0), "extent 1"),
    ("item", [F4], lambda a: a.item(), "a tile of one element"),
    # indices
    ("too many indices", [F4], lambda a: a[0, 1], "too many indices: found 2"),
    ("index out of range", [F4], lambda a: a[4], "index 4 of dimension 0 is out of range for an extent of 4"),
    ("empty slice", [F4], lambda a: a[3:3], "is empty"),
    ("run-time slice", [F4, tl.int32], lambda a, i: a[i:], "bound of the slice of dimension 0 must be known"),
    ("tile index", [F4, I4], lambda a, i: a[i], "use tl.gather"),
    ("float index", [F4, F], lambda a, i: a[i], "must be an integer"),
    # memory
    ("load of a value", [F4], lambda a: tl.load(a), "pointer of load must be a pointer or a tile of pointers or a"),
    ("store to a value", [F4], lambda a: tl.store(a, 1.0), "pointer of store must be a pointer"),
    ("store to const", [CP], lambda p: tl.store(p, 1.0), "store through a pointer to constants"),
    ("atomic on const", [CP], lambda p: tl.atomic_add(p, 1.0), "atomic_add through a pointer to constants"),
    ("store of a pointer", [P, P], lambda p, q: tl.store(p, q), "a pointer is used as a value"),
    ("store of a tile to a scalar", [P, F4], lambda p, a: tl.store(p, a), "a scalar pointer takes a scalar"),
    ("store of a larger tile", [PT, tile(F, 2, 4)], lambda p, a: tl.store(p, a), "does not broadcast to"),
    ("mask shape", [PT, tile(tl.int1, 8)], lambda p, m: tl.load(p, m), "do not broadcast"),
    ("mask of a scalar", [P, tile(tl.int1, 8)], lambda p, m: tl.load(p, m), "mask of load must be a scalar"),
    ("mask of floats", [PT, F4], lambda p, m: tl.load(p, m), "mask of load must be None or a value of"),
    ("other without mask", [PT], lambda p: tl.load(p, other=0.0), "with a mask only"),
    ("cache", [PT], lambda p: tl.load(p, cache_modifier=".xx"), "cache_modifier of load must be"),
    ("eviction", [PT], lambda p: tl.load(p, eviction_policy="never"), "eviction_policy of load must be"),
    ("boundary of a tile", [PT], lambda p: tl.load(p, boundary_check=(0,)), "for block pointers only"),
    ("semantics", [P], lambda p: tl.atomic_add(p, 1.0, sem="sequential"), "sem of atomic_add must be"),
    ("scope", [P], lambda p: tl.atomic_add(p, 1.0, scope="world"), "scope of atomic_add must be"),
    ("atomic and of floats", [P], lambda p: tl.atomic_and(p, 1), "works on integers"),
    ("atomic on bools", [tl.pointer_type(tl.int1)], lambda p: tl.atomic_add(p, 1), "found a pointer to int1"),
    # block pointers
    ("block base", [F4], lambda a: tl.make_block_ptr(a, (4,), (1,), (0,), (4,), (0,)), "must be a scalar pointer"),
    ("block ranks", [P], lambda p: tl.make_block_ptr(p, (4,), (1,), (0, 0), (4,), (0,)), "offsets .* has 2 elements"),
    ("block order", [P], lambda p: tl.make_block_ptr(p, (4,), (1,), (0,), (4,), (1,)), "must be a permutation"),
    ("advance", [P], lambda p: tl.advance(p, (1,)), "base of advance must be a block pointer"),
    # reductions and scans
    ("axis", [F4], lambda a: tl.sum(a, 1), r"axis of sum must be in \[-1, 1\) for a value of rank 1, found 1"),
    ("axis at run time", [F4, tl.int32], lambda a, i: tl.sum(a, i), "axis of sum .* known at compile time"),
    ("sum of pointers in a tile", [PT], lambda p: tl.sum(p, 0), "of numbers, .*; load what it points to first"),
    ("xor of floats", [F4], lambda a: tl.xor_sum(a, 0), "input of xor_sum must be an integer"),
    ("combine count", [F4, F4], lambda a, b: tl.reduce((a, b), 0, lambda a, b, c, d: a), "2 values, found 1"),
    ("combine type", [I4], lambda a: tl.reduce(a, 0, lambda a, b: a * 1.5), "must return int32 .* found fp32"),
    ("operand shapes", [F4, F8], lambda a, b: tl.associative_scan((a, b), 0, pair), "tiles of one shape"),
    ("scan of a scalar", [F], lambda a: tl.cumsum(a, 0), "takes tiles, found a scalar"),
    ("recurrence result", [F4], lambda a: tl.recurrence(lambda c, x: c, 0.0, a), "must return a pair"),
    ("recurrence carry", [F4], lambda a: tl.recurrence(lambda c, x: ((c, c), x), 0.0, a), "must carry 1 values"),
    ("recurrence carry type", [F4], lambda a: tl.recurrence(lambda c, x: (c > x, x), 0.0, a), "must carry fp32"),
    ("recurrence extents", [F4, F8], lambda a, b: tl.recurrence(lambda c, x: (c, c), 0.0, (a, b)), "one extent along"),
    # products of matrices
    ("dot shapes", [tile(F, 4, 8), tile(F, 4, 8)], lambda a, b: tl.dot(a, b), "the last extent of the first, 8"),
    ("dot rank", [F4, F4], lambda a, b: tl.dot(a, b), "two tiles of rank 2"),
    ("dot scalar", [F, F], lambda a, b: tl.dot(a, b), "input of dot must be a tile"),
    ("dot dtypes", [tile(F, 4, 4), tile(tl.float16, 4, 4)], lambda a, b: tl.dot(a, b), "found fp32 and fp16"),
    ("dot of int32", [tile(tl.int32, 4, 4)], lambda a: tl.dot(a, a), "floats or 8-bit integers"),
    ("dot acc", [tile(F, 4, 4), F4], lambda a, c: tl.dot(a, a, c), r"acc of dot must have the shape \[4, 4\]"),
    ("dot precision", [tile(F, 4, 4)], lambda a: tl.dot(a, a, input_precision="fp4"), "input_precision must be"),
    ("dot both", [tile(F, 4, 4)], lambda a: tl.dot(a, a, input_precision="ieee", allow_tf32=True), "found both"),
    # the rest
    ("exp of integers", [I4], lambda a: tl.exp(a), "x of exp must be .* of floats, found"),
    ("cdiv of floats", [F], lambda a: tl.cdiv(a, 2), "x of cdiv must be .* of integers"),
    ("umulhi", [tl.int16], lambda a: tl.umulhi(a, a), "32 or 64 bits"),
    ("propagate_nan", [F], lambda a: tl.maximum(a, a, propagate_nan=True), "must be tl.PropagateNan"),
    ("where of pointers", [P, PI, tl.int1], lambda p, q, c: tl.where(c, p, q), "pointers of one type"),
    ("hint rank", [F4], lambda a: tl.multiple_of(a, [1, 2]), "one value for each dimension"),
    ("hint value", [tl.int32], lambda a: tl.multiple_of(a, 0), "compile-time integer from 1"),
    ("assume", [I4], lambda a: tl.assume(a > 0), "scalar condition"),
    ("histogram", [F4], lambda a: tl.histogram(a, 4), "input of histogram must be a tile of integers"),
    ("topk", [F4], lambda a: tl.topk(a, 5), r"must be in \[1, 4\]"),
    ("print", [F4], lambda a: tl.device_print(a), "prefix of device_print must be a string"),
    ("static_assert at run time", [tl.int32], lambda a: tl.static_assert(a == 1), "use device_assert"),
    ("static_range at run time", [tl.int32], lambda n: tl.static_range(n), "compile-time bounds"),
    ("step of 0", [tl.int32], lambda n: tl.range(0, n, 0), "must not be 0"),
    ("range of floats", [F], lambda n: tl.range(n), "integer scalars"),
    ("constants", [F], lambda a: tl.constexpr(1) // tl.constexpr(0), "zero"),
]  # fmt: skip


@pytest.mark.parametrize("types, call, message", [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_error(kernel, types, call, message):
    values = kernel(*types)
    with pytest.raises(SemanticError, match=message):
        call(*(values if len(types) > 1 else [values]))


def test_static_assert(kernel):
    kernel(F)
    tl.static_assert(tl.constexpr(1) == 1, "never shown")
    with pytest.raises(CompileTimeAssertionFailure, match="BLOCK must be even"):
        tl.static_assert(tl.constexpr(False), "BLOCK must be even")


def test_outside_of_a_kernel():
    with pytest.raises(SemanticError, match="in a kernel only"):
        tl.arange(0, 4)


def test_the_builder_is_restored_after_an_error_in_a_region(kernel):
    a = kernel(F4)
    with pytest.raises(SemanticError):
        tl.reduce(a, 0, lambda x, y: tl.load(x))
    assert (a + 1.0).type == a.type
