# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Learning rate, and how the number of steps adapts to a time limit.

The schedule is a function of *progress*, a number from 0 to 1, not of the step. Without a time limit each step moves it
by 1 / steps. With one, the steps that still fit are estimated from the measured step time, and progress moves in equal
parts over those: a slow machine runs fewer steps, and still ends at the floor of the cosine.
"""

import math

from .config import TrainConfig


def learning_rate(step: int, progress: float, config: TrainConfig) -> float:
    """Linear warm-up over `warmup` steps, then a cosine down to `lr_floor * lr` at progress 1."""
    rise = min(1.0, (step + 1) / config.warmup) if config.warmup else 1.0
    start = min(config.warmup / config.steps, 1.0)
    along = min(max((progress - start) / (1.0 - start), 0.0), 1.0) if start < 1.0 else 0.0
    cosine = 0.5 * (1.0 + math.cos(math.pi * along))
    return config.lr * rise * (config.lr_floor + (1.0 - config.lr_floor) * cosine)


class Pace:
    """How far the run is, and how many steps are left."""

    # The first steps compile kernels and say nothing about the speed of the rest.
    IGNORED_STEPS = 3

    def __init__(
        self,
        config: TrainConfig,
        step: int = 0,
        progress: float = 0.0,
        elapsed: float = 0.0,
        step_seconds: float | None = None,
    ):
        self.config = config
        self.step = step
        self.progress = progress
        self.elapsed = elapsed  # seconds of training, pauses between a stop and a resume not counted
        self.step_seconds = step_seconds  # smoothed
        self._seen = 0

    def remaining_steps(self) -> int:
        """Steps to do, the time limit considered."""
        left = self.config.steps - self.step
        if self.config.max_minutes and self.step_seconds:
            fits = int((self.config.max_minutes * 60.0 - self.elapsed) / self.step_seconds)
            left = min(left, max(fits, 0))
        return left

    def advance(self, seconds: float) -> None:
        """Accounts for a finished step that took `seconds`."""
        remaining = max(self.remaining_steps(), 1)
        self.progress += (1.0 - self.progress) / remaining
        self.step += 1
        self.elapsed += seconds
        self._seen += 1
        if self._seen > self.IGNORED_STEPS:
            known = self.step_seconds
            self.step_seconds = seconds if known is None else known + 0.05 * (seconds - known)

    def pause(self, seconds: float) -> None:
        """Accounts for time that counts against the limit but belongs to no step (evaluation, saving)."""
        self.elapsed += seconds

    @property
    def finished(self) -> bool:
        """Whether no step is left."""
        return self.remaining_steps() <= 0
