# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""autotune: measures configurations of a kernel and keeps the best for each key."""

import hashlib
import inspect
import json
import threading
import time

from . import devices, knobs, store, targets
from ._terrazzo import runtime
from .configurations import Config, copy_of, put_back, zero
from .errors import ArgumentError, AutotunerError, OutOfResources, PTXASError, TerrazzoError
from .heuristics import Heuristics, heuristics
from .interface import KernelInterface, Wrapper
from .jit import JITFunction
from .specialize import UnstableConstantError, stable_text
from .turns import Turns

__all__ = [
    "Autotuner",
    "Config",
    "Heuristics",
    "JITFunction",
    "KernelInterface",
    "OutOfResources",
    "PTXASError",
    "autotune",
    "heuristics",
]


class Autotuner(Wrapper):
    """A kernel that finds its best configuration for each key; see autotune().

    Made to be derived from: `run`, `prune_configs`, `_bench`, `pre_hook`, `post_hook` and `do_bench` may be overridden,
    set or called. The state of a launch (`nargs`, `restore_copies`) is that of the thread that it is on.
    """

    def __init__(
        self,
        fn,
        arg_names,
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
        self.arg_names = list(self.arg_names if arg_names is None else arg_names)
        self.configs = self._checked_configs(configs)
        self.keys = [key] if isinstance(key, str) else list(key or ())
        self.cache = {}
        self.cache_results = cache_results
        self.reset_to_zero, self.restore_value = list(reset_to_zero or ()), list(restore_value or ())
        self._check_names((*self.reset_to_zero, *self.restore_value))
        self.user_defined_pre_hook, self.user_defined_post_hook = pre_hook is not None, post_hook is not None
        self.pre_hook = pre_hook if pre_hook is not None else self._reset_and_save
        self.post_hook = post_hook if post_hook is not None else self._restore
        self._set_pruning(prune_configs_by or {})
        self._do_bench = do_bench
        self.use_cuda_graph = use_cuda_graph
        self.num_warmups, self.num_reps = 25 if warmup is None else warmup, 100 if rep is None else rep
        self._defaults = {p.name: p.default for p in self.base_fn.params if p.has_default}
        # Of the launch that ended last, on whatever thread.
        self.best_config = self.bench_time = None
        self.configs_timings = {}
        self._turns = Turns()
        self._measured = {}  # key -> the configuration that is being measured for it
        self._launch = threading.local()

    def _checked_configs(self, configs):
        found = list(configs or ()) or [Config({})]
        for config in found:
            if not isinstance(config, Config):
                raise ArgumentError(f"autotune of {self.__name__}(): a configuration is a Config, found {config!r}")
        return found

    def _check_names(self, names):
        for name in names:
            if name not in self.arg_names:
                raise ArgumentError(
                    f"autotune of {self.__name__}(): it has no argument '{name}' to reset or restore; it has "
                    f"{', '.join(self.arg_names)}"
                )

    def _set_pruning(self, prune):
        unknown = set(prune) - {"perf_model", "top_k", "early_config_prune"}
        if unknown:
            raise ArgumentError(
                f"autotune of {self.__name__}(): prune_configs_by has no '{min(unknown)}', expected perf_model, "
                "top_k or early_config_prune"
            )
        self.perf_model = prune.get("perf_model")
        self.configs_top_k = prune.get("top_k", 1.0)
        self.early_config_prune = prune.get("early_config_prune")

    @property
    def nargs(self):
        """The arguments, by name, of the launch that this thread is in; None outside of one."""
        return getattr(self._launch, "arguments", None)

    @nargs.setter
    def nargs(self, arguments):
        self._launch.arguments = arguments

    @property
    def restore_copies(self):
        """What restore_value saved for the measurement that this thread is in, by name."""
        return getattr(self._launch, "copies", None) or {}

    @restore_copies.setter
    def restore_copies(self, copies):
        self._launch.copies = copies

    @property
    def do_bench(self):
        """The timer: do_bench(call, quantiles) in milliseconds."""
        if self._do_bench is not None:
            return self._do_bench
        from .testing import do_bench, do_bench_cudagraph

        if self.use_cuda_graph:
            return lambda call, quantiles: do_bench_cudagraph(call, self.num_reps, quantiles=quantiles)
        return lambda call, quantiles: do_bench(call, self.num_warmups, self.num_reps, quantiles=quantiles)

    @do_bench.setter
    def do_bench(self, timer):
        self._do_bench = timer

    def key_of(self, arguments):
        """What configurations are chosen by: the values of the key, all dtypes, and the GPU if there is one."""
        names = [name for name in self.keys if name in self.arg_names]
        key = [arguments.get(name, self._defaults.get(name)) for name in names]
        for name in self.arg_names:
            dtype = getattr(arguments.get(name), "dtype", None)
            if dtype is not None:
                key.append(str(dtype))
        place = _gpu_of(arguments)
        return tuple(key) if place is None else (*key, place)

    def _bench(self, *args, config, **meta):
        """What the timer says of a configuration; infinity three times where it fails, as one that does not fit."""
        self._check_clashes(config, meta)
        try:
            return self._measure(args, meta, config)
        except (TerrazzoError, MemoryError) as error:
            self._launch.failure = getattr(self._launch, "failure", None) or error
            if knobs.autotuning.print:
                print(f"autotuning {self.__name__}: {config} fails: {error}")
            return [float("inf")] * 3

    def _check_clashes(self, config, meta):
        clashes = [name for name in config.kwargs if name in meta]
        if clashes:
            raise ArgumentError(
                f"{self.__name__}(): argument '{clashes[0]}' is given at the launch and by the configuration ({config})"
            )

    def _measure(self, args, meta, config):
        full = {**self.named(args, meta), **config.all_kwargs()}
        launch = {**meta, **config.all_kwargs()}
        for name in (*self.reset_to_zero, *self.restore_value):
            if full.get(name) is not None:
                runtime.check_array(name, full[name])  # before a library touches memory that is not there

        def call():
            if config.pre_hook:
                config.pre_hook(full)
            outer, self.restore_copies = self.restore_copies, {}
            try:
                self._call_between_hooks(full, args, launch)
            finally:
                self.restore_copies = outer

        return self.do_bench(call, quantiles=(0.5, 0.2, 0.8))

    def _call_between_hooks(self, full, args, launch):
        self.pre_hook(full)
        error = None
        try:
            self.fn.run(*args, **launch)
        except BaseException as found:
            error = found
            raise
        finally:
            self.post_hook(full, exception=error)

    def _reset_and_save(self, full, reset_only=False):
        """The pre_hook of those that have none: what starts from zero and what comes back. None stays None."""
        for name in self.reset_to_zero:
            if full.get(name) is not None:
                zero(full[name])
        if not reset_only:
            self.restore_copies = {n: copy_of(full[n]) for n in self.restore_value if full.get(n) is not None}

    def _restore(self, full, exception=None):
        """The post_hook of those that have none."""
        for name, copy in self.restore_copies.items():
            put_back(full[name], copy)
        self.restore_copies = {}

    def _reset_for_launch(self, full):
        """Takes what measurements left out of the arrays that start from zero."""
        if "reset_only" in inspect.signature(self.pre_hook).parameters:
            self.pre_hook(full, reset_only=True)
        else:
            self.pre_hook(full)

    def _tune(self, key, args, kwargs, configs):
        """Measures all; configurations that fail take forever, unless all fail."""
        timings = {}
        outer, self._launch.failure = getattr(self._launch, "failure", None), None
        try:
            for config in configs:
                self._measured[key] = config
                timings[config] = self._bench(*args, config=config, **kwargs)
            if self._launch.failure is not None and all(_seconds(t) == float("inf") for t in timings.values()):
                raise self._launch.failure
            return timings
        finally:
            self._launch.failure = outer

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
        configs = self.prune_configs(kwargs)
        if len(configs) == 1:  # nothing to choose from
            self.cache[key] = configs[0]
            return configs[0]
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

    def prune_configs(self, kwargs):
        """The configurations that are worth measuring for the arguments of this thread's launch (`nargs`)."""
        named, configs = dict(self.nargs or {}), self.configs
        if self.early_config_prune:
            configs = list(self.early_config_prune(configs, named, **kwargs))
            if not configs:
                raise AutotunerError(f"autotune of {self.__name__}(): early_config_prune leaves no configuration")
        if self.perf_model:
            top = self._most_to_measure()
            if len(configs) > top:
                times = {c: self.perf_model(**{**named, **kwargs, **c.all_kwargs()}) for c in configs}
                configs = sorted(configs, key=times.__getitem__)[:top]
        return configs

    def _most_to_measure(self):
        """How many configurations top_k leaves: a number, or a share of all."""
        top = self.configs_top_k
        if isinstance(top, float) and 0 < top <= 1.0:
            return max(1, int(len(self.configs) * top))
        if not isinstance(top, int) or top < 1:
            raise ArgumentError(
                f"autotune of {self.__name__}(): top_k is {top!r}, expected a number of configurations or a share of "
                "at most 1.0"
            )
        return top

    def run(self, *args, **kwargs):
        """Launches with the best configuration, which it finds first if the key is new."""
        arguments, outer = self.named(args, {}), self.nargs
        self.nargs = arguments
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
            self.nargs = outer

    def warmup(self, *args, **kwargs):
        """Compiles all configurations for these arguments; gives the compiled kernels."""
        outer, self.nargs = self.nargs, self.named(args, {})
        try:
            configs = self.prune_configs(kwargs)
        finally:
            self.nargs = outer
        return [self.fn.warmup(*args, **kwargs, **config.all_kwargs()) for config in configs]


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
            fn.arg_names,
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
