# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which dtype an operation on two operands has."""

import pytest
import terrazzo.language as tl
from terrazzo.errors import SemanticError

I1, I8, I16, I32, I64 = tl.int1, tl.int8, tl.int16, tl.int32, tl.int64
U8, U16, U32, U64 = tl.uint8, tl.uint16, tl.uint32, tl.uint64
F16, BF16, F32, F64 = tl.float16, tl.bfloat16, tl.float32, tl.float64
E4, E5 = tl.float8e4nv, tl.float8e5


@pytest.mark.parametrize(
    "a, b, want",
    [
        (I8, I16, I16),
        (I32, I64, I64),
        (I1, I32, I32),
        (I1, I1, I1),
        (U8, I8, U8),
        (U8, I16, I16),
        (U32, I32, U32),
        (U32, I64, I64),
        (U64, I64, U64),
        (F16, I64, F16),
        (BF16, I32, F32),
        (F16, BF16, F32),
        (F16, F16, F16),
        (BF16, BF16, BF16),
        (F16, F32, F32),
        (F32, F64, F64),
        (I64, F32, F32),
        (I8, F64, F64),
        (E4, E5, F16),
        (E4, E4, E4),
        (E5, F16, F16),
    ],
)
def test_two_tensors(kernel, a, b, want):
    x, y = kernel(tl.block_type(a, [4]), tl.block_type(b, [4]))
    for value in (x * y, y * x, x + y, y - x):
        assert value.type == tl.block_type(want, [4])
    assert (x < y).dtype == tl.int1
    kernel.verified()


@pytest.mark.parametrize("dtype", [F16, BF16, F32, F64])
@pytest.mark.parametrize("literal", [2.0, 2, True, float("inf"), -3])
def test_literals_never_widen_floats(kernel, dtype, literal):
    x = kernel(tl.block_type(dtype, [4]))
    for value in (
        x * literal,
        literal - x,
        tl.maximum(x, literal),
        tl.minimum(literal, x),
        tl.where(x > 0, x, literal),
    ):
        assert value.dtype == dtype
    kernel.verified()


@pytest.mark.parametrize("dtype", [I8, U8, I16, U16, I32, U32, I64, U64])
def test_literals_never_widen_integers(kernel, dtype):
    x = kernel(tl.block_type(dtype, [4]))
    for value in (x * 2, 3 - x, x << 1, x >> 1, 1 << x, x & 15, x | 1, x ^ 7, x // 3, x % 7, tl.maximum(x, 0), ~x, -x):
        assert value.dtype == dtype
    assert (x * 2.0).dtype == F32
    assert (x + True).dtype == dtype
    kernel.verified()


@pytest.mark.parametrize(
    "dtype, literal", [(I8, 128), (I8, -129), (U8, 256), (U8, -1), (I32, 2**31), (U32, 2**32), (I64, 2**63)]
)
def test_integer_literals_that_do_not_fit(kernel, dtype, literal):
    x = kernel(tl.block_type(dtype, [4]))
    for operation in (lambda: x + literal, lambda: literal * x, lambda: x < literal, lambda: tl.maximum(x, literal)):
        with pytest.raises(SemanticError, match=f"integer literal {literal} does not fit in {dtype}"):
            operation()


def test_literals_alone(kernel):
    kernel(I32)
    assert tl.to_tensor(True).dtype == I1
    assert tl.to_tensor(2**31 - 1).dtype == I32
    assert tl.to_tensor(-(2**31)).dtype == I32
    assert tl.to_tensor(2**31).dtype == I64
    assert tl.to_tensor(2**63).dtype == U64
    assert tl.to_tensor(1.5).dtype == F32
    assert tl.to_tensor(1e300).dtype == F64
    with pytest.raises(SemanticError, match="does not fit in 64 bits"):
        tl.to_tensor(2**64)


def test_literals_with_bools(kernel):
    x = kernel(tl.block_type(I1, [4]))
    assert (x + 1).dtype == I32
    assert (x & True).dtype == I1
    assert (x * 1.0).dtype == F32


@pytest.mark.parametrize(
    "dtype, want", [(F16, F32), (BF16, F32), (F32, F32), (F64, F64), (I32, F32), (I64, F32), (U8, F32)]
)
def test_true_division_is_done_in_float32_at_least(kernel, dtype, want):
    x = kernel(tl.block_type(dtype, [4]))
    assert (x / x).dtype == want
    assert (x / 2).dtype == want
    assert (1 / x).dtype == want
    assert "arith.divf" in kernel.verified()


@pytest.mark.parametrize("dtype, div, rem", [(I32, "divsi", "remsi"), (U32, "divui", "remui"), (I64, "divsi", "remsi")])
def test_integer_division_follows_the_sign_of_the_dtype(kernel, dtype, div, rem):
    x, y = kernel(dtype, dtype)
    assert (x // y).dtype == dtype
    assert (x % y).dtype == dtype
    text = kernel.verified()
    assert f"arith.{div}" in text and f"arith.{rem}" in text


def test_division_of_mixed_signs_is_refused(kernel):
    x, y = kernel(I32, U32)
    for operation in (lambda: x // y, lambda: y % x):
        with pytest.raises(SemanticError, match="different signedness"):
            operation()


def test_float_remainder_is_that_of_c(kernel):
    x = kernel(tl.block_type(F32, [4]))
    assert (x % 2.0).dtype == F32
    assert "arith.remf" in kernel.verified()


@pytest.mark.parametrize("dtype, less, shift", [(I32, "slt", "shrsi"), (U32, "ult", "shrui"), (U8, "ult", "shrui")])
def test_signedness_chooses_the_operation(kernel, dtype, less, shift):
    x, y = kernel(dtype, dtype)
    _ = x < y, x >> y
    text = kernel.verified()
    assert f"arith.cmpi {less}" in text and f"arith.{shift}" in text


def test_bools_compare_unsigned(kernel):
    x, y = kernel(I1, I1)
    _ = x < y
    assert "arith.cmpi ult" in kernel.verified()


def test_negation_flips_the_sign_bit(kernel):
    x = kernel(tl.block_type(F32, [4]))
    assert (-x).type == x.type
    text = kernel.verified()
    assert "arith.negf" in text and "arith.subf" not in text


@pytest.mark.parametrize(
    "kernel, contracts", [(tl.builder.Options(), True), (tl.builder.Options(strict=True), False)], indirect=["kernel"]
)
def test_contraction_is_allowed_unless_strict(kernel, contracts):
    x = kernel(F32)
    _ = x * x + x - x
    assert (kernel.verified().count("fastmath<contract>") == 3) == contracts


@pytest.mark.parametrize("dtype", [I32, I64, I16, I8, U8, U32, U64, I1])
def test_pointer_offsets_stay_as_wide_as_given(kernel, dtype):
    p, i = kernel(tl.pointer_type(F32), tl.block_type(dtype, [4]))
    assert (p + i).type == tl.block_type(tl.pointer_type(F32), [4])
    assert (i + p).type == (p - i).type
    text = kernel.verified()
    wide = "tensor<4xi64>" if dtype in (I64, U32, U64) else "tensor<4xi32>"
    assert f"tensor<4x!tile.ptr<f32>>, {wide}" in text


def test_pointer_literals(kernel):
    p = kernel(tl.pointer_type(F32))
    assert (p + 3).type == p.type
    assert (p + 2**40).type == p.type
    text = kernel.verified()
    assert "arith.constant 1099511627776 : i64" in text and "arith.constant 3 : i32" in text
