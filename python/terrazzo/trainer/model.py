# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The decoder: embedding, a stack of residual blocks of either family, final norm, projection to the vocabulary.

Shapes: B batch, T tokens, W width, V vocabulary. Parameters and arithmetic are fp32. Single-device code: nothing here
knows about targets, micro-batches or optimizers.
"""

import numpy as np
import torch
from torch import nn

from ..kernels import torch_ops as ops
from .batches import IGNORE
from .config import ModelConfig
from .mamba import Mamba
from .tokenizer import VOCAB
from .transformer import Attention, FeedForward

# Matrices that write into the residual stream start smaller, so that depth does not raise its variance.
RESIDUAL_OUTPUTS = ("out", "down")
# Parameters that weight decay would harm: scales, biases, the embedding, and what shapes the recurrence.
NO_DECAY = frozenset({"mixer_norm", "mlp_norm", "final_norm", "embedding", "conv_bias", "dt_bias", "A_log", "D"})


class Block(nn.Module):
    """One layer: a token mixer, and for the attention family a feed-forward network, each behind its norm."""

    def __init__(self, config: ModelConfig, context: int):
        super().__init__()
        self.eps = config.norm_eps
        self.mixer_norm = nn.Parameter(torch.ones(config.width))
        self.mixer = Attention(config, context) if config.family == "transformer" else Mamba(config)
        self.mlp: FeedForward | None = None
        if config.family == "transformer":
            self.mlp_norm = nn.Parameter(torch.ones(config.width))
            self.mlp = FeedForward(config)

    def forward(self, x_BTW: torch.Tensor) -> torch.Tensor:
        """[B, T, W] to [B, T, W]."""
        # fork and add keep the sums of the residual stream, in both directions, inside generated kernels.
        kept_BTW, x_BTW = ops.fork(x_BTW, 2)
        x_BTW = ops.add(kept_BTW, self.mixer(ops.rmsnorm(x_BTW, self.mixer_norm, self.eps)))
        if self.mlp is not None:
            kept_BTW, x_BTW = ops.fork(x_BTW, 2)
            x_BTW = ops.add(kept_BTW, self.mlp(ops.rmsnorm(x_BTW, self.mlp_norm, self.eps)))
        return x_BTW


class Decoder(nn.Module):
    """A language model over byte tokens."""

    def __init__(self, config: ModelConfig, context: int):
        super().__init__()
        self.config = config
        self.context = context
        self.embedding = nn.Parameter(torch.empty(VOCAB, config.width))
        self.blocks = nn.ModuleList(Block(config, context) for _ in range(config.layers))
        self.final_norm = nn.Parameter(torch.ones(config.width))
        if not config.tied_embeddings:
            self.unembedding = nn.Parameter(torch.empty(VOCAB, config.width))

    def tokens(self, values: np.ndarray) -> torch.Tensor:
        """Token numbers as a tensor where the parameters are."""
        return torch.from_numpy(values).to(self.embedding.device)

    def logits(self, tokens_BT: torch.Tensor) -> torch.Tensor:
        """Unnormalised log-probabilities of each next token, [B, T, V]."""
        table_VW = self.embedding
        if self.config.tied_embeddings:
            table_VW, head_VW = ops.fork(self.embedding, 2)
        else:
            head_VW = self.unembedding
        x_BTW = ops.embedding(tokens_BT, table_VW)
        for block in self.blocks:
            x_BTW = block(x_BTW)
        x_BTW = ops.rmsnorm(x_BTW, self.final_norm, self.config.norm_eps)
        return ops.linear(x_BTW, head_VW)

    def forward(self, tokens_BT: torch.Tensor, targets_BT: torch.Tensor) -> torch.Tensor:
        """Mean cross-entropy in nats over the targets that count."""
        logits_BTV = self.logits(tokens_BT)
        return ops.cross_entropy(logits_BTV.view(-1, VOCAB), targets_BT.view(-1), ignore_index=IGNORE)


@torch.no_grad()
def initialise(model: Decoder, seed: int) -> None:
    """Fills the parameters from `seed` alone: the same on every target."""
    random = torch.Generator().manual_seed(seed)
    config = model.config
    branches = 2 if config.family == "transformer" else 1
    residual = (2.0 * branches * config.layers) ** -0.5
    for name, parameter in model.named_parameters():
        leaf = name.rsplit(".", 1)[-1]
        if parameter.ndim < 2:
            continue
        if leaf in ("embedding", "unembedding"):
            std = 0.02 if config.tied_embeddings or leaf == "unembedding" else 0.5
        elif leaf in RESIDUAL_OUTPUTS:
            std = 0.02 * residual
        else:
            std = 0.7 * parameter.shape[1] ** -0.5
        parameter.normal_(0.0, std, generator=random)
    for block in model.blocks:
        if isinstance(block.mixer, Mamba):
            block.mixer.initialise(random)


def build(config: ModelConfig, context: int, seed: int) -> Decoder:
    """A model with its starting parameters."""
    model = Decoder(config, context)
    initialise(model, seed)
    return model


def decays(name: str) -> bool:
    """Whether weight decay applies to the parameter."""
    return name.rsplit(".", 1)[-1] not in NO_DECAY


def parameter_count(model: nn.Module) -> int:
    """How many numbers are trained."""
    return sum(parameter.numel() for parameter in model.parameters())


def flops_per_token(config: ModelConfig, context: int, parameters: int) -> float:
    """Training FLOPs a token by the LLM Foundry formula: 6 N, plus 12 * layers * width * context for attention."""
    attention = 12 * config.layers * config.width * context if config.family == "transformer" else 0
    return 6.0 * parameters + attention
