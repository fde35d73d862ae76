# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shapes of what shape functions, indices and reductions give, and the operations that they become."""

import pytest
import terrazzo.language as tl

F = tl.float32


def tile(*shape):
    return tl.block_type(F, shape)


@pytest.mark.parametrize(
    "shape, call, want",
    [
        ((4,), lambda x: x[:, None], (4, 1)),
        ((4,), lambda x: x[None, :], (1, 4)),
        ((4,), lambda x: x[None, :, None], (1, 4, 1)),
        ((4,), lambda x: x[None], (1, 4)),
        ((2, 4), lambda x: x[..., None], (2, 4, 1)),
        ((2, 4), lambda x: x[:], (2, 4)),
        ((2, 4), lambda x: x[1], (4,)),
        ((2, 4), lambda x: x[:, -1], (2,)),
        ((2, 4), lambda x: x[1, 3], ()),
        ((2, 6), lambda x: x[:, 1:6:2], (2, 3)),
        ((2, 6), lambda x: x[:, ::-1], (2, 6)),
        ((2, 6), lambda x: x[0, None, 2:], (1, 4)),
        ((2, 6), lambda x: x[tl.program_id(0)], (6,)),
        ((2, 6), lambda x: x[tl.program_id(0).to(tl.int64), tl.program_id(1)], ()),
        ((2, 6), lambda x: x.insert((0, slice(2, 4)), 1.0), (2, 6)),
        ((), lambda x: x[None], (1,)),
        ((4,), lambda x: x.expand_dims(0), (1, 4)),
        ((4,), lambda x: tl.expand_dims(x, (0, -1)), (1, 4, 1)),
        ((4,), lambda x: x.unsqueeze(-1), (4, 1)),
        ((4, 1), lambda x: x.squeeze(1), (4,)),
        ((1,), lambda x: x.squeeze(0), ()),
        ((4, 1), lambda x: x.broadcast_to(2, 4, 3), (2, 4, 3)),
        ((4, 1), lambda x: tl.broadcast_to(x, (4, 3)), (4, 3)),
        ((4, 1), lambda x: tl.broadcast(x, x.T)[0], (4, 4)),
        ((), lambda x: tl.broadcast_to(x, [2, 2]), (2, 2)),
        ((4, 6), lambda x: x.reshape(3, -1), (3, 8)),
        ((4, 6), lambda x: tl.reshape(x, (2, 12), can_reorder=True), (2, 12)),
        ((4, 6), lambda x: x.view([24]), (24,)),
        ((4, 6), lambda x: x.ravel(), (24,)),
        ((1, 1), lambda x: x.item(), ()),
        ((4, 6), lambda x: x.T, (6, 4)),
        ((2, 4, 6), lambda x: tl.trans(x), (2, 6, 4)),
        ((2, 4, 6), lambda x: tl.trans(x, 2, 0, 1), (6, 2, 4)),
        ((2, 4, 6), lambda x: x.permute((1, 2, 0)), (4, 6, 2)),
        ((4,), lambda x: tl.join(x, x), (4, 2)),
        ((), lambda x: tl.join(x, x), (2,)),
        ((3, 2), lambda x: x.split()[1], (3,)),
        ((2,), lambda x: x.split()[0], ()),
        ((3, 4), lambda x: tl.interleave(x, x), (3, 8)),
        ((3, 4), lambda x: tl.cat(x, x), (6, 4)),
        ((3, 4), lambda x: tl.cat(x, x, dim=1, can_reorder=True), (3, 8)),
        ((3, 4), lambda x: x.flip(0), (3, 4)),
        ((3, 4), lambda x: x.gather(tl.zeros((3, 7), tl.int32), 1), (3, 7)),
        ((3, 4), lambda x: x.sum(), ()),
        ((3, 4), lambda x: x.sum(0), (4,)),
        ((3, 4), lambda x: tl.sum(x, 1, keep_dims=True), (3, 1)),
        ((3, 4), lambda x: tl.sum(x, keep_dims=True), (1, 1)),
        ((4,), lambda x: tl.max(x, 0), ()),
        ((4,), lambda x: tl.max(x, 0, keep_dims=True), (1,)),
        ((3, 4), lambda x: tl.argmax(x, -1), (3,)),
        ((3, 4), lambda x: tl.argmin(x, 1, keep_dims=True), (3, 1)),
        ((3, 4), lambda x: tl.argmax(x), ()),
        ((3, 4), lambda x: tl.max(x, 1, return_indices=True, keep_dims=True)[1], (3, 1)),
        ((3, 4), lambda x: x.cumsum(1), (3, 4)),
        ((3, 5), lambda x: tl.sort(x, 0), (3, 5)),
        ((3, 5), lambda x: tl.topk(x, 2), (3, 2)),
        ((3, 4), lambda x: tl.softmax(x, 1), (3, 4)),
        ((3, 4), lambda x: tl.zeros_like(x), (3, 4)),
        ((3, 4), lambda x: tl.dot(x, x.T), (3, 3)),
        ((2, 3, 4), lambda x: tl.dot(x, x.trans()), (2, 3, 3)),
        ((), lambda x: tl.full((), 1, tl.int8), ()),
        ((), lambda x: tl.full([2, 3], x), (2, 3)),
        ((), lambda x: tl.arange(5, 24), (19,)),
        ((3, 4), lambda x: tl.map_elementwise(lambda a: a + 1.0, x), (3, 4)),
        ((3, 4), lambda x: tl.map_elementwise(lambda a, b: (b, a), x, pack=2), (3, 4)),
    ],
)  # fmt: skip
def test_shape(kernel, shape, call, want):
    x = kernel(tl.block_type(F, shape) if shape else F)
    result = call(x)
    assert result.shape == want
    assert result.type.is_block() == bool(want)
    kernel.verified()


