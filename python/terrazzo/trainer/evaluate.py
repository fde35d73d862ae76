# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Held-out loss, of the model and of the trigram baseline over exactly the same positions."""

import math
from dataclasses import dataclass

import numpy as np
import torch

from .batches import held_out_batches
from .config import EvalConfig
from .corpus import Corpus
from .model import Decoder
from .trigram import Trigram


@dataclass(frozen=True)
class Score:
    """Mean negative log-likelihood of a byte (END counts as one)."""

    nats: float
    tokens: int
    trigram_nats: float | None = None

    @property
    def bits(self) -> float:
        """The same in bits a byte."""
        return self.nats / math.log(2.0)


@torch.no_grad()
def evaluate(model: Decoder, corpus: Corpus, config: EvalConfig, limit: int, baseline: Trigram | None = None) -> Score:
    """Scores about `limit` held-out tokens (0: all), spread evenly over the held-out files."""
    total, count, positions = 0.0, 0, []
    batches = held_out_batches(corpus.validation, model.context, config.overlap, limit, config.batch)
    for inputs, targets, where in batches:
        loss = model(model.tokens(inputs), model.tokens(targets))
        total += loss.item() * len(where)
        count += len(where)
        positions.append(where)
    nats = total / count if count else math.nan
    trigram = baseline.nats(corpus.validation, np.concatenate(positions)) if baseline and count else None
    return Score(nats, count, trigram)
