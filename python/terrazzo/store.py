# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The disk cache of compiled kernels. Nothing that goes wrong with it stops a launch: it warns, once a reason."""

import warnings

from . import cache_managers, knobs
from ._terrazzo import runtime
from .errors import CacheWarning
from .fingerprints import fingerprint  # noqa: F401  (keys are made with it)
from .turns import lock_for_forks

_lock = lock_for_forks()
_open = {}  # (directory, size) -> runtime.Cache, or None where it could not be opened
_warned = set()
_FILE = "kernel.artifact"  # the name that a user's cache manager keeps a kernel under


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


def _read(path):
    if path is None:
        return None
    with open(path, "rb") as file:
        return file.read()


def get(key):
    """The bytes under a key, or None; a corrupt entry warns and counts as none."""
    if knobs.compilation.always_compile:
        return None
    try:
        if knobs.cache.manager_class:
            return _read(cache_managers.get_cache_manager(key).get_file(_FILE))
        cache = _cache()
        return None if cache is None else cache.get(key)
    except Exception as error:
        _warn(f"a cached kernel is compiled again: {error}")
        return None


def put(key, data):
    """Stores bytes under a key."""
    try:
        if knobs.cache.manager_class:
            cache_managers.get_cache_manager(key).put(data, _FILE)
        elif (cache := _cache()) is not None:
            cache.put(key, data)
    except Exception as error:
        _warn(f"a compiled kernel could not be cached: {error}")
