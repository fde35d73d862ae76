# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training, as a list of steps; each function below does one of them and holds no state of its own."""

import math
import time
from collections import deque
from pathlib import Path

import torch

from .. import store
from . import checkpoint, lineage, plot, sample
from . import config as configuration
from . import corpus as corpora
from . import state as states
from .batches import TrainingOrder
from .config import Config
from .display import Display, clock
from .errors import DivergenceError
from .evaluate import Score, evaluate
from .files import write_atomic
from .interrupt import Interruptible
from .lock import OwnedRun
from .log import JsonLog, read_records
from .model import flops_per_token, parameter_count
from .profile import KernelProfile
from .schedule import learning_rate
from .state import State
from .trigram import Trigram


def train(config: Config, owned: OwnedRun, resumed: checkpoint.Checkpoint | None = None) -> int:
    """Runs or continues a training in the owned folder; returns the exit status."""
    run = owned.folder
    corpus = corpora.load(config.data.path, config.data.validation, run / "cache")
    state = states.fresh(config, corpus)
    if resumed:
        states.restore(state, resumed)
    aside = lineage.set_aside(run, state.pace.step) if resumed else None
    write_atomic(run / "config.yaml", configuration.to_yaml(config).encode())
    log = JsonLog(run / "log.jsonl", resumed.meta["step"] if resumed else None)
    with Display(config.train.log_every) as display:
        introduce(state, run, display, log, resumed)
        if aside:
            display.line(f"aside      the checkpoints after step {state.pace.step}, in {aside}")
        baseline = Trigram(corpus.train)
        with Interruptible() as interrupt, KernelProfile() as profile:
            interrupt.run(lambda: loop(state, run, baseline, interrupt, profile, display, log))
            path = states.save(state, run)
        log.write("profile", step=state.pace.step, kernels=profile.records())
        if interrupt.signal is not None:
            say_how_to_resume(state, run, path, display, log)
            return interrupt.exit_status
        finish(state, run, path, baseline, profile, display, log)
    return 0


def loop(
    state: State,
    run: Path,
    baseline: Trigram,
    interrupt: Interruptible,
    profile: KernelProfile,
    display: Display,
    log: JsonLog,
) -> None:
    """Steps until the run is finished or interrupted."""
    order = TrainingOrder(state.corpus.train, state.config.data.context, state.config.train.seed)
    recent: deque[float] = deque(maxlen=20)
    while not state.pace.finished and interrupt.signal is None:
        started = time.perf_counter()
        try:
            with profile.step():
                loss, norm, lr = training_step(state, order)
        except DivergenceError as error:
            raise give_up(error, state, run, log) from None
        seconds = time.perf_counter() - started
        state.pace.advance(seconds)
        recent.append(seconds)
        report_step(state, loss, norm, lr, seconds, recent, display, log)
        visit(state, run, baseline, display, log)


def introduce(state: State, run: Path, display: Display, log: JsonLog, resumed: checkpoint.Checkpoint | None) -> None:
    """Says what is about to be trained, on what, and where."""
    corpus, config = state.corpus, state.config
    count = parameter_count(state.model)
    display.line(f"run        {run}")
    display.line(f"model      {config.model.family}, {count / 1e6:.2f}M parameters, target {config.target}")
    display.line(
        f"text       {corpus.source}: {corpus.train.size:,} tokens in {corpus.train_files} files to train on, "
        f"{corpus.validation.size:,} in {corpus.validation_files} held out"
    )
    if resumed:
        display.line(f"resumed    {resumed.path} (step {state.pace.step})")
        if resumed.meta.get("build") != store.fingerprint():
            display.line("           another build of the compiler wrote it: the last bits of the losses may differ")
    log.write(
        "resume" if resumed else "start",
        step=state.pace.step,
        parameters=count,
        target=config.target,
        corpus=corpus.digest,
        config=configuration.to_dict(config),
    )


def training_step(state: State, order: TrainingOrder) -> tuple[float, float, float]:
    """One update: gradients of the whole batch, their norm, AdamW. Returns loss, gradient norm and learning rate."""
    train = state.config.train
    loss = accumulate_gradients(state, order)
    if not math.isfinite(loss):
        raise DivergenceError(f"the loss is {loss}")
    norm = state.optimizer.gradient_norm()
    if not math.isfinite(norm):
        raise DivergenceError(f"the gradient norm is {norm}")
    lr = learning_rate(state.pace.step, state.pace.progress, train)
    state.optimizer.step(lr, norm)
    state.cursor += train.batch
    return loss, norm, lr


