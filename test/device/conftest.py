# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests that need a GPU. Elsewhere all are skipped, with what the driver says.

python -m pytest test/device                    on a machine with a GPU
python -m pytest test/python/kernels            there runs the kernels' own tests on the GPU too
TERRAZZO_TARGET=cuda:sm_90a ...                 for another chip than the one at hand
"""

import sys
from pathlib import Path

import pytest
import terrazzo as tz

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "python" / "run"), str(HERE)]


def _missing():
    """Why there is no GPU to test on; None if there is one."""
    reasons = []
    for name in tz.targets.GPUS:
        try:
            tz.devices.properties(name, 0)
            return None
        except tz.TerrazzoError as error:
            reasons.append(f"{name}: {error}")
    return "no GPU: " + "; ".join(reasons)


MISSING = _missing()


def pytest_collection_modifyitems(items):
    here = str(Path(__file__).parent)
    for item in items:
        if MISSING is not None and str(item.fspath).startswith(here):
            item.add_marker(pytest.mark.skip(reason=MISSING))


@pytest.fixture(scope="session")
def target():
    """The name of the GPU's target."""
    return tz.devices.default_name()


@pytest.fixture(autouse=True)
def nothing_is_left_behind():
    """What one test printed or failed at on the device must not show in the next."""
    yield
    tz.synchronize()
