# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`--target`: which driver the kernels of this process are launched on."""

import torch

from .. import devices, targets
from ..errors import TerrazzoError
from .errors import ConfigError


def select(name: str) -> None:
    """Makes `name` the target of all launches to come."""
    if name not in targets.SUPPORTED:
        raise ConfigError(f"target: no target '{name}', expected {' or '.join(targets.SUPPORTED)}")
    if name != "cpu":
        _require_device(name)
    targets.set_target(name)
    # What little torch computes itself must not take the cores away from the kernels' own thread pool.
    torch.set_num_threads(1)


def _require_device(name: str) -> None:
    try:
        devices.properties(name, 0)
    except TerrazzoError as error:
        raise ConfigError(f"target: no device for '{name}' on this machine: {error}") from None
    if not torch.cuda.is_available():
        raise ConfigError(f"target: torch {torch.__version__} sees no device for '{name}', expected one built for it")


def torch_device(name: str) -> torch.device:
    """Where the tensors of a target are; torch says cuda of AMD's devices as well."""
    return torch.device("cpu" if name == "cpu" else "cuda")
