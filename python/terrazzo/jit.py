# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""jit: makes a Python function a kernel, compiled for the types of its arguments when it is launched."""

import functools
import importlib
import inspect
import pickle

from . import devices, knobs, targets
from . import language as tl
from ._terrazzo import runtime
from .compiler import compile_specs
from .errors import ArgumentError
from .language.dtypes import dtype, pointer_type
from .options import OPTIONS, PLACING
from .specialize import parameters_of, spec_from_text, type_from_text
from .turns import Turns
from .wrappers import MockTensor, UnalignedMock

runtime.set_language_types(tl.constexpr, dtype)


def _find(module, name, depth=0):
    """What a name of a module is, with `depth` of the wrappers around a kernel taken off."""
    found = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    for _ in range(depth):
        found = found.fn
    return found


class KernelInterface:
    """What kernel[grid](...) can be said of: jit functions, and what autotune and heuristics make of them.

    They pickle and copy as functions do: by name, and to themselves.
    """

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        module, name = self.__module__, self.__qualname__
        try:
            layer = _find(module, name)
        except (ImportError, AttributeError):
            layer = None
        depth = 0
        while layer is not self and isinstance(layer, Wrapper):
            layer, depth = layer.fn, depth + 1
        if layer is not self:
            raise pickle.PicklingError(
                f"kernel {name} cannot be pickled: it is not what {module}.{name} names; define it at the top level of "
                "its module"
            )
        return _find, (module, name, depth)

    # [grid] never ends, so that Python must not take it for a sequence.
    __iter__ = __contains__ = None

    def __getitem__(self, grid):
        return functools.partial(self.run, grid=grid, warmup=False)

    def warmup(self, *args, grid=None, **kwargs):
        """Compiles for these arguments without a launch."""
        return self.run(*args, grid=grid, warmup=True, **kwargs)


class Wrapper(KernelInterface):
    """A kernel with something around its launches; it has the kernel's attributes too."""

    def __init__(self, fn):
        self.fn = fn
        self.arg_names = fn.arg_names
        self.base_fn = fn
        while isinstance(self.base_fn, Wrapper):
            self.base_fn = self.base_fn.fn
        self.__name__, self.__doc__ = self.base_fn.__name__, self.base_fn.__doc__
        self.__module__, self.__qualname__ = self.base_fn.__module__, self.base_fn.__qualname__

    def __getattr__(self, name):
        if name in ("fn", "base_fn") or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.fn, name)

    def named(self, args, kwargs):
        """The arguments by name."""
        if len(args) > len(self.arg_names):
            raise ArgumentError(
                f"{self.__name__}() takes {len(self.arg_names)} positional arguments but {len(args)} were given"
            )
        return {**dict(zip(self.arg_names, args)), **kwargs}

    def __call__(self, *args, **kwargs):
        return self.base_fn(*args, **kwargs)


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
        self.pre_run_hooks = []
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

    def _remember(self):
        """Keeps the text of a function that exec made; it is gone when the frames are that ran it."""
        from .frontend.source import remember

        remember(self.fn)

    @property
    def src(self):
        """The text of the function, without what is left of `def`."""
        from . import frontend

        return frontend.source_of(self.fn).text

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

    hash = cache_key

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
        compiled = compile_specs(self, specs, options, _target_of(options, backend), device)
        hooks = knobs.runtime
        hooks.kernel_load_start_hook(compiled, None, compiled.name, compiled.metadata, compiled.hash)
        compiled.n_regs, compiled.n_spills = self._insert(key, compiled.data, backend, device, compiled)
        if backend in targets.GPUS:
            devices.used.add((backend, device))
        hooks.kernel_load_end_hook(compiled, None, compiled.name, compiled.metadata, compiled.hash)
        self.last = compiled

    def _run_hooks(self, arguments):
        for hook in list(self.pre_run_hooks):
            hook(**arguments)

    def add_pre_run_hook(self, hook):
        """Calls `hook(**arguments)` before each launch."""
        self.pre_run_hooks.append(hook)
        self._set_hooked(True)

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
        args = [_stand_in(a, p) for a, p in zip(args, self.params)] + list(args[len(self.params) :])
        kwargs = {k: _stand_in(v, by_name[k]) if k in by_name else v for k, v in kwargs.items()}
        _, specs, options, backend = self._specialization(tuple(args), kwargs)
        target = _target_of(options, backend)
        if target == "cpu":
            return self._prepare(tuple(args), kwargs)
        # Nothing is loaded: the device or the named processor may be on another machine.
        self.last = compile_specs(self, specs, options, target)
        return self.last

    def preload(self, specialization_data):
        """Kernels are found in the cache by themselves; there is nothing to be loaded by hand."""
        return

    def __call__(self, *args, **kwargs):
        raise ArgumentError(
            f"{self.__name__}() is a kernel: launch it as {self.__name__}[grid](...); only kernels can call it directly"
        )

    def __repr__(self):
        return f"JITFunction({self.fn.__module__}:{self.fn.__qualname__})"


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


_VALUES = {"int32": 2, "int64": (1 << 32) + 2, "uint64": (1 << 63) + 2, "fp32": 0.5, "int1": True}


def _stand_in(value, parameter):
    """A value of the type that a dtype, a numpy scalar type, or a text means; other arguments as they are."""
    if parameter.is_constexpr:
        return value
    if isinstance(value, pointer_type):
        return MockTensor(value.element_ty)
    if isinstance(value, type) and value.__module__ == "numpy":
        import numpy

        return MockTensor(numpy.dtype(value))
    if isinstance(value, str) and type_from_text(value.partition(":")[0]) is not None:
        spec = spec_from_text(value, parameter.name)
        if spec[0] == "ptr":
            if spec[3]:
                raise ArgumentError(
                    f"argument '{parameter.name}': '{value}' is for ahead-of-time compilation; launches see for "
                    "themselves which arrays overlap"
                )
            return MockTensor(dtype(spec[1])) if spec[2] else UnalignedMock(dtype(spec[1]))
        if parameter.fixed_type == dtype(spec[1]):
            return 0
        if spec[1] not in _VALUES:
            raise ArgumentError(
                f"argument '{parameter.name}': no Python value becomes a {spec[1]} unless the parameter is annotated so"
            )
        scale = {"int32": 16, "int64": 1 << 32, "uint64": 1 << 63}
        return scale[spec[1]] if spec[2] else 1 if spec[3] else _VALUES[spec[1]]
    return MockTensor.wrap_dtype(value)


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
    the same for divisibility by 16 alone; debug: arms device_assert; noinline, repr: accepted for compatibility;
    launch_metadata: a function that adds to what hooks around launches are given.
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
