# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files that are either the old ones or the new ones, whatever happens in between."""

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Gives errors of the system a file name where the call had none, as writing to a full disk."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


def fsync_folder(folder: Path) -> None:
    """Makes renames in `folder` durable."""
    with naming(folder):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def write_synced(path: Path, data: bytes) -> None:
    """Writes a new file and waits until it is on the disk; what has its name, a link of someone else's too, is an error
    of the system.
    """
    with naming(path), open(path, "xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def append(path: Path, data: bytes) -> None:
    """Adds to the end of a file."""
    with naming(path), open(path, "ab") as file:
        file.write(data)


def copy(source: Path, target: Path) -> None:
    """Writes what `source` holds to `target`."""
    with open(source, "rb") as old, naming(target), open(target, "wb") as new:
        shutil.copyfileobj(old, new)


def write_atomic(path: Path, data: bytes) -> None:
    """Replaces `path` in one step: a reader sees the old bytes or the new ones, never a mixture."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.unlink(missing_ok=True)  # of a process that died and had this number
    try:
        write_synced(temporary, data)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    fsync_folder(path.parent)


def sha256_file(path: Path) -> str:
    """The SHA-256 of a file's bytes."""
    with naming(path), open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
