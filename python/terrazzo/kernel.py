# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A compiled kernel: its stages as text, its metadata, what it needs of the device."""

from collections import namedtuple
from collections.abc import Mapping

from . import ptxas
from ._terrazzo import ir, runtime

# By target, in the order in which the compiler makes them; the last one is the code.
STAGES = {
    "cpu": ("tile", "vector", "llir", "asm", "obj"),
    "cuda": ("tile", "simt", "llir", "ptx"),
    "hip": ("tile", "simt", "llir", "amdgcn", "hsaco"),
}
_BINARY = ("obj", "hsaco", "cubin")
# Names that mean a stage on every target.
_ALIASES = {"cuda": {"asm": "ptx", "obj": "ptx"}, "hip": {"asm": "amdgcn", "obj": "hsaco"}, "cpu": {}}


class Stages(Mapping):
    """What the compiler made of a kernel, stage by stage, as text; binary code as bytes.

    Only the first stage is kept. The others are made again when they are asked for, by the same pipeline. "asm" and
    "obj" mean the assembly and the code on every target; "cubin" is there if ptxas is.
    """

    def __init__(self, compiled):
        self._compiled = compiled
        self._texts = None
        self._backend = compiled.target.partition(":")[0]

    @property
    def _names(self):
        names = STAGES[self._backend]
        return (*names, "cubin") if self._backend == "cuda" and ptxas.path() else names

    def __getitem__(self, stage):
        if stage == "cubin" and self._backend == "cuda":
            return ptxas.cubin(self["ptx"], self._compiled.artifact.chip)
        wanted, stage = stage, _ALIASES[self._backend].get(stage, stage)
        if stage not in STAGES[self._backend]:
            raise KeyError(f"no stage '{wanted}', expected one of {', '.join(self._names)}")
        artifact = self._compiled.artifact
        if stage == STAGES[self._backend][-1]:
            code = bytes(artifact.code)
            is_text = stage not in _BINARY and wanted != "obj"
            return code.rstrip(b"\0").decode() if is_text else code
        if stage in artifact.stages:
            return artifact.stages[stage]
        if self._texts is None:
            wanted_stages = ",".join(name for name in STAGES[self._backend] if name not in _BINARY)
            data = ir.compile(artifact.stages["tile"], self._compiled.target, wanted_stages)
            self._texts = dict(runtime.Artifact(data).stages)
        return self._texts[stage]

    def __iter__(self):
        return iter(self._names)

    def __len__(self):
        return len(self._names)


class CompiledKernel:
    """A kernel for one specialisation.

    `asm` are its stages, `metadata` its options and needs, `n_regs` and `n_spills` what the target reports (0 where it
    has no such thing or does not say), `hash` its key in the cache. `compiled[grid](...)` launches it with the
    arguments of its function.
    """

    __iter__ = __contains__ = None  # [grid] never ends

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
        self.specialization = specialization
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

    def report(self, assemble=False):
        """What the code needs and how it uses memory, read from the compiler's output; see report.Report.

        With `assemble`, ptxas says the registers of a kernel for NVIDIA; it has to be there.
        """
        from .report import report

        return report(self, assemble)

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
            if self.target.partition(":")[0] != "cpu" and "target" not in names:
                kwargs.setdefault("target", self.target)
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
