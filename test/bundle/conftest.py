# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Unpacks the bundle into an empty folder and installs it there, as another machine would, once for all tests."""

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def archive():
    """The archive under test: $TERRAZZO_BUNDLE, or what `make bundle` made."""
    path = Path(os.environ.get("TERRAZZO_BUNDLE", ROOT / "build" / "terrazzo-bundle.tar.xz"))
    assert path.exists(), f"no {path}: run make bundle"
    return path


@pytest.fixture(scope="session")
def unpacked(archive, tmp_path_factory):
    """The folder that the archive holds."""
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    (found,) = folder.iterdir()
    return found


@pytest.fixture(scope="session")
def site(unpacked, tmp_path_factory):
    """A folder for PYTHONPATH with the installed package."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, str(unpacked / "install.py"), "--target", str(folder)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return folder


@pytest.fixture(scope="session")
def environment(site, tmp_path_factory):
    """Variables for a process that uses the installed package, with a cache of kernels of its own."""
    return {
        **os.environ,
        "PYTHONPATH": str(site),
        "PYTHONDONTWRITEBYTECODE": "1",
        "TERRAZZO_CACHE_DIR": str(tmp_path_factory.mktemp("cache")),
    }


@pytest.fixture
def run(environment, tmp_path):
    """Runs Python code in a file of its own, with the installed package; gives its output."""

    def call(code):
        file = tmp_path / "program.py"
        file.write_text(code)
        command = [sys.executable, str(file)]
        result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=tmp_path)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    return call
