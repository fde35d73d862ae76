# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a specialisation to a compiled kernel: key, cache, frontend, compiler, and reproducers of failures."""

import hashlib
import os
import re
import shlex

from . import devices, knobs, statuses, store, targets
from ._terrazzo import ir, runtime
from .errors import ArgumentError, CompileError, OutOfResources, plain_diagnostic
from .kernel import CompiledKernel
from .options import checked, precision, relevant
from .specialize import UnstableConstantError, spec_from_text, specialization, stable_text

MOST_THREADS = 1024  # of a block, on all GPUs
REPRODUCER_BYTES = 64 << 20  # that reproducers may take; the oldest go


def digest_of(fn, spec, options, target):
    """The key of a kernel in the cache, and whether it means the same in other processes."""
    try:
        constants, stable = spec.stable_constants(fn.reach), True
    except UnstableConstantError:
        constants, stable = repr([(k, id(v)) for k, v in {**spec.constexprs, **spec.members}.items()]), False
    name, chip = targets.check_target(target)[0], devices.chip(target)
    parts = [
        store.fingerprint(),
        name,
        chip,
        fn.cache_key,
        spec.text,
        constants,
        stable_text(tuple(sorted((k, repr(v)) for k, v in relevant(options, name).items()))),
    ]
    if options["debug"]:  # messages of assertions hold the place in the file
        parts += [f"{file}:{line}" for file, line in fn.places]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest(), stable


def _check_threads(fn, options, target):
    """An error unless a block of the target has room for the warps."""
    required = options["num_warps"] * targets.warp_size(target)
    if target.partition(":")[0] in targets.GPUS and required > MOST_THREADS:
        raise OutOfResources(required, MOST_THREADS, f"threads of a block of {fn.__name__}() by num_warps")


def compile_specs(fn, specs, options, target=None, device=0):
    """The compiled kernel for descriptions of all parameters, from memory, the disk, or the compiler.

    `target` is the process's unless given; a target without a chip means that of `device`.
    """
    target = devices.resolved(target or devices.target(), device)
    options = checked(options)
    options["debug"] = options["debug"] or bool(fn.debug) or knobs.runtime.debug
    if options["default_dot_input_precision"] is None:
        chosen = precision("TERRAZZO_F32_DEFAULT (knobs.language.fp32_default)", knobs.language.fp32_default or None)
        options["default_dot_input_precision"] = chosen or "tf32"
    _check_threads(fn, options, target)
    spec = specialization(fn.params, specs)
    key = fn.cache_key
    digest, stable = digest_of(fn, spec, options, target)
    known = fn.known.get(digest)
    if known is not None and known.options == options:
        return known
    data = known.data if known is not None else (store.get(digest) if stable else None)
    compiled = _load(fn, spec, options, target, digest, data)
    if compiled is None:
        data = _build(fn, spec, options, target)
        if stable and fn.cache_key == key:  # nothing changed meanwhile
            store.put(digest, data)
        compiled = _load(fn, spec, options, target, digest, data)
    fn.known[digest] = compiled
    return compiled


def _load(fn, spec, options, target, digest, data):
    if data is None:
        return None
    return CompiledKernel(fn, spec, options, target, digest, data)


def _build(fn, spec, options, target):
    from . import frontend

    name, chip = targets.check_target(target)
    # A kernel may ask about its target: "cuda:90", "hip:gfx942".
    asked = f"cuda:{re.sub(r'[^0-9]', '', chip)}" if name == "cuda" else target if name == "hip" else "cpu"
    facts = {**relevant(options, name), "target": asked}
    builder = frontend.build_module(fn, spec.arg_types, spec.constexprs, spec.arg_attrs, facts)
    try:
        return ir.compile(builder, target, "tile")
    except ir.DiagnosticError as error:
        if chip:  # of a device, too, which is not checked before
            targets.check_chip(name, chip)
        raise failure(error, builder.str(debug=True), fn.__name__, target) from None


