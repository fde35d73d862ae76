# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What users, files and disks can do to a command: one line that names the culprit, exit status 2, no data lost.

Only the trainer's own mistakes show a traceback; one test makes one.
"""

import ast
import contextlib
import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import terrazzo.trainer
import torch
from safetensors.torch import load_file, save_file
from terrazzo.trainer import boundary, checkpoint, cli, memory
from terrazzo.trainer import config as configuration
from terrazzo.trainer.config import Config
from terrazzo.trainer.model import build, parameter_count

Trainer = Callable[..., tuple[int, str, str]]
DIGITS = "9" * 400


def refused(result: tuple[int, str, str], *words: str) -> None:
    """One line on stderr with these words, and status 2."""
    status, _, errors = result
    assert status == 2, result
    assert errors.startswith("error: ") and errors.count("\n") == 1 and len(errors) < 1000, errors
    for word in words:
        assert word in errors


def digests(folder: Path) -> dict[str, str]:
    """The content of every file below a folder."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("finished") / "run"


@pytest.fixture
def run(finished: Path, trainer: Trainer, tmp_path: Path) -> Path:
    """A copy of a run with checkpoints of steps 2 and 4."""
    if not finished.exists():
        status, _, errors = trainer("train", "--run", finished, "train.steps=4", "train.checkpoint_every=2")
        assert status == 0, errors
    shutil.copytree(finished, tmp_path / "run")
    return tmp_path / "run"


# ---- recipes

RECIPES = {
    "nested flow": (b"train: " + b"[" * 2000, "not valid YAML: too deeply nested"),
    "nested block": (b"- " * 2000 + b"a", "not valid YAML: too deeply nested"),
    "huge": (b"#" * (1 << 17), "expected 65536 bytes at most"),
    "number of 400 digits": (f"train: {{lr: {DIGITS}}}".encode(), "'train.lr' expects a finite number"),
    "integer of 400 digits": (
        f"train: {{steps: {DIGITS}}}".encode(),
        "from 1 to 99999999, found a number of about 400 digits",
    ),
    "integer of 5000 digits": (b"train: {steps: " + b"7" * 5000 + b"}", "not valid YAML: Exceeds the limit"),
    "hex of 5000 digits": (b"train: {steps: 0x" + b"f" * 5000 + b"}", "found a number of about 6020 digits"),
    "hex key": (b"? 0x" + b"f" * 5000, "unknown key 'a number of about 6020 digits'"),
    "date": (b"data: {path: 2020-01-01}", "'data.path' expects text, found datetime.date(2020, 1, 1)"),
    "date that is none": (b"data: {path: 2020-13-45}", "not valid YAML: month must be in 1..12"),
    "date as a key": (b"2020-01-01: 1", "unknown key 'datetime.date(2020, 1, 1)'"),
    "timestamp tag": (b"run: !!timestamp soon", "not valid YAML"),
    "integer tag": (b"train: {steps: !!int ''}", "not valid YAML"),
    "boolean tag": (b"train: {steps: !!bool maybe}", "not valid YAML"),
    "alias bomb": (b"a: &a [1,1,1]\nb: &b [*a,*a,*a]\nc: [*b,*b,*b]", "recipe.yaml:2:8: not valid YAML: an alias"),
    "recursive alias": (b"train: &a {lr: *a}", "not valid YAML: an alias"),
    "merge of itself": (b"train: &a {<<: *a}", "not valid YAML: an alias"),
    "key twice": (b"train: {lr: 1, lr: 2}", "not valid YAML: a key given twice"),
    "long value": (b"train: {lr: " + b"x" * 9000 + b"}", "'train.lr' expects a finite number"),
    "long key": (b"x" * 900 + b": 1", "unknown key"),
    "line end in a key": (b'"a\\nb": 1', "unknown key 'a\\nb'"),
    "zero byte in a path": (b'run: {dir: "a\\0b"}', "'run.dir' expects text"),
    "surrogate": (b'data: {path: "\\udcff"}', "'data.path' expects text"),
    "control byte": (b"train: \x01", "not valid YAML"),
    "not UTF-8": (b"train: {lr: \xff}", "expected UTF-8 text, found byte 0xff at 12"),
    "seed beyond 64 bits": (b"train: {seed: 36893488147419103232}", "'train.seed' expects an integer from 0"),
    "parts that do not fit": (b"train: {micro_batch: 3}", "recipe.yaml: 'train.micro_batch' expects a divisor"),
}


