# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole runs of tiny models: they learn, resume to the bit, stop cleanly, and refuse what does not fit."""

import json
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from terrazzo.trainer import checkpoint, corpus, sample
from terrazzo.trainer import model as models
from terrazzo.trainer import state as states
from terrazzo.trainer import train as training
from terrazzo.trainer.batches import TrainingOrder
from terrazzo.trainer.config import Config
from terrazzo.trainer.errors import CheckpointError, DivergenceError
from terrazzo.trainer.log import read_records
from torch.utils._python_dispatch import TorchDispatchMode

FAMILIES = {
    "rope": ["model.family=transformer"],
    "alibi": ["model.position=alibi", "model.tied_embeddings=true"],
    "mamba": ["model.family=mamba"],
}
Tiny = Callable[..., Config]


def losses(run: Path) -> list[float]:
    return [record["loss"] for record in read_records(run / "log.jsonl") if record["event"] == "step"]


def same_tensors(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> bool:
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def newest(run: Path) -> checkpoint.Checkpoint:
    return checkpoint.newest(run)[0]


@pytest.mark.parametrize("family", FAMILIES)
def test_resume_is_bit_exact_and_the_loss_falls(tiny: Tiny, train: Callable, tmp_path: Path, family: str):
    config = tiny(*FAMILIES[family], "train.micro_batch=2", "train.checkpoint_every=10")
    straight, resumed = tmp_path / "straight", tmp_path / "resumed"
    assert train(config, straight) == 0
    # The other run has only the first half: its checkpoint, and a log that went on for a while after it.
    resumed.mkdir()
    shutil.copytree(straight / "checkpoints" / "step-00000010", resumed / "checkpoints" / "step-00000010")
    shutil.copy(straight / "log.jsonl", resumed / "log.jsonl")
    assert train(config, resumed, newest(resumed)) == 0
    a, b = newest(straight), newest(resumed)
    assert (a.meta["step"], b.meta["step"]) == (20, 20)
    assert same_tensors(a.model, b.model) and same_tensors(a.optimizer, b.optimizer)
    assert losses(straight) == losses(resumed) and len(losses(straight)) == 20
    assert losses(straight)[-1] < losses(straight)[0] - 1.0
    end = read_records(resumed / "log.jsonl")[-1]
    assert end["event"] == "end" and end["nats"] < losses(straight)[0]
    assert (resumed / "loss.png").stat().st_size > 1000


def test_accumulation_gives_the_same_gradient(tiny: Tiny, tmp_path: Path):
    gradients = []
    for micro in (4, 2, 1):
        config = tiny(f"train.micro_batch={micro}")
        state = states.fresh(config, corpus.load(config.data.path, 0.2, tmp_path))
        training.accumulate_gradients(state, TrainingOrder(state.corpus.train, 32, 0))
        gradients.append(torch.cat([gradient.flatten() for gradient in state.optimizer.gradients.values()]))
    for other in gradients[1:]:
        assert torch.allclose(gradients[0], other, rtol=1e-3, atol=1e-6)


def test_parameters_without_weight_decay(tiny: Tiny):
    names = [name for name, _ in models.build(tiny("model.family=mamba").model, 32, 0).named_parameters()]
    names += [name for name, _ in models.build(tiny().model, 32, 0).named_parameters()]
    spared = {name.rsplit(".", 1)[-1] for name in names if not models.decays(name)}
    assert spared == {"embedding", "mixer_norm", "mlp_norm", "final_norm", "conv_bias", "dt_bias", "A_log", "D"}


@pytest.mark.parametrize("family", FAMILIES)
def test_no_token_sees_the_future(tiny: Tiny, family: str):
    decoder = models.build(tiny(*FAMILIES[family]).model, 32, 1)
    tokens = torch.arange(64).view(2, 32) % 11
    changed = tokens.clone()
    changed[:, 20] += 1
    with torch.no_grad():
        before, after = decoder.logits(tokens), decoder.logits(changed)
    assert torch.equal(before[:, :20], after[:, :20])
    assert not torch.equal(before[:, 20:], after[:, 20:])


def test_sampling_is_reproducible(tiny: Tiny):
    config = tiny("sample.tokens=40")  # longer than the window
    decoder = models.build(config.model, 32, 1)
    first, second = sample.generate(decoder, config.sample), sample.generate(decoder, config.sample)
    config.sample.seed = 1
    assert first == second != sample.generate(decoder, config.sample)
    assert first.startswith(config.sample.prompt)
    config.sample.temperature = 0.0
    greedy = sample.generate(decoder, config.sample)
    config.sample.temperature, config.sample.top_k = 5.0, 1
    assert sample.generate(decoder, config.sample) == greedy


def test_not_a_number_stops_before_the_update(
    tiny: Tiny, train: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    config = tiny("train.checkpoint_every=2")
    step = training.training_step

    def poisoned(state: states.State, order: TrainingOrder) -> tuple[float, float, float]:
        if state.pace.step == 5:
            state.model.final_norm.data[0] = float("nan")
        return step(state, order)

    monkeypatch.setattr(training, "training_step", poisoned)
    with pytest.raises(DivergenceError, match=r"step 6: the loss is nan.*step-00000004"):
        train(config, tmp_path)
    assert newest(tmp_path).meta["step"] == 4
    assert all(torch.isfinite(tensor).all() for tensor in newest(tmp_path).model.values())
    assert read_records(tmp_path / "log.jsonl")[-1]["event"] == "diverged"


def test_other_text_or_model_is_refused(tiny: Tiny, train: Callable, tmp_path: Path, text_folder: Path):
    config = tiny("train.steps=2")
    train(config, tmp_path / "run")
    found = newest(tmp_path / "run")
    other = corpus.load(str(text_folder), 0.3, tmp_path / "cache")
    with pytest.raises(CheckpointError, match="other text"):
        states.restore(states.fresh(config, other), found)
    wider = states.fresh(tiny("model.mlp_width=96"), corpus.load(str(text_folder), 0.2, tmp_path / "cache2"))
    with pytest.raises(CheckpointError, match=r"mlp.*expected .*\[96, 32\], found .*\[64, 32\]"):
        states.restore(wider, found)


def test_interrupt_saves_and_resume_continues(trainer: Callable, start: Callable, tmp_path: Path):
    run = tmp_path / "run"
    process = start("train", "--run", run, "train.steps=100000", "train.log_every=1")
    for line in process.stdout:
        if line.startswith("step 3/"):
            process.send_signal(signal.SIGINT)
            break
    rest, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert f"resume with: python -m terrazzo.trainer resume {run}" in rest, (rest, errors)
    step = newest(run).meta["step"]
    assert step >= 3 and f"interrupted after step {step}" in rest
    # The run cannot be started over by accident, nor continued as something else.
    status, _, errors = trainer("train", "--run", run)
    assert status == 2 and "already holds checkpoints" in errors
    status, _, errors = trainer("resume", run, "model.layers=3")
    assert status == 2 and "'model.layers' is 2" in errors
    # A damaged newest checkpoint is passed over, and said so.
    shutil.copytree(newest(run).path, run / "checkpoints" / "step-99999999")
    (run / "checkpoints" / "step-99999999" / "model.safetensors").write_bytes(b"")
    status, output, errors = trainer("resume", run, f"train.steps={step + 2}")
    assert status == 0, errors
    assert "step-99999999" in errors and f"using step-{step:08d}" in errors
    assert f"step {step + 2}/{step + 2}" in output
    records = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    assert [record["step"] for record in records if record["event"] == "step"] == list(range(1, step + 3))


def test_eval_and_sample_verbs(trainer: Callable, tmp_path: Path):
    run = tmp_path / "run"
    status, output, errors = trainer("train", "--run", run, "train.steps=3")
    assert status == 0, errors
    assert "% of step" in output and "matmul_kernel" in output and "trigram" in output
    status, output, _ = trainer("eval", run)
    assert status == 0 and "nats/byte" in output and "trigram" in output
    status, output, _ = trainer("sample", run, "--prompt", "stone ", "sample.tokens=4")
    assert status == 0 and output.startswith("stone ")
    record = [record for record in read_records(run / "log.jsonl") if record["event"] == "profile"][0]
    assert sum(row["share"] for row in record["kernels"]) == pytest.approx(1.0)


# What torch may do in a step: allocate, look at memory in other ways, copy, and hand a number to Python.
HARMLESS = {
    "_local_scalar_dense",
    "_unsafe_view",
    "clone",
    "copy_",
    "detach",
    "empty",
    "empty_like",
    "expand",
    "full_like",
    "lift_fresh",
    "permute",
    "select",
    "slice",
    "transpose",
    "unsqueeze",
    "view",
    "zeros",
}


class Recorder(TorchDispatchMode):
    """Collects the names of the operators that torch itself runs."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.add(str(function).split(".")[1])
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_step_computes_in_generated_kernels_only(tiny: Tiny, tmp_path: Path, family: str):
    config = tiny(*FAMILIES[family], "train.micro_batch=2")
    state = states.fresh(config, corpus.load(config.data.path, 0.2, tmp_path))
    with Recorder() as recorder:
        training.training_step(state, TrainingOrder(state.corpus.train, 32, 0))
    assert recorder.names <= HARMLESS
