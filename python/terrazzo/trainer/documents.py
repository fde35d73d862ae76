# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Text, JSON and YAML from outside: read up to a limit, and refused with the file's name when it is anything else."""

import contextlib
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import yaml

from .errors import TrainerError

MAX_BYTES = 1 << 20  # of a document, and of one line of a log
MAX_RECIPE_BYTES = 1 << 16
_MAX_DIGITS = 40


@contextmanager
def _opened(path: Path, error: type[TrainerError]) -> Iterator[BinaryIO]:
    try:
        with open(path, "rb") as file:
            yield file
    except FileNotFoundError:
        raise error(f"{path}: no such file") from None
    except OSError as problem:
        raise error(f"{path}: cannot be read: {problem.strerror}") from None


def require_file(path: Path, error: type[TrainerError]) -> None:
    """Refuses a folder, and a pipe that would be waited on for ever. That the file is absent, others say."""
    with contextlib.suppress(OSError):
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise error(f"{path}: expected a file, found something else")


def read_text(path: Path, error: type[TrainerError], limit: int = MAX_BYTES) -> str:
    """A file, or a pipe, of UTF-8 text."""
    with _opened(path, error) as file:
        data = file.read(limit + 1)
    return _decode(data, str(path), error, limit)


def read_lines(path: Path, error: type[TrainerError]) -> Iterator[tuple[int, str]]:
    """The lines of a file of UTF-8 text with their numbers, from 1; line ends are kept."""
    require_file(path, error)
    with _opened(path, error) as file:
        for number, data in enumerate(iter(lambda: file.readline(MAX_BYTES + 1), b""), 1):
            yield number, _decode(data, f"{path}:{number}", error, MAX_BYTES)


def _decode(data: bytes, source: str, error: type[TrainerError], limit: int) -> str:
    if len(data) > limit:
        raise error(f"{source}: expected {limit} bytes at most, found more")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        byte = problem.object[problem.start]
        raise error(f"{source}: expected UTF-8 text, found byte 0x{byte:02x} at {problem.start}") from None


def _integer(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise ValueError(f"a number of {len(digits)} digits")
    return int(digits)


def parse_json(text: str, source: str, error: type[TrainerError]) -> Any:
    """JSON of a sane depth, its integers of a sane length."""
    try:
        return json.loads(text, parse_int=_integer)
    except RecursionError:
        raise error(f"{source}: not readable as JSON: too deeply nested") from None
    except ValueError as problem:
        raise error(f"{source}: not readable as JSON: {problem}") from None


def read_json(path: Path, error: type[TrainerError]) -> Any:
    """The JSON of a file of a run."""
    require_file(path, error)
    return parse_json(read_text(path, error), str(path), error)


class _RecipeLoader(yaml.SafeLoader):
    """Plain YAML: an alias can stand for more than fits into memory, and a key given twice is a slip."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark
            raise yaml.MarkedYAMLError(problem="an alias, which recipes do not have", problem_mark=mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        mapping = super().construct_mapping(node, deep)
        if len(mapping) != len(node.value):
            raise yaml.MarkedYAMLError(problem="a key given twice", problem_mark=node.start_mark)
        return mapping


def read_yaml(path: Path, error: type[TrainerError]) -> Any:
    """The YAML of a recipe."""
    text = read_text(path, error, MAX_RECIPE_BYTES)
    where, reason = "", "cannot be parsed"
    try:
        return yaml.load(text, _RecipeLoader)
    except RecursionError:
        reason = "too deeply nested"
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        where = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        reason = getattr(problem, "problem", None) or reason
    except Exception as problem:  # what the parser makes of tags and dates that are none: any kind of error
        reason = str(problem) or reason
    raise error(f"{path}{where}: not valid YAML: {reason}")
