# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a folder of text to two memory-mapped token files, `train.bin` and `validation.bin`.

Files, not lines, are held out: which ones is decided by a hash of the relative path, so the split is the same on every
machine and does not move when files are added. The token files are little-endian uint16, written to a temporary name
and renamed, with a `corpus.json` beside them that holds their checksums; it is written last and makes them valid.
"""

import hashlib
import json
import os
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np

from . import memory, tokenizer
from .config import Size
from .documents import read_json
from .errors import CorpusError
from .files import sha256_file, write_atomic
from .schema import Range, check

FORMAT = 1
_DESCRIPTION = {"format": int, "path": str, "root": str, "validation": float, "splits": dict}
_SPLIT = {"files": Size, "tokens": Annotated[int, Range(1, 1 << 40)], "sha256": str}
# Folders of the standard library's tree that hold tests, or packages that are not part of it.
EXCLUDED = frozenset({"test", "tests", "idle_test", "site-packages", "dist-packages", "__pycache__"})
TEXT_SUFFIXES = frozenset({".py", ".txt", ".md", ".rst", ".c", ".h", ".cpp", ".html", ".json", ".csv", ""})


@dataclass(frozen=True)
class Corpus:
    """Token arrays (memory-mapped) and what they came from."""

    train: np.ndarray
    validation: np.ndarray
    source: str
    train_files: int
    validation_files: int
    digest: str  # of both token files: the identity of the data a run was trained on


def is_held_out(relative: str, share: float) -> bool:
    """Whether the file belongs to the validation split: the hash of its name, as a fraction, is below `share`."""
    value = int.from_bytes(hashlib.sha256(os.fsencode(relative)).digest()[:8], "big")
    return value < share * 2.0**64


def find_files(path: str) -> tuple[Path, list[Path]]:
    """The root and the sorted text files of a source; an empty path is the standard library of this interpreter."""
    if not path:
        root = Path(sysconfig.get_paths()["stdlib"])
        found = [file for file in root.rglob("*.py") if not EXCLUDED.intersection(file.relative_to(root).parts[:-1])]
    else:
        root = Path(path)
        if not root.exists():
            raise CorpusError(f"data.path: {path} does not exist")
        if root.is_file():
            return root.parent, [root]
        found = [file for file in root.rglob("*") if file.is_file() and file.suffix.lower() in TEXT_SUFFIXES]
    # Symbolic links to folders are not followed by rglob; sorted by name for one order on every machine.
    files = sorted((file for file in found if file.is_file()), key=lambda file: file.relative_to(root).as_posix())
    if not files:
        raise CorpusError(f"data.path: no text files below {root}")
    return root, files


def split(root: Path, files: list[Path], share: float) -> tuple[list[bytes], list[bytes]]:
    """Reads the files and divides them into training and held-out documents."""
    train: list[bytes] = []
    held_out: list[bytes] = []
    if len(files) == 1:
        # One file has no other file to hold out: its tail is the validation text.
        text = files[0].read_bytes()
        cut = int(len(text) * (1 - share))
        return [text[:cut]], [text[cut:]]
    for file in files:
        text = file.read_bytes()
        if text:
            (held_out if is_held_out(file.relative_to(root).as_posix(), share) else train).append(text)
    return train, held_out


def tokenize(documents: list[bytes]) -> np.ndarray:
    """All documents as one token stream, each closed by END."""
    size = sum(len(text) + 1 for text in documents)
    tokens = np.empty(size, dtype="<u2")
    at = 0
    for text in documents:
        tokens[at : at + len(text)] = np.frombuffer(text, dtype=np.uint8)
        tokens[at + len(text)] = tokenizer.END
        at += len(text) + 1
    return tokens


def build(path: str, share: float, folder: Path) -> None:
    """Reads the source and writes the token files and their description into `folder`."""
    root, files = find_files(path)
    # The bytes, then two for each token while the next file is being made.
    size = sum(file.stat().st_size for file in files)
    memory.require(3 * size, memory.host_bytes(), "data.path", f"the files of {root}", CorpusError)
    parts = dict(zip(("train", "validation"), split(root, files, share), strict=True))
    for name, documents in parts.items():
        if not documents or not any(documents):
            raise CorpusError(
                f"data.path: the {name} split of {root} is empty ({len(files)} files, data.validation={share:g})"
            )
    folder.mkdir(parents=True, exist_ok=True)
    description = {"format": FORMAT, "path": path, "root": str(root), "validation": share, "splits": {}}
    for name, documents in parts.items():
        tokens = tokenize(documents)
        write_atomic(folder / f"{name}.bin", tokens.tobytes())
        description["splits"][name] = {
            "files": len(documents),
            "tokens": int(tokens.size),
            "sha256": sha256_file(folder / f"{name}.bin"),
        }
    write_atomic(folder / "corpus.json", json.dumps(description, indent=1).encode())


def open_cache(path: str, share: float, folder: Path) -> Corpus | None:
    """The cached corpus in `folder`, or None when it is absent, damaged, or made from other settings."""
    try:
        return _open_cache(path, share, folder)
    except (OSError, CorpusError):
        return None


def _open_cache(path: str, share: float, folder: Path) -> Corpus | None:
    file = folder / "corpus.json"
    description = check(read_json(file, CorpusError), _DESCRIPTION, str(file), CorpusError)
    if (description["format"], description["path"], description["validation"]) != (FORMAT, path, share):
        return None
    arrays, files, digests = [], [], []
    for name in ("train", "validation"):
        entry = check(description["splits"].get(name), _SPLIT, f"{file}: {name}", CorpusError)
        tokens = folder / f"{name}.bin"
        if tokens.stat().st_size != 2 * entry["tokens"] or sha256_file(tokens) != entry["sha256"]:
            return None
        array = np.memmap(tokens, dtype="<u2", mode="r")
        if array.max() > tokenizer.END:  # a kernel would read past the end of its tables
            return None
        arrays.append(array)
        files.append(entry["files"])
        digests.append(entry["sha256"])
    digest = hashlib.sha256("".join(digests).encode()).hexdigest()
    return Corpus(arrays[0], arrays[1], description["root"], files[0], files[1], digest)


def require_windows(corpus: Corpus, context: int) -> None:
    """Checks that each split is long enough for windows of `context` tokens."""
    for name, tokens in (("training", corpus.train), ("held-out", corpus.validation)):
        if tokens.size < 2 * context + 1:
            raise CorpusError(
                f"data.context: windows of {context} tokens need at least {2 * context + 1} {name} "
                f"tokens, found {tokens.size} in {corpus.source}"
            )


def load(path: str, share: float, folder: Path) -> Corpus:
    """The corpus, from the cache in `folder` or built into it."""
    cached = open_cache(path, share, folder)
    if cached is None:
        build(path, share, folder)
        cached = open_cache(path, share, folder)
        if cached is None:
            raise CorpusError(f"{folder}: the token files just written cannot be read back")
    return cached