def failure(error, text, name, target):
    """A CompileError for what the compiler reports, which names a reproducer and how to run it.

    What does not fit the device is an OutOfResources.
    """
    file, line, col = (getattr(error, k, None) for k in ("file", "line", "col"))
    message = plain_diagnostic(error)
    if "out of resource" in message:
        message = f"{message} (in kernel {name})"
        if not file or not line:
            return statuses.out_of_resources(message)
        shown = CompileError(message, file, line, max((col or 1) - 1, 0), _source_line(file, line))
        return statuses.out_of_resources(message, str(shown))
    notes = [_reproducer(text, name, target)]
    if not file or not line:
        return CompileError(f"{message} (in kernel {name})", notes=notes)
    return CompileError(message, file, line, max((col or 1) - 1, 0), _source_line(file, line), notes)


def _reproducer(text, name, target):
    """Keeps a module that failed to compile; says where, and the command that compiles it again."""
    folder = knobs.compilation.reproducer_dir
    if not folder:
        return "no reproducer is kept: TERRAZZO_REPRODUCER_DIR is empty"
    data = text.encode()
    stem = re.sub(r"\W", "", name, flags=re.ASCII)[:64] or "kernel"
    file = f"{stem}-{hashlib.sha256(data).hexdigest()[:12]}.mlir"
    try:
        runtime.write_private(folder, file, data, REPRODUCER_BYTES)
    except runtime.StatusError as problem:
        return f"no reproducer could be written: {problem}"
    is_cpu = target.partition(":")[0] == "cpu"
    command = "tz-opt --tz-pipeline-cpu" if is_cpu else f"tz-compile --target {target}"
    return f"reproducer: {command} {shlex.quote(os.path.join(folder, file))}"


def _source_line(file, line):
    import linecache

    return linecache.getline(file, line).rstrip("\n") or None


class ASTSource:
    """A kernel function with a signature given as text, to be compiled ahead of time.

    `signature` maps parameter names to "*fp32", "i32" or "constexpr", `constexprs` names (or positions, or 1-tuples of
    these) to values, `attrs` positions to lists such as [["tt.divisibility", 16]].
    """

    ext = "tile"

    def __init__(self, fn, signature, constexprs=None, attrs=None):
        self.fn = fn
        self.signature = {self._name(k): v for k, v in signature.items()}
        self.constants = {self._name(k): v for k, v in (constexprs or {}).items()}
        self.attrs = {self._name(k): v for k, v in (attrs or {}).items()}
        self.name = fn.__name__

    def _name(self, key):
        while isinstance(key, tuple) and len(key) == 1:
            key = key[0]
        if isinstance(key, int):
            if key >= len(self.fn.arg_names):
                raise ArgumentError(
                    f"{self.fn.__name__}() has {len(self.fn.arg_names)} parameters, found position {key}"
                )
            return self.fn.arg_names[key]
        if key not in self.fn.arg_names:
            raise ArgumentError(f"{self.fn.__name__}() has no parameter '{key}'; it has {', '.join(self.fn.arg_names)}")
        return key

    def specs(self):
        """The descriptions of all parameters."""
        result = []
        for parameter in self.fn.params:
            name, text = parameter.name, self.signature.get(parameter.name)
            if name in self.constants:
                result.append(("const", self.constants[name]))
            elif text is None or text == "constexpr":
                if not parameter.has_default:
                    raise ArgumentError(f"{self.fn.__name__}(): parameter '{name}' has neither a type nor a value")
                result.append(("const", parameter.default))
            else:
                spec = spec_from_text(text, name)
                if any(list(a)[-1] == 16 for a in self.attrs.get(name, ())):
                    spec = (*spec[:2], True, *spec[3:])
                result.append(spec)
        return tuple(result)


def compile(src, target=None, options=None):
    """Compiles an ASTSource, or the text or path of a module, and gives the compiled kernel."""
    if target is not None and not isinstance(target, str):
        target = targets.target_text(target)
    if isinstance(src, ASTSource):
        return compile_specs(src.fn, src.specs(), dict(options or {}), target)
    raise ArgumentError(f"compile() takes an ASTSource, found {type(src).__name__}")
