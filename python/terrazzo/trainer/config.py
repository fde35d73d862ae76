# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One dataclass tree holds everything that can be set; recipes and `key=value` overrides fill it in.

Precedence: defaults < preset < recipe file < overrides. Every value is checked against the type of its field, so a
misspelt key or a wrong type ends the command before anything is computed, with the key and the file in the message.
"""

import dataclasses
import difflib
import math
import typing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import yaml

from .errors import ConfigError


@dataclass
class ModelConfig:
    """The decoder. `family` picks the mixer: attention, or the selective state space of Mamba-1."""

    family: Literal["transformer", "mamba"] = "transformer"
    layers: int = 4
    width: int = 192
    norm_eps: float = 1e-5
    tied_embeddings: bool = False
    # transformer
    heads: int = 4
    kv_heads: int = 2  # fewer than heads: grouped-query attention
    mlp_width: int = 512
    position: Literal["rope", "alibi"] = "rope"
    rope_base: float = 10000.0
    # mamba
    state: int = 16
    conv: int = 4
    expand: int = 2
    dt_rank: int = 0  # 0: width / 16, rounded up


@dataclass
class DataConfig:
    """The text. An empty path stands for the Python standard library's own source."""

    path: str = ""
    validation: float = 0.05  # share of files held out, picked by a hash of their names
    context: int = 256


@dataclass
class TrainConfig:
    """Optimisation, and how often to look and to save."""

    steps: int = 1000
    batch: int = 8  # sequences a step
    micro_batch: int = 0  # sequences a forward pass; 0: the whole batch at once
    seed: int = 0
    lr: float = 2e-3
    lr_floor: float = 0.05  # the cosine ends at this share of lr
    warmup: int = 40
    beta1: float = 0.9
    beta2: float = 0.95
    adam_eps: float = 1e-8
    weight_decay: float = 0.1
    clip: float = 1.0  # global gradient norm; 0: no clipping
    log_every: int = 10
    eval_every: int = 250  # 0: only at the end
    checkpoint_every: int = 250  # 0: only at the end
    keep: int = 3
    max_minutes: float = 0.0  # a longer run is shortened, schedule included; 0: no limit


@dataclass
class EvalConfig:
    """Held-out evaluation: tokens scored while training and at the end (0: all of them)."""

    tokens: int = 32768
    final_tokens: int = 0
    batch: int = 8
    overlap: float = 0.0  # share of each window that is context only


@dataclass
class SampleConfig:
    """Text generation."""

    prompt: str = "def "
    tokens: int = 300
    temperature: float = 0.8
    top_k: int = 40
    seed: int = 0


@dataclass
class RunConfig:
    """Where a run lives: log, plot, checkpoints and token cache are all below `dir`."""

    dir: str = ""  # empty: runs/<preset>-<date>-<time>


@dataclass
class Config:
    """Everything a run depends on; written beside its log as config.yaml."""

    target: Literal["cpu", "cuda", "hip"] = "cpu"
    model: ModelConfig = field(default_factory=ModelConfig)
    data: DataConfig = field(default_factory=DataConfig)
    train: TrainConfig = field(default_factory=TrainConfig)
    eval: EvalConfig = field(default_factory=EvalConfig)
    sample: SampleConfig = field(default_factory=SampleConfig)
    run: RunConfig = field(default_factory=RunConfig)


def to_dict(config: Any) -> dict[str, Any]:
    """The configuration as nested plain dictionaries."""
    return dataclasses.asdict(config)


def flatten(tree: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """`{"train": {"lr": 1}}` as `{"train.lr": 1}`."""
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            flat.update(flatten(value, name + "."))
        else:
            flat[name] = value
    return flat


def read_yaml(path: str | Path) -> dict[str, Any]:
    """A YAML file as a nested dictionary; anything else is a ConfigError that names the file."""
    try:
        text = Path(path).read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such recipe file") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: expected UTF-8 text, found byte {text_byte(error)} at {error.start}") from None
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    try:
        tree = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        reason = getattr(error, "problem", None) or "cannot be parsed"
        raise ConfigError(f"{path}{where}: not valid YAML: {reason}") from None
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise ConfigError(f"{path}: expected a mapping of sections, found {type(tree).__name__}")
    return tree


def text_byte(error: UnicodeDecodeError) -> str:
    """The offending byte of a decoding error, in hex."""
    return f"0x{error.object[error.start]:02x}"


def apply(config: Config, tree: dict[Any, Any], source: str) -> None:
    """Sets the values of a nested dictionary; `source` is named in errors."""
    _apply_section(config, tree, source, "")


def _apply_section(section: Any, tree: dict[Any, Any], source: str, prefix: str) -> None:
    hints = typing.get_type_hints(type(section))
    for key, value in tree.items():
        name = f"{prefix}{key}"
        if key not in hints:
            raise ConfigError(f"{source}: unknown key '{name}'{_suggest(name)}")
        if dataclasses.is_dataclass(hints[key]):
            if not isinstance(value, dict):
                raise ConfigError(f"{source}: '{name}' is a section, expected a mapping, found {value!r}")
            _apply_section(getattr(section, key), value, source, name + ".")
        else:
            setattr(section, key, _convert(value, hints[key], name, source))


def _suggest(name: str) -> str:
    close = difflib.get_close_matches(name, flatten(to_dict(Config())), n=1)
    return f"; did you mean '{close[0]}'?" if close else ""


