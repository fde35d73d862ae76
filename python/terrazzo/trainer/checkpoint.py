# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checkpoints: a folder `step-00000100` with model.safetensors, optimizer.safetensors and meta.json.

A checkpoint is written under a hidden name, synced, and renamed, and loses its name before it is deleted: a crash
leaves whole ones and a hidden folder that the next save removes. The folders in `checkpoints` are one line of training,
each reached from the one before it (lineage.py), and only one process writes to a run (lock.py). meta.json holds the
SHA-256 of both tensor files and of itself, so damage is found when a checkpoint is read. All tensors are little-endian
on every target, and readable by NumPy's safetensors as well.
"""

import hashlib
import json
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import torch

from .config import StepsOrNone
from .documents import read_json, require_file
from .errors import CheckpointError
from .files import fsync_folder, sha256_file, write_synced
from .schema import Range, check, shown
from .tensors import read_tensors, write_tensors

FORMAT = 1
TENSOR_FILES = ("model.safetensors", "optimizer.safetensors")
META_FIELDS: dict[str, Any] = {
    "step": StepsOrNone,
    "files": dict,
    "config": dict,
    "corpus": str,
    "build": str,
    "cursor": Annotated[int, Range(0, 1 << 60)],
    "updates": StepsOrNone,
    "progress": Annotated[float, Range(0, 1)],
    "elapsed": Annotated[float, Range(0, 1e12)],
    "step_seconds": Annotated[float | None, Range(1e-9, 1e9)],
}


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


def name_of(step: int) -> str:
    """The folder of a step's checkpoint; names sort like steps."""
    return f"step-{step:08d}"


def step_of(path: Path) -> int:
    """The step that a checkpoint's folder is named for."""
    return int(path.name.removeprefix("step-"))


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
    origin: Path | None = None,
) -> Path:
    """Writes the checkpoint of `step` in one visible step, then drops all before it but the newest `keep`.

    `origin`, the checkpoint that the run was continued from, is kept as well. A step is saved once: a checkpoint of the
    same name is not overwritten.
    """
    folder = folder_of(run)
    folder.mkdir(parents=True, exist_ok=True)
    for left_over in folder.glob(".step-*"):
        shutil.rmtree(left_over)
    final = folder / name_of(step)
    if final.exists():
        raise CheckpointError(f"{final}: already exists, expected a step that has no checkpoint yet")
    hidden = folder / f".{final.name}.{os.getpid()}"
    try:
        _write(hidden, step, (model, optimizer), meta)
        os.rename(hidden, final)
    except BaseException:
        # What is left of it must not fill the disk; the earlier checkpoints are untouched.
        shutil.rmtree(hidden, ignore_errors=True)
        raise
    fsync_folder(folder)
    _prune(run, step, keep, origin)
    return final


def _write(folder: Path, step: int, contents: tuple[dict[str, torch.Tensor], ...], meta: dict[str, Any]) -> None:
    folder.mkdir()
    for name, tensors in zip(TENSOR_FILES, contents, strict=True):
        write_tensors(folder / name, tensors)
    full = dict(meta, format=FORMAT, step=step, files={name: sha256_file(folder / name) for name in TENSOR_FILES})
    full["sha256"] = _meta_digest(full)
    write_synced(folder / "meta.json", json.dumps(full, indent=1).encode())
    fsync_folder(folder)


def _prune(run: Path, step: int, keep: int, origin: Path | None) -> None:
    """Deletes the oldest of the checkpoints up to `step`, which is the newest and always kept."""
    for old in [path for path in available(run) if step_of(path) <= step][:-keep]:
        if origin is None or old.name != origin.name:
            gone = old.with_name(f".{old.name}.pruned")
            os.rename(old, gone)
            shutil.rmtree(gone)


def available(run: Path) -> list[Path]:
    """The checkpoints of a run, oldest first, whether intact or not."""
    folder = folder_of(run)
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.is_dir() and _is_name(path.name))


def _is_name(name: str) -> bool:
    return re.fullmatch(r"step-\d{8}", name) is not None


def read_meta(path: Path) -> dict[str, Any]:
    """meta.json of a checkpoint: its own checksum, then its fields verified."""
    file = path / "meta.json"
    meta = check(read_json(file, CheckpointError), {"format": int, "sha256": str}, str(file), CheckpointError)
    if meta["sha256"] != _meta_digest(meta):
        raise CheckpointError(f"{file}: checksum does not match, the file was changed or damaged")
    if meta["format"] != FORMAT:
        raise CheckpointError(f"{file}: expected format {FORMAT}, found {shown(meta['format'])}")
    meta = check(meta, META_FIELDS, str(file), CheckpointError)
    check(meta["files"], dict.fromkeys(TENSOR_FILES, str), f"{file}: files", CheckpointError)
    if meta["step"] != step_of(path):
        raise CheckpointError(f"{file}: expected step {step_of(path)} as in the folder's name, found {meta['step']}")
    return meta


def read(path: Path) -> Checkpoint:
    """A checkpoint with all checksums verified, or a CheckpointError that names the damaged file."""
    meta = read_meta(path)
    tensors = []
    for name in TENSOR_FILES:
        file = path / name
        try:
            require_file(file, CheckpointError)
            digest = sha256_file(file)
        except OSError as error:
            raise CheckpointError(f"{file}: cannot be read: {error.strerror}") from None
        if digest != meta["files"][name]:
            raise CheckpointError(f"{file}: checksum does not match, the file was changed or damaged")
        tensors.append(read_tensors(file))
    return Checkpoint(path, meta, tensors[0], tensors[1])


def newest(run: Path) -> tuple[Checkpoint, list[str]]:
    """The newest intact checkpoint of a run, and what is wrong with newer ones."""
    problems: list[str] = []
    listing = available(run)
    for path in reversed(listing):
        try:
            return read(path), problems
        except CheckpointError as error:
            problems.append(str(error))
    if available(run) != listing:  # read without the lock, while a trainer saved and pruned
        return newest(run)
    detail = f" ({'; '.join(problems)})" if problems else ""
    raise CheckpointError(f"{folder_of(run)}: no usable checkpoint{detail}")


def run_of(path: Path) -> tuple[Path, Path | None]:
    """The run that a user names, by its folder or by one checkpoint's; and the checkpoint, if one is named."""
    if not path.is_dir():
        raise CheckpointError(f"{path}: no such run or checkpoint folder")
    if not _is_name(path.name):
        if not folder_of(path).is_dir():
            raise CheckpointError(f"{folder_of(path)}: no usable checkpoint")
        return path, None
    run = path.resolve().parent.parent
    named = folder_of(run) / path.resolve().name
    if named != path.resolve():
        raise CheckpointError(f"{path}: expected a checkpoint in the folder 'checkpoints' of its run")
    return run, named


def locate(path: Path) -> tuple[Path, Checkpoint, list[str]]:
    """The run, the checkpoint and the warnings for what a user names: a run folder, or one checkpoint folder.

    A damaged checkpoint that was named itself is refused, with the newest intact one as advice; for a run, damaged ones
    are passed over with a warning.
    """
    run, named = run_of(path)
    if named is None:
        found, problems = newest(run)
        return run, found, [f"{problem}; using {found.path.name} instead" for problem in problems]
    try:
        return run, read(named), []
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
