# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The disk cache of compiled kernels. Nothing that goes wrong with it stops a launch: it warns, once a reason."""

import functools
import hashlib
import warnings
from pathlib import Path

from . import knobs
from ._terrazzo import ir, runtime
from .errors import CacheWarning
from .turns import lock_for_forks

_lock = lock_for_forks()
_open = {}  # (directory, size) -> runtime.Cache, or None where it could not be opened
_warned = set()


def _warn(text):
    if text not in _warned:
        _warned.add(text)
        warnings.warn(text, CacheWarning, stacklevel=2)


def _cache():
    directory = knobs.cache.dir
    if not directory:
        return None
    size = knobs.cache.size
    if size is not None and not isinstance(size, int):
        size = knobs.size_from_text(size)
    with _lock:
        if (directory, size) not in _open:
            try:
                _open[directory, size] = runtime.Cache(directory, size or 0)
            except Exception as error:
                _open[directory, size] = None
                _warn(f"kernels are compiled without a cache: {error}")
        return _open[directory, size]


@functools.cache
def fingerprint():
    """A string that changes whenever other code may be made: by the compiler, the language or the frontend."""
    digest = hashlib.sha256(ir.fingerprint().encode())
    package = Path(__file__).parent
    # Kernels see what the first two define.
    files = [package / "sizes.py", package / "tools" / "tensor_descriptor.py"]
    for layer in ("frontend", "language"):
        files += sorted((package / layer).rglob("*.py"))
    for path in files:
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return f"{ir.fingerprint()}-{digest.hexdigest()[:16]}"


def get(key):
    """The bytes under a key, or None; a corrupt entry warns and counts as none."""
    cache = None if knobs.compilation.always_compile else _cache()
    if cache is None:
        return None
    try:
        return cache.get(key)
    except Exception as error:
        _warn(f"a cached kernel is compiled again: {error}")
        return None


def put(key, data):
    """Stores bytes under a key."""
    cache = _cache()
    if cache is None:
        return
    try:
        cache.put(key, data)
    except Exception as error:
        _warn(f"a compiled kernel could not be cached: {error}")
