# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors that end a trainer command with one line on stderr and a fixed exit status."""

from ..errors import TerrazzoError


class TrainerError(TerrazzoError):
    """Something the user can put right; `status` is the exit status of the command."""

    status = 2


class ConfigError(TrainerError):
    """A recipe, an override or a command line that cannot be used; names the key or the file."""


class CheckpointError(TrainerError):
    """A checkpoint that is missing, damaged, or belongs to another model; names the file or the key."""


class RunInUseError(TrainerError):
    """A run folder that another process is writing to; names the process."""


class LogError(TrainerError):
    """A training log that cannot be used; names the file and the line."""


class CorpusError(TrainerError):
    """A text source that is missing, empty, or no longer the one a run was started with."""


class DivergenceError(TrainerError):
    """The loss or the gradient is no longer a finite number."""

    status = 3
