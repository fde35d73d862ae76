# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The autograd functions: each against the same formula of torch in fp64, and whole models that learn."""

import pytest
import torch
import torch.nn.functional as F
from terrazzo.kernels import torch_ops as ops


@pytest.fixture
def agree(close, gradients):
    """agree(fn, want, *inputs): value and gradients of fn equal those of want in fp64."""

    def compare(fn, want, *inputs, factor=2.0):
        leaves = [x.detach().clone().requires_grad_() for x in inputs]
        y = fn(*leaves)
        close(y, want(*(x.double() for x in inputs)), factor)
        dy = torch.cos(torch.arange(y.numel(), dtype=torch.float32)).view(y.shape)
        for have, expected in zip(torch.autograd.grad(y, leaves, dy), gradients(want, inputs, dy)):
            close(have, expected, 2 * factor)

    return compare


def test_rows(normal, agree):
    x, w, b = normal(2, 5, 24), normal(24), normal(24)
    agree(ops.layernorm, lambda x, w, b: F.layer_norm(x, (24,), w, b), x, w, b)
    agree(ops.layernorm, lambda x, w: F.layer_norm(x, (24,), w), x, w)
    agree(ops.rmsnorm, lambda x, w: x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * w, x, w)
    agree(ops.softmax, lambda x: torch.softmax(x, -1), x)


def test_elementwise(normal, agree):
    x, y = normal(3, 50), normal(3, 50)
    agree(ops.swiglu, lambda x, y: F.silu(x) * y, x, y)
    agree(ops.gelu, F.gelu, x)
    agree(lambda x: ops.gelu(x, "tanh"), lambda x: F.gelu(x, approximate="tanh"), x)
    agree(ops.add, torch.add, x, y)
    agree(ops.negative_exp, lambda x: -torch.exp(x), x)


def test_fork(normal, agree):
    def forked(x):
        a, b, _, c = ops.fork(x, 4)
        return ops.add(ops.swiglu(a, b), c)

    agree(forked, lambda x: F.silu(x) * x + x, normal(4, 9))


@pytest.mark.parametrize("bias", [False, True])
def test_linear(bias, normal, agree):
    inputs = [normal(2, 7, 20), normal(13, 20)] + ([normal(13)] if bias else [])
    agree(ops.linear, F.linear, *inputs, factor=4)


def test_embedding_and_cross_entropy(normal, agree):
    ids, targets = torch.tensor([[3, 0, 3], [1, 6, 0]]), torch.tensor([1, 2, -1, 0, 4, 3])
    agree(lambda w: ops.embedding(ids, w), lambda w: F.embedding(ids, w), normal(7, 10))
    agree(lambda x: ops.cross_entropy(x, targets, ignore_index=-1),
          lambda x: F.cross_entropy(x, targets, ignore_index=-1), normal(6, 5))  # fmt: skip


def test_rope(normal, agree):
    cos, sin = normal(6, 4), normal(6, 4)

    def want(q, k, which):
        x1, x2 = (q, k)[which].chunk(2, -1)
        c, s = cos.to(x1), sin.to(x1)
        return torch.cat([x1 * c - x2 * s, x2 * c + x1 * s], -1) + 0 * q.sum() + 0 * k.sum()

    for which in (0, 1):
        agree(lambda q, k: ops.rope(q, k, cos, sin)[which], lambda q, k: want(q, k, which),
              normal(2, 6, 4, 8).transpose(1, 2), normal(2, 6, 2, 8).transpose(1, 2))  # fmt: skip