def test_new_axes_of_a_whole_tile_slice_nothing(kernel):
    x = kernel(tile(4))
    _ = x[:, None], x[None, :]
    text = kernel.verified()
    assert text.count("tile.expand_dims") == 2 and "tile.slice" not in text


def test_run_time_indices_are_clamped(kernel):
    x = kernel(tile(4, 8))
    _ = x[tl.program_id(0)]
    text = kernel.verified()
    assert "arith.maxsi" in text and "arith.minsi" in text and "arith.select" in text


def test_constant_indices_are_constants(kernel):
    x = kernel(tile(4, 8))
    _ = x[-1]
    text = kernel.verified()
    assert "arith.constant 3 : i32" in text and "arith.select" not in text


def test_broadcasting_aligns_at_the_right(kernel):
    x, y = kernel(tile(4, 1), tile(3))
    assert (x + y).shape == (4, 3)
    assert (y * tl.zeros((2, 4, 3), F)).shape == (2, 4, 3)


def test_transposing_to_the_same_order_is_nothing(kernel):
    x = kernel(tile(4, 8))
    assert x.permute(0, 1) is x


@pytest.mark.parametrize(
    "dtype, summed, widest",
    [
        (tl.int1, tl.uint32, tl.int32),
        (tl.int8, tl.int32, tl.int32),
        (tl.uint8, tl.uint32, tl.int32),
        (tl.int16, tl.int32, tl.int32),
        (tl.int64, tl.int64, tl.int64),
        (tl.uint64, tl.uint64, tl.uint64),
        (tl.float16, tl.float16, tl.float32),
        (tl.bfloat16, tl.bfloat16, tl.float32),
        (tl.float64, tl.float64, tl.float64),
    ],
)
def test_dtypes_of_reductions(kernel, dtype, summed, widest):
    x = kernel(tl.block_type(dtype, [4]))
    assert tl.sum(x, 0).dtype == summed
    assert tl.cumsum(x, 0).dtype == summed
    assert tl.cumprod(x, 0).dtype == summed
    assert tl.sum(x, 0, dtype=tl.int8).dtype == tl.int8
    assert tl.max(x, 0).dtype == widest
    assert tl.min(x, 0).dtype == widest
    assert tl.max(x, 0, return_indices=True)[0].dtype == dtype
    assert tl.argmax(x, 0).dtype == tl.int32
    kernel.verified()


@pytest.mark.parametrize("propagate, op", [(tl.PropagateNan.NONE, "maxnumf"), (tl.PropagateNan.ALL, "maximumf")])
def test_what_maxima_do_with_nan(kernel, propagate, op):
    x = kernel(tile(4))
    tl.maximum(x, 0.0, propagate_nan=propagate)
    tl.max(x, 0, propagate_nan=propagate)
    assert kernel.verified().count(f"arith.{op}") == 2


def test_reverse_scans_say_so(kernel):
    x = kernel(tile(4))
    tl.cumsum(x, 0, reverse=True)
    assert "reverse" in kernel.verified()


def test_recurrence_of_tuples(kernel):
    x, y = kernel(tile(6, 4), tile(6))

    def step(carry, slices):
        (state, count), (row, element) = carry, slices
        return (state * 0.5 + row, count + 1), (tl.sum(state, 0) + element, state.to(tl.float16))

    (state, count), (sums, states) = tl.recurrence(step, (tl.zeros((4,), F), 0), (x, y), reverse=True)
    assert (state.type, count.type) == (tile(4), tl.int32)
    assert (sums.type, states.type) == (tile(6), tl.block_type(tl.float16, [6, 4]))
    assert kernel.verified().count("tile.recurrence") == 1


def test_recurrence_without_outputs(kernel):
    x = kernel(tile(6))
    carry, ys = tl.recurrence(lambda c, s: (c + s, None), 0.0, x)
    assert carry.type == F and ys is None
    kernel.verified()


def test_combine_functions_may_change_the_width(kernel):
    x = kernel(tl.block_type(tl.float16, [8]))
    # A quotient of halves is a float32; what is accumulated is rounded back.
    assert tl.reduce(x, 0, lambda a, b: a / b).dtype == tl.float16
    kernel.verified()
