# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which tokens the n-th training sequence and the n-th held-out window hold.

The order is a function of the seed and of a sequence's number alone, so the data cursor of a checkpoint is one integer,
and a run continued with another micro-batch sees the same sequences.
"""

from collections.abc import Iterator

import numpy as np

IGNORE = -100  # target of a position that does not count


class TrainingOrder:
    """An endless shuffled pass over the training tokens, without replacement inside an epoch.

    Each epoch cuts the stream into windows of `context` tokens at its own offset, and visits them in its own order.
    """

    def __init__(self, tokens: np.ndarray, context: int, seed: int):
        self.tokens = tokens
        self.context = context
        self.seed = seed
        self.per_epoch = (tokens.size - context - 1) // context
        self._epoch = -1
        self._starts = np.empty(0, dtype=np.int64)

    def _start_of(self, number: int) -> int:
        epoch, index = divmod(number, self.per_epoch)
        if epoch != self._epoch:
            random = np.random.Generator(np.random.Philox(key=[self.seed, epoch]))
            offset = int(random.integers(self.context))
            self._starts = random.permutation(self.per_epoch).astype(np.int64) * self.context + offset
            self._epoch = epoch
        return int(self._starts[index])

    def sequences(self, first: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Inputs and targets of `count` sequences, int64 [count, context]."""
        rows = [self._start_of(number) for number in range(first, first + count)]
        window = np.stack([self.tokens[at : at + self.context + 1] for at in rows]).astype(np.int64)
        return np.ascontiguousarray(window[:, :-1]), np.ascontiguousarray(window[:, 1:])


def held_out_windows(size: int, context: int, overlap: float, limit: int) -> tuple[np.ndarray, int]:
    """Start positions of evaluation windows over `size` tokens, and how many targets each scores (its last ones).

    With a limit on scored tokens the windows are spread evenly over the whole stream.
    """
    scored = context - int(context * overlap)
    count = max((size - context - 1) // scored + 1, 0)
    keep = count if limit == 0 else min(count, max(limit // scored, 1))
    chosen = np.unique(np.linspace(0, max(count - 1, 0), keep).astype(np.int64)) if count else np.empty(0, np.int64)
    return chosen * scored, scored


def held_out_batches(
    tokens: np.ndarray, context: int, overlap: float, limit: int, batch: int
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yields inputs, targets (IGNORE where a window only gives context) and the scored positions in the stream.

    Every batch has the same shape, so that kernels are compiled once; missing rows are all IGNORE.
    """
    starts, scored = held_out_windows(tokens.size, context, overlap, limit)
    for at in range(0, len(starts), batch):
        rows = starts[at : at + batch]
        inputs = np.zeros((batch, context), dtype=np.int64)
        targets = np.full((batch, context), IGNORE, dtype=np.int64)
        for row, start in enumerate(rows):
            window = tokens[start : start + context + 1].astype(np.int64)
            inputs[row] = window[:-1]
            targets[row, context - scored :] = window[1 + context - scored :]
        positions = (rows[:, None] + np.arange(1 + context - scored, 1 + context)).ravel()
        yield inputs, targets, positions
