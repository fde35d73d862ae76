# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensor files, with errors that name the file: the format's library says neither which file nor, of a disk, what."""

import os
import re
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from .errors import CheckpointError


def write_tensors(path: Path, tensors: dict[str, torch.Tensor]) -> None:
    """Writes tensors as safetensors, and waits until they are on the disk. Raises OSError for a disk that is full."""
    try:
        save_file({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, path)
    except SafetensorError as error:
        number = re.search(r"\(os error (\d+)\)", str(error))
        if number is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1])), str(path)) from None
    with open(path, "rb") as file:
        os.fsync(file.fileno())


def read_tensors(path: Path) -> dict[str, torch.Tensor]:
    """All tensors of a file, or a CheckpointError."""
    try:
        return load_file(path)
    except MemoryError:
        raise
    except Exception as error:  # what the library makes of bytes that are no tensor file: any kind of error
        raise CheckpointError(f"{path}: expected a safetensors file, found one that cannot be read: {error}") from None
