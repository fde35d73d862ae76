# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a specialisation to a compiled kernel: key, cache, frontend, compiler, and reproducers of failures."""

import hashlib
import os
import re
import shlex
import time

from . import devices, hooks, knobs, statuses, store, targets
from ._terrazzo import ir, runtime
from .errors import ArgumentError, CompileError, OutOfResources, plain_diagnostic
from .kernel import STAGES, CompiledKernel
from .options import checked, precision, relevant
from .sources import ASTSource, IRSource
from .specialize import UnstableConstantError, specialization, stable_text

MOST_THREADS = 1024  # of a block, on all GPUs
REPRODUCER_BYTES = 64 << 20  # that reproducers may take; the oldest go


def kernel_name(fn, spec):
    """(the symbol of a kernel, and again if its function's `repr` says it): letters, digits and underscores."""
    if fn._repr is None:
        return (fn.__name__,)
    text = re.sub(r"\W", "_", str(fn.repr(spec.for_names())), flags=re.ASCII) or "kernel"
    name = f"_{text}" if text[0].isdigit() else text
    return name, name


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
        *kernel_name(fn, spec)[1:],
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
    target, options = _settled(fn, options, target, device)
    spec = specialization(fn.params, specs)
    key = fn.cache_key
    digest, stable = digest_of(fn, spec, options, target)
    known = fn.known.get(digest)
    if known is not None and known.options == options:
        return known
    data = known.data if known is not None else (store.get(digest) if stable else None)
    is_hit, times = data is not None, hooks.CompileTimes()
    if data is None:
        start = time.perf_counter()
        data = _build(fn, spec, options, target)
        times.lowering_stages.append((STAGES[target.partition(":")[0]][-1], hooks.microseconds_since(start)))
        if stable and fn.cache_key == key:  # nothing changed meanwhile
            start = time.perf_counter()
            store.put(digest, data)
            times.store_results = hooks.microseconds_since(start)
    compiled = fn.known[digest] = CompiledKernel(fn, spec, options, target, digest, data, kernel_name(fn, spec)[0])
    if known is None:
        hooks.tell_listener(ASTSource.of(fn, spec), compiled, times, is_hit)
    return compiled


def _settled(fn, options, target, device):
    """The target with its chip, and all options, those that the function and the process say included."""
    target = devices.resolved(target or devices.target(), device)
    options = checked(options)
    options["debug"] = options["debug"] or bool(fn.debug) or knobs.runtime.debug
    if options["default_dot_input_precision"] is None:
        chosen = precision("TERRAZZO_F32_DEFAULT (knobs.language.fp32_default)", knobs.language.fp32_default or None)
        options["default_dot_input_precision"] = chosen or "tf32"
    _check_threads(fn, options, target)
    return target, options


def key_of(fn, specs, options, target=None, device=0):
    """The key that compile_specs finds a kernel by."""
    target, options = _settled(fn, options, target, device)
    return digest_of(fn, specialization(fn.params, specs), options, target)[0]


def _build(fn, spec, options, target):
    from . import frontend

    name, chip = targets.check_target(target)
    # A kernel may ask about its target: "cuda:90", "hip:gfx942".
    asked = f"cuda:{re.sub(r'[^0-9]', '', chip)}" if name == "cuda" else target if name == "hip" else "cpu"
    facts = {**relevant(options, name), "target": asked, "symbol": kernel_name(fn, spec)[0]}
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


def compile(src, target=None, options=None):
    """Compiles an ASTSource, an IRSource, or the module in the file of a path, and gives the compiled kernel."""
    if target is not None and not isinstance(target, str):
        target = targets.target_text(target)
    if isinstance(src, (str, os.PathLike)):
        src = IRSource(src)
    if isinstance(src, ASTSource):
        return compile_specs(src.fn, src.specs(), dict(options or {}), target)
    if isinstance(src, IRSource):
        return _compile_module(src, dict(options or {}), target)
    raise ArgumentError(f"compile() takes an ASTSource, an IRSource or a path, found {type(src).__name__}")


def _compile_module(source, options, target):
    """The compiled kernel of a module of IR."""
    target, options = devices.resolved(target or devices.target(), 0), checked(options)
    digest = hashlib.sha256("\0".join([store.fingerprint(), target, source.text]).encode()).hexdigest()
    data, times = store.get(digest), hooks.CompileTimes()
    is_hit = data is not None
    if data is None:
        start = time.perf_counter()
        try:
            data = ir.compile(source.text, target, "tile")
        except ir.DiagnosticError as error:
            raise failure(error, source.text, source.name, target) from None
        times.lowering_stages.append((STAGES[target.partition(":")[0]][-1], hooks.microseconds_since(start)))
        store.put(digest, data)
    compiled = CompiledKernel(source, source.specialization, options, target, digest, data, source.name)
    hooks.tell_listener(source, compiled, times, is_hit)
    return compiled
