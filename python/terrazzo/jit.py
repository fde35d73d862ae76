# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""jit: makes a Python function a kernel, compiled for the types of its arguments when it is launched."""

import functools
import inspect
import threading
from typing import TypeVar

from . import devices, hooks, knobs, targets
from . import language as tl
from ._terrazzo import runtime
from .compiler import compile_specs, key_of
from .errors import ArgumentError, SpecializationError
from .interface import KernelInterface, Wrapper
from .language.dtypes import dtype
from .options import OPTIONS, PLACING
from .specialize import Parameter, parameters_of
from .stand_ins import stand_in
from .turns import Turns
from .wrappers import MockTensor, TensorWrapper, reinterpret

__all__ = ["JITCallable", "JITFunction", "KernelInterface", "KernelParam", "MockTensor", "T", "TensorWrapper"]
__all__ += ["Wrapper", "jit", "reinterpret"]

T = TypeVar("T")
KernelParam = Parameter

runtime.set_language_types(tl.constexpr, dtype)


class JITFunction(runtime.Dispatcher, KernelInterface):
    """A kernel. `kernel[grid](*args, **kwargs)` launches it; other kernels may call it.

    `fn` is the Python function, `params` describe its parameters, `src` is its text. The base class binds arguments and
    finds the compiled kernel; the methods here do what happens once for each specialisation.
    """

    __tz_jit__ = True

    def __init__(
        self,
        fn,
        do_not_specialize=None,
        do_not_specialize_on_alignment=None,
        debug=None,
        noinline=None,
        repr=None,
        launch_metadata=None,
    ):
        self.fn = fn
        self.params = parameters_of(fn, tuple(do_not_specialize or ()), tuple(do_not_specialize_on_alignment or ()))
        self.arg_names = [p.name for p in self.params]
        self.constexprs = [p.index for p in self.params if p.is_constexpr]
        self.debug = debug
        self.noinline = noinline
        self.launch_metadata = launch_metadata
        self._repr = repr
        functools.update_wrapper(self, fn, updated=())
        self._remember()
        self.file = fn.__code__.co_filename
        self.starting_line_number = fn.__code__.co_firstlineno
        self.pre_run_hooks = hooks.HookList(self._listen)
        self._launched = threading.local()  # the arguments of this thread's launch, for launch_metadata
        self.known = {}  # digest -> CompiledKernel
        self.last = None  # the kernel compiled last
        self._dependencies = None
        self._reached = {}  # id of a compile-time argument -> (argument, its dependencies)
        self._words = {}  # digests of the dependencies -> number
        self._turns = Turns()
        options = [name for name in (*OPTIONS, *PLACING) if name not in self.arg_names]
        self._setup(
            fn.__name__,
            tuple(p.for_dispatcher() for p in self.params if not p.is_variadic),
            tuple(options),
            tuple(OPTIONS[name].default if name in OPTIONS else None for name in options),
        )
        self._listen(False)

    def _remember(self):
        """Keeps the text of a function that exec made; it is gone when the frames are that ran it."""
        from .frontend.source import remember

        remember(self.fn)

    @property
    def src(self):
        """The text of the function, without what is left of `def`."""
        from . import frontend

        return frontend.source_of(self.fn).text

    raw_src = src

    def _unsafe_update_src(self, text):
        """Makes the function one of another text, with the same name and parameters; its key follows.

        Kernels that call it keep their keys until their `hash` is set to None.
        """
        from .frontend.source import with_text

        self.fn = with_text(self.fn, text)
        self._forget_dependencies()

    def _forget_dependencies(self):
        """Makes the next launch, or whoever asks for the key, look up again what the function depends on."""
        with self._turns.of("guards"):
            self._dependencies = None
            self._set_guards([("entry", {}, "never", None)], 0)

    @property
    def __globals__(self):
        return self.fn.__globals__

    @property
    def qualified_name(self):
        """The module and the name of the function."""
        return f"{self.fn.__module__}.{self.fn.__qualname__}"

    @property
    def module(self):
        """The name of the module that the function is of."""
        return self.fn.__module__

    @property
    def repr(self):
        """repr(specialization): the name of a kernel that is compiled for its `constants` and `signature`."""
        return self._repr if self._repr is not None else lambda specialization: self.fn.__name__

    @property
    def signature(self):
        """The signature of the Python function."""
        return inspect.signature(self.fn)

    @property
    def cache_key(self):
        """A digest of the function's text and of all that it depends on."""
        return self._current_dependencies().digest

    @property
    def places(self):
        """The (file, line) of the function and of those that it reaches."""
        return self._current_dependencies().places

    hash = property(
        lambda self: self.cache_key,
        lambda self, value: self._forget_dependencies(),
        doc="The cache_key. Setting it, to None, makes it be worked out again.",
    )

    @property
    def used_global_vals(self):
        """{(name, id of the globals): (value, the globals)} of the global constants that the function's code reads."""
        scope, found = self.__globals__, dict(self._current_dependencies().constants)
        return {(name, id(scope)): (value, scope) for name, value in found.items() if name in scope}

    @property
    def asm(self):
        """The stages of the kernel that was compiled last."""
        return self.last.asm if self.last is not None else {}

    @property
    def device_caches(self):
        """The compiled kernels, by device."""
        return _DeviceCaches(self)

    def _current_dependencies(self):
        if self._dependencies is None or not self._guards_hold():
            self._refresh_guards()
        return self._dependencies

    def _refresh_guards(self):
        """Looks up again what the kernel, and its compile-time arguments so far, depend on outside of their texts.

        The base class calls it when something changed.
        """
        from . import frontend

        with self._turns.of("guards"):
            for parameter in self.params:
                if parameter.is_variadic:
                    raise ArgumentError(
                        f"{self.__name__}() takes *{parameter.name}, which only functions that kernels call can"
                    )
            self._dependencies = frontend.dependencies(self)
            for number, (value, _) in self._reached.items():
                self._reached[number] = value, frontend.dependencies(value)
            self._set_word(len(self._words) + 1)

    def _set_word(self, word):
        """Sets the guards; the state that they stand for gets a number, `word` if it is new."""
        reached = [found for _, found in self._reached.values()]
        state = (self._dependencies.digest, *(found.digest for found in reached))
        word = self._words.setdefault(state, word)
        self._set_guards([g for found in (self._dependencies, *reached) for g in found.guards], word)

    def reach(self, value):
        """The Dependencies of a compile-time argument; launches look at what it holds from now on."""
        from . import frontend

        with self._turns.of("guards"):
            self._current_dependencies()
            known = self._reached.get(id(value))
            if known is None:
                state = (self._dependencies.digest, *(found.digest for _, found in self._reached.values()))
                known = self._reached[id(value)] = value, frontend.dependencies(value)
                # Nothing changed, so that what the key says of the state stays as it is.
                self._set_word(self._words[state])
            return known[1]

    def _miss(self, key, specs, options, backend, device):
        """Compiles what a call needs, once also if many threads ask for it; the base class calls it.

        `backend` and `device` are where the call runs: ("cpu", -1), ("cuda", 0).
        """
        with self._turns.of(key):
            if self._find(key) is None:
                self._compile_into(key, specs, options, backend, device)

    def _compile_into(self, key, specs, options, backend, device):
        device = max(device, 0)
        compiled = self._compile(specs, options, _target_of(options, backend), device)
        if compiled is None:
            raise SpecializationError(f"knobs.runtime.jit_cache_hook took the compilation of {self.__name__}() over")
        around = knobs.runtime
        around.kernel_load_start_hook(compiled, None, compiled.name, compiled.metadata, compiled.hash)
        compiled.n_regs, compiled.n_spills = self._insert(key, compiled.data, backend, device, compiled)
        if backend in targets.GPUS:
            devices.used.add((backend, device))
        around.kernel_load_end_hook(compiled, None, compiled.name, compiled.metadata, compiled.hash)
        self.last = compiled

    def _compile(self, specs, options, target, device=0, is_warmup=False):
        """The compiled kernel, between the hooks of the process; None if the first of them says that it has it."""
        around = knobs.runtime
        if not around.jit_cache_hook and not around.jit_post_compile_hook:
            return compile_specs(self, specs, options, target, device)
        key = key_of(self, specs, options, target, device)
        if key in self.known:
            return compile_specs(self, specs, options, target, device)
        facts = (self, key, specs, options, device, is_warmup)
        if hooks.tell(around.jit_cache_hook, *facts):
            return None
        compiled = compile_specs(self, specs, options, target, device)
        hooks.tell(around.jit_post_compile_hook, *facts)
        return compiled

    def _listen(self, has_hooks):
        """Makes launches call _run_hooks where somebody wants to know their arguments."""
        self._set_hooked(has_hooks or self.launch_metadata is not None)

    @property
    def launch_arguments(self):
        """The arguments by name of this thread's last launch, if the function has a launch_metadata."""
        return getattr(self._launched, "arguments", {})

    def _run_hooks(self, arguments):
        if self.launch_metadata is not None and (knobs.runtime.launch_enter_hook or knobs.runtime.launch_exit_hook):
            self._launched.arguments = arguments
        run_time = [p.name for p in self.params if p.name in arguments and not p.is_constexpr]
        rest = {name: value for name, value in arguments.items() if name not in run_time}
        for hook in list(self.pre_run_hooks):
            if any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in inspect.signature(hook).parameters.values()):
                hook(*[arguments[name] for name in run_time], **rest)
            else:
                hook(**arguments)

    def add_pre_run_hook(self, hook):
        """Calls `hook(**arguments)` before each launch; one with *args gets the run-time arguments by position."""
        self.pre_run_hooks.append(hook)

    def run(self, *args, grid, warmup=False, **kwargs):
        """Launches, or with `warmup` only compiles; gives the compiled kernel."""
        if warmup:
            return self.warmup(*args, grid=grid, **kwargs)
        return self[grid](*args, **kwargs)

    def warmup(self, *args, grid=None, **kwargs):
        """Compiles for these arguments without a launch, for a GPU also where there is none.

        A dtype stands for an array of it, text such as "*fp32" or "i32" for a value of that type.
        """
        by_name = {p.name: p for p in self.params}
        args = [stand_in(a, p) for a, p in zip(args, self.params)] + list(args[len(self.params) :])
        kwargs = {k: stand_in(v, by_name[k]) if k in by_name else v for k, v in kwargs.items()}
        _, specs, options, backend = self._specialization(tuple(args), kwargs)
        target = _target_of(options, backend)
        if target == "cpu" and not knobs.runtime.jit_cache_hook and not knobs.runtime.jit_post_compile_hook:
            return self._prepare(tuple(args), kwargs)
        # Nothing is loaded: the device or the named processor may be on another machine.
        compiled = self._compile(specs, options, target, is_warmup=True)
        self.last = compiled if compiled is not None else self.last
        return compiled

    def preload(self, specialization_data):
        """Compiles what a hook was told in compile["specialization_data"]; gives the compiled kernel."""
        specs, options = hooks.specialization_from_text(self, specialization_data)
        self.last = self._compile(specs, options, _target_of(options, devices.default_name()), is_warmup=True)
        return self.last

    def __call__(self, *args, **kwargs):
        raise ArgumentError(
            f"{self.__name__}() is a kernel: launch it as {self.__name__}[grid](...); only kernels can call it directly"
        )

    def __repr__(self):
        return f"JITFunction({self.fn.__module__}:{self.fn.__qualname__})"


