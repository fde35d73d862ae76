# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Managers of named files under a key, which other tools keep what they make in; and whose place a user's may take.

`knobs.cache.manager_class` (or TERRAZZO_CACHE_MANAGER=module:Class) makes another class hold compiled kernels: it is
made with a key and has `get_file` and `put`, as FileCacheManager.
"""

import abc
import base64
import hashlib
import importlib
import json
import os
import tempfile

from . import fingerprints, knobs
from .errors import TerrazzoError


class CacheManager(abc.ABC):
    """The interface: files by name, and groups of files, under one key."""

    @abc.abstractmethod
    def __init__(self, key, override=False, dump=False):
        """Of a key."""

    @abc.abstractmethod
    def get_file(self, filename):
        """The path of a file, None if it is not there."""

    @abc.abstractmethod
    def put(self, data, filename, binary=True):
        """Keeps a file; gives its path."""

    @abc.abstractmethod
    def get_group(self, filename):
        """{name: path} of the files of a group, None if it is not there."""

    @abc.abstractmethod
    def put_group(self, filename, group):
        """Keeps the {name: path} of a group; gives its path."""


class FileCacheManager(CacheManager):
    """Files in a folder of the key's name, below knobs.cache.dir; with `dump` or `override` below those folders."""

    def __init__(self, key, override=False, dump=False):
        self.key = key
        base = knobs.cache.dump_dir if dump else knobs.cache.override_dir if override else knobs.cache.dir
        if not base:
            raise TerrazzoError("there is no folder for cached files: TERRAZZO_CACHE_DIR is empty")
        self.cache_dir = os.path.join(base, key)
        if not override:
            os.makedirs(self.cache_dir, exist_ok=True)

    def _make_path(self, filename):
        return os.path.join(self.cache_dir, filename)

    def has_file(self, filename):
        """Whether a file is there."""
        return os.path.exists(self._make_path(filename))

    def get_file(self, filename):
        """The path of a file, None if it is not there."""
        return self._make_path(filename) if self.has_file(filename) else None

    def put(self, data, filename, binary=True):
        """Keeps bytes or text under a name, at once for all who look; gives the path."""
        data = data if isinstance(data, (bytes, bytearray)) else str(data).encode()
        path = self._make_path(filename)
        handle, temporary = tempfile.mkstemp(dir=self.cache_dir, prefix=f".{os.path.basename(filename)[:40]}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
        return path

    def get_group(self, filename):
        """{name: path} of the files of a group that are still there, None if there is no such group."""
        if not self.has_file(group := f"__grp__{filename}"):
            return None
        with open(self._make_path(group)) as file:
            names = json.load(file).get("child_paths", {})
        return {name: path for name, path in names.items() if os.path.exists(path)}

    def put_group(self, filename, group):
        """Keeps the {name: path} of a group; gives its path."""
        return self.put(json.dumps({"child_paths": group}), f"__grp__{filename}", binary=False)


class RemoteCacheBackend(abc.ABC):
    """The interface of a store elsewhere: get(filenames) gives {name: bytes}, put(filename, data) keeps them."""

    @abc.abstractmethod
    def __init__(self, key):
        """Of a key."""

    @abc.abstractmethod
    def get(self, filenames):
        """{name: bytes} of those that are there."""

    @abc.abstractmethod
    def put(self, filename, data):
        """Keeps bytes under a name."""


class RemoteCacheManager(CacheManager):
    """Files in a store elsewhere, of knobs.cache.remote_manager_class, with copies on the disk to be read from."""

    def __init__(self, key, override=False, dump=False):
        backend = knobs.cache.remote_manager_class
        if not backend:
            raise TerrazzoError("RemoteCacheManager expects a class in knobs.cache.remote_manager_class, found None")
        self._backend = class_by_name(backend)(key)
        self._files = FileCacheManager(key, override, dump)

    def get_file(self, filename):
        """The path of a local copy, None if the store has no such file."""
        found = self._backend.get([filename])
        return self._files.put(found[filename], filename) if found.get(filename) is not None else None

    def put(self, data, filename, binary=True):
        """Keeps bytes or text elsewhere; gives the path of the local copy."""
        data = data if isinstance(data, (bytes, bytearray)) else str(data).encode()
        self._backend.put(filename, bytes(data))
        return self._files.put(data, filename, binary)

    def get_group(self, filename):
        """{name: path} of local copies of the files of a group, None if the store has no such group."""
        path = self.get_file(f"__grp__{filename}")
        if path is None:
            return None
        with open(path) as file:
            names = json.load(file).get("child_paths", {})
        found = {name: self.get_file(os.path.basename(child)) for name, child in names.items()}
        return {name: path for name, path in found.items() if path is not None}

    def put_group(self, filename, group):
        """Keeps the {name: path} of a group; gives the path of the local copy."""
        return self.put(json.dumps({"child_paths": group}), f"__grp__{filename}", binary=False)


def class_by_name(name):
    """The class of "module:Class" or "module.Class", or a class as it is."""
    if not isinstance(name, str):
        return name
    module, _, cls = name.rpartition(":" if ":" in name else ".")
    try:
        return getattr(importlib.import_module(module), cls)
    except (ImportError, AttributeError, ValueError) as error:
        raise TerrazzoError(f"'{name}' names no class, expected one such as package.module:Class ({error})") from None


def _folder_of(key):
    """A key of hexadecimal digits as a shorter name of a folder."""
    try:
        return base64.b32encode(bytes.fromhex(key)).decode().rstrip("=")
    except ValueError:
        return hashlib.sha256(key.encode()).hexdigest()


def get_cache_manager(key):
    """The manager of what is kept under a key."""
    return class_by_name(knobs.cache.manager_class or FileCacheManager)(_folder_of(key))


def get_dump_manager(key):
    """The manager of what is written for people to read."""
    return class_by_name(knobs.cache.manager_class or FileCacheManager)(_folder_of(key), dump=True)


def get_override_manager(key):
    """The manager of what people put in the place of what is compiled."""
    return class_by_name(knobs.cache.manager_class or FileCacheManager)(_folder_of(key), override=True)


def default_cache_dir():
    """The folder of the cache."""
    return knobs.cache.dir


def default_dump_dir():
    """The folder of what is written for people to read."""
    return knobs.cache.dump_dir


def default_override_dir():
    """The folder of what people put in the place of what is compiled."""
    return knobs.cache.override_dir


def triton_key():
    """A text that changes whenever other code may be made."""
    return fingerprints.fingerprint()


def get_cache_invalidating_env_vars():
    """The variables of the environment that change code: none, since their values are options in each kernel's key."""
    return {}
