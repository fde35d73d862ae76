# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checkpoints: a folder `step-00000100` with model.safetensors, optimizer.safetensors and meta.json.

A checkpoint is written under a hidden name, synced, and renamed: a crash leaves the earlier ones and a hidden folder
that the next save removes. meta.json holds the SHA-256 of both tensor files and of itself, so damage is found when a
checkpoint is read. All tensors are little-endian on every target, and readable by NumPy's safetensors as well.
"""

import hashlib
import json
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from .errors import CheckpointError
from .files import fsync_folder, sha256_file, write_synced

FORMAT = 1
TENSOR_FILES = ("model.safetensors", "optimizer.safetensors")


@dataclass
class Checkpoint:
    """The contents of one checkpoint folder."""

    path: Path
    meta: dict[str, Any]
    model: dict[str, torch.Tensor]
    optimizer: dict[str, torch.Tensor]


def folder_of(run: Path) -> Path:
    """Where a run keeps its checkpoints."""
    return run / "checkpoints"


def _meta_digest(meta: dict[str, Any]) -> str:
    content = {key: value for key, value in meta.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def save(
    run: Path,
    step: int,
    model: dict[str, torch.Tensor],
    optimizer: dict[str, torch.Tensor],
    meta: dict[str, Any],
    keep: int,
) -> Path:
    """Writes the checkpoint of `step` in one visible step, then drops all but the newest `keep`."""
    folder = folder_of(run)
    folder.mkdir(parents=True, exist_ok=True)
    for left_over in folder.glob(".step-*"):
        shutil.rmtree(left_over)
    final = folder / f"step-{step:08d}"
    hidden = folder / f".{final.name}.{os.getpid()}"
    hidden.mkdir()
    for name, tensors in zip(TENSOR_FILES, (model, optimizer), strict=True):
        save_file({key: tensor.detach().cpu().contiguous() for key, tensor in tensors.items()}, hidden / name)
        with open(hidden / name, "rb") as file:
            os.fsync(file.fileno())
    full = dict(meta, format=FORMAT, step=step, files={name: sha256_file(hidden / name) for name in TENSOR_FILES})
    full["sha256"] = _meta_digest(full)
    write_synced(hidden / "meta.json", json.dumps(full, indent=1).encode())
    fsync_folder(hidden)
    if final.exists():  # the same step again, after a resume from an older checkpoint
        os.rename(final, folder / f".{final.name}.replaced")
    os.rename(hidden, final)
    fsync_folder(folder)
    shutil.rmtree(folder / f".{final.name}.replaced", ignore_errors=True)
    for old in available(run)[:-keep]:
        shutil.rmtree(old)
    return final


def available(run: Path) -> list[Path]:
    """The checkpoints of a run, oldest first, whether intact or not."""
    folder = folder_of(run)
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.is_dir() and re.fullmatch(r"step-\d{8}", path.name))


def read_meta(path: Path) -> dict[str, Any]:
    """meta.json of a checkpoint, its own checksum verified."""
    file = path / "meta.json"
    try:
        meta = json.loads(file.read_bytes())
    except FileNotFoundError:
        raise CheckpointError(f"{file}: no such file") from None
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{file}: not readable as JSON: {error}") from None
    if not isinstance(meta, dict) or meta.get("sha256") != _meta_digest(meta):
        raise CheckpointError(f"{file}: checksum does not match, the file was changed or damaged")
    if meta["format"] != FORMAT:
        raise CheckpointError(f"{file}: expected format {FORMAT}, found {meta['format']}")
    return meta


def read(path: Path) -> Checkpoint:
    """A checkpoint with all checksums verified, or a CheckpointError that names the damaged file."""
    meta = read_meta(path)
    tensors = []
    for name in TENSOR_FILES:
        file = path / name
        try:
            digest = sha256_file(file)
        except OSError as error:
            raise CheckpointError(f"{file}: {error.strerror}") from None
        if digest != meta["files"][name]:
            raise CheckpointError(f"{file}: checksum does not match, the file was changed or damaged")
        tensors.append(load_file(file))
    return Checkpoint(path, meta, tensors[0], tensors[1])


def newest(run: Path) -> tuple[Checkpoint, list[str]]:
    """The newest intact checkpoint of a run, and what is wrong with newer ones."""
    problems: list[str] = []
    for path in reversed(available(run)):
        try:
            return read(path), problems
        except CheckpointError as error:
            problems.append(str(error))
    detail = f" ({'; '.join(problems)})" if problems else ""
    raise CheckpointError(f"{folder_of(run)}: no usable checkpoint{detail}")


def locate(path: Path) -> tuple[Path, Checkpoint, list[str]]:
    """The run, the checkpoint and the warnings for what a user names: a run folder, or one checkpoint folder.

    A damaged checkpoint that was named itself is refused, with the newest intact one as advice; for a run, damaged ones
    are passed over with a warning.
    """
    if not path.is_dir():
        raise CheckpointError(f"{path}: no such run or checkpoint folder")
    if not re.fullmatch(r"step-\d{8}", path.name):
        found, problems = newest(path)
        return path, found, [f"{problem}; using {found.path.name} instead" for problem in problems]
    run = path.resolve().parent.parent
    try:
        return run, read(path), []
    except CheckpointError as error:
        try:
            other, _ = newest(run)
        except CheckpointError:
            raise error from None
        raise CheckpointError(f"{error}; the newest intact checkpoint is {other.path}") from None


def match_tensors(have: dict[str, torch.Tensor], want: dict[str, torch.Tensor], source: Path) -> None:
    """Checks that a checkpoint holds exactly the tensors of the model."""
    for name in sorted(have.keys() ^ want.keys()):
        problem = "is missing" if name in want else "is not part of this model"
        raise CheckpointError(f"{source}: tensor '{name}' {problem}")
    for name, tensor in want.items():
        found = have[name]
        if found.shape != tensor.shape or found.dtype != tensor.dtype:
            raise CheckpointError(
                f"{source}: tensor '{name}' expected {tensor.dtype} {list(tensor.shape)}, "
                f"found {found.dtype} {list(found.shape)}"
            )