JITCallable = JITFunction


def _target_of(options, backend):
    """The text of the target of a call that runs on a backend."""
    return options.get("target") or targets.wanted() or backend


class _DeviceCaches:
    """The compiled kernels of a function as {device: ({digest: kernel}, ...)}."""

    __iter__ = __contains__ = None

    def __init__(self, fn):
        self._fn = fn

    def __getitem__(self, device):
        return (self._fn.known,)

    def clear(self):
        """Forgets all kernels, in memory."""
        self._fn.known.clear()
        self._fn._clear_plans()


def jit(
    fn=None,
    *,
    version=None,
    repr=None,
    launch_metadata=None,
    do_not_specialize=None,
    do_not_specialize_on_alignment=None,
    debug=None,
    noinline=None,
):
    """Makes a Python function a kernel. Used bare, or with options:

    do_not_specialize (names or positions): values that the kernel is not compiled for; do_not_specialize_on_alignment:
    the same for divisibility by 16 alone; names that the function does not have are passed over. debug: arms
    device_assert; noinline: accepted, calls are traced in place; repr(specialization): gives the name of the compiled
    kernel, of its `constants` and `signature`; launch_metadata: adds to what hooks around launches are given.
    """

    def decorate(function):
        if isinstance(function, JITFunction):
            function = function.fn
        if not inspect.isfunction(function):
            raise ArgumentError(f"jit takes a Python function, found an object of type '{type(function).__name__}'")
        return JITFunction(
            function, do_not_specialize, do_not_specialize_on_alignment, debug, noinline, repr, launch_metadata
        )

    return decorate if fn is None else decorate(fn)
