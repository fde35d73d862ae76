# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fixtures: a small text folder, and settings for models that train in a second."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import terrazzo.trainer
from terrazzo.trainer import checkpoint, cli
from terrazzo.trainer import config as configuration
from terrazzo.trainer import train as training
from terrazzo.trainer.config import Config
from terrazzo.trainer.lock import OwnedRun

PACKAGE_ROOT = Path(terrazzo.trainer.__file__).parents[2]
WORDS = "the tile floor is one surface made of many stones and every stone keeps its own colour".split()


@pytest.fixture(scope="session")
def text_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty small files of repetitive text, so that a tiny model learns at once."""
    folder = tmp_path_factory.mktemp("text")
    for index in range(40):
        lines = (" ".join(WORDS[(index + line) % 5 :: 1 + line % 2]) for line in range(30))
        (folder / f"part{index:02d}.txt").write_text("\n".join(lines))
    return folder


@pytest.fixture
def tiny(text_folder: Path) -> Callable[..., Config]:
    """Builds the configuration of a tiny model from overrides."""

    def build(*overrides: str) -> Config:
        return configuration.load(None, None, settings(text_folder) + list(overrides))

    return build


def settings(text_folder: Path) -> list[str]:
    """Overrides for a tiny run."""
    return [
        f"data.path={text_folder}",
        "data.context=32",
        "data.validation=0.2",
        "model.layers=2",
        "model.width=32",
        "model.heads=2",
        "model.kv_heads=1",
        "model.mlp_width=64",
        "model.state=4",
        "train.steps=20",
        "train.batch=4",
        "train.warmup=4",
        "train.lr=1e-2",
        "train.eval_every=0",
        "train.checkpoint_every=0",
        "eval.tokens=256",
        "eval.final_tokens=256",
        "eval.batch=4",
        "sample.tokens=8",
        "sample.prompt=the ",
    ]


@pytest.fixture
def train() -> Callable[..., int]:
    """Trains in a folder that is owned as long as it lasts."""

    def run(config: Config, folder: Path, resumed: checkpoint.Checkpoint | None = None) -> int:
        with OwnedRun(folder) as owned:
            return training.train(config, owned, resumed)

    return run


@pytest.fixture
def trainer(text_folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Runs a verb in this process: exit status, output, errors. `train` gets the tiny settings."""

    def run(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        status = cli.main(command(text_folder, *arguments))
        return status, *capsys.readouterr()

    return run


def command(text_folder: Path, *arguments: object) -> list[str]:
    """The words of a command line."""
    words = [str(argument) for argument in arguments]
    return [words[0], *(settings(text_folder) if words[0] == "train" else []), *words[1:]]


@pytest.fixture
def subprocess_environment() -> dict[str, str]:
    """What a child process needs to import the package under test."""
    return environment()


def environment() -> dict[str, str]:
    """This process's environment, with the package under test first on the path."""
    path = os.pathsep.join([str(PACKAGE_ROOT), os.environ.get("PYTHONPATH", "")]).strip(os.pathsep)
    return dict(os.environ, PYTHONPATH=path)


@pytest.fixture
def start(text_folder: Path) -> Callable[..., "subprocess.Popen[str]"]:
    """Starts a verb in a process of its own and returns while it runs."""

    def run(*arguments: object) -> "subprocess.Popen[str]":
        words = [sys.executable, "-m", "terrazzo.trainer", *command(text_folder, *arguments)]
        return subprocess.Popen(words, env=environment(), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    return run
