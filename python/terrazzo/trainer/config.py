# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One dataclass tree holds everything that can be set; recipes and `key=value` overrides fill it in.

Precedence: defaults < preset < recipe file < overrides. Every value is checked against the type and the range of its
field, so a misspelt key or a wrong value ends the command before anything is computed, with the key and the file in the
message.
"""

import dataclasses
import difflib
import typing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml

from .documents import read_yaml
from .errors import ConfigError
from .schema import Range, convert, shown

Size = Annotated[int, Range(1, 1 << 24)]
SizeOrNone = Annotated[int, Range(0, 1 << 24)]
Steps = Annotated[int, Range(1, 99_999_999)]  # eight digits in a checkpoint's name
StepsOrNone = Annotated[int, Range(0, 99_999_999)]
Seed = Annotated[int, Range(0, (1 << 63) - 1)]
Share = Annotated[float, Range(0, 1, high_open=True)]
Small = Annotated[float, Range(0, 1, low_open=True)]
Positive = Annotated[float, Range(0, 1e9, low_open=True)]
Amount = Annotated[float, Range(0, 1e9)]


@dataclass
class ModelConfig:
    """The decoder. `family` picks the mixer: attention, or the selective state space of Mamba-1."""

    family: Literal["transformer", "mamba"] = "transformer"
    layers: Annotated[int, Range(1, 10_000)] = 4
    width: Size = 192
    norm_eps: Small = 1e-5
    tied_embeddings: bool = False
    # transformer
    heads: Annotated[int, Range(1, 1 << 16)] = 4
    kv_heads: Size = 2  # fewer than heads: grouped-query attention
    mlp_width: Size = 512
    position: Literal["rope", "alibi"] = "rope"
    rope_base: Positive = 10000.0
    # mamba
    state: Size = 16
    conv: Annotated[int, Range(2, 4)] = 4  # what the kernel takes
    expand: Size = 2
    dt_rank: SizeOrNone = 0  # 0: width / 16, rounded up


@dataclass
class DataConfig:
    """The text. An empty path stands for the Python standard library's own source."""

    path: str = ""
    validation: Annotated[float, Range(0, 1, low_open=True, high_open=True)] = (
        0.05  # share of files held out, picked by a hash of their names
    )
    context: Size = 256


@dataclass
class TrainConfig:
    """Optimisation, and how often to look and to save."""

    steps: Steps = 1000
    batch: Size = 8  # sequences a step
    micro_batch: SizeOrNone = 0  # sequences a forward pass; 0: the whole batch at once
    seed: Seed = 0
    lr: Positive = 2e-3
    lr_floor: Annotated[float, Range(0, 1)] = 0.05  # the cosine ends at this share of lr
    warmup: StepsOrNone = 40
    beta1: Share = 0.9
    beta2: Share = 0.95
    adam_eps: Small = 1e-8
    weight_decay: Amount = 0.1
    clip: Amount = 1.0  # global gradient norm; 0: no clipping
    log_every: Steps = 10
    eval_every: StepsOrNone = 250  # 0: only at the end
    checkpoint_every: StepsOrNone = 250  # 0: only at the end
    keep: Steps = 3
    max_minutes: Amount = 0.0  # a longer run is shortened, schedule included; 0: no limit


@dataclass
class EvalConfig:
    """Held-out evaluation: tokens scored while training and at the end (0: all of them)."""

    tokens: Annotated[int, Range(0, 1 << 40)] = 32768
    final_tokens: Annotated[int, Range(0, 1 << 40)] = 0
    batch: Size = 8
    overlap: Share = 0.0  # share of each window that is context only


@dataclass
class SampleConfig:
    """Text generation."""

    prompt: str = "def "
    tokens: Size = 300
    temperature: Amount = 0.8
    top_k: SizeOrNone = 40
    seed: Seed = 0


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


def apply(config: Config, tree: dict[Any, Any], source: str) -> None:
    """Sets the values of a nested dictionary; `source` is named in errors."""
    _apply_section(config, tree, source, "")


def fields_of(section: type) -> dict[str, Any]:
    """The fields of a section with their kinds, ranges included."""
    return typing.get_type_hints(section, include_extras=True)


