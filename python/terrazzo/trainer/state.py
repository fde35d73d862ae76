# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a training run is between two steps: all that a checkpoint must hold for the next step to be the same bits."""

from dataclasses import dataclass
from pathlib import Path

import torch

from .. import store
from . import checkpoint, lineage, memory
from .config import Config, to_dict
from .corpus import Corpus, require_windows
from .errors import CheckpointError
from .model import Decoder, build
from .optimizer import AdamW
from .schedule import Pace
from .target import torch_device


@dataclass
class State:
    """A run between two steps."""

    config: Config
    corpus: Corpus
    model: Decoder
    optimizer: AdamW
    pace: Pace
    cursor: int  # training sequences consumed so far
    origin: Path | None = None  # the checkpoint that this process went on from
    saved: Path | None = None  # the checkpoint that holds the newest saved step


def fresh(config: Config, corpus: Corpus) -> State:
    """The state before the first step; a function of the configuration and the corpus."""
    require_windows(corpus, config.data.context)
    memory.require_model(config)
    torch.manual_seed(config.train.seed)
    model = build(config.model, config.data.context, config.train.seed).to(torch_device(config.target))
    return State(config, corpus, model, AdamW(model, config.train), Pace(config.train), 0)


def save(state: State, run: Path) -> Path:
    """Writes a checkpoint of the state, unless no step was done since the last one."""
    if state.saved is not None and checkpoint.step_of(state.saved) == state.pace.step:
        return state.saved
    optimizer = dict(state.optimizer.state(), random=torch.get_rng_state())
    meta = {
        "config": to_dict(state.config),
        "corpus": state.corpus.digest,
        "build": store.fingerprint(),
        "cursor": state.cursor,
        "updates": state.optimizer.updates,
        "progress": state.pace.progress,
        "elapsed": state.pace.elapsed,
        "step_seconds": state.pace.step_seconds,
    }
    parameters = {name: parameter.data for name, parameter in state.model.named_parameters()}
    step, keep = state.pace.step, state.config.train.keep
    lineage.set_aside(run, step - 1)  # what somebody copied in: it does not lead here
    state.saved = checkpoint.save(run, step, parameters, optimizer, meta, keep, state.origin)
    return state.saved


def restore(state: State, saved: checkpoint.Checkpoint) -> None:
    """Turns a fresh state into the saved one."""
    if saved.meta["corpus"] != state.corpus.digest:
        raise CheckpointError(
            f"{saved.path}: was trained on other text than {state.corpus.source} holds now (corpus digest differs)"
        )
    parameters = {name: parameter.data for name, parameter in state.model.named_parameters()}
    checkpoint.match_tensors(saved.model, parameters, saved.path)
    random = torch.get_rng_state()
    checkpoint.match_tensors(saved.optimizer, dict(state.optimizer.state(), random=random), saved.path)
    try:
        torch.set_rng_state(saved.optimizer["random"])
    except RuntimeError as error:
        raise CheckpointError(f"{saved.path}: expected a state of the random numbers, found another: {error}") from None
    for name, parameter in parameters.items():
        parameter.copy_(saved.model[name])
    state.optimizer.load(saved.optimizer, saved.meta["updates"])
    state.cursor = saved.meta["cursor"]
    state.pace = Pace(
        state.config.train,
        saved.meta["step"],
        saved.meta["progress"],
        saved.meta["elapsed"],
        saved.meta["step_seconds"],
    )
    state.origin = state.saved = saved.path
