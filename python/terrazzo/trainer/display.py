# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the terminal shows: a live bar where there is one, plain lines where output goes to a file or a pipe."""

import sys
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table


def clock(seconds: float) -> str:
    """Seconds as m:ss or h:mm:ss."""
    minutes, rest = divmod(int(max(seconds, 0) + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


class Display:
    """Progress of one run; a context manager."""

    def __init__(self, log_every: int, stream: Any = None):
        self.log_every = log_every
        stream = stream or sys.stdout
        # Without a terminal rich would wrap at 80 columns.
        self.console = Console(file=stream, width=None if stream.isatty() else 200, highlight=False)
        self._bar: Progress | None = None
        if self.console.is_terminal:
            self._bar = Progress(
                TextColumn("step {task.completed}/{task.total}"),
                BarColumn(bar_width=24),
                TextColumn("{task.fields[text]}"),
                console=self.console,
            )
            self._task = self._bar.add_task("train", total=None, text="compiling kernels")

    def __enter__(self) -> "Display":
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, *_: Any) -> None:
        if self._bar:
            self._bar.stop()

    def line(self, text: str) -> None:
        """A line that stays."""
        self.console.print(text, markup=False)

    def step(self, step: int, last: int, loss: float, rate: float, eta: float, lr: float, norm: float) -> None:
        """Progress after a step: loss, tokens a second, time left."""
        text = f"loss {loss:.4f}  {rate:,.0f} tokens/s  eta {clock(eta)}"
        if self._bar:
            self._bar.update(self._task, completed=step, total=last, text=text)
        elif step % self.log_every == 0 or step in (1, last):
            self.line(f"step {step}/{last}  {text}  lr {lr:.2e}  norm {norm:.2f}")

    def table(self, title: str, columns: list[str], rows: list[list[str]]) -> None:
        """A table; the first column is text, the others are numbers."""
        table = Table(title=title, title_justify="left")
        for index, column in enumerate(columns):
            table.add_column(column, justify="left" if index == 0 else "right")
        for row in rows:
            table.add_row(*row)
        self.console.print(table)
