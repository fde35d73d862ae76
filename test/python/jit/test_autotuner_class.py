# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Autotuner as a class that libraries derive from, call the parts of, and set the timer of."""

import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl

FOREVER = [float("inf")] * 3


@tz.jit
def add(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y = 0.0 if y_ptr is None else tl.load(y_ptr + i, mask=i < n)
    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) + y + 1, mask=i < n)


def grid(meta):
    return (tz.cdiv(meta["n"], meta["BLOCK"]),)


def configs(*blocks):
    return [tz.Config({"BLOCK": b}) for b in blocks]


def timer(call, quantiles):
    call()
    return [1.0] * 3


def test_derived_positionally():
    class Tuner(tz.Autotuner):
        def run(self, *args, **kwargs):
            self.nargs = dict(zip(self.arg_names, args))
            found = self.prune_configs(kwargs)
            self.timings = {c: self._bench(*args, config=c, **kwargs) for c in found}
            best = min(found, key=lambda c: self.timings[c][0])
            self.pre_hook({**self.nargs, **kwargs, **best.all_kwargs()}, reset_only=True)
            self.nargs = None
            return self.fn.run(*args, **kwargs, **best.all_kwargs())

    kernel = Tuner(add, add.arg_names, configs(4, 8), ["n"], ["x_ptr"], None, prune_configs_by=None)
    kernel.do_bench = lambda call, quantiles: [call() and 0 or 2.0] * 3
    x = np.full(6, 7, np.float32)
    kernel[grid](x, None, 6)
    assert x.tolist() == [1.0] * 6
    assert [t[0] for t in kernel.timings.values()] == [2.0, 2.0]
    assert kernel.arg_names == ["x_ptr", "y_ptr", "n", "BLOCK"]


def test_bench_is_infinite_where_a_configuration_fails():
    @tz.jit
    def picky(x_ptr, n, BLOCK: tl.constexpr):
        tl.static_assert(BLOCK == 8)
        tl.store(x_ptr, BLOCK)

    kernel = tz.autotune(configs(4, 8), key=["n"], do_bench=timer)(picky)
    x = np.zeros(1, np.int32)
    found = [kernel._bench(x, 1, config=c, grid=(1,), warmup=False) for c in kernel.configs]
    assert found == [FOREVER, [1.0] * 3]
    with pytest.raises(tz.ArgumentError, match="given at the launch and by the configuration"):
        kernel._bench(x, 1, config=kernel.configs[0], grid=(1,), BLOCK=4)


def test_arguments_that_are_none_are_not_reset_or_restored():
    for option in ("reset_to_zero", "restore_value"):
        kernel = tz.autotune(configs(4, 8), ["n"], do_bench=timer, **{option: ["x_ptr", "y_ptr"]})(add)
        x = np.zeros(6, np.float32)
        kernel[grid](x, None, 6)
        assert x.tolist() == [1.0] * 6


def test_one_configuration_that_is_left_is_not_measured():
    calls = []
    kernel = tz.autotune(
        configs(4, 8, 16),
        ["n"],
        do_bench=lambda call, quantiles: calls.append(1),
        prune_configs_by={"early_config_prune": lambda found, named, **kwargs: found[1:2]},
    )(add)
    kernel[grid](np.zeros(6, np.float32), None, 6)
    assert calls == []
    assert kernel.best_config.kwargs == {"BLOCK": 8}


def test_a_share_of_the_configurations_is_measured():
    measured = []

    def count(call, quantiles):
        measured.append(1)
        return timer(call, quantiles)

    prune = {"perf_model": lambda **named: named["BLOCK"], "top_k": 0.5}
    kernel = tz.autotune(configs(2, 4, 8, 16, 32), ["n"], do_bench=count, prune_configs_by=prune)(add)
    kernel[grid](np.zeros(6, np.float32), None, 6)
    assert len(measured) == 2


def test_no_configuration_left_is_an_error_of_its_own():
    prune = {"early_config_prune": lambda found, named, **kwargs: []}
    kernel = tz.autotune(configs(4, 8), ["n"], prune_configs_by=prune)(add)
    with pytest.raises(tz.errors.AutotunerError, match="leaves no configuration"):
        kernel[grid](np.zeros(6, np.float32), None, 6)


def test_heuristics_of_launch_options():
    kernel = tz.heuristics({"num_warps": lambda named: named["BLOCK"] // 4})(add)
    compiled = kernel[grid](np.zeros(6, np.float32), None, 6, BLOCK=8)
    assert compiled.metadata.num_warps == 2
