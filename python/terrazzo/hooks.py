# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the hooks around compilation are told: the function, what it is compiled for, and how long each step took.

The specialisation is given as text, too, from which `JITFunction.preload` compiles it again, in another process.
"""

import json
import time
from dataclasses import dataclass, field
from typing import Any

from . import knobs
from .errors import ArgumentError, SpecializationError
from .language.dtypes import dtype
from .specialize import specialization, type_from_text

_PLAIN = (type(None), bool, int, float, str)


@dataclass
class FunctionFacts:
    """The function that a hook is told about."""

    module: str
    name: str
    jit_function: Any


@dataclass
class CompileTimes:
    """How long the steps of a compilation took, in microseconds; all 0 of a kernel from the cache."""

    ir_initialization: int = 0
    lowering_stages: list = field(default_factory=list)
    store_results: int = 0

    @property
    def total_lowering(self):
        """Of all stages together."""
        return sum(time for _, time in self.lowering_stages)

    @property
    def total(self):
        """Of all steps together."""
        return self.ir_initialization + self.total_lowering + self.store_results


def microseconds_since(start):
    """Of a time of time.perf_counter()."""
    return int((time.perf_counter() - start) * 1e6)


def _written(spec):
    """A description of a parameter as JSON has it; an error for constants that have no text."""
    if spec[0] == "tuple":
        if spec[1] is not None:
            raise SpecializationError(f"a tuple of the class {spec[1].__name__} cannot be written as text")
        return ["tuple", [_written(member) for member in spec[2]]]
    if spec[0] != "const":
        return list(spec)
    value = getattr(spec[1], "value", spec[1])
    if isinstance(value, dtype):
        return ["dtype", str(value)]
    if type(value) not in _PLAIN:
        raise SpecializationError(f"a constant of type '{type(value).__name__}' cannot be written as text")
    return ["const", value]


def _read(spec):
    if spec[0] == "tuple":
        return ("tuple", None, tuple(map(_read, spec[1])))
    if spec[0] == "dtype":
        return ("const", type_from_text(spec[1]))
    return tuple(spec)


def specialization_text(fn, specs, options):
    """What a kernel is compiled for, as JSON; None where a constant has no text."""
    try:
        written = [_written(spec) for spec in specs]
        return json.dumps({"name": fn.qualified_name, "specs": written, "options": dict(options)})
    except (SpecializationError, TypeError):
        return None


def specialization_from_text(fn, text):
    """(descriptions, options) of what specialization_text gave for the same function."""
    try:
        found = json.loads(text)
        name, specs, options = found["name"], tuple(map(_read, found["specs"])), found["options"]
    except (ValueError, KeyError, TypeError, IndexError):
        raise ArgumentError(f"{fn.__name__}.preload() takes the specialization_data that a hook was given") from None
    if name != fn.qualified_name:
        raise SpecializationError(f"Specialization data is for {name}, but it was given to {fn.qualified_name}")
    if len(specs) != len(fn.params):
        raise SpecializationError(f"Specialization data has {len(specs)} parameters, expected {len(fn.params)}")
    return specs, options


def tell(hook, fn, key, specs, options, place, is_warmup):
    """Calls a jit_cache_hook or a jit_post_compile_hook, if there is one; gives what it returns."""
    if not hook:
        return None
    spec = specialization(fn.params, specs)
    signature = {name: str(type) for name, type in spec.arg_types.items()}
    shown = [f"{name}={value}" for name, value in (*spec.constexprs.items(), *options.items())]
    facts = {
        "key": key,
        "signature": signature,
        "device": place,
        "constants": dict(spec.constexprs),
        "num_warps": options.get("num_warps", 4),
        "num_ctas": options.get("num_ctas", 1),
        "num_stages": options.get("num_stages", 3),
        "configs": [dict(spec.arg_attrs)],
        "specialization_data": specialization_text(fn, specs, options),
        "is_warmup": is_warmup,
        **options,
    }
    return hook(
        key=key,
        repr=f"{fn.__name__}[{', '.join(shown)}]({spec.text})",
        fn=FunctionFacts(fn.__module__, fn.__name__, fn),
        compile=facts,
        is_manual_warmup=is_warmup,
        already_compiled=False,
    )


def tell_listener(source, compiled, times, cache_hit):
    """Calls knobs.compilation.listener, if there is one."""
    listener = knobs.compilation.listener
    if listener is not None:
        listener(
            src=source,
            metadata=compiled.metadata._asdict(),
            metadata_group={},
            times=times,
            cache_hit=cache_hit,
        )


class HookList(list):
    """Hooks of one function; `changed` is told whether there are any, since launches look for them only then."""

    def __init__(self, changed):
        super().__init__()
        self._changed = changed

    def _notify(self):
        self._changed(bool(self))

    def append(self, hook):
        """Adds a hook behind the others."""
        super().append(hook)
        self._notify()

    def insert(self, index, hook):
        """Adds a hook before another one."""
        super().insert(index, hook)
        self._notify()

    def extend(self, hooks):
        """Adds hooks."""
        super().extend(hooks)
        self._notify()

    def remove(self, hook):
        """Takes a hook out."""
        super().remove(hook)
        self._notify()

    def clear(self):
        """Takes all hooks out."""
        super().clear()
        self._notify()

    def pop(self, *index):
        """Takes a hook out and gives it."""
        found = super().pop(*index)
        self._notify()
        return found
