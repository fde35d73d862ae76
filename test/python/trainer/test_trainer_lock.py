# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One trainer a run folder: the second is refused by the first one's name, and nothing stale locks anybody out."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from terrazzo.trainer import lock
from terrazzo.trainer.errors import RunInUseError
from terrazzo.trainer.lock import OwnedRun

# Owns the folder argv[1], says so, and stays until it is killed; with argv[2], a child of its own stays as well.
OWNER = """
import os, sys, time
from pathlib import Path
from terrazzo.trainer.lock import OwnedRun
owned = OwnedRun(Path(sys.argv[1]))
child = os.fork() if sys.argv[2:] else -1
if child:
    print(child, flush=True)
time.sleep(600)
"""


@pytest.fixture
def owner(subprocess_environment: dict[str, str]):
    """Starts a process that owns a folder: the process, and its child's id where it was told to have one."""
    started: list[subprocess.Popen[str]] = []
    children: list[int] = []

    def start(folder: Path, *options: str) -> tuple["subprocess.Popen[str]", int]:
        words = [sys.executable, "-c", OWNER, str(folder), *options]
        process = subprocess.Popen(words, env=subprocess_environment, text=True, stdout=subprocess.PIPE)
        started.append(process)
        assert process.stdout
        child = int(process.stdout.readline())
        if child > 0:
            children.append(child)
        return process, child

    yield start
    for child in children:
        os.kill(child, signal.SIGKILL)
    for process in started:
        process.kill()
        process.communicate()


def is_free(folder: Path) -> bool:
    try:
        with OwnedRun(folder):
            return True
    except RunInUseError:
        return False


def test_the_other_process_is_named_until_it_dies(owner: Callable, tmp_path: Path):
    process, _ = owner(tmp_path)
    with pytest.raises(RunInUseError) as caught:
        OwnedRun(tmp_path)
    text = str(caught.value)
    assert str(tmp_path) in text and f"process {process.pid} on {socket.gethostname()}, started 20" in text
    # A copy of the folder is another run, with the file and its content.
    shutil.copytree(tmp_path, tmp_path.with_name("copy"))
    assert is_free(tmp_path.with_name("copy"))
    process.kill()
    process.wait()
    stale = json.loads((tmp_path / lock.FILE).read_text())
    assert stale["pid"] == process.pid
    with OwnedRun(tmp_path):
        assert json.loads((tmp_path / lock.FILE).read_text())["pid"] == os.getpid()


def test_a_child_does_not_keep_the_lock_of_a_dead_parent(owner: Callable, tmp_path: Path):
    process, child = owner(tmp_path, "fork")
    assert not is_free(tmp_path)
    process.kill()
    process.wait()
    os.kill(child, 0)  # is still there
    assert is_free(tmp_path)


def test_a_child_that_ends_does_not_release_the_lock_of_its_parent(tmp_path: Path):
    with OwnedRun(tmp_path):
        pid = os.fork()
        if pid == 0:
            os._exit(0 if not is_free(tmp_path) else 1)
        assert os.waitpid(pid, 0)[1] == 0
        assert not is_free(tmp_path)
    assert is_free(tmp_path)


def test_a_second_owner_in_one_process_is_refused(tmp_path: Path):
    with OwnedRun(tmp_path), pytest.raises(RunInUseError, match=f"process {os.getpid()} on "):
        OwnedRun(tmp_path)


@pytest.mark.parametrize("left", [b"", b"\xff{", b"[1]", b'{"pid": 1}', b'{"pid": 1e999}', b"[" * 4096])
def test_what_the_file_says_locks_nobody_out_and_misleads_nobody(
    tmp_path: Path, left: bytes, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / lock.FILE).write_bytes(left)
    monkeypatch.setattr(lock, "_PATIENCE", 2)
    with OwnedRun(tmp_path):
        (tmp_path / lock.FILE).write_bytes(left)
        with pytest.raises(RunInUseError, match="a process that has not left its name"):
            OwnedRun(tmp_path)


def test_the_name_of_a_dead_process_is_not_the_owners(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    monkeypatch.setattr(lock, "_PATIENCE", 2)
    with OwnedRun(tmp_path):
        name = {"pid": int(gone.stdout), "host": socket.gethostname(), "started": "then"}
        (tmp_path / lock.FILE).write_text(json.dumps(name))
        with pytest.raises(RunInUseError, match="has not left its name"):
            OwnedRun(tmp_path)


def test_a_file_replaced_while_it_was_being_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    take, taken = lock._lock, []

    def slow(handle: int) -> bool:
        if not taken:
            (tmp_path / lock.FILE).unlink()  # somebody tidies up between open and lock
        taken.append(take(handle))
        return taken[-1]

    monkeypatch.setattr(lock, "_lock", slow)
    with OwnedRun(tmp_path):
        assert taken == [True, True] and not is_free(tmp_path)


def test_two_trainers_and_a_reader(trainer: Callable, start: Callable, tmp_path: Path):
    run = tmp_path / "run"
    process = start("train", "--run", run, "train.steps=100000", "train.checkpoint_every=2", "train.log_every=1")
    try:
        for line in process.stdout:
            if line.startswith("step 5/"):
                break
        settings = (run / "config.yaml").read_text()
        for words in (("train", "--run", run, "train.lr=1"), ("resume", run, "train.lr=1")):
            status, output, errors = trainer(*words)
            assert (status, output) == (2, "") and f"process {process.pid} on" in errors, errors
        assert (run / "config.yaml").read_text() == settings
        status, output, errors = trainer("sample", run, "sample.tokens=1")
        assert status == 0 and output.startswith("the "), errors
    finally:
        process.kill()
        process.communicate()
    assert trainer("resume", run, "train.steps=1")[0] == 0
