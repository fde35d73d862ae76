# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole runs of tiny models: they learn, resume to the bit, stop cleanly, and refuse what does not fit."""

import json
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

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
def test_resume_is_bit_exact_and_the_loss_falls(tiny: Tiny, tmp_path: Path, family: str):
    config = tiny(*FAMILIES[family], "train.micro_batch=2", "train.checkpoint_every=10")
    straight, resumed = tmp_path / "straight", tmp_path / "resumed"
    assert training.train(config, straight) == 0
    # The other run has only the first half: its checkpoint, and a log that went on for a while after it.
    resumed.mkdir()
    shutil.copytree(straight / "checkpoints" / "step-00000010", resumed / "checkpoints" / "step-00000010")
    shutil.copy(straight / "log.jsonl", resumed / "log.jsonl")
    assert training.train(config, resumed, newest(resumed)) == 0
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


def test_not_a_number_stops_before_the_update(tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    config = tiny("train.checkpoint_every=2")
    step = training.training_step

    def poisoned(state: states.State, order: TrainingOrder) -> tuple[float, float, float]:
        if state.pace.step == 5:
            state.model.final_norm.data[0] = float("nan")
        return step(state, order)

    monkeypatch.setattr(training, "training_step", poisoned)
    with pytest.raises(DivergenceError, match=r"step 6: the loss is nan.*step-00000004"):
        training.train(config, tmp_path)
    assert newest(tmp_path).meta["step"] == 4
    assert all(torch.isfinite(tensor).all() for tensor in newest(tmp_path).model.values())
    assert read_records(tmp_path / "log.jsonl")[-1]["event"] == "diverged"


def test_other_text_or_model_is_refused(tiny: Tiny, tmp_path: Path, text_folder: Path):
    config = tiny("train.steps=2")
    training.train(config, tmp_path / "run")
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
    assert f"resume with: python -m terrazzo.trainer resume {run}" in rest
    step = newest(run).meta["step"]
    assert step >= 3 and f"interrupted after step {step}" in rest
    # The run cannot be started over by accident, nor continued as something else.
    again = trainer("train", "--run", run)
    assert again.returncode == 2 and "already holds checkpoints" in again.stderr
    other = trainer("resume", run, "model.layers=3")
    assert other.returncode == 2 and "'model.layers' is 2" in other.stderr
    # A damaged newest checkpoint is passed over, and said so.
    shutil.copytree(newest(run).path, run / "checkpoints" / "step-99999999")
    (run / "checkpoints" / "step-99999999" / "model.safetensors").write_bytes(b"")
    done = trainer("resume", run, f"train.steps={step + 2}")
    assert done.returncode == 0, done.stderr
    assert "step-99999999" in done.stderr and f"using step-{step:08d}" in done.stderr
    assert f"step {step + 2}/{step + 2}" in done.stdout
    records = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    assert [record["step"] for record in records if record["event"] == "step"] == list(range(1, step + 3))


def test_eval_and_sample_verbs(trainer: Callable, tmp_path: Path):
    run = tmp_path / "run"
    trained = trainer("train", "--run", run, "train.steps=3")
    assert trained.returncode == 0, trained.stderr
    assert "% of step" in trained.stdout and "trigram" in trained.stdout
    result = trainer("eval", run)
    assert result.returncode == 0 and "nats/byte" in result.stdout and "trigram" in result.stdout
    text = trainer("sample", run, "--prompt", "stone ", "sample.tokens=4")
    assert text.returncode == 0 and text.stdout.startswith("stone ")
