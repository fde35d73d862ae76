# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""load, store, atomics, block pointers and descriptors: types, and the operations that they become."""

import pytest
import terrazzo.language as tl

P = tl.pointer_type(tl.float32)
PT = tl.block_type(P, [4])
PB = tl.pointer_type(tl.int1)


def test_scalars_stay_scalars(kernel):
    p = kernel(P)
    value = tl.load(p)
    assert value.type == tl.float32
    tl.store(p, value)
    tl.store(p, 1)
    tl.load(p, tl.program_id(0) == 0, other=2)
    assert "tensor" not in kernel.verified()


def test_mask_and_other_broadcast(kernel):
    p, m = kernel(tl.block_type(P, [4, 1]), tl.block_type(tl.int1, [1, 8]))
    assert tl.load(p, m).shape == (4, 8)
    assert tl.load(p, m, other=1).dtype == tl.float32
    assert tl.load(p, True).shape == (4, 1)
    kernel.verified()


def test_store_converts_to_what_the_pointer_points_to(kernel):
    p, x = kernel(tl.pointer_type(tl.float16), tl.float32)
    tl.store(p, x)
    assert "arith.truncf" in kernel.verified()


def test_bools_are_bytes_in_memory(kernel):
    p, x = kernel(PB, tl.int32)
    loaded = tl.load(p)
    assert loaded.dtype == tl.int1
    tl.store(p, x)
    text = kernel.verified()
    assert "!tile.ptr<i8>" in text
    assert text.count("arith.cmpi ne") == 2 and "arith.extui" in text and "arith.trunci" not in text


def test_cache_and_eviction(kernel):
    p = kernel(PT)
    tl.store(p, tl.load(p, cache_modifier=".cg", eviction_policy="evict_last", volatile=True), cache_modifier=".wt")
    text = kernel.verified()
    assert "isVolatile" in text and "cache" in text and "evict" in text


@pytest.mark.parametrize(
    "element, kind",
    [(tl.float32, "fadd"), (tl.float16, "fadd"), (tl.int32, "add"), (tl.uint64, "add")],
)
def test_atomic_add(kernel, element, kind):
    p = kernel(tl.pointer_type(element))
    assert tl.atomic_add(p, 1).type == element
    assert f"tile.atomic_rmw {kind}" in kernel.verified()


@pytest.mark.parametrize("element, kind", [(tl.float32, "fmax"), (tl.int32, "max"), (tl.uint32, "umax")])
def test_atomic_max(kernel, element, kind):
    p = kernel(tl.block_type(tl.pointer_type(element), [4]))
    assert tl.atomic_max(p, 1, mask=True, sem="relaxed", scope="cta").type == tl.block_type(element, [4])
    assert f"tile.atomic_rmw {kind}" in kernel.verified()


def test_other_atomics(kernel):
    p, f = kernel(tl.pointer_type(tl.int32), P)
    for fn in (tl.atomic_and, tl.atomic_or, tl.atomic_xor, tl.atomic_xchg):
        assert fn(p, 3).dtype == tl.int32
    assert tl.atomic_xchg(f, 3).dtype == tl.float32
    assert tl.atomic_cas(f, 0.0, 1.0).dtype == tl.float32
    assert tl.atomic_cas(p + tl.arange(0, 4), 0, 1).shape == (4,)
    assert tl.atomic_load(f).dtype == tl.float32
    assert tl.atomic_store(f, 1.0) is None
    assert tl.debug_barrier() is None
    kernel.verified()


def window(p, rows, cols):
    return tl.make_block_ptr(p, (rows, cols), (cols, 1), (0, 0), (4, 8), (1, 0))


def test_block_pointers_expand_to_pointers_and_masks(kernel):
    p, rows, cols = kernel(P, tl.int32, tl.int32)
    block = window(p, rows, cols)
    assert (block.dtype, block.type.shape, block.element_ty) == (P, (4, 8), tl.float32)
    assert tl.load(block).type == tl.block_type(tl.float32, [4, 8])
    assert tl.load(block, boundary_check=(0, 1), padding_option="zero").shape == (4, 8)
    tl.store(block.advance((0, 8)), 1.0, boundary_check=(1,))
    text = kernel.verified()
    assert text.count("arith.cmpi sge") == 3 and text.count("arith.cmpi slt") == 3
    assert text.count("mask") == 2


def test_block_pointers_pad_with_nan(kernel):
    p, rows, cols = kernel(P, tl.int32, tl.int32)
    tl.load(window(p, rows, cols), boundary_check=[0], padding_option="nan")
    assert "0x7FC00000 : f32" in kernel.verified()


def test_block_pointers_are_carried_by_their_offsets(kernel):
    p, rows, cols, step = kernel(P, tl.int32, tl.int32, tl.int32)
    block = window(p, rows, cols)
    assert [v.type for v in block.flatten()] == [tl.int64, tl.int64]
    moved = tl.advance(block, (0, step))
    assert moved.same_tensor(block)
    assert not window(p, cols, rows).same_tensor(block)
    rebuilt = block.unflatten(moved.flatten())
    assert [a.handle for a in rebuilt.offsets] == [a.handle for a in moved.offsets]
    whole = block.unflatten(moved.flatten_all())
    assert whole.base.handle == p.handle and len(whole.tensor_shape) == 2
    tl.load(whole)
    kernel.verified()


def test_descriptors(kernel):
    p, rows, cols = kernel(P, tl.int32, tl.int32)
    desc = tl.make_tensor_descriptor(p, [rows, cols], [cols, 1], [4, 8])
    value = desc.load([0, rows])
    assert value.type == desc.block_type
    desc.store([4, 0], value)
    desc.atomic_add([0, 0], value)
    tl.store_tensor_descriptor(desc, [0, 0], tl.load_tensor_descriptor(desc, [0, 0]))
    lines = tl.make_tensor_descriptor(p, [rows, cols], [cols, 1], [1, 8])
    lines.scatter(lines.gather(tl.arange(0, 4), 0), tl.arange(0, 4), rows)
    kernel.verified()
