# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The names of the language, from where they are defined: what `language` and `language.core` have in common."""

from .aggregates import aggregate, aggregate_replace
from .arithmetic import add, logical_and, logical_not, logical_or, mul, sub
from .atomics import (
    atomic_add,
    atomic_and,
    atomic_cas,
    atomic_load,
    atomic_max,
    atomic_min,
    atomic_or,
    atomic_store,
    atomic_xchg,
    atomic_xor,
)
from .block_pointer import advance, block_pointer, make_block_ptr
from .builder import must_use_result
from .cast import cast
from .classes import get_int_dtype
from .comparison import PropagateNan, clamp, maximum, minimum, where
from .creation import arange, full, num_programs, program_id, to_tensor, zeros, zeros_like
from .debug import device_assert, device_print, static_assert, static_print
from .descriptor import load_tensor_descriptor, make_tensor_descriptor, store_tensor_descriptor, tensor_descriptor
from .dtypes import MOST_ELEMENTS as TRITON_MAX_TENSOR_NUMEL
from .dtypes import (
    bfloat16,
    block_type,
    const,
    dtype,
    float8e4b8,
    float8e4b15,
    float8e4nv,
    float8e5,
    float8e5b16,
    float16,
    float32,
    float64,
    int1,
    int8,
    int16,
    int32,
    int64,
    pi32_t,
    pointer_type,
    uint8,
    uint16,
    uint32,
    uint64,
    void,
)
from .hints import assume, expect_zero, max_constancy, max_contiguous, multiple_of
from .indexing import gather, insert
from .iterators import condition, range, static_range
from .linalg import dot
from .mapping import map_elementwise
from .math import (
    abs,
    cdiv,
    ceil,
    cos,
    div_rn,
    erf,
    exp,
    exp2,
    fdiv,
    floor,
    fma,
    log,
    log2,
    next_power_of_2,
    pow,
    rsqrt,
    sigmoid,
    sin,
    softmax,
    sqrt,
    sqrt_rn,
    tanh,
    umulhi,
)
from .memory import debug_barrier, load, store
from .random import (
    pair_uniform_to_normal,
    philox,
    philox_impl,
    rand,
    rand4x,
    randint,
    randint4x,
    randn,
    randn4x,
    uint_to_uniform_float,
)
from .reduction import argmax, argmin, max, min, prod, reduce, reduce_and, reduce_or, sum, xor_sum
from .scaled import dot_scaled
from .scan import associative_scan, cumprod, cumsum, recurrence
from .shape import (
    broadcast,
    broadcast_to,
    cat,
    expand_dims,
    flip,
    interleave,
    item,
    join,
    permute,
    ravel,
    reshape,
    split,
    squeeze,
    swizzle2d,
    trans,
    unsqueeze,
    view,
)
from .sorting import bitonic_merge, histogram, sort, topk
from .values import constexpr, constexpr_function, constexpr_type, slice, tensor, tuple, tuple_type
