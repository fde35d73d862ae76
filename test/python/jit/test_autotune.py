# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""autotune and heuristics."""

import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl


class Timer:
    """A timer that gives what a table says instead of measuring."""

    def __init__(self, times=None):
        self.times = times or {}
        self.calls = 0

    def __call__(self, call, quantiles):
        call()
        self.calls += 1
        return [self.times.get(BLOCKS[-1], 1.0)] * 3


BLOCKS = []  # the block sizes that were launched


@tz.jit
def increment(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) + 1, mask=i < n)


def grid(meta):
    BLOCKS.append(meta["BLOCK"])
    return (tz.cdiv(meta["n"], meta["BLOCK"]),)


def configs(*blocks, **kwargs):
    return [tz.Config({"BLOCK": b}, **kwargs) for b in blocks]


def tuned(timer, blocks=(4, 8, 16), **kwargs):
    return tz.autotune(configs(*blocks), key=["n"], do_bench=timer, **kwargs)(increment)


@pytest.fixture(autouse=True)
def _forget():
    BLOCKS.clear()


def test_chooses_the_fastest_once_a_key():
    timer = Timer({4: 3.0, 8: 1.0, 16: 2.0})
    kernel = tuned(timer)
    x = np.zeros(20, np.float32)
    kernel[grid](x, 20)
    assert kernel.best_config.kwargs == {"BLOCK": 8}
    assert timer.calls == 3
    assert BLOCKS == [4, 8, 16, 8]
    assert x.tolist() == [4.0] * 20
    kernel[grid](x, 20)
    assert timer.calls == 3
    kernel[grid](x, 19)
    assert timer.calls == 6
    assert len(kernel.cache) == 2
    assert {c.kwargs["BLOCK"]: t[0] for c, t in kernel.configs_timings.items()} == {4: 3.0, 8: 1.0, 16: 2.0}


def test_key_has_dtypes_and_keywords():
    timer = Timer()
    kernel = tuned(timer)
    kernel[grid](np.zeros(4, np.float32), 4)
    kernel[grid](np.zeros(4, np.int32), 4)
    assert timer.calls == 6
    kernel[grid](x_ptr=np.zeros(4, np.int32), n=4)
    kernel.run(np.zeros(4, np.int32), 4, grid=grid)
    assert timer.calls == 6


def test_reset_and_restore():
    x, n = np.full(8, 5.0, np.float32), 8
    tuned(Timer(), restore_value=["x_ptr"])[grid](x, n)
    assert x.tolist() == [6.0] * 8
    tuned(Timer(), reset_to_zero=["x_ptr"])[grid](x, n)
    assert x.tolist() == [1.0] * 8


def test_hooks():
    log = []
    kernel = tz.autotune(
        [tz.Config({"BLOCK": b}, pre_hook=lambda a: log.append(("config", a["BLOCK"]))) for b in (4, 8)],
        key=[],
        do_bench=Timer({4: 1.0, 8: 2.0}),
        pre_hook=lambda a, reset_only=False: log.append(("pre", a["n"], reset_only)),
        post_hook=lambda a, exception: log.append(("post", exception)),
    )(increment)
    kernel[grid](np.zeros(4, np.float32), 4)
    step = [("pre", 4, False), ("post", None)]
    assert log == [("config", 4), *step, ("config", 8), *step, ("pre", 4, True), ("config", 4)]


def test_failing_configurations_are_passed_over():
    def some_grid(meta):
        if meta["BLOCK"] != 8:
            raise tz.OutOfResources(2, 1, "shared memory")
        return grid(meta)

    x = np.zeros(8, np.float32)
    kernel = tuned(Timer())
    kernel[some_grid](x, 8)
    assert kernel.best_config.kwargs == {"BLOCK": 8}
    assert kernel.configs_timings[kernel.configs[0]] == [float("inf")] * 3


def test_all_failing_gives_the_error():
    def no_grid(meta):
        raise tz.OutOfResources(2, 1, f"shared memory of {meta['BLOCK']}")

    with pytest.raises(tz.OutOfResources, match="shared memory of 4"):
        tuned(Timer())[no_grid](np.zeros(8, np.float32), 8)


def test_compile_errors_are_failures_too():
    @tz.jit
    def picky(x_ptr, n, BLOCK: tl.constexpr):
        tl.static_assert(BLOCK == 8, "wants eight")
        tl.store(x_ptr, BLOCK)

    x = np.zeros(1, np.int32)
    kernel = tz.autotune(configs(4, 8), key=[], do_bench=lambda call, quantiles: [call() or 1.0] * 3)(picky)
    kernel[(1,)](x, 1)
    assert x[0] == 8
    with pytest.raises(tz.CompileError, match="wants eight"):
        tz.autotune(configs(4, 16), key=[])(picky)[(1,)](x, 1)


def test_pruning():
    seen = {}

    def early(found, arguments, **kwargs):
        seen.update(arguments, **kwargs)
        return found[1:]

    timer = Timer()
    kernel = tuned(timer, (2, 4, 8, 16), prune_configs_by={"early_config_prune": early})
    kernel[grid](np.zeros(4, np.float32), n=4)
    assert timer.calls == 3
    assert seen["n"] == 4
    assert "x_ptr" in seen

    for top, calls in ((2, 2), (0.5, 2), (1.0, 4)):
        timer = Timer()
        model = {"perf_model": lambda **a: -a["BLOCK"], "top_k": top}
        kernel = tuned(timer, (2, 4, 8, 16), prune_configs_by=model)
        kernel[grid](np.zeros(4, np.float32), 4)
        assert timer.calls == calls
        assert BLOCKS[-1 - calls] == 16 or top == 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prune_configs_by": {"top": 1}}, "prune_configs_by has no 'top'"),
        ({"reset_to_zero": ["y"]}, "no argument 'y' to reset or restore"),
        ({"restore_value": ["y"]}, "no argument 'y' to reset or restore"),
        ({"configs": [{"BLOCK": 3}]}, "a configuration is a Config"),
    ],
)
def test_bad_decorations(options, message):
    with pytest.raises(tz.TerrazzoError, match=message):
        tz.autotune(**{"configs": configs(4, 8), "key": [], **options})(increment)


