# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The attention family: RMSNorm before each branch, grouped-query attention with RoPE or ALiBi, SwiGLU.

Shapes: B batch, T tokens, W width, H query heads, K key/value heads, D head size, F feed-forward width.
"""

import math

import torch
from torch import nn

from ..kernels import torch_ops as ops
from .config import ModelConfig


def rope_tables(context: int, head: int, base: float) -> tuple[torch.Tensor, torch.Tensor]:
    """cos and sin of every position's angles, fp32 [T, D/2]; computed in fp64, so that bits do not depend on torch."""
    frequency = base ** (-torch.arange(0, head, 2, dtype=torch.float64) / head)
    angle_TD = torch.arange(context, dtype=torch.float64)[:, None] * frequency
    return angle_TD.cos().float(), angle_TD.sin().float()


def alibi_slopes(heads: int) -> torch.Tensor:
    """The head slopes of Press et al. 2022: powers of 2^(-8/n), interleaved when `heads` is no power of two."""
    power = 2 ** math.ceil(math.log2(heads))
    slopes = [2.0 ** (-8.0 * (index + 1) / power) for index in range(power)]
    # MPT's rule: every second slope first, then the others.
    return torch.tensor((slopes[1::2] + slopes[::2])[:heads] if power != heads else slopes)


class Attention(nn.Module):
    """Causal self-attention; K < H shares each key/value head between H / K query heads."""

    cos: torch.Tensor | None
    sin: torch.Tensor | None
    slopes: torch.Tensor | None

    def __init__(self, config: ModelConfig, context: int):
        super().__init__()
        self.heads, self.kv_heads = config.heads, config.kv_heads
        self.head = config.width // config.heads
        kv_width = config.kv_heads * self.head
        self.query = nn.Parameter(torch.empty(config.width, config.width))
        self.key = nn.Parameter(torch.empty(kv_width, config.width))
        self.value = nn.Parameter(torch.empty(kv_width, config.width))
        self.out = nn.Parameter(torch.empty(config.width, config.width))
        self.scale = self.head**-0.5
        rope = config.position == "rope"
        cos_TD, sin_TD = rope_tables(context, self.head, config.rope_base) if rope else (None, None)
        # Tables, not parameters: derived from the configuration, so no checkpoint holds them.
        self.register_buffer("cos", cos_TD, persistent=False)
        self.register_buffer("sin", sin_TD, persistent=False)
        self.register_buffer("slopes", None if rope else alibi_slopes(config.heads), persistent=False)

    def forward(self, x_BTW: torch.Tensor) -> torch.Tensor:
        """Mixes tokens; [B, T, W] to [B, T, W]."""
        B, T, W = x_BTW.shape
        for_q, for_k, for_v = ops.fork(x_BTW, 3)
        q_BHTD = ops.linear(for_q, self.query).view(B, T, self.heads, self.head).transpose(1, 2)
        k_BKTD = ops.linear(for_k, self.key).view(B, T, self.kv_heads, self.head).transpose(1, 2)
        v_BKTD = ops.linear(for_v, self.value).view(B, T, self.kv_heads, self.head).transpose(1, 2)
        if self.cos is not None and self.sin is not None:
            q_BHTD, k_BKTD = ops.rope(q_BHTD, k_BKTD, self.cos[:T], self.sin[:T])
        y_BHTD = ops.attention(q_BHTD, k_BKTD, v_BKTD, causal=True, scale=self.scale, alibi_slopes=self.slopes)
        return ops.linear(y_BHTD.transpose(1, 2).reshape(B, T, W), self.out)


class FeedForward(nn.Module):
    """SwiGLU: down(silu(gate(x)) * up(x))."""

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.gate = nn.Parameter(torch.empty(config.mlp_width, config.width))
        self.up = nn.Parameter(torch.empty(config.mlp_width, config.width))
        self.down = nn.Parameter(torch.empty(config.width, config.mlp_width))

    def forward(self, x_BTW: torch.Tensor) -> torch.Tensor:
        """Token by token; [B, T, W] to [B, T, W]."""
        for_gate, for_up = ops.fork(x_BTW, 2)
        h_BTF = ops.swiglu(ops.linear(for_gate, self.gate), ops.linear(for_up, self.up))
        return ops.linear(h_BTF, self.down)
