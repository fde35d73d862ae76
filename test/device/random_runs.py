# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Groups of random kernels, each in one of several processes: most of the time goes into compiling them."""

import os
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

import terrazzo as tz
from random_kernels import NOT_OF_NUMPY, Kernel, check, run
from random_products import ProductKernel

KINDS = {"operations": Kernel, "products": ProductKernel}
GROUP = 25


def on_device(array, dtype):
    """An argument in a GPU's memory."""
    memory = tz.DeviceArray(array.shape, NOT_OF_NUMPY.get(dtype, array.dtype)).copy_from(array)
    return memory, memory.numpy


def failures_of_group(kind, place, seeds):
    """What is wrong with the kernels of some seeds, one text each."""
    found = []
    for seed in seeds:
        kernel = KINDS[kind](seed)
        try:
            check(kernel, run(kernel, place))
        except (AssertionError, tz.TerrazzoError) as error:
            found.append(f"seed {seed}: {type(error).__name__}: {error}")
    return found


def failures(kind, first, count, place=on_device, processes=None):
    """The same of `count` seeds from `first` on."""
    seeds = range(first, first + count)
    groups = [seeds[at : at + GROUP] for at in range(0, count, GROUP)]
    with ProcessPoolExecutor(processes or min(16, os.cpu_count() or 1), mp_context=get_context("spawn")) as pool:
        return [text for found in pool.map(partial(failures_of_group, kind, place), groups) for text in found]
