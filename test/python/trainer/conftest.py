# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fixtures: a small text folder, and settings for models that train in a second."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import terrazzo.trainer
from terrazzo.trainer import config as configuration
from terrazzo.trainer.config import Config

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
def trainer(text_folder: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a verb in a process of its own; `train` gets the tiny settings."""

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command(text_folder, *arguments), env=environment(), capture_output=True, text=True, timeout=120
        )

    return run


def command(text_folder: Path, *arguments: object) -> list[str]:
    """The command line of a verb."""
    words = [str(argument) for argument in arguments]
    extra = settings(text_folder) if words[0] == "train" else []
    return [sys.executable, "-m", "terrazzo.trainer", words[0], *extra, *words[1:]]


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
    """Starts a verb and returns while it runs."""

    def run(*arguments: object) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            command(text_folder, *arguments),
            env=environment(),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    return run
