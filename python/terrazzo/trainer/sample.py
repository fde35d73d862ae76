# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Text from a model: temperature and top-k sampling over bytes, reproducible from a seed."""

import numpy as np
import torch

from . import tokenizer
from .config import SampleConfig
from .model import Decoder


def choose(logits: np.ndarray, temperature: float, top_k: int, random: np.random.Generator) -> int:
    """One token from its logits; temperature 0 takes the most likely one."""
    logits = logits[: tokenizer.END + 1].astype(np.float64)  # reserved ids are never produced
    if temperature == 0:
        return int(logits.argmax())
    if 0 < top_k < logits.size:
        logits = np.where(logits < np.partition(logits, -top_k)[-top_k], -np.inf, logits)
    weights = np.exp((logits - logits.max()) / temperature)
    # Inverting the distribution by hand keeps one random number a token, whatever NumPy's choice() does.
    cumulative = np.cumsum(weights)
    return int(np.searchsorted(cumulative, random.random() * cumulative[-1], side="right"))


@torch.no_grad()
def generate(model: Decoder, config: SampleConfig) -> str:
    """The prompt and what follows it, until END or `tokens` new tokens.

    Every step recomputes one window of fixed length (attention is causal, so padding behind the text changes nothing):
    all kernels have one shape and are compiled once.
    """
    random = np.random.Generator(np.random.Philox(key=config.seed))
    text = tokenizer.encode(config.prompt).astype(np.int64).tolist()
    for _ in range(config.tokens):
        window = text[-model.context :]
        padded = np.zeros((1, model.context), dtype=np.int64)
        padded[0, : len(window)] = window
        logits = model.logits(model.tokens(padded))[0, len(window) - 1]
        token = choose(logits.cpu().numpy(), config.temperature, config.top_k, random)
        if token == tokenizer.END:
            break
        text.append(token)
    return tokenizer.decode(np.array(text))
