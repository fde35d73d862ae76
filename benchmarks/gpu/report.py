# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/Performance.md and its chart, from what compare.py wrote.

    python benchmarks/gpu/report.py FILE.json --machine "one H200, driver 580, torch 2.11, Triton 3.6" --date 2026-12-01

Times of one file were taken in one run, all contenders of a case in turn. Refused and unfinished rows are left out, and
the document says how many.
"""

from __future__ import annotations

import argparse
import io
import json
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[2] / "docs"
COLUMNS = ("terrazzo", "triton", "library")


def cases(rows: list[dict[str, Any]]) -> dict[str, dict[str, dict[str, Any]]]:
    """For each case ours, Triton's and the fastest library's row."""
    table: dict[str, dict[str, dict[str, Any]]] = {}
    for row in rows:
        if "ms" not in row or row.get("provisional") or not row["ms"]:
            continue
        name = "library" if row.get("library") else row["compiler"]
        known = table.setdefault(row["case"], {}).get(name)
        if known is None or row["ms"] < known["ms"]:
            table[row["case"]][name] = row
    return {case: found for case, found in table.items() if "terrazzo" in found}


def markdown(table: dict[str, dict[str, dict[str, Any]]], machine: str, date: str, left_out: int) -> str:
    """The document."""
    lines = [
        "# Performance",
        "",
        f"Measured {date} on {machine}: `python benchmarks/gpu/compare.py`, written by `benchmarks/gpu/report.py`.",
        "Times are medians of rounds in which all contenders of a case take turns; each compiler runs the best of its",
        f"configurations. A ratio above 1 is in our favour. {left_out} rows without a time are left out.",
        "",
        "![Rates beside Triton's and the libraries'](performance.svg)",
        "",
        "| case | ours | Triton | library | Triton / ours | library / ours |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for case, found in table.items():
        ours = found["terrazzo"]
        cells = [case]
        for name in COLUMNS:
            row = found.get(name)
            label = f" ({row['compiler']})" if row and name == "library" else ""
            rated = row and row.get("rate")
            cells.append(
                "" if not row else f"{row['rate']:.0f} {row['unit']}{label}" if rated else f"{row['ms']:.4f} ms"
            )
        cells += [f"{found[name]['ms'] / ours['ms']:.2f}" if name in found else "" for name in COLUMNS[1:]]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def chart(table: dict[str, dict[str, dict[str, Any]]], path: Path) -> None:
    """A bar for each contender: how fast it is beside the fastest of its case."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "terrazzo", "svg.fonttype": "none"})
    from matplotlib import pyplot
    from matplotlib.patches import Patch

    figure, axes = pyplot.subplots(figsize=(8, 0.45 * len(table) + 1), layout="constrained")
    colours = dict(zip(COLUMNS, ("#1f4e79", "#9aa5b1", "#d8b365"), strict=True))
    for place, found in enumerate(table.values()):
        best = min(row["ms"] for row in found.values())
        for offset, name in enumerate(COLUMNS):
            if name in found:
                width = best / found[name]["ms"]
                axes.barh(place + 0.27 * (offset - 1), width, 0.25, color=colours[name])
    axes.set_yticks(range(len(table)), list(table))
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xlabel("speed beside the fastest")
    handles = [Patch(color=colours[name]) for name in COLUMNS]
    figure.legend(handles, COLUMNS, loc="outside upper center", ncols=3, frameon=False)
    drawing = io.StringIO()
    figure.savefig(drawing, metadata={"Date": None})
    path.write_text("\n".join(line.rstrip() for line in drawing.getvalue().splitlines()) + "\n")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, help="what compare.py --json wrote")
    parser.add_argument("--machine", required=True)
    parser.add_argument("--date", required=True)
    parser.add_argument("--out", type=Path, default=DOCS)
    arguments = parser.parse_args()
    rows = json.loads(arguments.file.read_text())
    table = cases(rows)
    left_out = sum("ms" not in row for row in rows)
    (arguments.out / "Performance.md").write_text(markdown(table, arguments.machine, arguments.date, left_out))
    chart(table, arguments.out / "performance.svg")


if __name__ == "__main__":
    main()
