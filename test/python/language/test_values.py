# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""dtypes, constexprs, tuples, and the surface of the language."""

import copy
import pickle

import pytest
import terrazzo as tz
import terrazzo.language as tl
from terrazzo.errors import CompileError, OutOfResources, SemanticError


def test_names_and_widths_of_dtypes():
    assert [str(t) for t in (tl.float32, tl.bfloat16, tl.int1, tl.uint8, tl.float8e4nv)] == [
        "fp32", "bf16", "int1", "uint8", "fp8e4nv"]  # fmt: skip
    assert repr(tl.float8e5) == "terrazzo.language.float8e5"
    assert tl.dtype("fp16") == tl.float16 and tl.dtype("fp16") in {tl.float16}
    assert (tl.float16.primitive_bitwidth, tl.float16.fp_mantissa_width, tl.float16.exponent_bias) == (16, 10, 15)
    assert tl.int1.itemsize == 1 and tl.int1.int_bitwidth == 1
    assert tl.int8.get_int_min_value() == -128 and tl.uint16.get_int_max_value() == 65535
    assert tl.int32 != tl.uint32 and tl.int32 == tl.constexpr(tl.int32)
    with pytest.raises(SemanticError, match="unknown dtype"):
        tl.dtype("float32")


def test_predicates_of_dtypes():
    assert tl.float8e4b8.is_fp8() and tl.float8e4b8.is_floating() and not tl.float8e4b8.is_standard_floating()
    assert tl.bfloat16.is_bf16() and tl.float64.is_fp64() and tl.int1.is_bool() and tl.int1.is_int_unsigned()
    assert tl.int16.is_int_signed() and tl.uint64.is_uint64() and not tl.float32.is_int()
    assert not tl.float32.is_ptr() and not tl.float32.is_block() and not tl.float32.is_const()
    assert [t.kind() for t in (tl.int1, tl.uint8, tl.float16)] == list(tl.dtype.KIND)
    assert "int8" in tl.dtype.SINT_TYPES and "int1" in tl.dtype.UINT_TYPES and "bf16" in tl.dtype.STANDARD_FP_TYPES
    assert tl.dtype.is_dtype("fp32") and not tl.dtype.is_dtype("float")


def test_pointers_and_blocks():
    pointer = tl.pointer_type(tl.int1)
    assert pointer.ir == "!tile.ptr<i8>" and pointer.element_ty == tl.int1 and pointer.scalar is pointer
    assert tl.pointer_type(pointer).ir == "!tile.ptr<!tile.ptr<i8>>"
    assert tl.pointer_type(tl.int32) == tl.pi32_t and tl.pointer_type(tl.int32, const=True) != tl.pi32_t
    block = tl.block_type(tl.float32, [4, tl.constexpr(8)])
    assert (block.shape, block.numel, block.scalar, block.ir) == ((4, 8), 32, tl.float32, "tensor<4x8xf32>")
    assert block == tl.block_type(tl.float32, (4, 8)) and block != tl.block_type(tl.float16, (4, 8))


@pytest.mark.parametrize("value", [tl.float32, tl.pi32_t, tl.block_type(tl.int8, [4]), tl.void, tl.constexpr(3)])
def test_types_survive_copies(value):
    assert bool(pickle.loads(pickle.dumps(value)) == value)
    assert bool(copy.deepcopy(value) == value)


