# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The selective scan against NumPy in fp64 and its gradients against torch's in fp64."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from terrazzo.kernels import selective_scan as S

NAMES = ("u", "delta", "A", "B", "C", "D", "z", "delta_bias")


@pytest.fixture
def operands(normal):
    """operands(Bt, L, E, N, groups=, dtype=, without=): by name, with A negative and fp32."""

    def make(Bt, L, E, N, groups=None, dtype=torch.float32, without=()):
        bc = (Bt, L, N) if groups is None else (Bt, L, groups, N)
        shapes = {"u": (Bt, L, E), "delta": (Bt, L, E), "B": bc, "C": bc, "z": (Bt, L, E)}
        made = {name: normal(*shape, dtype=dtype) for name, shape in shapes.items()}
        made |= {"A": -normal(E, N).exp(), "D": normal(E), "delta_bias": normal(E)}
        made["delta"] = made["delta"] - 1
        return {name: None if name in without else made[name] for name in NAMES}

    return make


def torch_scan(softplus, u, delta, A, B, C, D=None, z=None, delta_bias=None):
    """The definition, step by step, for autograd."""
    B, C = (x.repeat_interleave(u.shape[2] // x.shape[2], 2) if x.dim() == 4 else x[:, :, None] for x in (B, C))
    dt = delta if delta_bias is None else delta + delta_bias
    dt = F.softplus(dt) if softplus else dt
    h, ys = torch.zeros(u.shape[0], *A.shape, dtype=u.dtype), []
    for t in range(u.shape[1]):
        h = torch.exp(dt[:, t, :, None] * A) * h + (dt[:, t] * u[:, t])[..., None] * B[:, t]
        ys.append((h * C[:, t]).sum(-1))
    y = torch.stack(ys, 1)
    y = y if D is None else y + D * u
    return y if z is None else y * F.silu(z)


@pytest.fixture
def check(normal, close, gradients):
    """check(operands, softplus): values, last state and all gradients."""

    def compare(given, softplus=True, factor=4.0):
        out, last, states = S.selective_scan_forward(**given, delta_softplus=softplus)
        wide = {name: None if x is None else x.double() for name, x in given.items()}
        want, want_last = S.reference(**wide, delta_softplus=softplus)
        close(out, want, factor)
        close(last, want_last, factor)
        dout = normal(*out.shape, dtype=out.dtype)
        found = dict(zip(NAMES, S.selective_scan_backward(dout, states, **given, delta_softplus=softplus)))
        names = [name for name in NAMES if given[name] is not None]
        wanted = gradients(lambda *xs: torch_scan(softplus, **dict(zip(names, xs))), [given[n] for n in names], dout)
        for name, want in zip(names, wanted):
            close(found.pop(name), want, 4 * factor)
        assert all(x is None for x in found.values())

    return compare


@pytest.mark.parametrize(("Bt", "L", "E", "N"), [
    (1, 1, 1, 1), (2, 31, 5, 16), (1, 32, 32, 8), (2, 33, 33, 16), (3, 100, 70, 4), (1, 65, 20, 12),
])  # fmt: skip
def test_sizes(Bt, L, E, N, operands, check):
    check(operands(Bt, L, E, N))


@pytest.mark.parametrize("without", [("D",), ("z",), ("delta_bias",), ("D", "z", "delta_bias")], ids="-".join)
def test_optional_operands(without, operands, check):
    check(operands(2, 40, 10, 16, without=without))


def test_without_softplus(operands, check):
    given = operands(2, 40, 10, 16)
    given["delta"], given["delta_bias"] = given["delta"].abs() / 4, given["delta_bias"].abs() / 4
    check(given, softplus=False)


@pytest.mark.parametrize("groups", [1, 2, 5])
def test_groups(groups, operands, check):
    check(operands(2, 40, 70, 8, groups=groups))


def test_more_blocks_of_channels_than_partial_sums(operands, check):
    check(operands(1, 3, S.BLOCK_E * (S.PARTIALS + 3) + 7, 2))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_narrow_types_keep_fp32_parameters(dtype, operands, check):
    check(operands(2, 70, 40, 16, dtype=dtype), factor=2)


def test_softplus_of_very_negative_and_large_arguments(operands):
    given = operands(1, 8, 4, 2, without=("z", "delta_bias"))
    for shift in (-12.0, 30.0, 100.0):
        moved = given | {"delta": given["delta"] + shift}
        out = S.selective_scan(**moved, delta_softplus=True)
        torch.testing.assert_close(
            out.double() - given["D"] * given["u"].double(),
            torch.as_tensor(S.reference(**moved, delta_softplus=True)[0]) - given["D"] * given["u"].double(),
            rtol=1e-5, atol=1e-7 if shift < 0 else 1e-4)  # fmt: skip


def test_numpy_and_last_state(operands):
    given = {name: x.cpu().numpy() for name, x in operands(2, 50, 12, 16).items()}
    out, last = S.selective_scan(**given, delta_softplus=True, return_last_state=True)
    want, want_last = S.reference(**given, delta_softplus=True)
    assert isinstance(out, np.ndarray)
    np.testing.assert_allclose(out, want, rtol=1e-5, atol=2e-5)
    np.testing.assert_allclose(last, want_last, rtol=1e-5, atol=2e-5)


def test_views_of_a_channels_first_array(operands):
    given = operands(2, 20, 6, 4)
    moved = {n: x.transpose(1, 2).contiguous().transpose(1, 2) if x.dim() == 3 else x for n, x in given.items()}
    assert torch.equal(*(S.selective_scan(**x, delta_softplus=True) for x in (given, moved)))


def test_gradients_have_the_same_bits(operands, normal):
    given = operands(2, 64, 600, 8)
    dout = normal(2, 64, 600)
    states = S.selective_scan_forward(**given, delta_softplus=True)[2]
    first, again = (S.selective_scan_backward(dout, states, **given, delta_softplus=True) for _ in range(2))
    assert all(torch.equal(x, y) for x, y in zip(first, again))


def test_wrong_arguments_are_named(operands, normal):
    given = operands(2, 8, 6, 4)
    for name, wrong, message in (
        ("delta", normal(2, 8, 5), r"'delta': expected shape \[2, 8, 6\], found \[2, 8, 5\]"),
        ("B", normal(2, 8, 3), r"'B': expected shape \[2, 8, 4\], found \[2, 8, 3\]"),
        ("B", normal(2, 8, 4, 4), r"'C': expected shape \[2, 8, 4, 4\], found \[2, 8, 4\]"),
        ("D", normal(6, dtype=torch.float64), "'D': expected float16 or bfloat16 or float32, found float64"),
    ):
        with pytest.raises(ValueError, match=message):
            S.selective_scan(**given | {name: wrong})
    with pytest.raises(ValueError, match="'B': expected a number of groups that divides 6 channels, found 4"):
        S.selective_scan(**given | {"B": normal(2, 8, 4, 4), "C": normal(2, 8, 4, 4)})
