# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Going on from an earlier checkpoint: the later ones move aside, and pruning counts the line that is trained on."""

import json
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from terrazzo.trainer import checkpoint, lineage
from terrazzo.trainer.log import read_records

# What a checkpoint holds besides its tensors, as far as it matters here.
META = dict(config={}, corpus="", build="", cursor=0, updates=0, progress=0.0, elapsed=0.0, step_seconds=None)
Trainer = Callable[..., tuple[int, str, str]]


def save(run: Path, step: int, keep: int = 9, origin: Path | None = None) -> Path:
    tensors = {"a": torch.full((50,), float(step))}
    return checkpoint.save(run, step, tensors, {"m.a": tensors["a"]}, META, keep, origin)


def steps(run: Path) -> list[int]:
    """The checkpoints of a run, all of which must be intact."""
    return [checkpoint.read(path).meta["step"] for path in checkpoint.available(run)]


def logged(run: Path) -> list[int]:
    return [record["step"] for record in read_records(run / "log.jsonl") if record["event"] == "step"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("finished") / "run"


@pytest.fixture
def run(finished: Path, trainer: Trainer, tmp_path: Path) -> Path:
    """A copy of a run of 30 steps with a checkpoint every five."""
    if not finished.exists():
        status, _, errors = trainer(
            "train", "--run", finished, "train.steps=30", "train.checkpoint_every=5", "train.keep=9"
        )
        assert status == 0, errors
    assert steps(finished) == [5, 10, 15, 20, 25, 30]
    shutil.copytree(finished, tmp_path / "run")
    return tmp_path / "run"


def test_a_resumed_run_keeps_what_it_wrote_and_moves_the_rest_aside(run: Path, trainer: Trainer):
    before = checkpoint.read(run / "checkpoints" / "step-00000030")
    status, output, errors = trainer(
        "resume", run / "checkpoints" / "step-00000020", "train.keep=2", "train.steps=21", "train.lr=5e-3"
    )
    assert status == 0, errors
    aside = run / "abandoned" / "001-after-step-00000020"
    assert "the checkpoints after step 20" in output and aside.name in output
    assert steps(run) == [20, 21] and steps(aside) == [25, 30]
    assert logged(run) == list(range(1, 22)) and logged(aside) == list(range(1, 31))
    # The newest one is the new line's, though the other had got further.
    status, output, errors = trainer("resume", run, "train.keep=1", "train.steps=23")
    assert status == 0, errors
    assert "step-00000021 (step 21)" in output and steps(run) == [21, 23]
    # What was left is a run of its own: it has its settings and its text, and goes on.
    assert "lr: 0.01" in (aside / "config.yaml").read_text()
    assert torch.equal(
        checkpoint.read(aside / "checkpoints" / "step-00000030").model["embedding"], before.model["embedding"]
    )
    status, output, errors = trainer("resume", aside, "train.steps=31")
    assert status == 0, errors
    assert steps(aside) == [25, 30, 31] and logged(aside) == list(range(1, 32))


def test_going_back_twice_makes_two_folders(run: Path, trainer: Trainer):
    for _ in range(2):
        assert trainer("resume", run / "checkpoints" / "step-00000010", "train.steps=12", "train.keep=1")[0] == 0
        assert steps(run)[-2:] == [10, 12]
    names = sorted(path.name for path in (run / "abandoned").iterdir())
    assert names == ["001-after-step-00000010", "002-after-step-00000010"]
    assert steps(run / "abandoned" / names[0]) == [15, 20, 25, 30] and steps(run / "abandoned" / names[1]) == [12]


def test_a_damaged_newest_one_is_not_counted_when_pruning(run: Path, trainer: Trainer):
    (run / "checkpoints" / "step-00000030" / "meta.json").write_bytes(b"")
    status, _, errors = trainer("resume", run, "train.keep=1", "train.steps=27")
    assert status == 0 and "using step-00000025" in errors, errors
    assert steps(run) == [25, 27]
    aside = run / "abandoned" / "001-after-step-00000025"
    assert [path.name for path in checkpoint.available(aside)] == ["step-00000030"]


def test_nothing_is_written_when_no_step_was_done(run: Path, trainer: Trainer):
    def stamps() -> list[int]:
        return [path.stat().st_mtime_ns for path in checkpoint.available(run)]

    before = stamps()
    assert trainer("resume", run, "train.steps=30", "train.keep=1")[0] == 0
    assert stamps() == before


def test_what_was_copied_in_does_not_become_the_newest(run: Path, trainer: Trainer, monkeypatch: pytest.MonkeyPatch):
    written = checkpoint.save

    def while_training(*arguments):  # somebody restores a backup of another line
        shutil.copytree(run / "checkpoints" / "step-00000030", run / "checkpoints" / "step-00000099")
        return written(*arguments)

    monkeypatch.setattr(checkpoint, "save", while_training)
    assert trainer("resume", run, "train.steps=31", "train.keep=1")[0] == 0
    assert [path.name[-2:] for path in checkpoint.available(run)] == ["30", "31", "99"]
    monkeypatch.setattr(checkpoint, "save", written)
    # It is there to be seen and named; the next save moves it out of the way.
    assert trainer("resume", run / "checkpoints" / "step-00000031", "train.steps=32", "train.keep=1")[0] == 0
    assert steps(run) == [31, 32]


def test_pruning_spares_what_was_written_and_what_was_resumed_from(tmp_path: Path):
    for step in (10, 20, 30):
        origin = save(tmp_path, step)
    for step in (31, 32, 33):
        save(tmp_path, step, keep=1, origin=origin)
        assert steps(tmp_path) == [30, step]
    # A folder that sorts after the one written does not take its place.
    shutil.copytree(origin, tmp_path / "checkpoints" / "step-00000090")
    save(tmp_path, 34, keep=1, origin=origin)
    assert [checkpoint.step_of(path) for path in checkpoint.available(tmp_path)] == [30, 34, 90]


# The functions through which files are made, named and removed.
CALLS = ("open", "mkdir", "rename", "replace", "link", "unlink", "rmdir", "fsync")


def is_killed_at(count: int, work: Callable[[], object]) -> bool:
    """Does `work` in a child that is killed at the call of this number; False when it makes fewer."""
    pid = os.fork()
    if pid:
        return os.WIFSIGNALED(os.waitpid(pid, 0)[1])
    left = count

    def deadly(original: Callable) -> Callable:
        def call(*arguments, **options):
            nonlocal left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return original(*arguments, **options)

        return call

    for name in CALLS:
        setattr(os, name, deadly(getattr(os, name)))
    try:
        work()
    finally:
        os._exit(0)


def outcomes(start: Path, work: Callable[[Path], object], check: Callable[[Path], object]) -> list[object]:
    """What `check` finds in copies of `start` where `work` was killed at its first, second, ... call; no repeats."""
    found: list[object] = []
    for count in range(1, 500):
        folder = start.with_name(f"{start.name}-{count}")
        shutil.copytree(start, folder)
        killed = is_killed_at(count, lambda: work(folder))
        value = check(folder)
        if not found or found[-1] != value:
            found.append(value)
        if not killed:
            return found
    raise AssertionError("never got through")


def test_killed_anywhere_while_saving_and_pruning(tmp_path: Path):
    start = tmp_path / "start"
    origin = [save(start, step) for step in (10, 20, 30)][1]

    def check(folder: Path) -> list[int]:
        before = steps(folder)
        save(folder, 50, keep=2)
        assert steps(folder)[-1] == 50 and not list(checkpoint.folder_of(folder).glob(".*"))
        return before

    seen = outcomes(start, lambda folder: save(folder, 40, keep=1, origin=origin), check)
    assert seen == [[10, 20, 30], [10, 20, 30, 40], [20, 30, 40], [20, 40]]


def test_killed_anywhere_while_moving_aside(tmp_path: Path):
    start = tmp_path / "start"
    for step in (10, 20, 30, 40):
        save(start, step)
    (start / "cache").mkdir()
    (start / "cache" / "train.bin").write_bytes(b"tokens")
    (start / "log.jsonl").write_text(json.dumps({"event": "step", "step": 40, "loss": 1.0}) + "\n")

    def check(folder: Path) -> list[int]:
        left = steps(folder)
        lineage.set_aside(folder, 20)
        asides = sorted((folder / "abandoned").iterdir())
        assert steps(folder) == [10, 20]
        assert sorted(step for aside in asides for step in steps(aside)) == [30, 40]
        for aside in asides:
            assert (aside / "cache" / "train.bin").read_bytes() == b"tokens" and logged(aside) == [40]
        return left

    seen = outcomes(start, lambda folder: lineage.set_aside(folder, 20), check)
    assert seen == [[10, 20, 30, 40], [10, 20, 30], [10, 20]]


@pytest.mark.parametrize("name", ["step-00000010", "elsewhere/step-00000010"])
def test_a_checkpoint_out_of_its_run_is_refused(tmp_path: Path, trainer: Trainer, name: str):
    save(tmp_path, 10)
    (tmp_path / "elsewhere").mkdir()
    shutil.copytree(tmp_path / "checkpoints" / "step-00000010", tmp_path / name)
    status, _, errors = trainer("sample", tmp_path / name)
    assert status == 2 and "expected a checkpoint in the folder 'checkpoints' of its run" in errors