def test_bad_launches():
    x = np.zeros(4, np.float32)
    with pytest.raises(tz.LaunchError, match="argument 'BLOCK' is given at the launch and by the configuration"):
        tuned(Timer())[grid](x, 4, BLOCK=4)
    with pytest.raises(tz.LaunchError, match="early_config_prune leaves no configuration"):
        tuned(Timer(), prune_configs_by={"early_config_prune": lambda c, a, **k: []})[grid](x, 4)
    with pytest.raises(tz.LaunchError, match="top_k is 0"):
        tuned(Timer(), prune_configs_by={"perf_model": lambda **a: 1, "top_k": 0})[grid](x, 4)
    with pytest.raises(tz.LaunchError, match="takes 3 positional arguments but 4 were given"):
        tuned(Timer())[grid](x, 4, 8, 9)
    with pytest.raises(tz.LaunchError, match="missing 1 required argument: 'n'"):
        tuned(Timer())[(1,)](x)


def test_one_configuration_is_not_measured():
    timer = Timer()
    kernel = tuned(timer, (4,))
    kernel[grid](np.zeros(4, np.float32), 4)
    assert timer.calls == 0
    assert kernel.best_config.kwargs == {"BLOCK": 4}


def test_real_timer():
    x = np.zeros(64, np.float32)
    kernel = tz.autotune(configs(8, 16), key=["n"], warmup=1, rep=2)(increment)
    kernel[grid](x, 64)
    assert kernel.bench_time > 0
    assert all(len(t) == 3 for t in kernel.configs_timings.values())


def test_choices_on_disk():
    times = {4: 3.0, 8: 1.0}
    first, second = Timer(times), Timer(times)
    x = np.zeros(4, np.float32)
    tuned(first, (4, 8), cache_results=True)[grid](x, 4)
    kernel = tuned(second, (4, 8), cache_results=True)
    kernel[grid](x, 4)
    assert (first.calls, second.calls) == (2, 0)
    assert kernel.best_config.kwargs == {"BLOCK": 8}


def test_listener(monkeypatch):
    told = []
    monkeypatch.setattr(tz.knobs.autotuning, "listener", lambda **facts: told.append(facts))
    tuned(Timer({8: 0.5}))[grid](np.zeros(4, np.float32), 4)
    assert told[0]["best_config"].kwargs == {"BLOCK": 8}
    assert told[0]["fn"] is increment
    assert told[0]["cache_hit"] is False


def test_print(monkeypatch, capsys):
    monkeypatch.setattr(tz.knobs.autotuning, "print", True)
    tuned(Timer({8: 0.5}))[grid](np.zeros(4, np.float32), 4)
    assert "best: BLOCK: 8" in capsys.readouterr().out


def test_warmup_compiles_all(builds):
    kernel = tz.autotune(configs(4, 8), key=["n"])(tz.jit(increment.fn))
    compiled = kernel.warmup(tl.float32, 5, grid=(1,))
    assert [c.constants["BLOCK"] for c in compiled] == [4, 8]
    assert len(builds) == 2


def test_heuristics():
    @tz.heuristics({"EVEN": lambda a: a["n"] % a["BLOCK"] == 0, "TWICE": lambda a: 2 * a["BLOCK"] if a["EVEN"] else 0})
    @tz.jit
    def kernel(x_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr, TWICE: tl.constexpr):
        tl.store(x_ptr, EVEN)
        tl.store(x_ptr + 1, TWICE)

    x = np.zeros(2, np.int32)
    kernel[(1,)](x, 8, BLOCK=4)
    assert x.tolist() == [1, 8]
    kernel[(1,)](x, n=9, BLOCK=4)
    assert x.tolist() == [0, 0]


def test_autotune_over_heuristics():
    @tz.autotune(configs(4, 8), key=["n"], do_bench=lambda call, quantiles: [call() or 1.0] * 3)
    @tz.heuristics({"EVEN": lambda a: a["n"] % a["BLOCK"] == 0})
    @tz.jit
    def kernel(x_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
        tl.store(x_ptr, EVEN)
        tl.store(x_ptr + 1, BLOCK)

    x = np.zeros(2, np.int32)
    kernel[lambda meta: (meta["BLOCK"] // meta["BLOCK"],)](x, 12)
    assert x.tolist() == [1, 4]
    assert kernel.__name__ == "kernel"
    assert kernel.arg_names == ["x_ptr", "n", "BLOCK", "EVEN"]


def test_bad_heuristics():
    with pytest.raises(tz.LaunchError, match="no argument 'Z'"):
        tz.heuristics({"Z": lambda a: 1})(increment)


def test_config():
    config = tz.Config({"B": 1}, num_warps=8, maxnreg=64)
    assert config.all_kwargs() == {"B": 1, "num_warps": 8, "num_stages": 3, "num_ctas": 1, "maxnreg": 64}
    assert config == tz.Config({"B": 1}, num_warps=8, maxnreg=64)
    assert config != tz.Config({"B": 2}, num_warps=8, maxnreg=64)
    assert len({config, tz.Config({"B": 1}, num_warps=8, maxnreg=64)}) == 1
    assert str(config) == "B: 1, num_warps: 8, num_stages: 3, num_ctas: 1, maxnreg: 64"