def _convert(value: Any, kind: Any, name: str, source: str) -> Any:
    wrong = ConfigError(f"{source}: '{name}' expects {_describe(kind)}, found {value!r}")
    if typing.get_origin(kind) is Literal:
        if value not in typing.get_args(kind):
            raise wrong
        return value
    if kind is float:
        # YAML 1.1 reads 1e-3 (no dot) as a string.
        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            raise wrong
        try:
            number = float(value)
        except ValueError:
            raise wrong from None
        if not math.isfinite(number):
            raise wrong
        return number
    if type(value) is not kind:
        raise wrong
    return value


def _describe(kind: Any) -> str:
    if typing.get_origin(kind) is Literal:
        return "one of " + ", ".join(typing.get_args(kind))
    return {int: "an integer", float: "a finite number", bool: "true or false", str: "text"}[kind]


def apply_overrides(config: Config, overrides: list[str]) -> None:
    """Applies `train.lr=1e-3` style settings from the command line."""
    for item in overrides:
        name, _, text = item.partition("=")
        section: Any = config
        *path, key = name.split(".")
        for part in path:
            section = getattr(section, part, None)
        hints = typing.get_type_hints(type(section)) if dataclasses.is_dataclass(section) else {}
        if key not in hints:
            raise ConfigError(f"command line: unknown key '{name}'{_suggest(name)}")
        if dataclasses.is_dataclass(hints[key]):
            raise ConfigError(f"command line: '{name}' is a section; set one of its keys, as in {name}.KEY=VALUE")
        setattr(section, key, _convert(_parse(text, hints[key]), hints[key], name, "command line"))


def _parse(text: str, kind: Any) -> Any:
    if kind is int or kind is float:
        try:
            return kind(text)
        except ValueError:
            return text
    if kind is bool:
        return {"true": True, "false": False}.get(text.lower(), text)
    return text


def validate(config: Config) -> None:
    """Checks what a type cannot say: ranges, and values that must fit each other."""
    model, data, train, evaluation, sample = config.model, config.data, config.train, config.eval, config.sample
    positive = {
        "model": [
            "layers",
            "width",
            "heads",
            "kv_heads",
            "mlp_width",
            "rope_base",
            "state",
            "conv",
            "expand",
            "norm_eps",
        ],
        "data": ["context"],
        "train": ["steps", "batch", "lr", "log_every", "keep", "adam_eps"],
        "eval": ["batch"],
        "sample": ["tokens"],
    }
    for section, keys in positive.items():
        for key in keys:
            _require(getattr(getattr(config, section), key) > 0, f"{section}.{key}", "more than 0", config)
    for key in (
        "model.dt_rank",
        "train.micro_batch",
        "train.warmup",
        "train.weight_decay",
        "train.clip",
        "train.seed",
        "train.eval_every",
        "train.checkpoint_every",
        "train.max_minutes",
        "eval.tokens",
        "eval.final_tokens",
        "sample.temperature",
        "sample.top_k",
        "sample.seed",
    ):
        _require(_lookup(config, key) >= 0, key, "0 or more", config)
    for key in ("data.validation", "train.beta1", "train.beta2", "eval.overlap"):
        _require(0 <= _lookup(config, key) < 1, key, "in [0, 1)", config)
    _require(data.validation > 0, "data.validation", "more than 0", config)
    _require(0 <= train.lr_floor <= 1, "train.lr_floor", "in [0, 1]", config)
    _require(bool(sample.prompt), "sample.prompt", "at least one character", config)
    if train.micro_batch:
        fits = train.batch % train.micro_batch == 0
        _require(fits, "train.micro_batch", f"a divisor of train.batch={train.batch}", config)
    if model.family == "transformer":
        _require(model.width % model.heads == 0, "model.heads", f"a divisor of model.width={model.width}", config)
        _require(model.heads % model.kv_heads == 0, "model.kv_heads", f"a divisor of model.heads={model.heads}", config)
        head = model.width // model.heads
        fits = model.position != "rope" or head % 2 == 0
        _require(fits, "model.heads", f"a divisor that leaves an even head size for rope, not {head}", config)
    _require(int(data.context * evaluation.overlap) < data.context, "eval.overlap", "less than one window", config)


def _lookup(config: Config, name: str) -> Any:
    return flatten(to_dict(config))[name]


def _require(holds: bool, name: str, expected: str, config: Config) -> None:
    if not holds:
        raise ConfigError(f"'{name}' expects {expected}, found {_lookup(config, name)!r}")


def load(
    preset: dict[str, Any] | None = None, recipe: str | Path | None = None, overrides: list[str] | None = None
) -> Config:
    """Builds and validates a configuration: defaults < preset < recipe < overrides."""
    config = Config()
    if preset is not None:
        apply(config, preset, "preset")
    if recipe is not None:
        apply(config, read_yaml(recipe), str(recipe))
    apply_overrides(config, overrides or [])
    validate(config)
    return config


def to_yaml(config: Config) -> str:
    """The configuration as a recipe that load() accepts."""
    return yaml.safe_dump(to_dict(config), sort_keys=False)


def incompatible_keys(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Keys that a run cannot change once it has a checkpoint: all of the model, the data, the seed and the batch."""
    fixed = ("model.", "data.", "train.seed", "train.batch")
    before, after = flatten(old), flatten(new)
    return [name for name in after if name.startswith(fixed) and before.get(name) != after[name]]
