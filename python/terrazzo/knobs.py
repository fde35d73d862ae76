# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Switches of the process, read from the environment once and settable from Python.

TERRAZZO_DEBUG=1            arms device_assert in every kernel                          knobs.runtime.debug
TERRAZZO_ALWAYS_COMPILE=1   does not look into the cache                                knobs.compilation.always_compile
TERRAZZO_CACHE_DIR          where compiled kernels are kept (empty: nowhere)            knobs.cache.dir
TERRAZZO_CACHE_SIZE         bytes that they may take, also as 500M or 2G                knobs.cache.size
TERRAZZO_REPRODUCER_DIR     where modules that failed to compile are kept (or nowhere)  knobs.compilation.reproducer_dir
TERRAZZO_PRINT_AUTOTUNING=1 says what autotune measured and chose                       knobs.autotuning.print
TERRAZZO_CACHE_AUTOTUNING=1 keeps what autotune chose on disk                           knobs.autotuning.cache
TERRAZZO_CACHE_MANAGER      module:Class that keeps compiled kernels instead            knobs.cache.manager_class
TERRAZZO_F32_DEFAULT        input_precision of dots that have none (or                  knobs.language.fp32_default
                            TRITON_F32_DEFAULT); for GPUs, by default tf32
"""

import os
from contextlib import contextmanager

from . import options
from .errors import TerrazzoError


def _flag(name):
    return os.environ.get(name, "0").lower() not in ("", "0", "false", "off", "no")


def _folder(variable, name):
    """The folder that a variable says, by default one of the user's own."""
    if variable in os.environ:
        return os.environ[variable]
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "terrazzo", name)


def size_from_text(text):
    """Bytes from "1000000", "500M" or "2G"; an error says what is expected."""
    units = {"K": 10, "M": 20, "G": 30, "T": 40}
    digits, shift = (text[:-1], units[text[-1].upper()]) if text and text[-1].upper() in units else (text, 0)
    if not digits.isdigit() or int(digits) == 0:
        raise TerrazzoError(f"TERRAZZO_CACHE_SIZE is '{text}', expected a number of bytes such as 1000000, 500M or 2G")
    return int(digits) << shift


class _Group:
    """Switches of one topic."""

    def __init__(self, read):
        self._read = read
        self.reset()

    def reset(self):
        """Takes all values from the environment again."""
        for name, value in self._read().items():
            setattr(self, name, value)

    @contextmanager
    def scope(self):
        """Puts back, on leaving, what is changed inside, the hooks of chains included."""
        saved = {k: v for k, v in vars(self).items() if not k.startswith("_")}
        chains = [(v, list(v.calls)) for v in saved.values() if isinstance(v, HookChain)]
        try:
            yield self
        finally:
            for name in [k for k in vars(self) if not k.startswith("_") and k not in saved]:
                delattr(self, name)
            for name, value in saved.items():
                setattr(self, name, value)
            for chain, calls in chains:
                chain.set(calls)


class HookChain:
    """Functions that are called one after the other."""

    def __init__(self, changed=None):
        self.calls = []
        self._changed = changed

    def add(self, hook):
        """Adds a function, once."""
        if hook not in self.calls:
            self.calls.append(hook)
        self._notify()

    def remove(self, hook):
        """Takes a function out."""
        if hook in self.calls:
            self.calls.remove(hook)
        self._notify()

    def set(self, hooks):
        """Puts these functions in the place of all."""
        self.calls = list(hooks)
        self._notify()

    def _notify(self):
        if self._changed:
            self._changed()

    def __call__(self, *args, **kwargs):
        for hook in list(self.calls):
            hook(*args, **kwargs)

    def __bool__(self):
        return bool(self.calls)


