# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cross-entropy, its mean and its gradient against NumPy and torch in fp64."""

import numpy as np
import pytest
import torch
from terrazzo.kernels import cross_entropy as C


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [((1, 1), torch.float32), ((65, 33), torch.float32), ((40, 264), torch.float32), ((3, 4999), torch.float32),
     ((3, 16385), torch.float32), ((9, 40), torch.float16), ((9, 40), torch.bfloat16)],
    ids=str,
)  # fmt: skip
def test_forward_and_gradient(shape, dtype, normal, close, gradients):
    M, N = shape
    logits = 3 * normal(M, N, dtype=dtype)
    targets = torch.arange(M) * 7 % N
    targets[M // 2] = -100 if M > 1 else 0
    loss, lse = C.cross_entropy_forward(logits, targets)
    close(loss, C.reference(logits.double().cpu().numpy(), targets.cpu().numpy()), 2)
    close(lse, torch.logsumexp(logits.double(), 1))
    mean, inverse = C.cross_entropy_mean(loss, targets)

    def torch_mean(x):
        return torch.nn.functional.cross_entropy(x, targets)

    close(mean.view(()), torch_mean(logits.double()), 2)
    got = C.cross_entropy_backward(torch.tensor([0.5]), logits, targets, lse, scale=inverse)
    close(got, gradients(torch_mean, (logits,), torch.tensor(0.5))[0])


def test_a_gradient_a_row(normal, close, gradients):
    logits, targets, dloss = normal(10, 21), torch.arange(10, dtype=torch.int32), normal(10)
    _, lse = C.cross_entropy_forward(logits, targets, ignore_index=3)
    (want,) = gradients(
        lambda x: torch.nn.functional.cross_entropy(x, targets.long(), reduction="none", ignore_index=3),
        (logits,), dloss)  # fmt: skip
    close(C.cross_entropy_backward(dloss, logits, targets, lse, ignore_index=3), want)


def test_nothing_counts(normal):
    logits, targets = normal(6, 5), torch.full((6,), -100)
    loss, lse = C.cross_entropy_forward(logits, targets)
    mean, inverse = C.cross_entropy_mean(loss, targets)
    assert mean.item() == inverse.item() == 0
    assert not C.cross_entropy_backward(torch.ones(1), logits, targets, lse, scale=inverse).any()


@pytest.mark.parametrize("columns", [5, 20000])
def test_target_outside_gives_nan(columns):
    logits = np.zeros((3, columns), np.float32)
    loss, _ = C.cross_entropy_forward(logits, np.array([1, columns, -1]))
    assert np.isnan(loss).tolist() == [False, True, True]


def test_masked_logits(normal, close):
    logits = normal(4, 20000)
    logits[:, :9000] = -torch.inf
    targets = torch.tensor([9000, 10000, 15000, 19999])
    loss, _ = C.cross_entropy_forward(logits, targets)
    close(loss, C.reference(logits.double().cpu().numpy(), targets.cpu().numpy()), 2)
