# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a jit function and the types of its arguments to a module of tile IR."""

import ast
import inspect

from .._terrazzo import ir
from ..errors import CompileError, plain_diagnostic
from ..language import builder as builders
from ..language.promotion import constant
from ..language.values import constexpr_type, tensor, tuple_type
from ..language.values import tuple as tl_tuple
from .deep import run_deep
from .patterns import describe_value
from .reach import Reach
from .scope import Binding, Frame, wrap
from .source import source_of
from .tracer import Tracer


def build_module(fn, arg_types, constexprs, arg_attrs, options):
    """The builder of a module with the kernel `fn`, for arguments of these types and these constants.

    arg_types: {name: dtype, pointer type or tuple type}; constexprs: {name: Python value}; arg_attrs: facts by name, or
    by "name.0" for members of tuples: {"tile.divisibility": n, "tile.overlaps": True} or
    {"equal_to": 1}; options: a dict of launch options.
    """
    source = source_of(fn.fn)
    try:
        return run_deep(lambda: _Kernel(fn, source, arg_types, constexprs, arg_attrs or {}, options or {}).build())
    except CompileError as error:
        # The reader is a user: frames of the frontend are of no use to them.
        if error.message.startswith("internal error"):
            raise
        raise error.with_traceback(None) from error.reason


class _Kernel:
    """A kernel that is being built."""

    def __init__(self, fn, source, arg_types, constexprs, arg_attrs, options):
        self.fn, self.source = fn, source
        self.arg_types, self.constexprs, self.arg_attrs = arg_types, constexprs, arg_attrs
        self.builder = ir.Builder()
        self.symbol = options.get("symbol") or fn.__name__
        self.module_facts = _module_facts(options)
        contracts = options.get("enable_fp_fusion", True) and not options.get("strict", False)
        self.options = builders.Options(
            debug=bool(options.get("debug", False)),
            strict=not contracts,
            target=options.get("target") or "cpu",
            dot_precision=options.get("default_dot_input_precision"),
            imprecise_acc=options.get("max_num_imprecise_acc_default", 2**30),
            num_warps=options.get("num_warps") or 4,
        )

    def build(self):
        """Traces the kernel; gives the builder."""
        tracer = Tracer(self.builder, self.options, self._reach())
        frame = Frame(self.fn.fn, self.fn.__name__, self.source, self.source.node)
        tracer.frame = frame
        tracer.stack.append((self.fn.fn, self.fn.__name__))
        node = self.source.node
        if not isinstance(node, ast.FunctionDef):
            raise tracer.unsupported(node, "async def")
        builders.push(self.builder, self.options)
        try:
            tracer.at(node)
            for name, text in self.module_facts.items():
                self.builder.set_module_attr(name, text)
            self._enter(tracer, frame)
            tracer.run(node.body)
            self._check_result(tracer, frame)
            tracer.at(node)
            self.builder.create("func.return", [], {}, [])
            self.builder.verify()
        except Exception as error:
            found = self._located(tracer, error, node)
            if found is error:
                raise
            raise found from error
        finally:
            builders.pop()
        return self.builder

    def _reach(self):
        """What the key of the kernel knows: all that the function and its compile-time arguments lead to."""
        reach = Reach()
        reach.start(self.fn.__name__, self.fn)
        for name, value in self.constexprs.items():
            reach.start(name, value)
        for name, type in self.arg_types.items():
            _reach_members(reach, name, type)
        return reach

    def _located(self, tracer, error, node):
        """An error at its own line; what the verifier of the module says knows its line best."""
        line = getattr(error, "line", None)
        if isinstance(error, ir.DiagnosticError) and line and error.file == self.source.file:
            col = max((error.col or 1) - 1, 0)
            return CompileError(plain_diagnostic(error), error.file, line, col, self.source.line(line))
        return tracer.located(error, node)

    def _check_result(self, tracer, frame):
        result = tracer.result(frame)
        if result is not None:
            raise tracer.error(
                frame.path.result.node, f"a kernel returns nothing, found {describe_value(result)}; store it instead"
            )

    def _enter(self, tracer, frame):
        """Makes the function of the module, and binds the parameters."""
        leaves = []
        for name, type in self.arg_types.items():
            _leaves(name, type, leaves)
        attributes = [{"tile.name": builders.string(path), **self._facts(path)} for path, _ in leaves]
        block = self.builder.func(self.symbol, [type.ir for _, type in leaves], attributes)
        values = iter([self._argument(path, type, handle) for (path, type), handle in zip(leaves, block.args)])
        for parameter in self.fn.params:
            name = parameter.name
            if name in self.arg_types:
                value = _assemble(self.arg_types[name], values)
            elif name in self.constexprs:
                value = wrap(self.constexprs[name])
            elif parameter.default is not inspect.Parameter.empty:
                value = wrap(parameter.default)
            else:
                raise tracer.error(frame.node, f"argument '{name}' of kernel {self.fn.__name__}() is missing")
            frame.path.names[name] = Binding(value, frame.node)

    def _facts(self, path):
        known, facts = self.arg_attrs.get(path, {}), {}
        if "tile.divisibility" in known:
            facts["tile.divisibility"] = f"{int(known['tile.divisibility'])} : i32"
        if known.get("tile.overlaps"):
            facts["tile.overlaps"] = "unit"
        return facts

    def _argument(self, path, type, handle):
        """An argument as a value; one that is known to be 1 as that constant, of the same type."""
        if self.arg_attrs.get(path, {}).get("equal_to") == 1:
            return constant(1, type)
        return tensor(handle, type)


def _module_facts(options):
    """The launch options that the compiler reads, as attributes of the module."""
    facts = {}
    for name in ("num_warps", "num_stages", "maxnreg"):
        if options.get(name) is not None:
            facts[f"tile.{name}"] = f"{options[name]} : i32"
    if options.get("strict", False):
        facts["tile.strict"] = "unit"
    return facts


def _reach_members(reach, path, type):
    """The constants in a parameter that is a tuple, and its class."""
    if isinstance(type, constexpr_type):
        reach.start(path, type.value)
    elif isinstance(type, tuple_type):
        for index, member in enumerate(type.types):
            _reach_members(reach, f"{path}.{index}", member)


def _leaves(path, type, out):
    """The run-time parts of a parameter, as (path, type), depth first."""
    if isinstance(type, tuple_type):
        for index, member in enumerate(type.types):
            _leaves(f"{path}.{index}", member, out)
    elif not isinstance(type, constexpr_type):
        out.append((path, type))


def _assemble(type, values):
    """A parameter from its run-time parts."""
    if isinstance(type, constexpr_type):
        return wrap(type.value)
    if not isinstance(type, tuple_type):
        return next(values)
    members = [_assemble(t, values) for t in type.types]
    if hasattr(type, "make"):
        return type.make(members)
    return tl_tuple(members, type if type.fields else None)
