# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a value from outside must be: its type, and for a number its range.

Recipes, the command line and the files of a run all pass through convert(). Every number has two finite bounds, so that
nothing behind it meets a number that it cannot hold, and errors show a value in a few words whatever its size.
"""

import math
import reprlib
import types
import typing
from dataclasses import dataclass
from typing import Any, Literal

from .errors import TrainerError

_SHOWN = 60  # characters of a value in an error


@dataclass(frozen=True)
class Range:
    """The numbers from `low` to `high`; an end that is `open` is not among them."""

    low: float
    high: float
    low_open: bool = False
    high_open: bool = False

    def __contains__(self, value: float) -> bool:
        above = value > self.low if self.low_open else value >= self.low
        return above and (value < self.high if self.high_open else value <= self.high)

    def __str__(self) -> str:
        low = f"above {self.low:.15g}" if self.low_open else f"from {self.low:.15g}"
        return f"{low} {'and below' if self.high_open else 'to'} {self.high:.15g}"


class _Shortened(reprlib.Repr):
    def __init__(self) -> None:
        super().__init__()
        self.maxlevel, self.maxstring, self.maxother = 3, _SHOWN, _SHOWN

    def repr_int(self, x: int, level: int) -> str:
        # Python refuses to print integers of more than some thousand digits.
        digits = int(x.bit_length() * math.log10(2))
        return repr(x) if digits < 40 else f"a number of about {digits} digits"


def shown(value: Any) -> str:
    """A value for an error message: a few words on one line, however large or deep it is."""
    text = _Shortened().repr(value)
    return text if len(text) <= 2 * _SHOWN else text[: 2 * _SHOWN] + "..."


def convert(value: Any, kind: Any, name: str, source: str, error: type[TrainerError]) -> Any:
    """`value` as `kind`: int, float, str, bool, a Literal, or one of these or None; with a Range if need be.

    Raises `error` with the source, the name, what was expected and what was found.
    """
    base, *limits = typing.get_args(kind) if typing.get_origin(kind) is typing.Annotated else (kind,)
    optional = isinstance(base, types.UnionType)
    if optional and value is None:
        return None
    base = typing.get_args(base)[0] if optional else base
    try:
        found = _of_type(value, base)
    except (ValueError, OverflowError):
        found = None
    if found is None or not all(found in limit for limit in limits):
        expected = " ".join([_describe(base), *map(str, limits)]) + (" or nothing" if optional else "")
        raise error(f"{source}: '{name}' expects {expected}, found {shown(value)}")
    return found


def _of_type(value: Any, kind: Any) -> Any:
    """The value, converted without loss; None or a ValueError when it is of another type."""
    if typing.get_origin(kind) is Literal:
        return value if isinstance(value, str) and value in typing.get_args(kind) else None
    if kind is float:
        # YAML 1.1 reads 1e-3 (no dot) as a string.
        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            return None
        number = float(value)
        return number if math.isfinite(number) else None
    if kind is str and isinstance(value, str):
        value.encode()  # not for surrogates, which stand for bytes that are not UTF-8
        return None if "\0" in value else value
    return value if type(value) is kind else None


def _describe(kind: Any) -> str:
    if typing.get_origin(kind) is Literal:
        return "one of " + ", ".join(typing.get_args(kind))
    words = {int: "an integer", float: "a finite number", bool: "true or false", str: "text", dict: "a mapping"}
    return words[kind]


def check(tree: Any, fields: dict[str, Any], source: str, error: type[TrainerError]) -> dict[str, Any]:
    """A mapping that must have these fields, converted; what else it holds is left as it is."""
    if not isinstance(tree, dict):
        raise error(f"{source}: expected a mapping, found {shown(tree)}")
    checked = dict(tree)
    for name, kind in fields.items():
        if name not in tree:
            raise error(f"{source}: expected a field '{name}', found {shown(sorted(map(str, tree)))}")
        checked[name] = convert(tree[name], kind, name, source, error)
    return checked