def _apply_section(section: Any, tree: dict[Any, Any], source: str, prefix: str) -> None:
    kinds = fields_of(type(section))
    for key, value in tree.items():
        if not isinstance(key, str) or key not in kinds:
            name = f"{prefix}{key}" if isinstance(key, str) and len(key) < 60 else f"{prefix}{shown(key)}"
            raise ConfigError(f"{source}: unknown key '{name}'{_suggest(name)}")
        name = f"{prefix}{key}"
        if dataclasses.is_dataclass(kinds[key]):
            if not isinstance(value, dict):
                raise ConfigError(f"{source}: '{name}' is a section, expected a mapping, found {shown(value)}")
            _apply_section(getattr(section, key), value, source, name + ".")
        else:
            setattr(section, key, convert(value, kinds[key], name, source, ConfigError))


def _suggest(name: str) -> str:
    close = difflib.get_close_matches(name[:60], flatten(to_dict(Config())), n=1)
    return f"; did you mean '{close[0]}'?" if close else ""


def apply_overrides(config: Config, overrides: list[str]) -> None:
    """Applies `train.lr=1e-3` style settings from the command line."""
    source = "command line"
    for item in overrides:
        name, _, text = item.partition("=")
        section: Any = config
        *path, key = name.split(".")
        for part in path:
            section = getattr(section, part, None)
        kinds = fields_of(type(section)) if dataclasses.is_dataclass(section) else {}
        if key not in kinds:
            short = name if len(name) < 60 else shown(name)
            raise ConfigError(f"{source}: unknown key '{short}'{_suggest(name)}")
        if dataclasses.is_dataclass(kinds[key]):
            raise ConfigError(f"{source}: '{name}' is a section; set one of its keys, as in {name}.KEY=VALUE")
        setattr(section, key, convert(_parse(text, kinds[key]), kinds[key], name, source, ConfigError))


def _parse(text: str, kind: Any) -> Any:
    kind = typing.get_args(kind)[0] if typing.get_origin(kind) is Annotated else kind
    if kind is int:
        try:
            return int(text)
        except ValueError:
            return text
    if kind is bool:
        return {"true": True, "false": False}.get(text.lower(), text)
    return text


def validate(config: Config, source: str = "configuration") -> None:
    """Checks what a field alone cannot say: values that must fit each other. `source` is named in errors."""
    model, data, train, evaluation, sample = config.model, config.data, config.train, config.eval, config.sample

    def require(holds: bool, name: str, expected: str) -> None:
        if not holds:
            raise ConfigError(f"{source}: '{name}' expects {expected}, found {shown(_lookup(config, name))}")

    require(bool(sample.prompt), "sample.prompt", "at least one character")
    if train.micro_batch:
        require(train.batch % train.micro_batch == 0, "train.micro_batch", f"a divisor of train.batch={train.batch}")
    if model.family == "transformer":
        require(model.width % model.heads == 0, "model.heads", f"a divisor of model.width={model.width}")
        require(model.heads % model.kv_heads == 0, "model.kv_heads", f"a divisor of model.heads={model.heads}")
        head = model.width // model.heads
        even = model.position != "rope" or head % 2 == 0
        require(even, "model.heads", f"a divisor that leaves an even head size for rope, not {head}")
    require(int(data.context * evaluation.overlap) < data.context, "eval.overlap", "less than one window")


def _lookup(config: Config, name: str) -> Any:
    return flatten(to_dict(config))[name]


def load(
    preset: dict[str, Any] | None = None, recipe: str | Path | None = None, overrides: list[str] | None = None
) -> Config:
    """Builds and validates a configuration: defaults < preset < recipe < overrides."""
    config = Config()
    if preset is not None:
        apply(config, preset, "preset")
    if recipe is not None:
        tree = read_yaml(Path(recipe), ConfigError)
        if not isinstance(tree, dict | None):
            raise ConfigError(f"{recipe}: expected a mapping of sections, found {type(tree).__name__}")
        apply(config, tree or {}, str(recipe))
    apply_overrides(config, overrides or [])
    validate(config, str(recipe or "command line"))
    return config


def to_yaml(config: Config) -> str:
    """The configuration as a recipe that load() accepts."""
    return yaml.safe_dump(to_dict(config), sort_keys=False)


def incompatible_keys(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Keys that a run cannot change once it has a checkpoint: all of the model, the data, the seed and the batch."""
    fixed = ("model.", "data.", "train.seed", "train.batch")
    before, after = flatten(old), flatten(new)
    return [name for name in after if name.startswith(fixed) and before.get(name) != after[name]]