@pytest.mark.parametrize("slopes", [None, [0.5, 0.25, 0.125, 0.0625]], ids=["plain", "alibi"])
def test_attention(slopes, normal, agree):
    T = 19
    slopes = None if slopes is None else torch.tensor(slopes)

    def want(q, k, v):
        s = q @ k.repeat_interleave(2, 1).transpose(2, 3) * 0.3
        t = torch.arange(T)
        if slopes is not None:
            s = s - slopes[:, None, None].double() * (t[:, None] - t[None, :])
        s = s.masked_fill(t[None, :] > t[:, None], -torch.inf)
        return torch.softmax(s, -1) @ v.repeat_interleave(2, 1)

    q, k, v = (normal(2, T, heads, 12).transpose(1, 2) for heads in (4, 2, 2))
    agree(lambda q, k, v: ops.attention(q, k, v, causal=True, scale=0.3, alibi_slopes=slopes), want, q, k, v, factor=4)


def test_causal_conv1d(normal, agree):
    def want(x, w, b):
        y = F.conv1d(F.pad(x.transpose(1, 2), (3, 0)), w[:, None], b, groups=6)
        return F.silu(y).transpose(1, 2)

    agree(lambda x, w, b: ops.causal_conv1d(x, w, b, activation="silu"), want, normal(2, 9, 6), normal(6, 4), normal(6),
          factor=4)  # fmt: skip


def test_selective_scan(normal, agree):
    def want(u, delta, A, B, C, D, z, bias):
        delta = F.softplus(delta + bias)
        h, ys = torch.zeros(2, 5, 4, dtype=u.dtype), []
        for t in range(u.shape[1]):
            h = torch.exp(delta[:, t, :, None] * A) * h + (delta[:, t] * u[:, t])[..., None] * B[:, t, None, :]
            ys.append((h * C[:, t, None, :]).sum(-1) + D * u[:, t])
        return torch.stack(ys, 1) * F.silu(z)

    def scan(u, delta, A, B, C, D, z, bias):
        return ops.selective_scan(u, delta, A, B, C, D=D, z=z, delta_bias=bias, delta_softplus=True)

    u, delta, z = normal(2, 11, 5), normal(2, 11, 5), normal(2, 11, 5)
    agree(scan, want, u, delta, -normal(5, 4).exp(), normal(2, 11, 4), normal(2, 11, 4), normal(5), z, normal(5),
          factor=8)  # fmt: skip


@pytest.mark.parametrize("family", ["transformer", "mamba"])
def test_a_model_learns(family, device):
    from terrazzo.trainer import config, model, optimizer

    settings = config.Config()
    settings.model.family, settings.model.layers, settings.model.width = family, 1, 32
    settings.model.heads = settings.model.kv_heads = 2
    with torch.device("cpu"):  # where its parameters are drawn, whatever the device
        decoder = model.build(settings.model, 16, seed=0)
    decoder = decoder.to(device)
    adamw = optimizer.AdamW(decoder, settings.train)
    tokens = torch.arange(33) * 5 % 17
    losses = []
    for _ in range(12):
        loss = decoder(tokens[:32].view(2, 16), tokens[1:].view(2, 16))
        loss.backward()
        adamw.collect()
        adamw.step(1e-2, adamw.gradient_norm())
        losses.append(loss.item())
    assert losses[-1] < 0.6 * losses[0], losses


def test_empty_tensors():
    made = [
        ops.attention(*(torch.randn(1, 2, length, 8, requires_grad=True) for length in (5, 0, 0)), causal=False),
        ops.attention(*(torch.randn(0, 2, 5, 8, requires_grad=True) for _ in range(3))),
        ops.causal_conv1d(torch.randn(2, 0, 8, requires_grad=True), torch.randn(8, 4), activation="silu"),
        ops.selective_scan(*(torch.randn(*s, requires_grad=True)
                             for s in ((2, 0, 8), (2, 0, 8), (8, 4), (2, 0, 4), (2, 0, 4)))),
        ops.linear(torch.randn(0, 8, requires_grad=True), torch.randn(4, 8)),
    ]  # fmt: skip
    assert [tuple(y.shape) for y in made] == [(1, 2, 5, 8), (0, 2, 5, 8), (2, 0, 8), (2, 0, 8), (0, 4)]
    assert not made[0].any()
    sum(y.sum() for y in made).backward()
