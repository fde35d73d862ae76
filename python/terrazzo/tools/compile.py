# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tz-compile: compiles a kernel ahead of time, without a launch.

    tz-compile FILE.py::KERNEL --signature '*bf16:16, *fp32:16, i32' --constexpr BLOCK=1024,CAUSAL=True -o kernel.o
    tz-compile FILE.py::KERNEL --signature '*fp32:16' --target cuda:sm_90a --emit cubin
    tz-compile module.mlir --emit llir

Code in a file has a description for launchers beside it, kernel.o.json, as docs/howto/launch-compiled-code.md defines
it; with --emit the stage is written alone. The signature lists the parameters that get no value by --constexpr, in
order: a type such as i32, fp32 or *bf16, with :16 if 16 divides the value or address, or :1 if the value is 1.
"""

import argparse
import ast
import importlib.util
import os
import sys
from types import SimpleNamespace

from .. import language as tl
from ..errors import ArgumentError, TerrazzoError, plain_diagnostic
from ..frontend.deep import run_deep
from ..kernel import STAGES, Stages
from ..specialize import spec_from_text
from .description import describe, text_of

# Names of files by the stage that is written to them if no name is given.
_SUFFIXES = {"obj": "o", "hsaco": "hsaco", "cubin": "cubin"}


class UsageError(Exception):
    """A command line that makes no sense; printed as one line."""


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise UsageError(message)


def split_list(text, flag):
    """The parts between commas that are outside of brackets and quotes."""
    parts, depth, quote, start = [], 0, None, 0
    for i, c in enumerate(text):
        if quote:
            quote = None if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
        if depth < 0:
            break
    if quote or depth:
        raise UsageError(f"{flag}: unbalanced quotes or brackets in '{text}'")
    parts.append(text[start:])
    parts = [p.strip() for p in parts]
    if parts and not parts[-1]:
        parts.pop()
    if not all(parts):
        raise UsageError(f"{flag}: an empty entry in '{text}'")
    return parts


def shortened(text):
    """A text of the command line as a message shows it."""
    return text if len(text) <= 80 else f"{text[:77]}..."


def parse_value(text, where):
    """A literal of Python, or a dtype such as tl.float32."""
    if text.startswith("tl."):
        value = getattr(tl, text[3:], None)
        if isinstance(value, tl.dtype):
            return value
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        raise UsageError(
            f"{where} is {shortened(text)}, expected a number, True, False, None, a quoted string, a tuple of these, "
            "or a dtype such as tl.float32"
        ) from None


def parse_assignments(text, flag):
    """{name: value} of "A=1,B='x'"."""
    result = {}
    for part in split_list(text, flag):
        name, equals, value = part.partition("=")
        name = name.strip()
        if not equals or not name.isidentifier():
            raise UsageError(f"{flag}: '{part}' is not NAME=VALUE")
        if name in result:
            raise UsageError(f"{flag}: {name} is given twice")
        result[name] = parse_value(value.strip(), f"{flag}: {name}")
    return result


def load_kernel(path, name):
    """The jit function `name` of a Python file."""
    if not os.path.isfile(path):
        raise UsageError(f"no such file: {path}")
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    module_name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None:
        raise UsageError(f"{path} is neither a Python file nor an .mlir file")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(module_name, module)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        text = f"{type(error).__name__}: {error}".rstrip(": ")
        raise UsageError(f"{path} fails when it is imported: {text}") from None
    found = getattr(module, name, None)
    found = getattr(found, "base_fn", found)
    if not getattr(found, "__tz_jit__", False):
        kernels = sorted(n for n, v in vars(module).items() if getattr(getattr(v, "base_fn", v), "__tz_jit__", False))
        raise UsageError(f"{path} has no kernel '{name}'; it has {', '.join(kernels) or 'none'}")
    return found


def specs_of(kernel, signature, constants):
    """The descriptions of all parameters from the text of a signature and the constants."""
    for name in constants:
        if name not in kernel.arg_names:
            raise UsageError(
                f"--constexpr: {kernel.__name__} has no parameter '{name}'; it has {', '.join(kernel.arg_names)}"
            )
    open_ones = [p for p in kernel.params if p.name not in constants and not (p.is_constexpr and p.has_default)]
    missing = [p.name for p in open_ones if p.is_constexpr]
    if missing:
        raise UsageError(f"--constexpr: {kernel.__name__} needs a value of {', '.join(missing)}")
    types = split_list(signature, "--signature") if signature.strip() else []
    if len(types) != len(open_ones):
        names = ", ".join(p.name for p in open_ones) or "none"
        raise UsageError(f"--signature lists {len(types)} types, expected {len(open_ones)}: {names}")
    by_name = {p.name: spec_from_text(text, p.name) for p, text in zip(open_ones, types)}
    return tuple(by_name.get(p.name) or ("const", constants.get(p.name, p.default)) for p in kernel.params)


def emit_kinds(name):
    """What can be written for a target; its code, which is the default, is the last of its stages."""
    return (*STAGES[name], "cubin") if name == "cuda" else STAGES[name]


def _parser():
    parser = _Parser(prog="tz-compile", description="Compiles a kernel ahead of time.", allow_abbrev=False)
    parser.add_argument(
        "source", metavar="FILE.py::KERNEL | FILE.mlir", help="a kernel, or a module of the tile dialect"
    )
    parser.add_argument("--signature", help="the types of the parameters without a value, such as '*fp32:16, i32'")
    parser.add_argument("--constexpr", default="", help="values of parameters, such as BLOCK=1024,CAUSAL=True")
    parser.add_argument("--option", default="", help="launch options, such as num_warps=8,debug=True")
    parser.add_argument(
        "--target", default="cpu", help="what to compile for, such as cuda:sm_90a or hip:gfx942 (default: cpu)"
    )
    kinds = "; ".join(f"{name}: {', '.join(emit_kinds(name))}" for name in STAGES)
    parser.add_argument("--emit", help=f"the stage to write ({kinds}; default: the code)")
    parser.add_argument(
        "-o", "--output", help="the file to write; '-' or nothing prints text (default of binary code: KERNEL.o)"
    )
    return parser


def _compile_file(path, target):
    from .._terrazzo import ir, runtime

    try:
        with open(path) as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None
    try:
        artifact = runtime.Artifact(ir.compile(text, target, "tile"))
    except ir.DiagnosticError as error:
        raise TerrazzoError(f"{path}:{error.line}:{error.col}: error: {plain_diagnostic(error)}") from None
    return Stages(SimpleNamespace(artifact=artifact, target=target)), artifact, None


def _compile_kernel(arguments, target):
    from ..compiler import compile_specs

    path, separator, name = arguments.source.partition("::")
    if not separator or not name:
        raise UsageError(f"'{arguments.source}' is neither FILE.py::KERNEL nor a file that ends in .mlir")
    constants = parse_assignments(arguments.constexpr, "--constexpr")
    options = parse_assignments(arguments.option, "--option")
    kernel = load_kernel(path, name)
    specs = specs_of(kernel, arguments.signature or "", constants)
    compiled = compile_specs(kernel, specs, options, target)
    return compiled.asm, compiled.artifact, compiled


def _write(data, output, name, kind):
    """Writes a stage; gives the file that it went to, None for the standard output."""
    if output in (None, "-") and isinstance(data, str):
        sys.stdout.write(data)
        return None
    if output == "-":
        sys.stdout.buffer.write(data)
        return None
    output = output or f"{name}.{_SUFFIXES[kind]}"
    try:
        with open(output, "wb") as file:
            file.write(data.encode() if isinstance(data, str) else data)
    except OSError as error:
        raise UsageError(f"-o: {output} cannot be written: {error.strerror}") from None
    return output


def _run(argv):
    from ..targets import check_chip, check_target

    arguments = _parser().parse_args(argv)
    try:
        name, chip = check_target(arguments.target)
        if chip or name != "cpu":
            check_chip(name, chip)
    except TerrazzoError as error:
        raise UsageError(f"--target: {error}") from None
    kind = arguments.emit or STAGES[name][-1]
    if kind not in emit_kinds(name):
        raise UsageError(f"--emit is '{shortened(kind)}', expected one of {', '.join(emit_kinds(name))}")
    target = f"{name}:{chip}" if chip else name
    if arguments.source.endswith(".mlir"):
        for flag in ("signature", "constexpr", "option"):
            if getattr(arguments, flag):
                raise UsageError(f"--{flag} has no meaning for an .mlir file")
        stages, artifact, kernel = _compile_file(arguments.source, target)
    else:
        stages, artifact, kernel = _compile_kernel(arguments, target)
    data = stages[kind]
    file = _write(data, arguments.output, artifact.entry if kernel is None else kernel.name, kind)
    if file is not None and arguments.emit is None:
        code = data.encode() if isinstance(data, str) else data
        description = describe(artifact, target, code, os.path.basename(file), kernel)
        _write(text_of(description), f"{file}.json", None, None)


def main(argv=None):
    """The command: 0 done, 1 the kernel does not compile, 2 the command line is wrong."""
    try:
        run_deep(lambda: _run(argv))
    except (RecursionError, MemoryError) as error:
        print(f"tz-compile: error: the kernel is nested too deeply ({type(error).__name__})", file=sys.stderr)
        return 1
    except (UsageError, ArgumentError) as error:
        print(f"tz-compile: error: {error}", file=sys.stderr)
        return 2
    except TerrazzoError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
