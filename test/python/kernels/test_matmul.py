# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix products against NumPy in fp64: sizes, transposes, strides, types, epilogues, blocks."""

import numpy as np
import pytest
import torch
from terrazzo.kernels import matmul as M

SIZES = [(1, 1, 1), (1, 300, 70), (70, 1, 300), (13, 17, 19), (128, 256, 128), (129, 257, 129), (200, 100, 513)]


@pytest.mark.parametrize("transposed", ["NN", "NT", "TN", "TT"])
@pytest.mark.parametrize(("m", "n", "k"), SIZES)
def test_sizes_and_transposes(m, n, k, transposed, normal, close):
    trans_a, trans_b = transposed[0] == "T", transposed[1] == "T"
    a = normal(*((k, m) if trans_a else (m, k)))
    b = normal(*((n, k) if trans_b else (k, n)))
    c = M.matmul(a, b, trans_a=trans_a, trans_b=trans_b)
    close(c, M.reference((a.T if trans_a else a).double(), (b.T if trans_b else b).double()), 2)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize(("m", "n", "k"), [(33, 65, 129), (130, 260, 300)])
def test_narrow_types(m, n, k, dtype, normal, close):
    a, b, bias = normal(m, k, dtype=dtype), normal(k, n, dtype=dtype), normal(n, dtype=dtype)
    close(M.matmul(a, b, bias=bias), M.reference(a.double(), b.double(), bias.double()))
    wide = torch.empty(m, n)
    close(M.matmul(a, b, out=wide), M.reference(a.double(), b.double()), 2)


@pytest.mark.parametrize("activation", [None, "relu", "silu", "gelu"])
@pytest.mark.parametrize("with_bias", [False, True])
def test_epilogues(activation, with_bias, normal, close):
    a, b, bias = normal(40, 30), normal(30, 50), normal(50) if with_bias else None
    want = M.reference(a.double(), b.double(), None if bias is None else bias.double(), activation)
    close(M.matmul(a, b, bias=bias, activation=activation), want, 2)


def test_views_and_out(normal, close):
    a, b, out = normal(60, 90)[::2, 1::3], normal(40, 80).T[::2], normal(40, 30).T
    b = b[:30]
    assert M.matmul(a, b, out=out) is out
    close(out, M.reference(a.double(), b.double()), 2)


def test_numpy_with_negative_strides():
    random = np.random.default_rng(0)
    a, b = random.standard_normal((20, 30), np.float32)[::-1], random.standard_normal((30, 25), np.float32)[:, ::-1]
    c = M.matmul(a, b)
    assert isinstance(c, np.ndarray)
    np.testing.assert_allclose(c, M.reference(a, b), rtol=1e-5, atol=1e-5)


def test_empty(normal):
    assert M.matmul(normal(0, 5), normal(5, 3)).shape == (0, 3)
    assert not M.matmul(normal(4, 0), normal(0, 3)).any()
    assert torch.equal(M.matmul(normal(4, 0), normal(0, 3), bias=torch.ones(3)), torch.ones(4, 3))


def test_bits_do_not_depend_on_the_blocks(normal, monkeypatch):
    a, b = normal(150, 300), normal(300, 170)
    want = M.matmul(a, b)
    for rows, columns in ((8, 16), (40, 64), (150, 176)):
        monkeypatch.setattr(M, "blocks", lambda *_, size=(rows, columns): (*size, 160))
        assert torch.equal(M.matmul(a, b), want)


@pytest.mark.parametrize("tiles", [False, True])
@pytest.mark.parametrize("threads", [1, 2, 7, 64])
@pytest.mark.parametrize(("m", "n", "k"), [*SIZES, (192, 192, 2048), (4096, 768, 768), (5, 100000, 3)])
def test_blocks_are_bounded_and_cover(m, n, k, threads, tiles):
    bm, bn, bk = M.blocks(m, n, k, threads, tiles)
    assert 1 <= bm <= (512 if tiles else 128)
    assert 1 <= bn <= 256
    assert 1 <= bk <= 256
    assert (bm - 32 < m) and (bn - 32 < n) and (bk - 32 < k)


@pytest.mark.parametrize("tiles", [False, True])
def test_blocks_share_the_work(tiles):
    bm, bn, _ = M.blocks(192, 192, 2048, 2, tiles)
    assert -(-192 // bm) * -(-192 // bn) % 2 == 0


def test_blocks_of_tiles_are_large_and_whole():
    assert M.blocks(1024, 1024, 1024, 1, True) == (512, 256, 256)
    for threads in (1, 8, 64):
        assert all(extent % 32 == 0 for extent in M.blocks(4096, 4096, 1000, threads, True))


def test_wrong_arguments_are_named(normal):
    a = normal(4, 5)
    with pytest.raises(ValueError, match=r"'b': expected shape \[5, any\], found \[4, 5\]"):
        M.matmul(a, normal(4, 5))
    with pytest.raises(ValueError, match=r"'b': expected 2 dimensions, found shape \[5\]"):
        M.matmul(a, normal(5))
    with pytest.raises(ValueError, match="'b': expected float32, found float16"):
        M.matmul(a, normal(5, 4, dtype=torch.float16))
    with pytest.raises(ValueError, match=r"'bias': expected shape \[6\], found \[5\]"):
        M.matmul(a, normal(5, 6), bias=normal(5))
    with pytest.raises(ValueError, match=r"'out': expected shape \[4, 6\], found \[6, 4\]"):
        M.matmul(a, normal(5, 6), out=normal(6, 4))
    with pytest.raises(ValueError, match="'activation': expected one of .* found 'tanh'"):
        M.matmul(a, normal(5, 6), activation="tanh")
    with pytest.raises(ValueError, match="'a': expected an array, found list"):
        M.matmul([[1.0]], a)


@pytest.mark.parametrize("is_turned", [False, True])
def test_blocks_where_a_matrix_unit_reads_shared_memory(is_turned):
    """Large blocks where there are enough of them for all multiprocessors, else smaller ones; never an idle half."""
    large = M.wgmma_blocks(8192, 8192, 132, is_turned)
    assert (large["BM"], large["BN"], large["num_warps"]) == (128, 256, 8)
    small = M.wgmma_blocks(16, 16, 132, is_turned)
    assert (small["BM"], small["BN"], small["num_warps"]) == (64, 64, 4)
    for m, n in [(256, 4096), (8192, 768), (4096, 300), (1, 50304)]:
        sizes = M.wgmma_blocks(m, n, 132, is_turned)
        smallest = -(-m // 64) * -(-n // 64)
        assert -(-m // sizes["BM"]) * -(-n // sizes["BN"]) >= min(smallest, 132) / 3
