# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A cache of its own for each test, and a count of what the frontend was asked for."""

import threading

import pytest
import terrazzo as tz
from terrazzo import compiler, store


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(tz.knobs.cache, "dir", str(tmp_path / "cache"))
    monkeypatch.setattr(store, "_open", {})
    monkeypatch.setattr(store, "_warned", set())


@pytest.fixture
def builds(monkeypatch):
    """A list that gets (name, signature, constants) for each run of the frontend and the compiler."""
    seen = []
    build = compiler._build

    def counted(fn, spec, options, target):
        seen.append((fn.__name__, spec.text, dict(spec.constexprs)))
        return build(fn, spec, options, target)

    monkeypatch.setattr(compiler, "_build", counted)
    return seen


@pytest.fixture
def run_all():
    """Calls work(t) on 8 (or `threads`) threads that start together; raises what one of them did."""

    def run(work, threads=8):
        start, errors = threading.Barrier(threads), []

        def body(t):
            try:
                start.wait()
                work(t)
            except BaseException as error:
                errors.append(error)

        pool = [threading.Thread(target=body, args=(t,)) for t in range(threads)]
        for thread in pool:
            thread.start()
        for thread in pool:
            thread.join()
        if errors:
            raise errors[0]

    return run
