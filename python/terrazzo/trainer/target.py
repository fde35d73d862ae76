# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`--target`: which driver the kernels of this process are launched on."""

import os

import torch

from .. import driver
from .errors import ConfigError


def select(name: str) -> None:
    """Makes `name` the target of all launches to come."""
    if name not in driver.SUPPORTED:
        raise ConfigError(f"target: no device for '{name}' on this machine, expected {' or '.join(driver.SUPPORTED)}")
    os.environ["TERRAZZO_TARGET"] = name
    # What little torch computes itself must not take the cores away from the kernels' own thread pool.
    torch.set_num_threads(1)
