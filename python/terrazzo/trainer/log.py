# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The run's JSONL log: one record a line, each line written whole."""

import json
from pathlib import Path
from typing import Any

from .files import write_atomic


def read_records(path: Path) -> list[dict[str, Any]]:
    """All records; a last line cut off by a crash is dropped."""
    if not path.exists():
        return []
    records = []
    for line in path.read_text("utf-8").splitlines():
        try:
            records.append(json.loads(line))
        except ValueError:
            break
    return records


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
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps({"event": event, **fields}) + "\n")
