# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention against NumPy in fp64 and its gradients against torch's in fp64: sizes, heads, masks, memory orders."""

import numpy as np
import pytest
import torch
from terrazzo.kernels import attention as A


def torch_attention(q, k, v, causal=True, scale=None, slopes=None, window=None):
    """The same formula for autograd; rows that see no key are 0."""
    k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
    x = q @ k.transpose(2, 3) * (q.shape[3] ** -0.5 if scale is None else scale)
    m, n = torch.arange(q.shape[2])[:, None], torch.arange(k.shape[2])[None, :]
    if slopes is not None:
        x = x - slopes.double()[:, None, None] * (n - m).abs()
    seen = (n <= m) | (not causal)
    if window is not None:
        seen = seen & (n > m - window)
    return torch.softmax(x.masked_fill(~seen, -torch.inf), -1).nan_to_num(0.0) @ v


@pytest.fixture
def check(normal, close, gradients):
    """check(B, H, K, T, S, D, ...): values and gradients; tensors are views of [B, T, H, D] memory."""

    def compare(B, H, K, T, S, D, dtype=torch.float32, factor=2.0, **options):
        def make(heads, length):
            return normal(B, length, heads, D, dtype=dtype).transpose(1, 2)

        q, k, v, do = make(H, T), make(K, S), make(K, S), make(H, T)
        o, lse = A.attention_forward(q, k, v, **options)
        assert o.stride() == q.stride()
        close(o, A.reference(q.double(), k.double(), v.double(), **options), factor)
        assert lse.shape == (B, H, T)
        slopes = options.pop("alibi_slopes", None)
        wanted = gradients(lambda q, k, v: torch_attention(q, k, v, slopes=slopes, **options), (q, k, v), do)
        found = A.attention_backward(do, q, k, v, o, lse, alibi_slopes=slopes, **options)
        for have, want, x in zip(found, wanted, (q, k, v)):
            close(have, want, 2 * factor)
            assert have.stride() == x.stride()

    return compare


@pytest.mark.parametrize("causal", [True, False], ids=["causal", "full"])
@pytest.mark.parametrize("D", [16, 32, 64, 80, 96, 128])
def test_head_sizes(D, causal, check):
    check(1, 2, 2, 71, 71, D, causal=causal)


@pytest.mark.parametrize("causal", [True, False], ids=["causal", "full"])
@pytest.mark.parametrize(("B", "H", "K", "T", "S", "D"), [
    (1, 1, 1, 1, 1, 16), (2, 3, 1, 5, 5, 16), (1, 6, 2, 64, 64, 16), (1, 4, 4, 129, 129, 5), (1, 2, 1, 1, 200, 16),
    (1, 2, 2, 30, 77, 16), (2, 2, 1, 150, 40, 16), (1, 8, 2, 257, 257, 16),
])  # fmt: skip
def test_heads_and_lengths(B, H, K, T, S, D, causal, check):
    check(B, H, K, T, S, D, causal=causal)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("causal", [True, False], ids=["causal", "full"])
def test_narrow_types(causal, dtype, check):
    check(1, 4, 2, 130, 130, 64, dtype=dtype, causal=causal)


@pytest.mark.parametrize("causal", [True, False], ids=["causal", "full"])
def test_alibi(causal, check):
    check(2, 4, 2, 100, 100, 16, causal=causal, alibi_slopes=torch.tensor([0.5, 0.25, 0.125, 0.0625]), scale=0.3)


@pytest.mark.parametrize("window", [1, 7, 64, 65, 1000])
def test_window(window, check):
    check(1, 4, 2, 150, 150, 16, window=window)


def test_queries_that_see_no_key_give_zero(check, normal):
    check(1, 1, 1, 90, 20, 16, window=3)
    o, lse = A.attention_forward(normal(1, 1, 90, 16), normal(1, 1, 20, 16), normal(1, 1, 20, 16), window=3)
    assert not o[:, :, 22:].any()
    assert (lse[:, :, 22:] == -torch.inf).all()


def test_lse(normal):
    q, k = normal(1, 1, 33, 16), normal(1, 1, 33, 16)
    _, lse = A.attention_forward(q, k, k, causal=False, scale=0.5)
    torch.testing.assert_close(lse.double(), torch.logsumexp(0.5 * q.double() @ k.double().transpose(2, 3), -1))


def test_large_scores(check, normal):
    q, k, v = 60 * normal(1, 1, 40, 16), 60 * normal(1, 1, 40, 16), normal(1, 1, 40, 16)
    o, _ = A.attention_forward(q, k, v)
    torch.testing.assert_close(o.double(), torch_attention(q.double(), k.double(), v.double()), rtol=1e-3, atol=1e-3)


def test_numpy_and_last_axis_with_a_stride(normal):
    q, k, v = (normal(1, 2, 16, 20).transpose(2, 3).cpu().numpy() for _ in range(3))
    o, _ = A.attention_forward(q, k, v)
    assert isinstance(o, np.ndarray)
    np.testing.assert_allclose(o, A.reference(q, k, v), rtol=1e-5, atol=2e-6)


def test_slices_of_one_projection(normal, close):
    qkv = normal(2, 21, 3, 4, 16)
    q, k, v = (x.transpose(1, 2) for x in qkv.unbind(2))
    close(A.attention_forward(q, k, v)[0], A.reference(q.double(), k.double(), v.double()), 2)


def test_out(normal):
    q = normal(1, 2, 9, 8)
    out = torch.empty(1, 2, 9, 8, dtype=torch.bfloat16)
    assert A.attention_forward(q, q, q, out=out)[0] is out
    assert torch.equal(out, A.attention_forward(q, q, q)[0].bfloat16())


def test_gradients_have_the_same_bits(normal):
    q, k, v, do = normal(1, 4, 200, 32), normal(1, 2, 200, 32), normal(1, 2, 200, 32), normal(1, 4, 200, 32)
    o, lse = A.attention_forward(q, k, v)
    first, again = (A.attention_backward(do, q, k, v, o, lse) for _ in range(2))
    assert all(torch.equal(x, y) for x, y in zip(first, again))


def test_wrong_arguments_are_named(normal):
    x = normal(1, 4, 5, 8)
    with pytest.raises(ValueError, match=r"'k': expected a number of heads that divides 4, found 3"):
        A.attention_forward(x, normal(1, 3, 5, 8), normal(1, 3, 5, 8))
    with pytest.raises(ValueError, match=r"'v': expected shape \[1, 4, 5, 8\], found \[1, 4, 6, 8\]"):
        A.attention_forward(x, x, normal(1, 4, 6, 8))
    with pytest.raises(ValueError, match="'k': expected float32, found float16"):
        A.attention_forward(x, x.half(), x.half())
    with pytest.raises(ValueError, match="'window': expected 1 or more keys, and causal attention, found 4"):
        A.attention_forward(x, x, x, causal=False, window=4)
