# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The baseline against a direct transcription of its formula, and as a probability."""

import math

import numpy as np
from terrazzo.trainer.tokenizer import END
from terrazzo.trainer.trigram import Trigram

TEXT = np.array([0, 1, 2, 0, 1, 0, 0, 1, 2, 2, 1, 0, 1, 2, 3, 0, 1, 2], dtype=np.uint16)


def brute_force(a: int, b: int, c: int, symbols: int) -> float:
    """p3(c | a, b) by counting tuples one at a time."""
    text = TEXT.tolist()
    grams = [[tuple(text[i : i + n]) for i in range(len(text) - n + 1)] for n in (1, 2, 3)]

    def discount(order: int) -> float:
        counts = {gram: grams[order].count(gram) for gram in grams[order]}
        once, twice = (sum(value == k for value in counts.values()) for k in (1, 2))
        return once / (once + 2 * twice) if once and twice else 0.5

    probability = (grams[0].count((c,)) + 1) / (len(text) + symbols)
    for order, history in ((1, (b,)), (2, (a, b))):
        following = [gram for gram in grams[order] if gram[:-1] == history]
        if following:
            d = discount(order)
            probability = (
                max(following.count((*history, c)) - d, 0) / len(following)
                + d * len(set(following)) / len(following) * probability
            )
    return probability


def test_matches_brute_force():
    model = Trigram(TEXT, symbols=5)
    for a in range(5):
        for b in range(5):
            for c in range(5):
                found = model.probability(*(np.array([value]) for value in (a, b, c)))[0]
                assert math.isclose(found, brute_force(a, b, c, 5), rel_tol=1e-12)


def test_sums_to_one():
    model = Trigram(TEXT, symbols=5)
    a, b, c = np.meshgrid(*[np.arange(5)] * 3, indexing="ij")
    assert np.allclose(model.probability(a, b, c).sum(2), 1.0, rtol=1e-12)


def test_nats_over_positions():
    model = Trigram(np.append(TEXT, END).astype(np.uint16))
    positions = np.array([0, 1, 2, 7])
    want = 0.0
    for at in positions:
        a, b = (int(TEXT[at - k]) if at >= k else END for k in (2, 1))
        want -= math.log(model.probability(np.array([a]), np.array([b]), TEXT[at : at + 1].astype(int))[0])
    assert math.isclose(model.nats(TEXT, positions), want / 4, rel_tol=1e-12)
