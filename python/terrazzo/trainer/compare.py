# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two training logs side by side: how far apart the losses are, and since when."""

import math
from dataclasses import dataclass
from pathlib import Path

from .errors import LogError
from .log import records


@dataclass(frozen=True)
class Difference:
    """Absolute differences of the loss over the steps that both logs have."""

    steps: int
    maximum: float
    maximum_step: int
    mean: float
    first_divergent: int | None


def read_losses(path: str | Path) -> dict[int, float]:
    """Loss by step; of a step logged twice, the later record counts."""
    losses = {record["step"]: float(record["loss"]) for record in records(Path(path)) if record["event"] == "step"}
    if not losses:
        raise LogError(f"{path}: holds no training step")
    return losses


def difference(a: dict[int, float], b: dict[int, float]) -> Difference:
    """Compares the common steps."""
    steps = sorted(a.keys() & b.keys())
    if not steps:
        raise LogError("the two logs have no step in common")
    apart = [_distance(a[step], b[step]) for step in steps]
    worst = max(range(len(steps)), key=apart.__getitem__)
    first = next((step for step, value in zip(steps, apart, strict=True) if value > 0), None)
    return Difference(len(steps), apart[worst], steps[worst], sum(apart) / len(steps), first)


def _distance(a: float, b: float) -> float:
    # Not a number is infinitely far from everything, or it would pass every bound.
    return math.inf if math.isnan(a) or math.isnan(b) else abs(a - b)


def compare(a: str | Path, b: str | Path, bound: float) -> int:
    """Prints the comparison; 0 when no step differs by more than `bound`, otherwise 1."""
    result = difference(read_losses(a), read_losses(b))
    print(f"steps compared        {result.steps}")
    print(f"max |d loss|          {result.maximum:.3e} (step {result.maximum_step})")
    print(f"mean |d loss|         {result.mean:.3e}")
    print(f"first divergent step  {'none' if result.first_divergent is None else result.first_divergent}")
    passed = result.maximum <= bound
    print(f"bound {bound:g}: {'ok' if passed else 'FAILED'}")
    return 0 if passed else 1
