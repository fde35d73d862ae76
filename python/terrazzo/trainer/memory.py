# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Refuses what cannot fit before it is begun: the system ends a process that takes too much, and says nothing.

Each figure is a lower bound, so nothing is refused that would have fitted.
"""

import contextlib
import copy
import os
import resource
from pathlib import Path

import torch

from .config import Config
from .errors import ConfigError, TrainerError
from .model import Decoder, parameter_count
from .tokenizer import VOCAB

_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")


def host_bytes() -> int:
    """Memory that this process could have at most."""
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    address_space = resource.getrlimit(resource.RLIMIT_AS)[0]
    if address_space != resource.RLIM_INFINITY:
        limits.append(address_space)
    with contextlib.suppress(OSError, ValueError):  # no control group, or one without a limit
        limits.append(int(_CGROUP_LIMIT.read_text()))
    return min(limits)


def require(needed: float, have: int, name: str, what: str, error: type[TrainerError]) -> None:
    """Raises `error` when `needed` bytes are more than there are."""
    if needed > have:
        raise error(f"{name}: {what} take {needed / 1e9:,.1f} GB at least, expected {have / 1e9:,.1f} GB at most")


def parameters(config: Config) -> int:
    """How many parameters the model has; found without memory for them."""
    counts = []
    for layers in (1, 2):
        small = copy.copy(config.model)
        small.layers = layers
        with torch.device("meta"):
            counts.append(parameter_count(Decoder(small, config.data.context)))
    return counts[0] + (config.model.layers - 1) * (counts[1] - counts[0])


def require_model(config: Config) -> None:
    """Checks the parameters with their gradients and moments, and the largest tensors of a step."""
    have = host_bytes() if config.target == "cpu" else torch.cuda.mem_get_info()[1]
    model, train, context = config.model, config.train, config.data.context
    require(16 * parameters(config), have, "model", "its parameters, gradients and moments", ConfigError)
    if model.family == "transformer" and model.position == "rope":
        tables = 4 * model.layers * context * (model.width // model.heads)
        require(tables, have, "data.context", "tables of positions for this many tokens", ConfigError)
    rows = train.micro_batch or train.batch
    name = "train.micro_batch" if train.micro_batch else "train.batch"
    a_token = 4 * (2 * VOCAB + model.layers * model.width)
    require(a_token * rows * context, have, name, f"the activations of {rows} sequences", ConfigError)
    require(4 * VOCAB * config.eval.batch * context, have, "eval.batch", "the logits of a batch", ConfigError)
