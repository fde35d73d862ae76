# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ruff: noqa: N818
"""Everything that Terrazzo raises on purpose.

The lowest layer of the package: all others import it, it imports none. Each class survives pickling, since test
runners and autotuners move exceptions between processes.
"""

import re


class TerrazzoError(Exception):
    """Base class of all errors of Terrazzo."""


class CompileError(TerrazzoError):
    """A kernel that cannot be compiled, shown at the user's line.

    `message` says what was found and what was expected. `file`, `line` (from 1) and `col` (from 0) locate it,
    `source` is the text of the line, `notes` are further lines for the reader. Raisers that know no location leave it
    out; whoever does know adds it by `at`. `node` is what the error is about in the syntax tree, `src` the text of the
    function around it, where they are known. The cause of an error in a call, of the language or of a helper, is the
    error as that call gave it.
    """

    node = src = reason = None

    def __init__(self, message, file=None, line=None, col=None, source=None, notes=()):
        super().__init__(message)
        self.message = message
        self.file, self.line, self.col = file, line, col
        self.source = source
        self.notes = list(notes)

    def at(self, file, line, col=None, source=None):
        """Adds a location where there is none yet, and returns the error."""
        if self.line is None:
            self.file, self.line, self.col, self.source = file, line, col, source
        return self

    @property
    def error_message(self):
        """What was found and what was expected, without the location."""
        return self.message

    def of(self, node, src):
        """Adds a node and the text of its function where there is none yet, and returns the error."""
        if self.node is None:
            self.node, self.src = node, src
        return self

    def keep_reason(self):
        """Remembers the error as it is now, to be the cause of what is reported."""
        if self.reason is None:
            self.reason = type(self)(self.message, self.file, self.line, self.col, self.source)
            self.reason.node, self.reason.src = self.node, self.src
        return self

    def __str__(self):
        where = ""
        if self.file is not None:
            numbers = "".join(f":{n}" for n in (self.line, None if self.col is None else self.col + 1) if n is not None)
            where = f"{self.file}{numbers}: "
        lines = [f"{where}error: {self.message}"]
        if self.source is not None:
            lines.append("    " + self.source.rstrip("\n"))
            if self.col is not None:
                lines.append("    " + " " * self.col + "^")
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)

    def __reduce__(self):
        return type(self), (self.message,), vars(self)


def plain_diagnostic(error):
    """What a diagnostic of the compiler says, without the operation that it is about and prints."""
    text = (getattr(error, "message", None) or str(error)).partition("\nsee current operation")[0]
    return re.sub(r"^'\w+(\.\w+)+' op ", "", text)


class SemanticError(CompileError):
    """A call or an operator of the language that its operands do not allow."""


class CompileTimeAssertionFailure(CompileError):
    """A `static_assert` that does not hold."""


class UnsupportedLanguageConstruct(CompileError):
    """Python that kernels cannot contain."""


class PTXASError(CompileError):
    """PTX that the assembler of NVIDIA refuses."""


CompilationError = CompileError


class LaunchError(TerrazzoError):
    """A kernel that could not be started, or that failed while it ran."""


class ArgumentError(LaunchError, TypeError):
    """A call of a kernel whose arguments, options or grid are not what it takes."""


class ArgumentRangeError(ArgumentError, OverflowError):
    """An integer argument that the type it has to have cannot hold."""


class SpecializationError(LaunchError, RuntimeError):
    """The text of a specialisation that is of another function, or that cannot be written."""


class OutOfResources(LaunchError):
    """A kernel that needs more of something than the device has: `required` and `limit` of `name`.

    It says `text`, by default these three.
    """

    def __init__(self, required, limit, name, text=None):
        self.required, self.limit, self.name = required, limit, name
        super().__init__(
            text
            or f"out of resource: {name}, required: {required}, hardware limit: {limit}; reducing block sizes or "
            "num_stages may help"
        )

    def __reduce__(self):
        return type(self), (self.required, self.limit, self.name, str(self)), vars(self)


class AutotunerError(ArgumentError):
    """A tuned kernel that has no configuration left to choose from."""


class InterpreterError(TerrazzoError):
    """Known to files that expect an interpreter; there is none here, since the CPU runs compiled kernels."""


class DeviceAssertionError(LaunchError):
    """A `device_assert` that did not hold while the kernel ran."""


class CacheWarning(UserWarning):
    """A compilation cache that cannot be read or written; the kernel is compiled without it."""
