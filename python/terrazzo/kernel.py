# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A compiled kernel: its stages as text, its metadata, what it needs of the device."""

from collections import namedtuple
from collections.abc import Mapping

from ._terrazzo import ir, runtime

STAGES = ("tile", "vector", "llir", "asm", "obj")


class Stages(Mapping):
    """What the compiler made of a kernel, stage by stage, as text; "obj" is the code itself, as bytes.

    Only the first stage is kept. The others are made again when they are asked for, by the same pipeline.
    """

    def __init__(self, compiled):
        self._compiled = compiled
        self._texts = None

    def __getitem__(self, stage):
        if stage not in STAGES:
            raise KeyError(f"no stage '{stage}', expected one of {', '.join(STAGES)}")
        if stage == "obj":
            return bytes(self._compiled.artifact.code)
        kept = self._compiled.artifact.stages
        if stage in kept:
            return kept[stage]
        if self._texts is None:
            data = ir.compile(kept["tile"], self._compiled.target, "tile,vector,llir,asm")
            self._texts = dict(runtime.Artifact(data).stages)
        return self._texts[stage]

    def __iter__(self):
        return iter(STAGES)

    def __len__(self):
        return len(STAGES)


class CompiledKernel:
    """A kernel for one specialisation.

    `asm` are its stages, `metadata` its options and needs, `n_regs` and `n_spills` what the target reports (0 where it
    has no such thing), `hash` its key in the cache. `compiled[grid](...)` launches it with the arguments of its
    function.
    """

    def __init__(self, fn, specialization, options, target, digest, data):
        self.fn = fn
        self.data = data
        self.artifact = runtime.Artifact(data)
        self.target = target
        self.hash = digest
        self.name = fn.__name__
        self.signature = specialization.text
        self.constants = dict(specialization.constexprs)
        self.src = fn
        self.asm = Stages(self)
        self.options = options
        self._runtime_names = list(specialization.arg_types)
        fields = {
            "name": self.name,
            "target": target,
            "hash": digest,
            "shared": self.artifact.shared_bytes,
            "stack": self.artifact.stack_bytes,
            **options,
        }
        self.metadata = namedtuple("KernelMetadata", sorted(fields))(**fields)
        self.n_regs = self.artifact.registers
        self.n_spills = self.artifact.spills
        self.n_max_threads = self.artifact.threads_per_block

    @property
    def kernel(self):
        """The code, as bytes."""
        return self.asm["obj"]

    def launch_metadata(self, grid, stream=0, *args):
        """What hooks around launches are given: a mapping with the name, the grid and what the jit function adds."""
        found = {"name": self.name, "grid": tuple(grid), "stream": stream, "hash": self.hash}
        if self.fn.launch_metadata is not None:
            found.update(self.fn.launch_metadata(tuple(grid), self.metadata, dict(self.constants)) or {})
        return LaunchMetadata(found)

    def __getitem__(self, grid):
        def launch(*args, **kwargs):
            names = self.fn.arg_names
            if len(args) != len(names):  # the run-time arguments alone
                args, kwargs = (), {**self.constants, **dict(zip(self._runtime_names, args)), **kwargs}
            kwargs.pop("stream", None)
            options = {k: v for k, v in self.options.items() if k not in names}
            return self.fn[grid](*args, **{**options, **kwargs})

        return launch

    def __repr__(self):
        return f"<CompiledKernel {self.name}({self.signature}) for {self.target}>"


class LaunchMetadata(dict):
    """A dictionary that also has `get()` without arguments, as tools that watch launches expect."""

    def get(self, *args):
        """All entries, or the one of a key."""
        return super().get(*args) if args else dict(self)
