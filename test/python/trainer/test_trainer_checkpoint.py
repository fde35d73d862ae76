# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checkpoints: complete or absent whatever happens, damage found and named, the one before still usable."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file
from terrazzo.trainer import checkpoint
from terrazzo.trainer.errors import CheckpointError

META = {"config": {}, "cursor": 7}


def tensors(seed: int) -> dict[str, torch.Tensor]:
    random = torch.Generator().manual_seed(seed)
    return {"a": torch.randn(3, 5, generator=random), "b.c": torch.randn(7, generator=random)}


def save(run: Path, step: int, keep: int = 3) -> Path:
    return checkpoint.save(run, step, tensors(step), {"m.a": tensors(step)["a"]}, META, keep)


def test_round_trip_and_numpy_reads_it(tmp_path: Path):
    path = save(tmp_path, 5)
    found = checkpoint.read(path)
    assert (found.meta["step"], found.meta["cursor"]) == (5, 7)
    assert all(torch.equal(found.model[name], tensor) for name, tensor in tensors(5).items())
    assert np.array_equal(load_file(path / "model.safetensors")["a"], tensors(5)["a"].numpy())


def test_same_state_same_bytes(tmp_path: Path):
    first, second = save(tmp_path / "one", 5), save(tmp_path / "two", 5)
    for name in (*checkpoint.TENSOR_FILES, "meta.json"):
        assert (first / name).read_bytes() == (second / name).read_bytes()


def test_keeps_the_newest(tmp_path: Path):
    for step in (10, 20, 30, 40):
        save(tmp_path, step, keep=2)
    assert [path.name for path in checkpoint.available(tmp_path)] == ["step-00000030", "step-00000040"]


def test_saving_a_step_again_replaces_it(tmp_path: Path):
    path = save(tmp_path, 10)
    (path / "meta.json").write_text("{}")
    save(tmp_path, 10)
    assert checkpoint.read(path).meta["step"] == 10
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


DAMAGE = {
    "flip": lambda data: data[:-3] + bytes([data[-3] ^ 4]) + data[-2:],
    "truncate": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "longer": lambda data: data + b"\0",
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("name", [*checkpoint.TENSOR_FILES, "meta.json"])
def test_damage_is_named_and_the_one_before_used(tmp_path: Path, name: str, damage: str):
    good, bad = save(tmp_path, 10), save(tmp_path, 20)
    data = (bad / name).read_bytes()
    if name == "meta.json" and damage in ("flip", "longer"):
        # A change that is still valid JSON, and one that is not.
        data = data.replace(b'"cursor": 7', b'"cursor": 8') if damage == "flip" else data + b"}"
        (bad / name).write_bytes(data)
    else:
        (bad / name).write_bytes(DAMAGE[damage](data))
    with pytest.raises(CheckpointError, match=f"step-00000020/{name}"):
        checkpoint.read(bad)
    run, found, warnings = checkpoint.locate(tmp_path)
    assert (run, found.path) == (tmp_path, good)
    assert "step-00000020" in warnings[0] and "using step-00000010" in warnings[0]
    with pytest.raises(CheckpointError, match=f"newest intact checkpoint is .*{good.name}"):
        checkpoint.locate(bad)


def test_missing_pieces(tmp_path: Path):
    path = save(tmp_path, 10)
    (path / "optimizer.safetensors").unlink()
    with pytest.raises(CheckpointError, match="optimizer.safetensors"):
        checkpoint.read(path)
    with pytest.raises(CheckpointError, match="no usable checkpoint.*optimizer.safetensors"):
        checkpoint.locate(tmp_path)
    with pytest.raises(CheckpointError, match="no such run"):
        checkpoint.locate(tmp_path / "absent")


def test_tensors_must_match():
    want = {"a": torch.zeros(2, 3)}
    for have, word in (
        ({}, "'a' is missing"),
        ({**want, "z": torch.zeros(1)}, "'z' is not part"),
        ({"a": torch.zeros(3, 2)}, r"expected torch.float32 \[2, 3\], found torch.float32 \[3, 2\]"),
    ):
        with pytest.raises(CheckpointError, match=word):
            checkpoint.match_tensors(have, want, Path("model"))


# Saves step 10, then forks children that die by SIGKILL inside the save of step 20, each at the n-th call of a function
# of `os`; one folder a child.
KILLED = """
import os, shutil, signal, sys, torch
from pathlib import Path
from terrazzo.trainer import checkpoint
base = Path(sys.argv[1])
save = lambda run, step: checkpoint.save(run, step, {"a": torch.full((1000,), step)}, {"m.a": torch.ones(9)}, {}, 1)
save(base / "start", 10)
for case in sys.argv[2:]:
    name, count = case.split("-")
    shutil.copytree(base / "start", base / case)
    pid = os.fork()
    if pid == 0:
        original, left = getattr(os, name), int(count)
        def deadly(*arguments):
            global left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return original(*arguments)
        setattr(os, name, deadly)
        save(base / case, 20)
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(pid, 0)[1]) == signal.SIGKILL, case
"""


def test_killed_while_saving(tmp_path: Path, subprocess_environment: dict[str, str]):
    survivors = {"mkdir-1": 10, "fsync-2": 10, "fsync-3": 10, "rename-1": 10, "fsync-5": 20}
    subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), *survivors], env=subprocess_environment, timeout=60, check=True
    )
    for case, survivor in survivors.items():
        _, found, warnings = checkpoint.locate(tmp_path / case)
        assert found.meta["step"] == survivor and not warnings
        assert torch.equal(found.model["a"], torch.full((1000,), survivor))
        save(tmp_path / case, 30)
        assert not list(checkpoint.folder_of(tmp_path / case).glob(".*"))
