# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The baseline: a byte trigram with interpolated absolute discounting (Ney, Essen, Kneser 1994).

    p3(c | a, b) = max(n(abc) - D3, 0) / n(ab) + D3 * types(ab*) / n(ab) * p2(c | b)

p2 has the same form over bigram counts, and p1 is add-one over the unigrams; a context never seen passes all its mass
on. Each discount is n1 / (n1 + 2 n2) of its own counts-of-counts. A model has to beat it to have learned anything that
two bytes of context do not say.
"""

import numpy as np

from .tokenizer import END

SYMBOLS = END + 1
_CHUNK = 1 << 22


class Trigram:
    """Counts of a token stream, and the probabilities that follow from them."""

    def __init__(self, tokens: np.ndarray, symbols: int = SYMBOLS):
        self.symbols = symbols
        self.triples = _count(tokens, symbols, 3).reshape(symbols, symbols, symbols)
        self.pairs = _count(tokens, symbols, 2).reshape(symbols, symbols)
        singles = _count(tokens, symbols, 1)
        self.p1 = (singles + 1.0) / (singles.sum() + symbols)
        self.discount3, self.discount2 = _discount(self.triples), _discount(self.pairs)
        self.pair_total, self.pair_types = self.pairs.sum(1), (self.pairs > 0).sum(1)
        self.triple_total, self.triple_types = self.triples.sum(2), (self.triples > 0).sum(2)

    def bigram_probability(self, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        """p2(c | b), element by element."""
        return _interpolate(self.pairs[b, c], self.pair_total[b], self.pair_types[b], self.discount2, self.p1[c])

    def probability(self, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        """p3(c | a, b), element by element."""
        return _interpolate(
            self.triples[a, b, c],
            self.triple_total[a, b],
            self.triple_types[a, b],
            self.discount3,
            self.bigram_probability(b, c),
        )

    def nats(self, tokens: np.ndarray, positions: np.ndarray) -> float:
        """Mean negative log-likelihood of `tokens[positions]`, each given the two tokens before it."""
        total = 0.0
        for at in range(0, len(positions), _CHUNK):
            where = positions[at : at + _CHUNK]
            # The first tokens of the stream have no predecessors: as in training, END stands in.
            a = np.where(where >= 2, tokens[np.maximum(where - 2, 0)], END).astype(np.int64)
            b = np.where(where >= 1, tokens[np.maximum(where - 1, 0)], END).astype(np.int64)
            total -= float(np.log(self.probability(a, b, tokens[where].astype(np.int64))).sum())
        return total / max(len(positions), 1)


def _count(tokens: np.ndarray, symbols: int, order: int) -> np.ndarray:
    counts = np.zeros(symbols**order, dtype=np.int64)
    for at in range(0, max(tokens.size - order + 1, 0), _CHUNK):
        part = tokens[at : at + _CHUNK + order - 1].astype(np.int64)
        index = part[: part.size - order + 1]
        for step in range(1, order):
            index = index * symbols + part[step : part.size - order + 1 + step]
        counts += np.bincount(index, minlength=symbols**order)
    return counts


def _discount(counts: np.ndarray) -> float:
    once, twice = int((counts == 1).sum()), int((counts == 2).sum())
    # Needs some singletons to estimate anything; 0.5 is the usual choice without them.
    return once / (once + 2 * twice) if once and twice else 0.5


def _interpolate(
    count: np.ndarray, total: np.ndarray, types: np.ndarray, discount: float, lower: np.ndarray
) -> np.ndarray:
    denominator = np.maximum(total, 1)
    passed_on = np.where(total > 0, discount * types / denominator, 1.0)
    return np.maximum(count - discount, 0) / denominator + passed_on * lower
