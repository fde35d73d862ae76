# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The learning rate, and how a run that is too slow is shortened."""

import math

import pytest
from terrazzo.trainer.config import TrainConfig
from terrazzo.trainer.schedule import Pace, learning_rate


def test_warmup_and_cosine():
    config = TrainConfig(steps=100, warmup=10, lr=2.0, lr_floor=0.1)
    rates = [learning_rate(step, step / 100, config) for step in range(101)]
    assert rates[0] == pytest.approx(0.2) and rates[9] == pytest.approx(2.0)
    assert rates[55] == pytest.approx(2.0 * (0.1 + 0.9 * 0.5))
    assert rates[100] == pytest.approx(0.2)
    assert all(earlier >= later for earlier, later in zip(rates[10:], rates[11:], strict=False))


def test_no_warmup_and_all_warmup():
    assert learning_rate(0, 0.0, TrainConfig(warmup=0, lr=1.0)) == 1.0
    assert learning_rate(4, 0.5, TrainConfig(steps=10, warmup=20, lr=1.0)) == pytest.approx(0.25)


def test_progress_without_a_limit_is_the_step():
    pace = Pace(TrainConfig(steps=1000))
    for step in range(1000):
        assert pace.progress == pytest.approx(step / 1000, abs=1e-12)
        pace.advance(1e6)
    assert pace.finished and pace.progress == 1.0


def test_limit_shortens_the_run_and_completes_the_schedule():
    pace = Pace(TrainConfig(steps=1000, max_minutes=1.0))
    while not pace.finished:
        pace.advance(0.5)
    assert 110 <= pace.step <= 120
    assert pace.elapsed <= 60.0
    assert pace.progress == pytest.approx(1.0, abs=1e-9)


def test_a_slow_spell_is_made_up_for():
    pace = Pace(TrainConfig(steps=200, max_minutes=1.0))
    while not pace.finished:
        pace.advance(3.0 if pace.step < 5 else 0.1)
    assert pace.step == 200 and pace.elapsed < 60.0


def test_limit_that_does_not_bind_changes_nothing():
    free, limited = Pace(TrainConfig(steps=50)), Pace(TrainConfig(steps=50, max_minutes=10.0))
    for _ in range(50):
        free.advance(0.01)
        limited.advance(0.01)
        assert limited.progress == free.progress
    assert math.isclose(limited.elapsed, 0.5)
