# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bytes to tokens, the split by file, the token cache, and the order of sequences."""

import os
from pathlib import Path

import numpy as np
import pytest
from terrazzo.trainer import batches, corpus, tokenizer
from terrazzo.trainer.errors import CorpusError


def test_tokenizer_round_trip():
    text = "def f(x):\n\treturn 'ü€😀'\0"
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert tokenizer.encode(bytes(range(256))).tolist() == list(range(256))
    assert tokenizer.decode(np.array([104, tokenizer.END, 105])) == "hi"
    assert tokenizer.decode(np.array([0xC3])) == "\ufffd"


def test_split_is_fixed_by_the_name():
    assert [corpus.is_held_out(name, 0.05) for name in ("chunk.py", "sched.py", "argparse.py")] == [True, True, False]
    names = [f"package/module{index}.py" for index in range(4000)]
    held_out = [name for name in names if corpus.is_held_out(name, 0.05)]
    assert 150 < len(held_out) < 250
    assert set(held_out) <= {name for name in names if corpus.is_held_out(name, 0.1)}
    assert not any(corpus.is_held_out(name, 0.0) for name in names)


def test_load_builds_then_reuses(text_folder: Path, tmp_path: Path):
    first = corpus.load(str(text_folder), 0.2, tmp_path)
    assert first.train_files + first.validation_files == 40
    assert first.validation_files == sum(corpus.is_held_out(f"part{index:02d}.txt", 0.2) for index in range(40))
    assert isinstance(first.train, np.memmap)
    assert int((first.train == tokenizer.END).sum()) == first.train_files
    name = next(f"part{index:02d}.txt" for index in range(40) if corpus.is_held_out(f"part{index:02d}.txt", 0.2))
    text = (text_folder / name).read_text()
    assert tokenizer.decode(first.validation[: len(text)]) == text
    stamp = os.stat(tmp_path / "train.bin").st_mtime_ns
    again = corpus.load(str(text_folder), 0.2, tmp_path)
    assert (again.digest, os.stat(tmp_path / "train.bin").st_mtime_ns) == (first.digest, stamp)


@pytest.mark.parametrize("damage", ["truncate", "flip", "json", "remove"])
def test_damaged_cache_is_rebuilt(text_folder: Path, tmp_path: Path, damage: str):
    digest = corpus.load(str(text_folder), 0.2, tmp_path).digest
    file = tmp_path / ("corpus.json" if damage == "json" else "train.bin")
    data = bytearray(file.read_bytes())
    data[10] ^= 1
    if damage == "remove":
        file.unlink()
    else:
        file.write_bytes(data[:20] if damage in ("truncate", "json") else data)
    assert corpus.load(str(text_folder), 0.2, tmp_path).digest == digest


def test_other_sources(tmp_path: Path):
    (tmp_path / "one.txt").write_bytes(b"0123456789" * 10)
    single = corpus.load(str(tmp_path / "one.txt"), 0.1, tmp_path / "cache1")
    assert (single.train.size, single.validation.size) == (91, 11)
    (tmp_path / "empty").mkdir()
    for path, word in ((tmp_path / "empty", "no text files"), (tmp_path / "absent", "does not exist")):
        with pytest.raises(CorpusError, match=word):
            corpus.load(str(path), 0.1, tmp_path / "cache2")
    (tmp_path / "empty" / "a.txt").write_text("")
    with pytest.raises(CorpusError, match="is empty"):
        corpus.load(str(tmp_path / "empty"), 0.1, tmp_path / "cache3")


def test_splits_must_hold_a_window(text_folder: Path, tmp_path: Path):
    text = corpus.load(str(text_folder), 0.2, tmp_path)
    corpus.require_windows(text, 100)
    with pytest.raises(CorpusError, match="data.context: windows of 9000 tokens need at least 18001 held-out tokens"):
        corpus.require_windows(text, 9000)


def test_standard_library_is_found():
    root, files = corpus.find_files("")
    names = {file.relative_to(root).as_posix() for file in files}
    assert {"argparse.py", "json/decoder.py"} <= names
    assert not any("test" in Path(name).parts[:-1] or "site-packages" in name for name in names)


def test_training_order_covers_an_epoch_once():
    tokens = np.arange(1000, dtype=np.uint16)
    order = batches.TrainingOrder(tokens, 10, seed=3)
    inputs, targets = order.sequences(0, order.per_epoch)
    assert np.array_equal(inputs + 1, targets)
    assert len(np.unique(inputs)) == inputs.size
    # One sequence is the same whatever batch it is asked for in.
    pieces = np.concatenate([batches.TrainingOrder(tokens, 10, seed=3).sequences(first, 7)[0] for first in (0, 7, 14)])
    assert np.array_equal(pieces, inputs[:21])
    next_epoch, _ = order.sequences(order.per_epoch, order.per_epoch)
    assert not np.array_equal(next_epoch, inputs)
    assert not np.array_equal(batches.TrainingOrder(tokens, 10, seed=4).sequences(0, 5)[0], inputs[:5])


@pytest.mark.parametrize("overlap", [0.0, 0.5, 0.75])
def test_held_out_windows_score_each_position_once(overlap: float):
    tokens = np.arange(103, dtype=np.uint16)
    seen = []
    for inputs, targets, positions in batches.held_out_batches(tokens, 8, overlap, 0, 3):
        assert inputs.shape == targets.shape == (3, 8)
        counted = targets != batches.IGNORE
        assert np.array_equal(targets[counted], tokens[positions])
        assert np.array_equal(inputs[counted] + 1, targets[counted])
        seen.extend(positions.tolist())
    scored = 8 - int(8 * overlap)
    assert seen == list(range(seen[0], seen[-1] + 1))
    assert seen[0] == 9 - scored and len(tokens) - 1 - seen[-1] < scored


def test_limited_windows_are_spread_out():
    starts, scored = batches.held_out_windows(10_000, 10, 0.0, 100)
    assert (len(starts), scored, starts[0]) == (10, 10, 0) and starts[-1] > 9_900
