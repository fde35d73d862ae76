# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""AdamW (Loshchilov and Hutter 2019) with global-norm clipping, one fused kernel a parameter.

The update reads and writes fp32 master parameters and moments in place; the clipping factor goes into the kernel, so
gradients are read once for the norm and once for the update, and never written.
"""

import math

import torch
from torch import nn

from ..kernels import torch_ops as ops
from .config import TrainConfig
from .model import decays


class AdamW:
    """The moments of every parameter, and the step that uses them."""

    def __init__(self, model: nn.Module, config: TrainConfig):
        self.config = config
        self.parameters = dict(model.named_parameters())
        self.m = {name: torch.zeros_like(parameter) for name, parameter in self.parameters.items()}
        self.v = {name: torch.zeros_like(parameter) for name, parameter in self.parameters.items()}
        self.updates = 0
        self.gradients: dict[str, torch.Tensor] = {}

    @torch.no_grad()
    def collect(self) -> None:
        """Takes over the gradients of a backward pass, added to those of earlier micro-batches."""
        for name, parameter in self.parameters.items():
            if parameter.grad is None:
                raise RuntimeError(f"no gradient for {name}")
            earlier = self.gradients.get(name)
            self.gradients[name] = parameter.grad if earlier is None else ops.add(earlier, parameter.grad)
            parameter.grad = None

    def gradient_norm(self) -> float:
        """The L2 norm over all gradients together."""
        return math.sqrt(ops.sum_of_squares(list(self.gradients.values())))

    def step(self, lr: float, norm: float) -> None:
        """One update from the collected gradients, then forgets them."""
        config = self.config
        scale = min(1.0, config.clip / (norm + 1e-6)) if config.clip else 1.0
        self.updates += 1
        for name, parameter in self.parameters.items():
            ops.adamw_(
                parameter.data,
                self.gradients.pop(name),
                self.m[name],
                self.v[name],
                step=self.updates,
                lr=lr,
                beta1=config.beta1,
                beta2=config.beta2,
                eps=config.adam_eps,
                weight_decay=config.weight_decay if decays(name) else 0.0,
                grad_scale=scale,
            )

    def state(self) -> dict[str, torch.Tensor]:
        """Both moments of every parameter, by name."""
        return {f"{kind}.{name}": tensor for kind in ("m", "v") for name, tensor in getattr(self, kind).items()}

    def load(self, state: dict[str, torch.Tensor], updates: int) -> None:
        """Restores what state() returned; names and shapes were checked by the checkpoint."""
        for name, tensor in self.state().items():
            tensor.copy_(state[name])
        self.updates = updates
