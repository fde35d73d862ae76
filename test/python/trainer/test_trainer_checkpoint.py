# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checkpoints: complete or absent whatever happens, damage found and named, the one before still usable."""

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file
from terrazzo.trainer import checkpoint
from terrazzo.trainer.errors import CheckpointError

META = {
    "config": {},
    "corpus": "",
    "build": "",
    "cursor": 7,
    "updates": 1,
    "progress": 0.5,
    "elapsed": 1.0,
    "step_seconds": None,
}


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


def test_a_step_is_saved_once(tmp_path: Path):
    path = save(tmp_path, 10)
    with pytest.raises(CheckpointError, match="step-00000010: already exists"):
        checkpoint.save(tmp_path, 10, tensors(1), {}, META, 3)
    assert torch.equal(checkpoint.read(path).model["a"], tensors(10)["a"])
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