def accumulate_gradients(state: State, order: TrainingOrder) -> float:
    """Forward and backward over the micro-batches; returns the mean loss of the batch."""
    batch = state.config.train.batch
    micro = state.config.train.micro_batch or batch
    total = 0.0
    for first in range(0, batch, micro):
        inputs, targets = order.sequences(state.cursor + first, micro)
        loss = state.model(state.model.tokens(inputs), state.model.tokens(targets))
        loss.backward(torch.full_like(loss, micro / batch))
        state.optimizer.collect()
        total += loss.item() * (micro / batch)
    return total


def give_up(error: DivergenceError, state: State, run: Path, log: JsonLog) -> DivergenceError:
    """Logs the end of a run whose numbers are no longer finite; the error returned names what to go back to."""
    log.write("diverged", step=state.pace.step + 1, reason=str(error))
    saved = checkpoint.available(run)
    advice = f"the last checkpoint is {saved[-1]}" if saved else "there is no checkpoint yet"
    return DivergenceError(f"step {state.pace.step + 1}: {error}; stopped before the update, {advice}")


def report_step(
    state: State,
    loss: float,
    norm: float,
    lr: float,
    seconds: float,
    recent: deque[float],
    display: Display,
    log: JsonLog,
) -> None:
    """Logs a step and moves the progress display."""
    config, pace = state.config, state.pace
    tokens = config.train.batch * config.data.context
    mean = sum(recent) / len(recent)
    left = pace.remaining_steps()
    log.write("step", step=pace.step, loss=loss, norm=norm, lr=lr, seconds=round(seconds, 6), tokens=pace.step * tokens)
    display.step(pace.step, pace.step + left, loss, tokens / mean, left * mean, lr, norm)


def visit(state: State, run: Path, baseline: Trigram, display: Display, log: JsonLog) -> None:
    """What happens between steps: held-out evaluation and checkpoints, when they are due."""
    started = time.perf_counter()
    train, step = state.config.train, state.pace.step
    if train.eval_every and step % train.eval_every == 0 and not state.pace.finished:
        report_score(
            state,
            evaluate(state.model, state.corpus, state.config.eval, state.config.eval.tokens, baseline),
            display,
            log,
        )
    if train.checkpoint_every and step % train.checkpoint_every == 0 and not state.pace.finished:
        states.save(state, run)
    state.pace.pause(time.perf_counter() - started)


def report_score(state: State, score: Score, display: Display, log: JsonLog) -> None:
    """Logs a held-out score beside the trigram's on the same bytes."""
    log.write(
        "eval",
        step=state.pace.step,
        nats=score.nats,
        bits=score.bits,
        tokens=score.tokens,
        trigram_nats=score.trigram_nats,
    )
    display.line(
        f"step {state.pace.step}  held out: {score.nats:.4f} nats/byte ({score.bits:.4f} bits/byte) over "
        f"{score.tokens:,} bytes; trigram {score.trigram_nats:.4f}"
    )


def say_how_to_resume(state: State, run: Path, path: Path, display: Display, log: JsonLog) -> None:
    """After Ctrl-C, when the checkpoint is written."""
    log.write("interrupted", step=state.pace.step)
    display.line(f"interrupted after step {state.pace.step}; checkpoint {path}")
    display.line(f"resume with: python -m terrazzo.trainer resume {run}")


def finish(
    state: State, run: Path, path: Path, baseline: Trigram, profile: KernelProfile, display: Display, log: JsonLog
) -> None:
    """The final score, the kernel table, the plot and a sample."""
    config, pace = state.config, state.pace
    score = evaluate(state.model, state.corpus, config.eval, config.eval.final_tokens, baseline)
    report_score(state, score, display, log)
    text = sample.generate(state.model, config.sample)
    tokens = pace.step * config.train.batch * config.data.context
    flops = flops_per_token(config.model, config.data.context, parameter_count(state.model))
    log.write(
        "end",
        step=pace.step,
        seconds=round(pace.elapsed, 3),
        tokens=tokens,
        nats=score.nats,
        bits=score.bits,
        trigram_nats=score.trigram_nats,
        sample=text,
    )
    plot.plot(read_records(run / "log.jsonl"), run / "loss.png", f"{run.name}: {score.nats:.3f} nats/byte held out")
    profile.show(display)
    rate = tokens / max(pace.elapsed, 1e-9)
    display.line(
        f"trained    {pace.step} steps, {tokens / 1e6:.2f}M tokens in {clock(pace.elapsed)} "
        f"({rate:,.0f} tokens/s, {flops * rate / 1e9:.1f} GFLOP/s)"
    )
    display.line(f"held out   {score.nats:.4f} nats/byte, {score.bits:.4f} bits/byte over {score.tokens:,} bytes")
    display.line(f"trigram    {score.trigram_nats:.4f} nats/byte on the same bytes")
    display.line(f"checkpoint {path}\nlog        {run / 'log.jsonl'}\nplot       {run / 'loss.png'}")
    display.line(f"sample (temperature {config.sample.temperature:g}, top-k {config.sample.top_k}):\n{text}")
