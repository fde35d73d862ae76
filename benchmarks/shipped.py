# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long every shipped kernel takes to compile cold, and to load from the disk cache.

The compiler's entry is wrapped while each kernel of the library is called once; what it compiles is timed where it
happens, and afterwards loaded again from the cache that it was stored in.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

import torch
from terrazzo.jit import JITFunction
from terrazzo.kernels import torch_ops as ops


def warm_up() -> None:
    """One compilation, so that what a process does once is not counted."""
    ops.add(torch.zeros(7), torch.zeros(7))


def call_operations() -> None:
    """The operations that no model here uses, and the forms of others that it does not."""

    def tensor(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, requires_grad=True)

    results = [
        ops.softmax(tensor(8, 1000)),
        ops.layernorm(tensor(8, 1000), tensor(1000), tensor(1000)),
        ops.gelu(tensor(8, 1000)),
        ops.gelu(tensor(8, 1000), approximate="tanh"),
        ops.linear(tensor(33, 70), tensor(50, 70), tensor(50)),
    ]
    heads = (16, 32, 64, 80, 96, 128)
    results += [ops.attention(tensor(1, 2, 128, d), tensor(1, 1, 128, d), tensor(1, 1, 128, d)) for d in heads]
    for result in results:
        result.sum().backward()


def train_models() -> None:
    """A training step of each kind of model: forward, backward, update."""
    from terrazzo.trainer import config as configuration
    from terrazzo.trainer.model import Decoder, initialise
    from terrazzo.trainer.optimizer import AdamW

    for family, position in (("transformer", "rope"), ("transformer", "alibi"), ("mamba", "rope")):
        config = configuration.Config()
        config.model.family, config.model.position, config.model.layers = family, position, 1
        model = Decoder(config.model, config.data.context)
        initialise(model, 0)
        optimizer = AdamW(model, config.train)
        tokens = torch.randint(0, 256, (2, config.data.context))
        model(tokens, tokens).backward()
        optimizer.collect()
        optimizer.step(1e-3, optimizer.gradient_norm())


def compile_times(rounds: int) -> tuple[dict[str, float], dict[str, float]]:
    """Kernel -> milliseconds of its slowest cold compile, and of loading that one (the median of some).

    Both end with code that can be launched: compiled or read from the cache, and linked.
    """
    warm_up()
    seen: list[tuple[Any, ...]] = []
    cold: dict[str, float] = {}
    original = JITFunction._compile_into

    def timed(fn: Any, *arguments: Any) -> None:
        start = time.perf_counter()
        original(fn, *arguments)
        taken = (time.perf_counter() - start) * 1e3
        seen.append((fn, *arguments))
        cold[fn.__name__] = max(cold.get(fn.__name__, 0.0), taken)

    JITFunction._compile_into = timed
    try:
        call_operations()
        train_models()
    finally:
        JITFunction._compile_into = original

    cached: dict[str, float] = {}
    for fn, *arguments in seen:
        taken = []
        for _ in range(max(rounds, 5)):
            fn.device_caches.clear()
            start = time.perf_counter()
            original(fn, *arguments)
            taken.append((time.perf_counter() - start) * 1e3)
        cached[fn.__name__] = max(cached.get(fn.__name__, 0.0), statistics.median(taken))
    return cold, cached
