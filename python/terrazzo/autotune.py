# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""autotune: measures configurations and keeps the best for each key; heuristics: computes arguments at launch."""

import contextlib
import hashlib
import inspect
import json
import threading
import time

from . import devices, knobs, store, targets
from ._terrazzo import runtime
from .errors import ArgumentError, TerrazzoError
from .jit import Wrapper
from .specialize import UnstableConstantError, stable_text
from .turns import Turns


class Config:
    """One configuration: compile-time arguments of the kernel, and launch options.

    `pre_hook(arguments)` is called before each launch with this configuration.
    """

    def __init__(self, kwargs, num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, pre_hook=None, ir_override=None):
        self.kwargs = dict(kwargs)
        self.num_warps = num_warps
        self.num_stages = num_stages
        self.num_ctas = num_ctas
        self.maxnreg = maxnreg
        self.pre_hook = pre_hook
        self.ir_override = ir_override

    def all_kwargs(self):
        """Everything that the configuration adds to a launch."""
        options = {
            "num_warps": self.num_warps,
            "num_stages": self.num_stages,
            "num_ctas": self.num_ctas,
            "maxnreg": self.maxnreg,
            "ir_override": self.ir_override,
        }
        return {**self.kwargs, **{k: v for k, v in options.items() if v is not None}}

    def __eq__(self, other):
        return isinstance(other, Config) and self.all_kwargs() == other.all_kwargs() and self.pre_hook == other.pre_hook

    def __hash__(self):
        return hash((tuple((k, str(v)) for k, v in sorted(self.all_kwargs().items())), self.pre_hook))

    def __str__(self):
        return ", ".join(f"{k}: {v}" for k, v in self.all_kwargs().items())

    def __repr__(self):
        return f"Config({self})"


def _zero(array):
    if hasattr(array, "zero_"):
        array.zero_()
    else:
        array[...] = 0


def _copy_of(array):
    return array.clone() if hasattr(array, "clone") else array.copy()


def _put_back(array, copy):
    if hasattr(array, "copy_"):
        array.copy_(copy)
    else:
        array[...] = copy


