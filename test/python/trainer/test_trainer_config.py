# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recipes, overrides, presets: what is accepted, and that every mistake is one line naming the key or the file."""

from pathlib import Path

import pytest
from terrazzo.trainer import cli, presets
from terrazzo.trainer import config as configuration
from terrazzo.trainer.errors import ConfigError


def error_of(recipe: Path | None = None, *overrides: str) -> str:
    with pytest.raises(ConfigError) as caught:
        configuration.load(None, recipe, list(overrides))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def recipe(folder: Path, text: str) -> Path:
    path = folder / "recipe.yaml"
    path.write_text(text)
    return path


def test_precedence(tmp_path: Path):
    path = recipe(tmp_path, "train: {lr: 2e-4, steps: 7}\nmodel: {layers: 3}\n")
    config = configuration.load({"train": {"lr": 1.0, "batch": 2}, "model": {"layers": 9}}, path, ["train.steps=8"])
    assert (config.train.lr, config.train.steps, config.train.batch, config.model.layers) == (2e-4, 8, 2, 3)


def test_written_config_is_a_recipe(tmp_path: Path):
    config = configuration.load(presets.get("125m"), None, ["sample.prompt=a: 'b'\n#c"])
    assert configuration.load(None, recipe(tmp_path, configuration.to_yaml(config))) == config


@pytest.mark.parametrize("name", presets.PRESETS)
def test_presets_are_valid(name: str):
    config = configuration.flatten(configuration.to_dict(configuration.load(presets.get(name))))
    wanted = configuration.flatten(presets.get(name))
    assert {key: config[key] for key in wanted} == wanted


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("train: {lrate: 1}", ["unknown key 'train.lrate'"]),
        ("trian: {lr: 1}", ["unknown key 'trian'"]),
        ("train: {steps: 1.5}", ["'train.steps' expects an integer", "1.5"]),
        ("train: {steps: true}", ["'train.steps' expects an integer", "True"]),
        ("train: {lr: fast}", ["'train.lr' expects a finite number", "fast"]),
        ("train: {lr: .nan}", ["'train.lr' expects a finite number"]),
        ("train: 3", ["'train' is a section", "3"]),
        ("model: {tied_embeddings: 1}", ["'model.tied_embeddings' expects true or false"]),
        ("model: {family: rnn}", ["'model.family' expects one of transformer, mamba", "rnn"]),
        ("model: {family: [mamba]}", ["'model.family' expects one of"]),
        ("- train", ["expected a mapping", "list"]),
        ("train: {lr: 1", ["not valid YAML"]),
        ("train: !!python/object:os.system {}", ["not valid YAML"]),
    ],
)
def test_recipe_errors_name_file_and_key(tmp_path: Path, text: str, words: list[str]):
    message = error_of(recipe(tmp_path, text))
    assert "recipe.yaml" in message
    for word in words:
        assert word in message


def test_unreadable_recipes(tmp_path: Path):
    assert "no such file" in error_of(tmp_path / "absent.yaml")
    (tmp_path / "binary.yaml").write_bytes(b"train: \xff\xfe\x00")
    assert "UTF-8" in error_of(tmp_path / "binary.yaml")
    assert str(tmp_path) in error_of(tmp_path)


@pytest.mark.parametrize(
    ("override", "word"),
    [
        ("train.step=3", "did you mean 'train.steps'"),
        ("train.lr.x=3", "unknown key"),
        ("train=3", "is a section"),
        ("train.steps=ten", "'train.steps' expects an integer"),
        ("train.lr=inf", "finite"),
        ("train.steps=0", "'train.steps' expects an integer from 1 to 99999999, found 0"),
        ("train.beta2=1", "'train.beta2' expects a finite number from 0 and below 1, found '1'"),
        ("model.heads=5", "'model.heads' expects a divisor of model.width"),
        ("model.kv_heads=3", "'model.kv_heads' expects a divisor of model.heads"),
        ("train.micro_batch=3", "'train.micro_batch' expects a divisor"),
        ("target=tpu", "'target' expects one of"),
        ("sample.prompt=", "'sample.prompt'"),
    ],
)
def test_override_errors(override: str, word: str):
    assert word in error_of(None, override)


@pytest.mark.parametrize(
    "arguments",
    [
        ["train", "train.stepz=1"],
        ["train", "a.yaml", "b.yaml"],
        ["train", "--preset", "huge"],
        ["train", "data.path=/nowhere/at/all"],
        ["resume", "/nowhere/at/all"],
        ["compare", "/nowhere/a", "/nowhere/b"],
        ["compare", "a", "b", "--bound", "wide"],
        ["dance"],
        ["train.stepz=1"],
        ["train", "--dance"],
        ["compare", "a", "b", "c=d"],
    ],
)
def test_command_line_errors_exit_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    assert cli.main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1
