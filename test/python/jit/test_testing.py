# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""terrazzo.testing: timers, benchmarks, comparison."""

import time

import ml_dtypes
import numpy as np
import pytest
import terrazzo as tz
import torch
from terrazzo.testing import Benchmark, assert_close, do_bench, do_bench_cudagraph, perf_report


def wait():
    time.sleep(0.002)


def test_do_bench():
    # A sleep of 2 ms never takes less; how much more it takes is the machine's business.
    for mode in ("mean", "median", "min", "max"):
        assert do_bench(wait, 2, 10, return_mode=mode) >= 2, mode
    times = do_bench(wait, 0, 10, return_mode="all")
    assert len(times) >= 2
    assert min(times) >= 2
    assert do_bench_cudagraph(wait, rep=4) >= 2


def test_quantiles():
    low, middle, high = do_bench(wait, 1, 20, quantiles=(0.0, 0.5, 1.0))
    assert low <= middle <= high
    assert isinstance(do_bench(wait, 1, 4, quantiles=[0.5]), float)


def test_gradients_are_dropped():
    t = torch.zeros(2, requires_grad=True)
    seen = []

    def call():
        seen.append(t.grad)
        t.sum().backward()

    do_bench(call, warmup=0, rep=1, grad_to_none=[t])
    assert seen[-1] is None


@pytest.mark.parametrize("options", [{"return_mode": "average"}, {"quantiles": (2.0,)}])
def test_bad_options(options):
    with pytest.raises(tz.TerrazzoError):
        do_bench(lambda: None, 0, 1, **options)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (np.ones(3), np.ones(3)),
        (np.ones(3), np.full(3, 1.005)),
        (torch.ones(3), np.ones(3)),
        (torch.ones(3, dtype=torch.bfloat16), torch.ones(3)),
        (np.ones(3, ml_dtypes.bfloat16), torch.ones(3, dtype=torch.float16)),
        (float("nan"), np.nan),
        (1.0, 1.001),
        ([1, 2], [1, 2]),
    ],
)
def test_close(x, y):
    assert_close(x, y)


@pytest.mark.parametrize(("x", "y"), [(np.ones(3), np.zeros(3)), (1.0, 2.0), (np.nan, 1.0), (np.ones(3), np.ones(4))])
def test_not_close(x, y):
    with pytest.raises(AssertionError):
        assert_close(x, y, err_msg="here")


def test_tolerances():
    assert_close(np.ones(3), np.full(3, 1.5), atol=1)
    assert_close(np.ones(3), np.full(3, 1.5), atol=0, rtol=lambda dtype: 0.5 if dtype == np.float64 else 0)
    with pytest.raises(AssertionError):
        assert_close(np.ones(3), np.full(3, 1.005), atol=1e-3)


def benchmark(**kwargs):
    fields = {
        "x_names": ["n"], "x_vals": [1, 2], "line_arg": "kind", "line_vals": ["a", "b"], "line_names": ["A", "B"],
        "plot_name": "plot", "args": {"extra": 10},
    }  # fmt: skip
    return Benchmark(**{**fields, **kwargs})


def test_perf_report(capsys, tmp_path):
    @perf_report(benchmark())
    def measure(n, kind, extra):
        return n * extra if kind == "a" else (n, n - 1, n + 1)

    measure.run(print_data=True, save_path=str(tmp_path))
    assert "plot:" in capsys.readouterr().out
    assert (tmp_path / "plot.csv").read_text().splitlines() == ["n,A,B", "1,10,1", "2,20,2"]


def test_perf_report_of_several_names():
    seen = []
    fn = perf_report([benchmark(x_names=["n", "m"], x_vals=[(1, 2), 3])])(lambda **a: seen.append(a) or 1.0)
    fn.run()
    assert [(a["n"], a["m"]) for a in seen[::2]] == [(1, 2), (3, 3)]
    with pytest.raises(tz.TerrazzoError, match="gives 3 values, expected 2"):
        perf_report(benchmark(x_names=["n", "m"], x_vals=[(1, 2, 3)]))(lambda **a: 1.0).run()