class Autotuner(Wrapper):
    """A kernel that finds its best configuration for each key; see autotune()."""

    def __init__(
        self,
        fn,
        configs,
        key,
        reset_to_zero=None,
        restore_value=None,
        pre_hook=None,
        post_hook=None,
        prune_configs_by=None,
        warmup=None,
        rep=None,
        use_cuda_graph=False,
        do_bench=None,
        cache_results=False,
    ):
        super().__init__(fn)
        self.configs = list(configs) or [Config({})]
        for config in self.configs:
            if not isinstance(config, Config):
                raise ArgumentError(f"autotune of {self.__name__}(): a configuration is a Config, found {config!r}")
        self.keys = [key] if isinstance(key, str) else list(key)
        self.cache = {}
        self.cache_results = cache_results
        self.reset_to_zero, self.restore_value = list(reset_to_zero or ()), list(restore_value or ())
        for name in (*self.reset_to_zero, *self.restore_value):
            if name not in self.arg_names:
                raise ArgumentError(
                    f"autotune of {self.__name__}(): it has no argument '{name}' to reset or restore; it has "
                    f"{', '.join(self.arg_names)}"
                )
        self.pre_hook, self.post_hook = pre_hook, post_hook
        prune = prune_configs_by or {}
        unknown = set(prune) - {"perf_model", "top_k", "early_config_prune"}
        if unknown:
            raise ArgumentError(
                f"autotune of {self.__name__}(): prune_configs_by has no '{min(unknown)}', expected perf_model, "
                "top_k or early_config_prune"
            )
        self.perf_model = prune.get("perf_model")
        self.configs_top_k = prune.get("top_k", 1.0)
        self.early_config_prune = prune.get("early_config_prune")
        self._do_bench = do_bench
        self.use_cuda_graph = use_cuda_graph
        self._times = (25 if warmup is None else warmup, 100 if rep is None else rep)
        self._defaults = {p.name: p.default for p in self.base_fn.params if p.has_default}
        # Of the launch that ended last, on whatever thread.
        self.best_config = self.bench_time = None
        self.configs_timings = {}
        self._known_keys = [name for name in self.keys if name in self.arg_names]
        self._turns = Turns()
        self._measured = {}  # key -> the configuration that is being measured for it
        self._launch = threading.local()

    @property
    def nargs(self):
        """The arguments, by name, of the launch that this thread is in; None outside of one."""
        return getattr(self._launch, "arguments", None)

    @property
    def do_bench(self):
        """The timer: do_bench(call, quantiles) in milliseconds."""
        if self._do_bench is not None:
            return self._do_bench
        from .testing import do_bench, do_bench_cudagraph

        if self.use_cuda_graph:
            return lambda call, quantiles: do_bench_cudagraph(call, self._times[1], quantiles=quantiles)
        return lambda call, quantiles: do_bench(call, *self._times, quantiles=quantiles)

    def key_of(self, arguments):
        """What configurations are chosen by: the values of the key, all dtypes, and the GPU if there is one."""
        key = [arguments.get(name, self._defaults.get(name)) for name in self._known_keys]
        for name in self.arg_names:
            dtype = getattr(arguments.get(name), "dtype", None)
            if dtype is not None:
                key.append(dtype)
        place = _gpu_of(arguments)
        return tuple(key) if place is None else (*key, place)

    def _bench(self, args, kwargs, config):
        clashes = [name for name in config.kwargs if name in kwargs]
        if clashes:
            raise ArgumentError(
                f"{self.__name__}(): argument '{clashes[0]}' is given at the launch and by the configuration ({config})"
            )
        full = {**self.named(args, kwargs), **config.all_kwargs()}
        launch = {**kwargs, **config.all_kwargs()}
        for name in (*self.reset_to_zero, *self.restore_value):
            runtime.check_array(name, full[name])  # before a library touches memory that is not there

        def call():
            if config.pre_hook:
                config.pre_hook(full)
            with self._fresh(full):
                self.fn.run(*args, **launch)

        return self.do_bench(call, quantiles=(0.5, 0.2, 0.8))

    @contextlib.contextmanager
    def _fresh(self, full):
        """Resets and saves arrays before a measurement and restores them after it, by the user's hooks if given."""
        copies = {}
        if self.pre_hook is not None:
            self.pre_hook(full)
        else:
            self._reset(full)
            copies = {name: _copy_of(full[name]) for name in self.restore_value}
        error = None
        try:
            yield
        except BaseException as found:
            error = found
            raise
        finally:
            if self.post_hook is not None:
                self.post_hook(full, exception=error)
            else:
                for name, copy in copies.items():
                    _put_back(full[name], copy)

    def _reset(self, full):
        for name in self.reset_to_zero:
            _zero(full[name])

    def _reset_for_launch(self, full):
        """Takes what measurements left out of the arrays that start from zero."""
        if self.pre_hook is None:
            self._reset(full)
        elif "reset_only" in inspect.signature(self.pre_hook).parameters:
            self.pre_hook(full, reset_only=True)
        else:
            self.pre_hook(full)

    def _tune(self, key, args, kwargs, configs):
        """Measures all; configurations that fail take forever, unless all fail."""
        timings, first = {}, None
        for config in configs:
            self._measured[key] = config
            try:
                timings[config] = self._bench(args, kwargs, config)
            except (TerrazzoError, MemoryError) as error:
                if isinstance(error, ArgumentError) and "by the configuration" in str(error):
                    raise
                first = first or error
                timings[config] = [float("inf")] * 3
                if knobs.autotuning.print:
                    print(f"autotuning {self.__name__}: {config} fails: {error}")
        if first is not None and all(_seconds(t) == float("inf") for t in timings.values()):
            raise first
        return timings

    def _choose(self, key, args, kwargs):
        """The best configuration of a key, found once also if many threads ask for it.

        A launch that a hook makes while its own key is tuned goes with the configuration that is being measured.
        """
        with self._turns.of(key) as is_mine:
            if key in self.cache:
                return self.cache[key]
            if not is_mine:
                return self._measured.get(key, self.configs[0])
            try:
                return self._find_best(key, args, kwargs)
            finally:
                self._measured.pop(key, None)

    def _find_best(self, key, args, kwargs):
        configs = self.prune_configs(args, kwargs)
        stored = self._stored_key(key, configs)
        data = None if stored is None else store.get(stored)
        if data is not None:
            index, milliseconds = json.loads(data)
            return self._keep(key, configs[index], dict(zip(configs, milliseconds)), None)
        start = time.perf_counter()
        timings = self._tune(key, args, kwargs, configs)
        duration = time.perf_counter() - start
        best = min(timings, key=lambda config: _seconds(timings[config]))
        self._reset_for_launch({**self.named(args, kwargs), **best.all_kwargs()})
        if stored is not None:
            store.put(stored, json.dumps([configs.index(best), [_as_list(timings[c]) for c in configs]]).encode())
        if knobs.autotuning.print:
            print(f"autotuning {self.__name__} with key {key}: finished after {duration:.2f} s; best: {best}")
        return self._keep(key, best, timings, duration)

    def _keep(self, key, best, timings, duration):
        """Remembers a choice and tells it; `duration` in seconds, None of one that was on disk."""
        self.configs_timings = timings
        if duration is not None:
            self.bench_time = duration
        self.cache[key] = best
        if knobs.autotuning.listener is not None:
            knobs.autotuning.listener(
                fn=self.base_fn,
                key=key,
                best_config=best,
                configs_timings=timings,
                duration=duration,
                cache_hit=duration is None,
            )
        return best

    def _stored_key(self, key, configs):
        """The key of the choice on disk; None where it cannot or shall not be kept."""
        if not (self.cache_results or knobs.autotuning.cache) or any(c.pre_hook for c in configs):
            return None
        try:
            parts = [
                "autotune",
                store.fingerprint(),
                devices.chip(_target_of(key)),
                self.base_fn.cache_key,
                stable_text(tuple(str(k) if hasattr(k, "itemsize") else k for k in key)),
                *[stable_text(tuple(sorted((k, stable_text(v)) for k, v in c.all_kwargs().items()))) for c in configs],
            ]
        except UnstableConstantError:
            return None
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def prune_configs(self, args, kwargs):
        """The configurations that are worth measuring for these arguments."""
        named, configs = self.named(args, {}), self.configs
        if self.early_config_prune:
            configs = list(self.early_config_prune(configs, named, **kwargs))
            if not configs:
                raise ArgumentError(f"autotune of {self.__name__}(): early_config_prune leaves no configuration")
        if self.perf_model:
            top = self.configs_top_k
            if isinstance(top, float) and top <= 1.0:
                top = max(1, int(len(self.configs) * top))
            elif not isinstance(top, int) or top < 1:
                raise ArgumentError(
                    f"autotune of {self.__name__}(): top_k is {top!r}, expected a number of configurations or a "
                    "share of at most 1.0"
                )
            if len(configs) > top:
                times = {c: self.perf_model(**{**named, **kwargs, **c.all_kwargs()}) for c in configs}
                configs = sorted(configs, key=times.__getitem__)[:top]
        return configs

    def run(self, *args, **kwargs):
        """Launches with the best configuration, which it finds first if the key is new."""
        arguments, outer = self.named(args, {}), self.nargs
        self._launch.arguments = arguments
        try:
            config = self.configs[0]
            if len(self.configs) > 1:
                key = self.key_of({**arguments, **kwargs})
                config = self.cache.get(key) or self._choose(key, args, kwargs)
            self.best_config = config
            if config.pre_hook is not None:
                config.pre_hook({**arguments, **kwargs, **config.all_kwargs()})
            return self.fn.run(*args, **kwargs, **config.all_kwargs())
        finally:
            self._launch.arguments = outer

    def warmup(self, *args, **kwargs):
        """Compiles all configurations for these arguments; gives the compiled kernels."""
        return [self.fn.warmup(*args, **kwargs, **config.all_kwargs()) for config in self.prune_configs(args, kwargs)]


