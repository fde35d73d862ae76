# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The verbs of `python -m terrazzo.trainer`: train, resume, eval, sample, compare. Without a verb: train.

Heavy imports happen inside the verbs, so that a mistake in a recipe is reported at once.
"""

import argparse
import copy
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from . import boundary, presets
from . import config as configuration
from .config import Config
from .errors import CheckpointError, ConfigError


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"{self.prog}: {message}")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = _Parser(prog="terrazzo.trainer", description="Train, evaluate and sample small language models.")
    verbs = top.add_subparsers(dest="verb", required=True, metavar="{train,resume,eval,sample,compare}")
    train = verbs.add_parser("train", help="start a run from a preset, a YAML recipe, and key=value overrides")
    train.add_argument("settings", nargs="*", metavar="RECIPE|KEY=VALUE")
    train.add_argument(
        "--preset", metavar="NAME", help=f"{', '.join(presets.PRESETS)} (smoke, unless there is a recipe)"
    )
    train.add_argument("--run", metavar="DIR", help="the run's folder; the same as run.dir=DIR")
    train.set_defaults(do=_train)
    for name, do, text in (
        ("resume", _resume, "continue a run from its newest checkpoint, or from the one named"),
        ("eval", _eval, "held-out nats and bits a byte, beside the trigram baseline"),
        ("sample", _sample, "generate text"),
    ):
        verb = verbs.add_parser(name, help=text)
        verb.add_argument("run", metavar="RUN|CHECKPOINT", type=Path)
        verb.add_argument("settings", nargs="*", metavar="KEY=VALUE")
        verb.set_defaults(do=do)
        if name == "sample":
            verb.add_argument("--prompt", metavar="TEXT", help="the same as sample.prompt=TEXT")
    for verb in verbs.choices.values():
        verb.add_argument("--target", metavar="NAME", help="where kernels run; the same as target=NAME")
    compare = verbs.add_parser("compare", help="compare the losses of two logs, step by step")
    compare.add_argument("a", metavar="A.jsonl")
    compare.add_argument("b", metavar="B.jsonl")
    compare.add_argument("--bound", type=float, default=0.0, help="largest difference that passes (default 0)")
    compare.set_defaults(do=_compare)
    return top


def main(arguments: list[str] | None = None) -> int:
    """Runs one verb; returns its exit status."""
    return boundary.run(_run, sys.argv[1:] if arguments is None else arguments)


def _run(words: Sequence[str]) -> int:
    top = parser()
    arguments = list(words)
    if not arguments or "=" in arguments[0]:
        arguments = ["train", *arguments]
    # argparse takes positionals in one piece; settings after an option come back as left over.
    options, rest = top.parse_known_args(arguments)
    unknown = [item for item in rest if item.startswith("-") or not hasattr(options, "settings")]
    if unknown:
        top.error(f"unrecognized arguments: {' '.join(unknown)}")
    options.settings = getattr(options, "settings", []) + rest
    return options.do(options)


def _overrides(options: argparse.Namespace, settings: list[str]) -> list[str]:
    named = (("target", "target"), ("prompt", "sample.prompt"))
    flags = [f"{key}={getattr(options, flag)}" for flag, key in named if getattr(options, flag, None) is not None]
    for item in settings:
        if "=" not in item:
            raise ConfigError(f"command line: expected key=value, found '{item}'")
    return settings + flags


def _select_target(config: Config) -> None:
    from .target import select

    select(config.target)


def _train(options: argparse.Namespace) -> int:
    recipes = [item for item in options.settings if "=" not in item]
    if len(recipes) > 1:
        raise ConfigError(f"command line: expected one recipe, found {', '.join(recipes)}")
    settings = _overrides(options, [item for item in options.settings if "=" in item])
    name = options.preset or ("" if recipes else "smoke")
    preset = presets.get(name) if name else None
    if options.run:
        settings.append(f"run.dir={options.run}")
    config = configuration.load(preset, recipes[0] if recipes else None, settings)
    run = Path(config.run.dir or f"runs/{Path(recipes[0]).stem if recipes else name}-{time.strftime('%Y%m%d-%H%M%S')}")
    _select_target(config)

    from . import checkpoint
    from .lock import OwnedRun
    from .train import train

    with OwnedRun(run) as owned:
        if checkpoint.available(run):
            raise ConfigError(
                f"run.dir: {run} already holds checkpoints; continue it with 'resume {run}', or choose another folder"
            )
        return train(config, owned)


def _reopen(options: argparse.Namespace) -> tuple[Path, Any, Config]:
    """The run, the checkpoint and the configuration (stored one plus overrides) that a command names."""
    from . import checkpoint

    run, found, warnings = checkpoint.locate(options.run)
    for warning in warnings:
        print(f"warning: {boundary.one_line(warning)}", file=sys.stderr)
    config = Config()
    source = str(found.path / "meta.json")
    configuration.apply(config, found.meta["config"], source)
    configuration.validate(config, source)
    old = copy.deepcopy(configuration.to_dict(config))
    configuration.apply_overrides(config, _overrides(options, options.settings))
    configuration.validate(config, "command line")
    changed = configuration.incompatible_keys(old, configuration.to_dict(config))
    if changed:
        before, after = configuration.flatten(old), configuration.flatten(configuration.to_dict(config))
        detail = ", ".join(f"'{key}' is {before[key]!r} in {found.path}, not {after[key]!r}" for key in changed)
        raise CheckpointError(f"cannot be changed after training has begun: {detail}")
    return run, found, config


def _resume(options: argparse.Namespace) -> int:
    from . import checkpoint
    from .lock import OwnedRun

    run, _ = checkpoint.run_of(options.run)
    with OwnedRun(run) as owned:
        _, found, config = _reopen(options)
        _select_target(config)
        from .train import train

        return train(config, owned, found)


def _load(options: argparse.Namespace) -> Any:
    """The state of a finished or unfinished run, for looking at it."""
    run, found, config = _reopen(options)
    _select_target(config)
    from . import corpus, state

    text = corpus.load(config.data.path, config.data.validation, run / "cache")
    restored = state.fresh(config, text)
    state.restore(restored, found)
    return restored


def _eval(options: argparse.Namespace) -> int:
    from .evaluate import evaluate
    from .trigram import Trigram

    state = _load(options)
    score = evaluate(
        state.model, state.corpus, state.config.eval, state.config.eval.final_tokens, Trigram(state.corpus.train)
    )
    print(f"step {state.pace.step}, {score.tokens:,} held-out bytes of {state.corpus.source}")
    print(f"model    {score.nats:.4f} nats/byte  {score.bits:.4f} bits/byte")
    print(f"trigram  {score.trigram_nats:.4f} nats/byte")
    return 0


def _sample(options: argparse.Namespace) -> int:
    from .sample import generate

    state = _load(options)
    print(generate(state.model, state.config.sample))
    return 0


def _compare(options: argparse.Namespace) -> int:
    from .compare import compare

    if not options.bound >= 0:
        raise ConfigError(f"--bound: expected a number of 0 or more, found {options.bound}")
    return compare(options.a, options.b, options.bound)
