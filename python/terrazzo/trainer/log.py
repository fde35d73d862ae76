# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The run's JSONL log: one record a line, each line written whole."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .config import StepsOrNone
from .documents import parse_json, read_lines
from .errors import LogError
from .files import append, write_atomic
from .schema import check, shown

_NUMBERS = {"step": ("loss",), "eval": ("nats", "trigram_nats")}
_MAY_BE_ABSENT = "trigram_nats"


def records(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a log; a last line cut off by a crash is left out. Raises LogError for any other bad line."""
    for number, line in read_lines(path, LogError):
        source = f"{path}:{number}"
        try:
            if line.strip():
                yield _record(line, source)
        except LogError:
            if line.endswith("\n"):
                raise


def _record(line: str, source: str) -> dict[str, Any]:
    record = check(parse_json(line, source, LogError), {"event": str}, source, LogError)
    numbers = _NUMBERS.get(record["event"], ())
    if numbers or "step" in record:
        check(record, {"step": StepsOrNone}, source, LogError)
    for name in numbers:
        value = record.get(name)  # which may be NaN or infinite, unlike a setting
        if isinstance(value, bool) or not isinstance(value, int | float | None):
            raise LogError(f"{source}: '{name}' expects a number, found {shown(value)}")
        if value is None and name != _MAY_BE_ABSENT:
            raise LogError(f"{source}: expected a field '{name}', found none")
    return record


def read_records(path: Path) -> list[dict[str, Any]]:
    """All records of a log that may not be there yet."""
    return list(records(path)) if path.exists() else []


class JsonLog:
    """Appends records to `log.jsonl`."""

    def __init__(self, path: Path, resume_step: int | None = None):
        """A new log, or the old one without what lies after the checkpoint of `resume_step`."""
        self.path = path
        old = [] if resume_step is None else read_records(path)
        kept = [record for record in old if record.get("step", 0) <= resume_step and record["event"] != "end"]
        write_atomic(path, "".join(json.dumps(record) + "\n" for record in kept).encode())

    def write(self, event: str, **fields: Any) -> None:
        """One record."""
        append(self.path, (json.dumps({"event": event, **fields}) + "\n").encode())
