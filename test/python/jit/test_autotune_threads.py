# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Autotuned kernels that many threads launch: one tunes a key, what it keeps of arrays is its own."""

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl

LIMIT = 60  # seconds after which a wait counts as one without end


class Counting:
    """A timer that counts the calls of each thread; `before` is run before each measurement."""

    def __init__(self, before=None):
        self.lock = threading.Lock()
        self.measured = []  # thread of each measurement
        self.before = before

    def __call__(self, call, quantiles):
        if self.before is not None:
            self.before()
        for _ in range(3):
            call()
        with self.lock:
            self.measured.append(threading.get_ident())
        return [1.0] * 3


def make_scale(timer, **options):
    """x *= factor, tuned by n."""

    @tz.autotune([tz.Config({"BLOCK": b}) for b in (4, 8, 16)], key=["n"], do_bench=timer, **options)
    @tz.jit
    def scale(x_ptr, n, factor, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) * factor, mask=i < n)

    return scale


def grid(meta):
    return (tz.cdiv(meta["n"], meta["BLOCK"]),)


def test_restored_values_are_those_of_the_launch(run_all):
    timer = Counting()
    scale = make_scale(timer, restore_value=["x_ptr"])

    def work(t):
        x = np.ones(100, np.float32)
        scale[grid](x, 100, float(t + 2))
        assert x.tolist() == [t + 2.0] * 100

    run_all(work)
    assert len(timer.measured) == 3
    assert len(set(timer.measured)) == 1


def test_each_key_is_tuned_once(run_all):
    timer = Counting()
    scale = make_scale(timer, restore_value=["x_ptr"])
    sizes = (20, 40, 60, 80)

    def work(t):
        for k in range(12):
            n = sizes[(t + k) % 4]
            x = np.ones(n, np.float32)
            scale[grid](x, n, float(t + 2))
            assert x.tolist() == [t + 2.0] * n

    run_all(work)
    assert len(timer.measured) == 3 * len(sizes)
    assert len(scale.cache) == len(sizes)


def test_arrays_are_reset_for_the_launch(run_all):
    timer = Counting()

    @tz.autotune([tz.Config({"BLOCK": b}) for b in (4, 8)], key=["n"], do_bench=timer, reset_to_zero=["x_ptr"])
    @tz.jit
    def accumulate(x_ptr, n, step, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.atomic_add(x_ptr + i, step, mask=i < n)

    results = []

    def work(t):
        x = np.zeros(32, np.float32)
        accumulate[grid](x, 32, float(t + 1))
        results.append((t, x.tolist()))

    run_all(work)
    assert sorted(results) == [(t, [t + 1.0] * 32) for t in range(8)]


def test_other_keys_go_on():
    """A thread that tunes one key holds nobody up who launches another."""
    inside, go_on = threading.Event(), threading.Event()
    first = []

    def before():
        if not first:
            first.append(threading.get_ident())
            inside.set()
            assert go_on.wait(LIMIT)

    scale = make_scale(Counting(before), restore_value=["x_ptr"])
    x, y = np.ones(20, np.float32), np.ones(40, np.float32)
    slow = threading.Thread(target=lambda: scale[grid](x, 20, 2.0))
    slow.start()
    assert inside.wait(LIMIT)
    scale[grid](y, 40, 3.0)
    assert y.tolist() == [3.0] * 40
    assert x.tolist() == [1.0] * 20
    go_on.set()
    slow.join()
    assert x.tolist() == [2.0] * 20


def test_failed_tuning_is_taken_over(run_all):
    """An exception that ends a tuning is its thread's own; the next thread that waits tunes."""
    lock, failures = threading.Lock(), []

    def before():
        with lock:
            if len(failures) < 2:
                failures.append(threading.get_ident())
                raise ValueError("the timer broke")

    timer = Counting(before)
    scale = make_scale(timer, restore_value=["x_ptr"])
    broken = []

    def work(t):
        x = np.ones(100, np.float32)
        try:
            scale[grid](x, 100, float(t + 2))
        except ValueError:
            broken.append(t)
            assert x.tolist() == [1.0] * 100
        else:
            assert x.tolist() == [t + 2.0] * 100

    run_all(work)
    assert len(broken) == 2
    assert len(set(failures)) == 2
    assert len(timer.measured) == 3


@pytest.mark.parametrize("hook", ["pre_hook", "config", "prune", "timer", "listener"])
def test_launches_of_the_same_key_from_within(hook, monkeypatch):
    """A hook may launch the very kernel and key that is being tuned."""
    inner = []

    def launch(*args, **kwargs):
        if not inner:
            x = np.ones(16, np.float32)
            inner.append(x)
            scale[grid](x, 16, 5.0)
        return args[0] if args and isinstance(args[0], list) else None

    options = {}
    timer = Counting(launch if hook == "timer" else None)
    if hook == "pre_hook":
        options["pre_hook"] = launch
    if hook == "prune":
        options["prune_configs_by"] = {"early_config_prune": launch}
    if hook == "listener":
        monkeypatch.setattr(tz.knobs.autotuning, "listener", launch)
    scale = make_scale(timer, **options)
    if hook == "config":
        for config in scale.configs:
            config.pre_hook = launch
    run_within(lambda: scale[grid](np.ones(16, np.float32), 16, 2.0))
    assert inner[0].tolist() == [5.0] * 16


def run_within(work, count=1):
    """Runs work on other threads and fails if that has no end."""
    errors = []

    def body():
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=body, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT)
        assert not thread.is_alive(), "a launch does not end"
    if errors:
        raise errors[0]