class _Runtime(_Group):
    """Hooks, and the switch that arms device_assert."""

    def __init__(self):
        super().__init__(
            lambda: {
                "debug": _flag("TERRAZZO_DEBUG"),
                "jit_cache_hook": None,
                "jit_post_compile_hook": None,
                "interpret": False,
                "override_arch": None,
                "add_stages_inspection_hook": None,
            }
        )
        self.launch_enter_hook = HookChain(self._arm)
        self.launch_exit_hook = HookChain(self._arm)
        self.kernel_load_start_hook = HookChain()
        self.kernel_load_end_hook = HookChain()
        self.kernel_unload_hook = HookChain()

    def __setattr__(self, name, value):
        chain = self.__dict__.get(name)
        if isinstance(chain, HookChain) and value is not chain:  # one function, or None, in the place of all
            if isinstance(value, HookChain):
                value = value.calls
            chain.set([] if value is None else value if isinstance(value, list) else [value])
            return
        super().__setattr__(name, value)
        if name == "debug":
            _tell_launches()

    def _arm(self):
        """Launches look for hooks only where there are some."""
        from ._terrazzo import runtime

        def call(chain):
            return (lambda compiled, grid: chain(compiled.launch_metadata(grid))) if chain else None

        runtime.set_launch_hooks(call(self.launch_enter_hook), call(self.launch_exit_hook))


class _Language(_Group):
    """What the language's functions do where a kernel does not say it."""

    def __init__(self):
        super().__init__(
            lambda: {
                "fp32_default": os.environ.get("TERRAZZO_F32_DEFAULT") or os.environ.get("TRITON_F32_DEFAULT") or None,
                "default_fp_fusion": True,
            }
        )

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if name == "fp32_default":
            _tell_launches()


def _tell_launches():
    """What the switches say about the code, as a word of each kernel's key in memory."""
    if "runtime" not in globals() or "language" not in globals():  # not all have been read yet
        return
    from ._terrazzo import runtime as native

    chosen = str(language.fp32_default or "").lower()
    number = options.PRECISIONS.index(chosen) + 1 if chosen in options.PRECISIONS else 0
    native.set_configuration(int(bool(runtime.debug)) | number << 1)


runtime = _Runtime()
language = _Language()
_tell_launches()
cache = _Group(
    lambda: {
        "dir": _folder("TERRAZZO_CACHE_DIR", "kernels"),
        "size": os.environ.get("TERRAZZO_CACHE_SIZE") or None,
        "dump_dir": _folder("TERRAZZO_DUMP_DIR", "dump"),
        "override_dir": _folder("TERRAZZO_OVERRIDE_DIR", "override"),
        "manager_class": os.environ.get("TERRAZZO_CACHE_MANAGER") or os.environ.get("TRITON_CACHE_MANAGER") or None,
        "remote_manager_class": os.environ.get("TERRAZZO_REMOTE_CACHE") or None,
    }
)
compilation = _Group(
    lambda: {
        "always_compile": _flag("TERRAZZO_ALWAYS_COMPILE"),
        "reproducer_dir": _folder("TERRAZZO_REPRODUCER_DIR", "reproducers"),
        "listener": None,
        **dict.fromkeys(("override", "dump_ir", "store_binary_only", "use_ir_loc", "disable_line_info"), False),
        **dict.fromkeys(("enable_asan", "allow_non_constexpr_globals", "front_end_debugging"), False),
        "instrumentation_mode": "",
    }
)
autotuning = _Group(
    lambda: {
        "print": _flag("TERRAZZO_PRINT_AUTOTUNING") or _flag("TRITON_PRINT_AUTOTUNING"),
        "cache": _flag("TERRAZZO_CACHE_AUTOTUNING") or _flag("TRITON_CACHE_AUTOTUNING"),
        "listener": None,
    }
)


class _Accepted(_Group):
    """Switches of compilers that are not there: they can be set, and read what was set, or None."""

    def __init__(self):
        super().__init__(dict)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)


nvidia, amd, build, redis, proton = (_Accepted() for _ in range(5))


def refresh_knobs():
    """Takes all switches from the environment again."""
    for group in (runtime, language, cache, compilation, autotuning, nvidia, amd, build, redis, proton):
        group.reset()