def _gpu_of(arguments):
    """The GPU of the first array that is on one, as text: "cuda:0"."""
    for value in arguments.values():
        text = str(getattr(value, "device", "")) if hasattr(value, "dtype") else ""
        if text.partition(":")[0] in targets.GPUS:
            return text
    return None


def _target_of(key):
    """The target that a key of key_of is for."""
    place = key[-1] if key and isinstance(key[-1], str) and key[-1].partition(":")[0] in targets.GPUS else None
    return targets.wanted() or (place.partition(":")[0] if place else devices.target())


def _seconds(timing):
    return timing[0] if isinstance(timing, (list, tuple)) else timing


def _as_list(timing):
    return list(timing) if isinstance(timing, (list, tuple)) else [timing]


class Heuristics(Wrapper):
    """A kernel some of whose arguments are computed from the others; see heuristics()."""

    def __init__(self, fn, values):
        super().__init__(fn)
        self.values = dict(values)
        for name in self.values:
            if name not in self.arg_names:
                raise ArgumentError(
                    f"heuristics of {self.__name__}(): it has no argument '{name}'; it has {', '.join(self.arg_names)}"
                )

    def _complete(self, args, kwargs):
        for name, compute in self.values.items():
            kwargs[name] = compute(self.named(args, kwargs))
        return kwargs

    def run(self, *args, **kwargs):
        """Launches with the computed arguments."""
        return self.fn.run(*args, **self._complete(args, kwargs))

    def warmup(self, *args, **kwargs):
        """Compiles with the computed arguments."""
        return self.fn.warmup(*args, **self._complete(args, kwargs))


def autotune(
    configs,
    key,
    prune_configs_by=None,
    reset_to_zero=None,
    restore_value=None,
    pre_hook=None,
    post_hook=None,
    warmup=None,
    rep=None,
    use_cuda_graph=False,
    do_bench=None,
    cache_results=False,
):
    """Makes a kernel measure `configs` and keep the best for each value of the arguments named in `key` (and their
    dtypes).

    prune_configs_by: {"early_config_prune": f(configs, arguments, **kwargs), "perf_model": f(**arguments) giving a
    time, "top_k": how many, or which share, to measure}. reset_to_zero, restore_value: arrays that each measurement
    starts afresh with. pre_hook(arguments, reset_only), post_hook(arguments, exception): instead of those.
    do_bench(call, quantiles): the timer, else testing.do_bench for `warmup` and `rep` milliseconds. cache_results:
    keeps choices on disk. use_cuda_graph: measures graphs of torch, without what the host takes. A configuration that
    fails is passed over; if all fail, the first error is raised.
    """

    def decorate(fn):
        return Autotuner(
            fn,
            configs,
            key,
            reset_to_zero,
            restore_value,
            pre_hook,
            post_hook,
            prune_configs_by,
            warmup,
            rep,
            use_cuda_graph,
            do_bench,
            cache_results,
        )

    return decorate


def heuristics(values):
    """Computes arguments from the others at each launch: {name: function of the dictionary of arguments}."""

    def decorate(fn):
        return Heuristics(fn, values)

    return decorate
