# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The state-space family: the Mamba-1 mixer (Gu and Dao 2023).

Shapes: B batch, T tokens, W width, E inner width (expand * W), N state size, R rank of the step-size projection.
"""

import math

import torch
from torch import nn

from ..kernels import torch_ops as ops
from .config import ModelConfig

DT_MIN, DT_MAX = 1e-3, 1e-1  # range of the step size softplus(dt_bias) at the start


class Mamba(nn.Module):
    """Input-dependent linear recurrence over a state of N numbers per channel, between two projections."""

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.inner = config.expand * config.width
        self.state = config.state
        self.rank = config.dt_rank or math.ceil(config.width / 16)
        self.in_x = nn.Parameter(torch.empty(self.inner, config.width))
        self.in_z = nn.Parameter(torch.empty(self.inner, config.width))
        self.conv_weight = nn.Parameter(torch.empty(self.inner, config.conv))
        self.conv_bias = nn.Parameter(torch.empty(self.inner))
        self.to_dt = nn.Parameter(torch.empty(self.rank, self.inner))
        self.to_b = nn.Parameter(torch.empty(self.state, self.inner))
        self.to_c = nn.Parameter(torch.empty(self.state, self.inner))
        self.dt_weight = nn.Parameter(torch.empty(self.inner, self.rank))
        self.dt_bias = nn.Parameter(torch.empty(self.inner))
        self.A_log = nn.Parameter(torch.empty(self.inner, self.state))
        self.D = nn.Parameter(torch.empty(self.inner))
        self.out = nn.Parameter(torch.empty(config.width, self.inner))

    def forward(self, x_BTW: torch.Tensor) -> torch.Tensor:
        """Mixes tokens; [B, T, W] to [B, T, W]."""
        for_x, for_z = ops.fork(x_BTW, 2)
        u_BTE, z_BTE = ops.linear(for_x, self.in_x), ops.linear(for_z, self.in_z)
        u_BTE = ops.causal_conv1d(u_BTE, self.conv_weight, self.conv_bias, activation="silu")
        u_BTE, for_dt, for_b, for_c = ops.fork(u_BTE, 4)
        delta_BTE = ops.linear(ops.linear(for_dt, self.to_dt), self.dt_weight)
        b_BTN, c_BTN = ops.linear(for_b, self.to_b), ops.linear(for_c, self.to_c)
        a_EN = ops.negative_exp(self.A_log)
        y_BTE = ops.selective_scan(
            u_BTE, delta_BTE, a_EN, b_BTN, c_BTN, D=self.D, z=z_BTE, delta_bias=self.dt_bias, delta_softplus=True
        )
        return ops.linear(y_BTE, self.out)

    @torch.no_grad()
    def initialise(self, random: torch.Generator) -> None:
        """The parameters that are not plain matrices; the recipe of the paper's reference."""
        steps_E = torch.empty(self.inner).uniform_(math.log(DT_MIN), math.log(DT_MAX), generator=random).exp()
        self.dt_bias.copy_(steps_E + torch.log(-torch.expm1(-steps_E)))  # the inverse of softplus
        self.A_log.copy_(torch.log(torch.arange(1, self.state + 1, dtype=torch.float32)).expand_as(self.A_log))
        self.D.fill_(1.0)
        self.conv_bias.zero_()
        self.conv_weight.uniform_(-1, 1, generator=random).mul_(self.conv_weight.shape[1] ** -0.5)
        self.dt_weight.uniform_(-1, 1, generator=random).mul_(self.rank**-0.5)