def test_two_threads_that_tune_crosswise():
    """Each tunes a key and launches the other's from a hook: neither waits for the other."""
    both = threading.Barrier(2)
    mine = threading.local()

    def hook(arguments, reset_only=False):
        if not reset_only and getattr(mine, "n", None) and not getattr(mine, "did", False):
            mine.did = True
            both.wait(LIMIT)
            x = np.ones(100, np.float32)
            scale[grid](x, 60 - mine.n, 5.0)
            crossed.append(x[0])

    crossed = []
    scale = make_scale(Counting(), pre_hook=hook)

    def work(n):
        mine.n = n
        scale[grid](np.ones(100, np.float32), n, 2.0)

    threads = [threading.Thread(target=work, args=(n,), daemon=True) for n in (20, 40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT)
        assert not thread.is_alive(), "a launch does not end"
    assert len(crossed) == 2
    assert all(value >= 5.0 for value in crossed)


def test_hooks_and_arguments_of_the_own_launch(run_all):
    wrong = []

    def pre(arguments, reset_only=False):
        if scale.nargs["factor"] != arguments["factor"]:
            wrong.append(arguments)

    def post(arguments, exception):
        arguments["x_ptr"][...] = 1.0

    def prune(configs, arguments, **kwargs):
        if arguments["factor"] != scale.nargs["factor"]:
            wrong.append(arguments)
        return configs[:2]

    timer = Counting()
    scale = make_scale(timer, pre_hook=pre, post_hook=post, prune_configs_by={"early_config_prune": prune})

    def work(t):
        for n in (10, 20, 30):
            x = np.ones(n, np.float32)
            scale[grid](x, n, float(t + 2))
            assert x.tolist() == [t + 2.0] * n

    run_all(work)
    assert wrong == []
    assert len(timer.measured) == 2 * 3
    assert scale.nargs is None


def test_heuristics_on_an_autotuned_kernel(run_all):
    timer = Counting()

    @tz.heuristics({"EVEN": lambda a: a["n"] % 2 == 0})
    @tz.autotune([tz.Config({"BLOCK": b}) for b in (4, 8)], key=["n"], do_bench=timer, restore_value=["x_ptr"])
    @tz.jit
    def scale(x_ptr, n, factor, BLOCK: tl.constexpr, EVEN: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < n)
        tl.store(x_ptr + i, x * factor if EVEN else x - factor, mask=i < n)

    def work(t):
        x = np.ones(30, np.float32)
        n = 30 - t % 2
        scale[grid](x, n, float(t + 2))
        assert x[:n].tolist() == [t + 2.0 if n % 2 == 0 else -1.0 - t] * n

    run_all(work)
    assert len(timer.measured) == 2 * 2


def test_choices_on_disk_are_used_by_all_threads(run_all):
    first, second = Counting(), Counting()
    make_scale(first, cache_results=True)[grid](np.ones(24, np.float32), 24, 2.0)
    scale = make_scale(second, cache_results=True)

    def work(t):
        x = np.ones(24, np.float32)
        scale[grid](x, 24, float(t))
        assert x.tolist() == [t] * 24

    run_all(work)
    assert (len(first.measured), len(second.measured)) == (3, 0)


INTERRUPTED = """
import signal, threading
import numpy as np
import terrazzo as tz
import terrazzo.language as tl

def slow(call, quantiles):
    call()
    inside.set()
    while not go_on.wait(0.05):
        pass
    return [1.0] * 3

@tz.autotune([tz.Config({"BLOCK": b}) for b in (4, 8)], key=["n"], do_bench=slow, restore_value=["x_ptr"])
@tz.jit
def scale(x_ptr, n, factor, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i) * factor)

def interrupt():
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

def interrupted(work):
    try:
        work()
    except KeyboardInterrupt:
        return True
    return False

inside, go_on = threading.Event(), threading.Event()
x, y = np.ones(8, np.float32), np.ones(8, np.float32)
kick = threading.Thread(target=lambda: (inside.wait(60), interrupt()))
kick.start()
print("tuning", interrupted(lambda: scale[(1,)](x, 8, 3.0)), x[0])
kick.join()

inside.clear()
other = threading.Thread(target=lambda: scale[(1,)](y, 8, 5.0))
other.start()
inside.wait(60)
threading.Timer(0.2, interrupt).start()
print("waiting", interrupted(lambda: scale[(1,)](x, 8, 3.0)), x[0])
go_on.set()
other.join()
print("other", y[0])
scale[(1,)](x, 8, 7.0)
print("after", x[0])
"""


def test_interrupts_release():
    """Ctrl-C ends the thread that tunes and the thread that waits, and the key is free again."""
    env = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(tz.__file__))}
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], env=env, capture_output=True, text=True, timeout=120)
    assert done.stdout.split("\n")[:4] == ["tuning True 1.0", "waiting True 1.0", "other 5.0", "after 7.0"], done.stderr


def test_fork_while_a_thread_tunes():
    """The child has no thread that would end the tuning: it tunes itself."""
    inside, go_on = threading.Event(), threading.Event()

    def before():
        if threading.current_thread() is thread:
            inside.set()
            assert go_on.wait(LIMIT)

    scale = make_scale(Counting(before), restore_value=["x_ptr"])
    thread = threading.Thread(target=lambda: scale[grid](np.ones(16, np.float32), 16, 2.0))
    thread.start()
    assert inside.wait(LIMIT)
    child = os.fork()
    if child == 0:
        signal.alarm(LIMIT)
        x = np.ones(16, np.float32)
        scale[grid](x, 16, 3.0)
        os._exit(0 if x.tolist() == [3.0] * 16 else 1)
    go_on.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
