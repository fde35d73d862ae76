# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels pickle and copy as functions do, whatever is wrapped around them."""

import copy
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl
from terrazzo import errors, statuses

KERNELS = """
import terrazzo as tz
import terrazzo.language as tl

def configs():
    return [tz.Config({"BLOCK": b}) for b in (4, 8)]

def pick(call, quantiles):
    call()
    return [1.0] * 3

@tz.jit
def plain(x_ptr, n, BLOCK: tl.constexpr = 4):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) + 1, mask=i < n)

@tz.autotune(configs(), key=["n"], do_bench=pick, restore_value=["x_ptr"])
@tz.jit
def tuned(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) + 1, mask=i < n)

@tz.heuristics({"ODD": lambda a: a["n"] % 2 == 1})
@tz.autotune(configs(), key=["n"], do_bench=pick, restore_value=["x_ptr"])
@tz.heuristics({"STEP": lambda a: 1})
@tz.jit
def stacked(x_ptr, n, BLOCK: tl.constexpr, ODD: tl.constexpr, STEP: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) + STEP, mask=i < n)


class Layer:
    def __init__(self):
        self.kernels = [plain, tuned, stacked]
        self.name = "layer"
"""

LAUNCH = """
import pickle, sys
import numpy as np

layer = pickle.loads(bytes.fromhex(sys.argv[1]))
for kernel in layer.kernels:
    x = np.zeros(8, np.int32)
    kernel[(2,)](x, 8)
    print(kernel.__name__, type(kernel).__name__, x.tolist() == [1] * 8)
"""


@pytest.fixture
def kernels(tmp_path, monkeypatch):
    """A module of kernels that other processes can import, too."""
    (tmp_path / "pickled_kernels.py").write_text(KERNELS)
    monkeypatch.syspath_prepend(str(tmp_path))
    module = __import__("pickled_kernels")
    yield module
    del sys.modules["pickled_kernels"]


@pytest.mark.parametrize("name", ["plain", "tuned", "stacked"])
def test_kernels_pickle_and_copy_to_themselves(kernels, name):
    kernel = getattr(kernels, name)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(kernel, protocol)) is kernel
    assert copy.copy(kernel) is kernel
    assert copy.deepcopy([kernel])[0] is kernel


def test_each_layer_is_found_again(kernels):
    """What is inside of a wrapper has the wrapper's name; it must come back as what it was."""
    layer = kernels.stacked
    types = []
    while True:
        assert pickle.loads(pickle.dumps(layer)) is layer
        types.append(type(layer).__name__)
        if not hasattr(layer, "base_fn"):
            break
        layer = layer.fn
    assert types == ["Heuristics", "Autotuner", "Heuristics", "JITFunction"]


def test_pickled_kernels_run_in_a_new_process(kernels, tmp_path):
    root = os.path.dirname(os.path.dirname(tz.__file__))
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), root])}
    data = pickle.dumps(kernels.Layer()).hex()
    done = subprocess.run([sys.executable, "-c", LAUNCH, data], env=env, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["plain JITFunction True", "tuned Autotuner True", "stacked Heuristics True"], (
        done.stderr
    )


def test_objects_with_kernels_copy(kernels):
    layer = copy.deepcopy(kernels.Layer())
    assert layer.kernels == [kernels.plain, kernels.tuned, kernels.stacked]
    x = np.zeros(8, np.int32)
    layer.kernels[2][(2,)](x, 8)
    assert x.tolist() == [1] * 8


def test_what_has_no_name_copies_but_does_not_pickle(kernels):
    @tz.jit
    def local(x_ptr, BLOCK: tl.constexpr):
        tl.store(x_ptr, BLOCK)

    tuned = tz.autotune([tz.Config({"BLOCK": 4})], key=[])(local)
    again = tz.jit(kernels.plain.fn)  # not the one that the name means
    for kernel in (local, tuned, again, tz.heuristics({})(kernels.tuned)):
        assert copy.deepcopy(kernel) is kernel
        with pytest.raises(pickle.PicklingError, match=rf"kernel {kernel.__qualname__} cannot be pickled: it is not"):
            pickle.dumps(kernel)


def test_configurations_pickle():
    config = tz.Config({"BLOCK": 4}, num_warps=8)
    assert pickle.loads(pickle.dumps(config)) == config
    assert copy.deepcopy(config) == config


def made_errors():
    """One of each class of errors, and those that the runtime's reports become."""
    special = {"OutOfResources": (300, 200, "registers")}
    for name, cls in vars(errors).items():
        if isinstance(cls, type) and issubclass(cls, Exception):
            yield name, cls(*special.get(name, ("what was found",)))
    yield "at a line", errors.CompileError("found", "k.py", 3, 4, "x = y", ["a note"])
    yield "with a text", errors.OutOfResources(None, None, "registers", "too many registers")
    yield "read", statuses.out_of_resources("required 300 bytes, the limit is 200", "k.py:3: error: required 300 bytes")
    for status in ("assertion failed", "out of resources", "invalid argument"):
        try:
            statuses.raise_status(status, "needs 300 bytes, at most 200", "k.py", 3, 4, "x > 0", (0, 1, 2))
        except errors.TerrazzoError as error:
            yield status, error


@pytest.mark.parametrize(("name", "error"), list(made_errors()))
def test_errors_pickle_and_copy_whole(name, error):
    error.add_note("said later")
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(again) is type(error)
        assert (str(again), again.args, vars(again)) == (str(error), error.args, vars(error))