@pytest.mark.parametrize("name", RECIPES)
def test_recipes(name: str, trainer: Trainer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    content, words = RECIPES[name]
    (tmp_path / "recipe.yaml").write_bytes(content)
    refused(trainer("train", tmp_path / "recipe.yaml"), "recipe.yaml", words)


# ---- the command line

WORDS = {
    "digits": (["train", f"train.lr={DIGITS}"], "'train.lr' expects a finite number"),
    "more digits": (["train", "train.steps=" + "9" * 9000], "'train.steps' expects an integer from 1 to 99999999"),
    "unicode digits": (["train", "train.steps=¼"], "'train.steps' expects an integer"),
    "not UTF-8": (["train", "data.path=/\udcff"], "expected UTF-8 text, found 'data.path=/\\udcff'"),
    "run not UTF-8": (["resume", "/\udcff"], "expected UTF-8 text"),
    "line end": (["resume", "/a\nb\x1b[2J"], "/a\\nb\\x1b[2J: no such run"),
    "long key": (["train", "x" * 9000 + "=1"], "unknown key"),
    "long name": (["train", "--run", "x" * 5000], "File name too long"),
    "device": (["train", "--run", "/dev/full/run"], "/dev/full"),
    "endless log": (["compare", "/dev/zero", "/dev/zero"], "/dev/zero: expected a file"),
    "endless recipe": (["train", "/dev/zero"], "/dev/zero: expected 65536 bytes at most"),
    "bound": (["compare", "a", "b", "--bound", "nan"], "--bound: expected a number of 0 or more"),
}


@pytest.mark.parametrize("name", WORDS)
def test_command_lines(name: str, trainer: Trainer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    words, found = WORDS[name]
    refused(trainer(*words), found)


# ---- sizes beyond memory

SIZES = {
    "width": ("model", ["model.width=16777216", "model.heads=256"]),
    "layers": ("model", ["model.layers=10000", "model.width=8192", "model.heads=64"]),
    "mlp": ("model", ["model.mlp_width=16777216", "model.width=4096"]),
    "state": ("model", ["model.family=mamba", "model.state=16777216", "model.expand=1000"]),
    "batch": ("train.batch", ["train.batch=16777216"]),
    "micro-batch": ("train.micro_batch", ["train.batch=16777216", "train.micro_batch=8388608"]),
    "evaluation": ("eval.batch", ["eval.batch=16777216"]),
    "context": ("data.context", ["data.context=16777216"]),
}


@pytest.mark.parametrize("name", SIZES)
def test_sizes_beyond_memory(name: str, trainer: Trainer, tmp_path: Path):
    key, overrides = SIZES[name]
    refused(trainer("train", "--run", tmp_path / "run", *overrides), f"error: {key}: ")


def test_text_beyond_memory(trainer: Trainer, tmp_path: Path):
    with open(tmp_path / "text.txt", "wb") as file:
        file.truncate(1 << 43)  # a hole: no disk is used
    result = trainer("train", "--run", tmp_path / "run", f"data.path={tmp_path / 'text.txt'}")
    refused(result, "data.path: ", " GB at most")


@pytest.mark.parametrize("family", ["transformer", "mamba"])
def test_parameters_are_counted_without_making_them(tiny: Callable[..., Config], family: str):
    for layers in (1, 3):
        config = tiny(f"model.family={family}", f"model.layers={layers}")
        assert memory.parameters(config) == parameter_count(build(config.model, 32, 0))


def test_every_number_has_two_bounds():
    config = Config()
    for name, section in vars(config).items():
        kinds = configuration.fields_of(type(section)) if name != "target" else {}
        for field, kind in kinds.items():
            bounds = getattr(kind, "__metadata__", ())
            assert bounds or kind in (str, bool) or "Literal" in str(kind), f"{name}.{field}"
            assert all(getattr(section, field) in bound for bound in bounds)


# ---- checkpoints with the right checksums


def rehash(path: Path, **changes: Any) -> None:
    """Changes fields of a checkpoint's meta.json (None: removes one), and makes all its checksums right again."""
    meta = json.loads((path / "meta.json").read_text())
    meta["files"] = {name: hashlib.sha256((path / name).read_bytes()).hexdigest() for name in checkpoint.TENSOR_FILES}
    for name, value in changes.items():
        if value is None:
            meta.pop(name, None)
        else:
            meta[name] = value
    meta["sha256"] = checkpoint._meta_digest(meta)
    (path / "meta.json").write_text(json.dumps(meta))


METAS = {
    **{f"no {name}": {name: None} for name in (*checkpoint.META_FIELDS, "format")},
    "files of other names": {"files": {"model.safetensors": ""}},
    "files that are none": {"files": {"model.safetensors": 1, "optimizer.safetensors": 2}},
    "text as a step": {"step": "4"},
    "another step": {"step": 3},
    "negative cursor": {"cursor": -1},
    "cursor of 39 digits": {"cursor": 10**38},
    "infinite time": {"elapsed": float("inf")},
    "no time a step": {"step_seconds": 0},
    "progress beyond the end": {"progress": 2},
    "other format": {"format": 2},
    "unknown setting": {"config": {"model": {"legs": 4}}},
    "settings that do not fit": {"config": {"model": {"heads": 7}}},
    "settings out of range": {"config": {"train": {"steps": 0}}},
    "list of settings": {"config": {"train": [1]}},
}


@pytest.mark.parametrize("name", METAS)
def test_rehashed_meta(name: str, run: Path, trainer: Trainer):
    path = run / "checkpoints" / "step-00000004"
    rehash(path, **METAS[name])
    before = digests(run / "checkpoints")
    refused(trainer("sample", path), "step-00000004/meta.json")
    assert digests(run / "checkpoints") == before


DOCUMENTS = {
    "nested": b"[" * 100_000,
    "huge": b" " * (1 << 21),
    "digits": b'{"format": ' + b"1" * 5000 + b"}",
    "not UTF-8": b'{"format": "\xff"}',
    "number": b"7",
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_meta_that_is_no_document(name: str, run: Path, trainer: Trainer):
    path = run / "checkpoints" / "step-00000004"
    (path / "meta.json").write_bytes(DOCUMENTS[name])
    refused(trainer("sample", path), "step-00000004/meta.json", "newest intact checkpoint is", "step-00000002")


def test_a_run_goes_on_from_the_checkpoint_before(run: Path, trainer: Trainer):
    rehash(run / "checkpoints" / "step-00000004", cursor=None)
    status, _, errors = trainer("resume", run, "train.steps=3")
    assert status == 0 and "expected a field 'cursor'" in errors and "using step-00000002" in errors


def folder_instead(path: Path) -> None:
    path.unlink()
    path.mkdir()


def pipe_instead(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize("change", [folder_instead, pipe_instead])
@pytest.mark.parametrize("name", ["meta.json", *checkpoint.TENSOR_FILES])
def test_something_else_in_a_files_place(run: Path, trainer: Trainer, name: str, change: Callable[[Path], None]):
    change(run / "checkpoints" / "step-00000004" / name)
    refused(trainer("sample", run / "checkpoints" / "step-00000004"), f"step-00000004/{name}: expected a file")


def header(text: bytes) -> bytes:
    return len(text).to_bytes(8, "little") + text


TENSORS = {
    "empty": b"",
    "short": b"\x01",
    "header beyond the file": (1 << 62).to_bytes(8, "little"),
    "no JSON": header(b"{"),
    "nested": header(b"[" * 100_000),
    "unknown type": header(b'{"a":{"dtype":"F7","shape":[1],"data_offsets":[0,4]}}') + bytes(4),
    "sizes that overflow": header(b'{"a":{"dtype":"F32","shape":[9223372036854775807,9],"data_offsets":[0,4]}}'),
    "offsets beyond the file": header(b'{"a":{"dtype":"F32","shape":[9],"data_offsets":[0,36]}}') + bytes(4),
}


@pytest.mark.parametrize("file", checkpoint.TENSOR_FILES)
@pytest.mark.parametrize("name", TENSORS)
def test_malformed_tensor_files(name: str, file: str, run: Path, trainer: Trainer):
    path = run / "checkpoints" / "step-00000004"
    (path / file).write_bytes(TENSORS[name])
    rehash(path)
    refused(trainer("sample", path), f"step-00000004/{file}: expected a safetensors file")


def without(name: str) -> Callable[[dict[str, torch.Tensor]], object]:
    return lambda tensors: tensors.pop(name)


STATES = {
    "no parameter": ("model", without("embedding"), "'embedding' is missing"),
    "no moment": ("optimizer", without("m.embedding"), "'m.embedding' is missing"),
    "no random numbers": ("optimizer", without("random"), "'random' is missing"),
    "short random numbers": (
        "optimizer",
        lambda tensors: tensors.update(random=tensors["random"][:-1].clone()),
        "'random' expected torch.uint8",
    ),
    "wrong random numbers": (
        "optimizer",
        lambda tensors: tensors["random"].fill_(255),
        "expected a state of the random numbers",
    ),
    "doubles": (
        "model",
        lambda tensors: tensors.update(embedding=tensors["embedding"].double()),
        "'embedding' expected torch.float32",
    ),
    "another shape": ("model", lambda tensors: tensors.update(final_norm=torch.ones(3)), "'final_norm' expected"),
    "one too many": ("model", lambda tensors: tensors.update(x=torch.ones(3)), "'x' is not part of this model"),
}


@pytest.mark.parametrize("name", STATES)
def test_tensors_of_another_state(name: str, run: Path, trainer: Trainer):
    file, change, words = STATES[name]
    path = run / "checkpoints" / "step-00000004"
    tensors = load_file(path / f"{file}.safetensors")
    change(tensors)
    save_file(tensors, path / f"{file}.safetensors")
    rehash(path)
    refused(trainer("sample", path), "step-00000004", words)


# ---- the log and the tokens

LINES = {
    "nested": b"[" * 100_000,
    "list": b"[]",
    "no event": b"{}",
    "event of another type": b'{"event": 1}',
    "text as a step": b'{"event": "note", "step": "x"}',
    "no loss": b'{"event": "step", "step": 1}',
    "text as a loss": b'{"event": "step", "step": 1, "loss": "low"}',
    "loss of 400 digits": b'{"event": "step", "step": 1, "loss": ' + DIGITS.encode() + b"}",
    "step of 400 digits": b'{"event": "step", "loss": 1, "step": ' + DIGITS.encode() + b"}",
    "no score": b'{"event": "eval", "step": 1}',
    "not UTF-8": b"\xff",
    "endless": b" " * (1 << 21),
}


@pytest.mark.parametrize("name", LINES)
def test_lines_of_a_log(name: str, run: Path, trainer: Trainer):
    log = run / "log.jsonl"
    log.write_bytes(LINES[name] + b"\n" + log.read_bytes())
    before = digests(run)
    refused(trainer("compare", log, log), "log.jsonl:1: ")
    refused(trainer("resume", run, "train.steps=5"), "log.jsonl:1: ")
    after = digests(run)
    assert all(after[path] == digest for path, digest in before.items() if path.endswith((".jsonl", ".safetensors")))


def test_tokens_that_no_table_has(run: Path, trainer: Trainer):
    tokens = bytearray((run / "cache" / "train.bin").read_bytes())
    tokens[:2] = b"\xff\xff"
    (run / "cache" / "train.bin").write_bytes(tokens)
    description = json.loads((run / "cache" / "corpus.json").read_text())
    description["splits"]["train"]["sha256"] = hashlib.sha256(tokens).hexdigest()
    (run / "cache" / "corpus.json").write_text(json.dumps(description))
    # Made again from the text, they are those that the run was trained on.
    status, _, errors = trainer("resume", run, "train.steps=5")
    assert status == 0, errors


@pytest.mark.parametrize("content", [b"[" * 100_000, b"[]", b'{"format": 1}', b'{"format": 1e999}', b"\xff"])
def test_descriptions_of_tokens(content: bytes, run: Path, trainer: Trainer):
    (run / "cache" / "corpus.json").write_bytes(content)
    status, _, errors = trainer("sample", run)
    assert status == 0, errors


def test_names_of_texts_need_not_be_utf8(trainer: Trainer, tmp_path: Path, text_folder: Path):
    shutil.copytree(text_folder, tmp_path / "text")
    os.rename(tmp_path / "text" / "part00.txt", os.fsencode(tmp_path / "text") + b"/\xff.txt")
    status, _, errors = trainer(
        "train", "--run", tmp_path / "$x\n\\frac", f"data.path={tmp_path / 'text'}", "train.steps=1"
    )
    assert status == 0, errors


# ---- places and disks

PLACES = {
    "file as a run": (lambda run: shutil.rmtree(run) or run.write_text(""), "run"),
    "log": (lambda run: folder_instead(run / "log.jsonl"), "log.jsonl"),
    "settings": (lambda run: folder_instead(run / "config.yaml"), "config.yaml"),
    "plot": (lambda run: folder_instead(run / "loss.png"), "loss.png"),
    "lock": (lambda run: (run / "lock").unlink() or (run / "lock").mkdir(), "lock"),
    "link as a lock": (lambda run: (run / "lock").unlink() or (run / "lock").symlink_to("log.jsonl"), "lock"),
    "file as tokens": (lambda run: shutil.rmtree(run / "cache") or (run / "cache").write_text(""), "cache"),
    "file as checkpoints": (
        lambda run: shutil.rmtree(run / "checkpoints") or (run / "checkpoints").write_text(""),
        "checkpoints",
    ),
}


@pytest.mark.parametrize("name", PLACES)
def test_something_in_the_way(name: str, run: Path, trainer: Trainer):
    change, words = PLACES[name]
    change(run)
    refused(trainer("resume", run, "train.steps=5"), str(run), words)


@contextlib.contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Writes beyond `size` bytes of a file fail, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


# The largest that some file of the run needs more than: settings, log, checkpoint's description, tensors.
@pytest.mark.parametrize("size", [0, 100, 1000, 1700, 4000, 20_000, 100_000, 200_000])
def test_full_disk(size: int, run: Path, trainer: Trainer):
    before = digests(run / "checkpoints")
    with largest_file(size):
        result = trainer("resume", run, "train.steps=6", "train.checkpoint_every=1", "train.keep=1")
    refused(result, str(run), "File too large")
    assert before.items() <= digests(run / "checkpoints").items()
    assert not list((run / "checkpoints").glob(".*"))
    # Nothing is lost: with room again, the run goes on from where it was.
    status, output, errors = trainer("resume", run, "train.steps=6")
    assert status == 0 and "(step 4)" in output, errors


def test_a_new_run_on_a_full_disk(trainer: Trainer, tmp_path: Path):
    with largest_file(1000):
        result = trainer("train", "--run", tmp_path / "run", "train.steps=1")
    refused(result, str(tmp_path / "run"), "File too large")


def test_moving_aside_on_a_full_disk(run: Path, trainer: Trainer):
    before = digests(run / "checkpoints")
    with largest_file(1000):
        result = trainer("resume", run / "checkpoints" / "step-00000002", "train.steps=3")
    refused(result, str(run / "abandoned"), "File too large")
    assert digests(run / "checkpoints") == before and not list((run / "abandoned").iterdir())


STREAMS = {
    "full": (">/dev/full", 2, "error: standard output: No space left on device\n"),
    "closed": (">&-", 0, ""),
    "both closed": (">&- 2>&-", 0, ""),
}


@pytest.mark.parametrize("name", STREAMS)
def test_output_that_cannot_be_written(name: str, run: Path, subprocess_environment: dict[str, str]):
    redirection, status, errors = STREAMS[name]
    line = f'"$0" -m terrazzo.trainer compare "$1" "$1" {redirection}'
    words = ["bash", "-c", line, sys.executable, str(run / "log.jsonl")]
    done = subprocess.run(words, env=subprocess_environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (status, errors)


def test_output_in_an_encoding_that_lacks_the_text(tmp_path: Path, subprocess_environment: dict[str, str]):
    environment = dict(subprocess_environment, PYTHONIOENCODING="ascii")
    words = [sys.executable, "-m", "terrazzo.trainer", "compare", f"{tmp_path}/ä", "b"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr.endswith("/\\xe4: no such file\n"), done.stderr


# ---- the boundary itself

WORLD = {
    "disk": (OSError(28, "No space left on device", "/run/x"), "/run/x: No space left on device"),
    "memory": (MemoryError(), "memory: expected enough"),
    "allocator": (RuntimeError("DefaultCPUAllocator: can't allocate memory: 8 bytes.\nError code 12"), "memory: "),
    "device memory": (torch.cuda.OutOfMemoryError("CUDA out of memory."), "memory: "),
    "threads": (RuntimeError("can't start new thread"), "memory: "),
    "kernel": (terrazzo.errors.OutOfResources(99, 9, "shared memory"), "shared memory, required: 99"),
}


@pytest.mark.parametrize("name", WORLD)
def test_what_the_machine_refuses(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    error, words = WORLD[name]

    def failing(_: Any) -> int:
        raise error

    refused((boundary.run(failing, []), *capsys.readouterr()), words)


@pytest.mark.parametrize("error", [KeyError("x"), RuntimeError("x"), RecursionError("x"), AssertionError("x")])
def test_mistakes_of_the_trainer_keep_their_traceback(error: Exception, monkeypatch: pytest.MonkeyPatch):
    def failing(_: Any) -> int:
        raise error

    monkeypatch.setattr(cli, "_run", failing)
    with pytest.raises(type(error)):
        cli.main(["train"])


# Who may open, read or write files, and turn bytes into objects: the modules that name the file in their errors.
DOORS = {"files.py", "documents.py", "tensors.py", "lock.py", "boundary.py"}
CALLS = {
    "open",
    "read_bytes",
    "read_text",
    "write_bytes",
    "write_text",
    "safe_load",
    "load_file",
    "save_file",
    "savefig",
}
EXCEPTIONS = {
    ("corpus.py", "read_bytes"),  # texts may hold any bytes
    ("memory.py", "read_text"),  # of the kernel
    ("plot.py", "savefig"),  # into memory
}


def test_files_are_reached_through_few_doors():
    used = set()
    for path in sorted(Path(terrazzo.trainer.__file__).parent.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "attr", None) or getattr(node.func, "id", None)
                module = getattr(getattr(node.func, "value", None), "id", None)
                if name in CALLS or (module, name) in {("json", "loads"), ("json", "load"), ("yaml", "load")}:
                    used.add((path.name, name))
    assert {(file, name) for file, name in used if file not in DOORS} == EXCEPTIONS
    assert {file for file, _ in used} >= DOORS