def test_constexprs_follow_python():
    a, b = tl.constexpr(-7), tl.constexpr(2)
    assert (a // b).value == -4 and (a % b).value == 1 and (7 // b).value == 3
    assert (a**2).value == 49 and (-a).value == 7 and (~b).value == -3 and (1 << b).value == 4
    assert isinstance(a < b, tl.constexpr) and bool(a < b) and not bool(a == b)
    assert tl.constexpr(tl.constexpr(3)).value == 3
    assert [0, 1, 2][b] == 2 and list(range(b)) == [0, 1] and float(b) == 2.0
    assert f"{a:>4}" == "  -7" and str(a) == "-7"
    assert tl.constexpr((4, 8))[1].value == 8 and len(tl.constexpr("abc")) == 3
    assert tl.constexpr(tl.float32).primitive_bitwidth == 32
    assert tl.constexpr(None) == None and hash(a) == hash(-7)  # noqa: E711
    assert a.type == tl.constexpr_type(-7)


def test_tuples():
    values = tl.tuple([1, tl.float32])
    assert values[tl.constexpr(0)] == 1 and len(values + (2,)) == 3 and values == (1, tl.float32)
    assert isinstance(values[0:1], tl.tuple) and list(values * 2) == [1, tl.float32] * 2
    named = tl.tuple([3, 4], tl.tuple_type([tl.int32, tl.int32], ["x", "y"]))
    assert named.y == 4


def test_compile_time_functions():
    assert tl.cdiv(7, 2).value == 4 and tl.cdiv(-7, 2).value == -3
    assert tl.maximum(3, 4).value == 4 and tl.minimum(tl.constexpr(3), 4.5).value == 3
    assert tl.next_power_of_2(65).value == 128 and tl.standard._log2(64).value == 6
    assert tl.core.builtin_max(1, tl.constexpr(5), 3).value == 5 and tl.core.builtin_min((4, 2)).value == 2
    assert tl.abs(-3).value == 3

    @tl.constexpr_function
    def double(x):
        return 2 * x

    assert double(tl.constexpr(4)).value == 8


@pytest.mark.parametrize("kernel", [tl.builder.Options(target="cuda:90")], indirect=True)
def test_target_info(kernel):
    kernel(tl.int32)
    assert tl.target_info.is_cuda() and not tl.target_info.is_hip()
    assert tl.target_info.cuda_capability_geq(9) and not tl.target_info.cuda_capability_geq(10, 0)


SURFACE = """
program_id num_programs constexpr const tensor dtype pointer_type block_type void tuple tuple_type constexpr_type
slice to_tensor int1 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 float8e4nv
float8e5 float8e4b8 float8e5b16 float8e4b15 pi32_t arange full zeros zeros_like cat cast broadcast broadcast_to
expand_dims permute trans reshape view ravel squeeze unsqueeze join split interleave dot load store
make_tensor_descriptor load_tensor_descriptor store_tensor_descriptor tensor_descriptor make_block_ptr advance
atomic_add atomic_max atomic_min atomic_cas atomic_xchg atomic_or atomic_and atomic_xor atomic_load atomic_store
where flip gather histogram sort topk bitonic_merge swizzle2d map_elementwise abs cdiv ceil clamp cos sin div_rn erf
exp exp2 fdiv floor fma log log2 maximum minimum rsqrt sigmoid softmax sqrt sqrt_rn umulhi add sub mul PropagateNan
sum max min argmax argmin xor_sum reduce_or reduce cumsum cumprod associative_scan recurrence rand randn randint
rand4x randn4x randint4x philox philox_impl uint_to_uniform_float pair_uniform_to_normal range static_range
condition multiple_of max_contiguous max_constancy assume debug_barrier expect_zero static_print static_assert
device_print device_assert math extra core standard random target_info TRITON_MAX_TENSOR_NUMEL
""".split()


@pytest.mark.parametrize("name", SURFACE)
def test_surface(name):
    assert hasattr(tl, name) and name in tl.__all__


METHODS = """
to cast dtype shape numel T reshape permute trans view split ravel broadcast_to expand_dims sum max min argmax
argmin xor_sum reduce_or reduce associative_scan cumsum cumprod sort flip gather histogram item abs exp exp2 log
log2 sin cos sqrt sqrt_rn rsqrt erf floor ceil sigmoid softmax cdiv store atomic_add atomic_cas atomic_max
logical_and logical_or
""".split()


@pytest.mark.parametrize("name", METHODS)
def test_methods(name):
    assert hasattr(tl.tensor, name)


def test_libdevice_is_math_too(kernel):
    x = kernel(tl.block_type(tl.float16, [4]))
    assert tl.math.log1p is tl.extra.libdevice.log1p is tl.extra.cuda.libdevice.log1p
    with pytest.raises(AttributeError):
        tl.math.nothing  # noqa: B018
    for name in ("tanh", "fast_expf", "round", "isnan", "hypot", "ldexp", "fast_dividef", "pow", "erfc", "rint"):
        fn = getattr(tl.extra.libdevice, name)
        arguments = {"hypot": (x, x), "ldexp": (x, 3), "fast_dividef": (x, x), "pow": (x, 3)}.get(name, (x,))
        assert fn(*arguments).shape == (4,)
    kernel.verified()


def test_functions_of_narrow_floats_are_computed_in_float32(kernel):
    x = kernel(tl.block_type(tl.bfloat16, [4]))
    for fn in (tl.exp, tl.sigmoid, tl.rsqrt, tl.floor, tl.erf):
        assert fn(x).dtype == tl.bfloat16
    assert "math.exp %" in kernel.verified()


def test_random_numbers(kernel):
    seed, offset = kernel(tl.int32, tl.block_type(tl.int32, [8]))
    assert tl.randint(seed, offset).type == tl.block_type(tl.uint32, [8])
    assert tl.rand(seed, offset).dtype == tl.float32
    assert [x.dtype for x in tl.randn4x(7, offset.to(tl.int64))] == [tl.float32] * 4
    kernel.verified()


def test_printing(kernel, capsys):
    x = kernel(tl.block_type(tl.uint8, [4]))
    tl.device_print('a "quoted" \\ läbel\n', x, 3, hex=True)
    tl.static_print("shape", x.shape, sep="=")
    tl.device_assert(x > 0, "never shown")
    assert capsys.readouterr().out == "shape=(4,)\n"
    text = kernel.verified()
    assert "tile.print" in text and "tile.assert" not in text


@pytest.mark.parametrize("kernel", [tl.builder.Options(debug=True)], indirect=True)
def test_device_assert_in_debug_mode(kernel):
    x = kernel(tl.block_type(tl.int32, [4]))
    tl.device_assert(x > 0, "too small", mask=x < 5)
    assert "tile.assert" in kernel.verified()


def test_errors_show_the_line():
    error = CompileError("bad", "k.py", 3, 4, "    x = y\n", ["look there"])
    assert str(error) == "k.py:3:5: error: bad\n        x = y\n        ^\nnote: look there"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert str(SemanticError("bad")) == "error: bad"
    assert SemanticError("bad").at("k.py", 3).at("other.py", 4).line == 3
    assert pickle.loads(pickle.dumps(OutOfResources(5, 4, "shared memory"))).limit == 4


def test_must_use_result_is_a_decorator_with_and_without_arguments():
    assert tz.must_use_result is tl.core.must_use_result

    @tz.must_use_result
    def plain():
        return 1

    @tz.must_use_result("its result is new")
    def with_a_message():
        return 2

    assert (plain(), with_a_message()) == (1, 2)
