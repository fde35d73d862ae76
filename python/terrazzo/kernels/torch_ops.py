# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernel library as torch functions with gradients: both directions are generated kernels, none of torch's.

Every function takes and returns torch tensors. Functions that end in _ work in place and have no gradient, nor have
softmax-like statistics such as sum_of_squares. All are deterministic: the same inputs give the same bits.
"""

from typing import Any

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from . import adamw as _adamw
from . import attention as _attention
from . import conv1d as _conv1d
from . import cross_entropy as _cross_entropy
from . import elementwise as _elementwise
from . import embedding as _embedding
from . import gelu as _gelu
from . import layernorm as _layernorm
from . import matmul as _matmul
from . import reductions as _reductions
from . import rmsnorm as _rmsnorm
from . import rope as _rope
from . import selective_scan as _selective_scan
from . import softmax as _softmax
from . import swiglu as _swiglu

Tensor = torch.Tensor


class _RMSNorm(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, w: Tensor, eps: float) -> Tensor:
        y, rstd = _rmsnorm.rmsnorm_forward(x, w, eps)
        ctx.save_for_backward(x, w, rstd)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor) -> Any:
        return *_rmsnorm.rmsnorm_backward(dy, *ctx.saved_tensors), None


class _LayerNorm(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, w: Tensor, b: Tensor | None, eps: float) -> Tensor:
        y, mean, rstd = _layernorm.layernorm_forward(x, w, b, eps)
        ctx.save_for_backward(x, w, mean, rstd)
        ctx.has_bias = b is not None
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor) -> Any:
        dx, dw, db = _layernorm.layernorm_backward(dy, *ctx.saved_tensors)
        return dx, dw, db if ctx.has_bias else None, None


class _Softmax(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        y = _softmax.softmax(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor) -> Tensor:
        return _softmax.softmax_backward(dy, *ctx.saved_tensors)


class _Linear(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, w: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, w)
        ctx.has_bias = bias is not None
        y = _matmul.matmul(x.reshape(-1, w.shape[1]), w, bias=bias, trans_b=True)
        return y.view(*x.shape[:-1], w.shape[0])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor) -> Any:
        x, w = ctx.saved_tensors
        rows = dy.reshape(-1, w.shape[0])
        need_x, need_w, need_bias = ctx.needs_input_grad
        dx = _matmul.matmul(rows, w).view(x.shape) if need_x else None
        dw = _matmul.matmul(rows, x.reshape(-1, w.shape[1]), trans_a=True) if need_w else None
        db = _reductions.column_sums(rows) if need_bias and ctx.has_bias else None
        return dx, dw, db


class _Attention(Function):
    @staticmethod
    def forward(
        ctx: Any, q: Tensor, k: Tensor, v: Tensor, causal: bool, scale: float, slopes: Tensor | None, window: int | None
    ) -> Tensor:
        ctx.options = (causal, scale, slopes, window)
        o, lse = _attention.attention_forward(q, k, v, *ctx.options)
        ctx.save_for_backward(q, k, v, o, lse)
        return o

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, do: Tensor) -> Any:
        return *_attention.attention_backward(do, *ctx.saved_tensors, *ctx.options), None, None, None, None


class _SelectiveScan(Function):
    @staticmethod
    def forward(ctx: Any, softplus: bool, *inputs: Tensor | None) -> tuple[Tensor, Tensor]:
        out, last, states = _selective_scan.selective_scan_forward(*inputs, delta_softplus=softplus)
        ctx.save_for_backward(states, *inputs)
        ctx.softplus = softplus
        ctx.mark_non_differentiable(last)
        return out, last

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dout: Tensor, _: Any) -> Any:
        return None, *_selective_scan.selective_scan_backward(dout, *ctx.saved_tensors, delta_softplus=ctx.softplus)


class _CausalConv1d(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, w: Tensor, bias: Tensor | None, activation: str | None) -> Tensor:
        ctx.save_for_backward(x, w, bias)
        ctx.activation = activation
        return _conv1d.conv1d_forward(x, w, bias, activation)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor) -> Any:
        x, w, bias = ctx.saved_tensors
        dx, dw, db = _conv1d.conv1d_backward(dy, x, w, bias, ctx.activation)
        return dx, dw, db if bias is not None else None, None


class _CrossEntropy(Function):
    @staticmethod
    def forward(ctx: Any, logits: Tensor, targets: Tensor, ignore_index: int) -> Tensor:
        loss, lse = _cross_entropy.cross_entropy_forward(logits, targets, ignore_index)
        mean, inverse = _cross_entropy.cross_entropy_mean(loss, targets, ignore_index)
        ctx.save_for_backward(logits, targets, lse, inverse)
        ctx.ignore_index = ignore_index
        return mean.view(())

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dmean: Tensor) -> Any:
        logits, targets, lse, inverse = ctx.saved_tensors
        dlogits = _cross_entropy.cross_entropy_backward(
            dmean.view(1), logits, targets, lse, ctx.ignore_index, scale=inverse
        )
        return dlogits, None, None


class _SwiGLU(Function):
    @staticmethod
    def forward(ctx: Any, gate: Tensor, up: Tensor) -> Tensor:
        ctx.save_for_backward(gate, up)
        return _swiglu.swiglu(gate, up)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor) -> Any:
        return _swiglu.swiglu_backward(dy, *ctx.saved_tensors)


class _GELU(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, approximate: str) -> Tensor:
        ctx.save_for_backward(x)
        ctx.approximate = approximate
        return _gelu.gelu(x, approximate)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor) -> Any:
        return _gelu.gelu_backward(dy, *ctx.saved_tensors, ctx.approximate), None


class _Embedding(Function):
    @staticmethod
    def forward(ctx: Any, ids: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(ids, weight)
        return _embedding.embedding(ids, weight)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor) -> Any:
        return None, _embedding.embedding_backward(dy, *ctx.saved_tensors)


class _Rope(Function):
    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, cos: Tensor, sin: Tensor) -> Any:
        ctx.save_for_backward(cos, sin)
        return _rope.rope(q, k, cos, sin)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dq: Tensor, dk: Tensor) -> Any:
        return *_rope.rope_backward(dq, dk, *ctx.saved_tensors), None, None


class _Add(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor) -> Tensor:
        return _elementwise.add(x, y)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor) -> Any:
        return dy, dy


class _Fork(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, n: int) -> Any:
        ctx.set_materialize_grads(False)
        return tuple(x.view_as(x) for _ in range(n))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor | None) -> Any:
        present = [grad for grad in grads if grad is not None]
        return (_elementwise.add(*present) if present else None), None


class _NegativeExp(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        y = _elementwise.negative_exp(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor) -> Tensor:
        return _elementwise.negative_exp_backward(dy, *ctx.saved_tensors)


def rmsnorm(x: Tensor, w: Tensor, eps: float = 1e-6) -> Tensor:
    """x / sqrt(mean(x^2) + eps) * w over the last axis."""
    return _RMSNorm.apply(x, w, eps)


def layernorm(x: Tensor, w: Tensor, b: Tensor | None = None, eps: float = 1e-5) -> Tensor:
    """(x - mean) / sqrt(variance + eps) * w + b over the last axis."""
    return _LayerNorm.apply(x, w, b, eps)


def softmax(x: Tensor) -> Tensor:
    """Softmax over the last axis."""
    return _Softmax.apply(x)


def linear(x: Tensor, w: Tensor, bias: Tensor | None = None) -> Tensor:
    """x [..., in] times w [out, in] transposed, plus bias [out]."""
    return _Linear.apply(x, w, bias)


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    causal: bool = True,
    scale: float | None = None,
    alibi_slopes: Tensor | None = None,
    window: int | None = None,
) -> Tensor:
    """softmax(q k^T scale + alibi) v for q [B, H, T, D] and k, v [B, K, S, D], K dividing H; any strides.

    The result has q's memory order. scale is 1 / sqrt(D) unless given; window, of causal attention, is how many keys a
    query sees at most.
    """
    return _Attention.apply(q, k, v, causal, scale, alibi_slopes, window)


def selective_scan(
    u: Tensor,
    delta: Tensor,
    A: Tensor,
    B: Tensor,
    C: Tensor,
    D: Tensor | None = None,
    z: Tensor | None = None,
    delta_bias: Tensor | None = None,
    delta_softplus: bool = False,
    return_last_state: bool = False,
) -> Any:
    """The recurrence of Mamba: u, delta, z [B, T, E], A [E, N], B, C [B, T, N] or [B, T, G, N], D, delta_bias [E].

    With return_last_state (out, h[T]); the state [B, E, N] has no gradient.
    """
    out, last = _SelectiveScan.apply(delta_softplus, u, delta, A, B, C, D, z, delta_bias)
    return (out, last) if return_last_state else out


def causal_conv1d(x: Tensor, w: Tensor, bias: Tensor | None = None, activation: str | None = None) -> Tensor:
    """Depthwise convolution over the past: x [B, T, E], w [E, width], bias [E]; activation "silu" or None."""
    return _CausalConv1d.apply(x, w, bias, activation)


def cross_entropy(logits: Tensor, targets: Tensor, ignore_index: int = -100) -> Tensor:
    """Mean loss of logits [M, N] over the rows whose target is not ignore_index; 0 when there are none."""
    return _CrossEntropy.apply(logits, targets, ignore_index)


def swiglu(gate: Tensor, up: Tensor) -> Tensor:
    """silu(gate) * up."""
    return _SwiGLU.apply(gate, up)


def gelu(x: Tensor, approximate: str = "none") -> Tensor:
    """GELU by erf, or with approximate="tanh"."""
    return _GELU.apply(x, approximate)


def embedding(ids: Tensor, weight: Tensor) -> Tensor:
    """weight[ids]."""
    return _Embedding.apply(ids, weight)


def rope(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
    """q and k [B, H, T, D] rotated by the angles of cos and sin [T, D / 2]."""
    return _Rope.apply(q, k, cos, sin)


def add(x: Tensor, y: Tensor) -> Tensor:
    """x + y, of one shape."""
    return _Add.apply(x, y)


def fork(x: Tensor, n: int) -> tuple[Tensor, ...]:
    """x, n times; their gradients are added in order by one kernel."""
    return _Fork.apply(x, n)


def negative_exp(x: Tensor) -> Tensor:
    """-exp(x)."""
    return _NegativeExp.apply(x)


def sum_of_squares(xs: list[Tensor]) -> float:
    """The sum of the squares of all elements of all tensors."""
    return _reductions.sum_of_squares(xs)


def adamw_(
    p: Tensor,
    g: Tensor,
    m: Tensor,
    v: Tensor,
    *,
    step: int,
    lr: float,
    beta1: float = 0.9,
    beta2: float = 0.95,
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    grad_scale: float = 1.0,
) -> None:
    """One AdamW update of p, m and v in place, from the gradient g times grad_scale."""
    _adamw.adamw(
        p,
        g,
        m,
        v,
        step=step,
        lr=lr,
        beta1=beta1,
        beta2=beta2,
        eps=eps,
        weight_decay=weight_decay,
        grad_scale=grad_scale,
    )
