# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The loss curve of a run as a PNG, drawn from its log without a display."""

import io
from pathlib import Path
from typing import Any

from .files import write_atomic


def _smoothed(values: list[float], weight: float = 0.95) -> list[float]:
    average, norm, out = 0.0, 0.0, []
    for value in values:
        average = weight * average + (1 - weight) * value
        norm = weight * norm + (1 - weight)
        out.append(average / norm)
    return out


def plot(records: list[dict[str, Any]], path: Path, title: str) -> None:
    """Training loss (raw and smoothed), held-out loss, and the trigram line."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    steps = [record for record in records if record["event"] == "step"]
    evaluations = [record for record in records if record["event"] == "eval"]
    figure, axes = pyplot.subplots(figsize=(8, 5))
    x, y = [record["step"] for record in steps], [record["loss"] for record in steps]
    axes.plot(x, y, color="tab:blue", alpha=0.3, linewidth=0.8, label="training, each step")
    axes.plot(x, _smoothed(y), color="tab:blue", label="training, smoothed")
    if evaluations:
        axes.plot(
            [record["step"] for record in evaluations],
            [record["nats"] for record in evaluations],
            "o-",
            color="tab:orange",
            label="held out",
        )
    trigram = next((record["trigram_nats"] for record in reversed(evaluations) if record.get("trigram_nats")), None)
    if trigram:
        axes.axhline(trigram, color="tab:gray", linestyle="--", label="held out, trigram")
    axes.set_title(title, parse_math=False)  # a folder may be called $x
    axes.set(xlabel="step", ylabel="nats per byte")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.tight_layout()
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=120)
    pyplot.close(figure)
    write_atomic(path, image.getvalue())
