# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A run's checkpoints form one line, and what leaves the line is moved aside, never mixed in and never deleted.

Going on from step 20 of a run that has got to step 30 starts another line. Before it is begun, all that lies after
step 20 moves to `abandoned/001-after-step-00000020`, a run folder of its own: with its settings, its whole log and its
tokens it can be resumed, evaluated and sampled like any other. So in `checkpoints` the highest step is always the
newest, and keeping the newest few is right.

The steps of a move leave a usable run wherever they are cut off: the copies are complete before the folder becomes
visible, and checkpoints leave from the last one backwards, so that what remains is the beginning of the line.
"""

import os
import re
import shutil
from pathlib import Path

from . import checkpoint, files
from .files import fsync_folder

FOLDER = "abandoned"
_COPIED = ("config.yaml", "log.jsonl", "loss.png")
_TOKENS = ("train.bin", "validation.bin", "corpus.json")


def set_aside(run: Path, after: int) -> Path | None:
    """Moves the checkpoints later than step `after` to a run folder of their own; None when there are none."""
    later = [path for path in checkpoint.available(run) if checkpoint.step_of(path) > after]
    if not later:
        return None
    folder = run / FOLDER
    folder.mkdir(exist_ok=True)
    for left_over in folder.glob(".*"):
        shutil.rmtree(left_over)
    numbers = [int(match[1]) for entry in folder.iterdir() if (match := re.match(r"(\d+)-", entry.name))]
    aside = folder / f"{max(numbers, default=0) + 1:03d}-after-{checkpoint.name_of(after)}"
    hidden = folder / f".{aside.name}"
    try:
        _copy_run(run, hidden)
        os.rename(hidden, aside)
    except BaseException:
        shutil.rmtree(hidden, ignore_errors=True)
        raise
    fsync_folder(folder)
    for path in reversed(later):
        os.rename(path, checkpoint.folder_of(aside) / path.name)
    fsync_folder(checkpoint.folder_of(aside))
    fsync_folder(checkpoint.folder_of(run))
    return aside


def _copy_run(run: Path, copy: Path) -> None:
    """A run without its checkpoints. The token files are never written to again, so they need no second copy."""
    checkpoint.folder_of(copy).mkdir(parents=True)
    for name in _COPIED:
        if (run / name).is_file():
            files.copy(run / name, copy / name)
    (copy / "cache").mkdir()
    for name in _TOKENS:
        if (run / "cache" / name).is_file():
            _link_or_copy(run / "cache" / name, copy / "cache" / name)


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # a file system without links
        files.copy(source, target)
