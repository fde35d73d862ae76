# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A compiled kernel: its stages as text, its metadata, what it needs of the device."""

import functools
from collections import namedtuple
from collections.abc import Mapping

from . import devices, disasm, ptxas, statuses
from ._terrazzo import ir, runtime
from .errors import ArgumentError
from .targets import described
from .wrappers import address_of

# By target, in the order in which the compiler makes them; the last one is the code.
STAGES = {
    "cpu": ("tile", "vector", "llir", "asm", "obj"),
    "cuda": ("tile", "simt", "llir", "ptx"),
    "hip": ("tile", "simt", "llir", "amdgcn", "hsaco"),
}
_BINARY = ("obj", "hsaco", "cubin")
# Names that mean a stage on every target.
_ALIASES = {"cuda": {"asm": "ptx", "obj": "ptx"}, "hip": {"asm": "amdgcn", "obj": "hsaco"}, "cpu": {}}
# The first stages by the names that files for Triton know them by.
for _names in _ALIASES.values():
    _names["ttir"] = "tile"
for _target in ("cuda", "hip"):
    _ALIASES[_target]["ttgir"] = "simt"


class Stages(Mapping):
    """What the compiler made of a kernel, stage by stage, as text; binary code as bytes.

    Only the first stage is kept. The others are made again when they are asked for, by the same pipeline. "asm" and
    "obj" mean the assembly and the code on every target; "cubin" is there if ptxas is, "sass" if cuobjdump is, too.
    """

    def __init__(self, compiled):
        self._compiled = compiled
        self._texts = None
        self._backend = compiled.target.partition(":")[0]

    @property
    def _names(self):
        names = STAGES[self._backend]
        if self._backend != "cuda" or not ptxas.path():
            return names
        return (*names, "cubin", "sass") if disasm.path() else (*names, "cubin")

    def __contains__(self, stage):
        return stage in self._names or stage in _ALIASES[self._backend]

    def __getitem__(self, stage):
        if stage == "cubin" and self._backend == "cuda":
            return ptxas.cubin(self["ptx"], self._compiled.artifact.chip)
        if stage == "sass" and self._backend == "cuda":
            return disasm.get_sass(self["cubin"])
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

    def __init__(self, fn, specialization, options, target, digest, data, name=None):
        self.fn = fn
        self.data = data
        self.artifact = runtime.Artifact(data)
        self.target = target
        self.hash = digest
        self.name = name or fn.__name__
        self.signature = specialization.text
        self.constants = dict(specialization.constexprs)
        self.src = fn
        self.specialization = specialization
        self.asm = Stages(self)
        self.options = options
        self._runtime_names = list(specialization.arg_types)
        fields = {
            "name": self.name,
            "target": described(target),
            "hash": digest,
            "shared": self.artifact.shared_bytes,
            "stack": self.artifact.stack_bytes,
            **options,
        }
        self.metadata = self.packed_metadata = namedtuple("KernelMetadata", sorted(fields))(**fields)
        self._loaded = {}  # device -> the code there, of a module that no function stands behind
        self.n_regs = self.artifact.registers
        self.n_spills = self.artifact.spills
        self.n_max_threads = self.artifact.threads_per_block

    @property
    def kernel(self):
        """The code, as bytes."""
        return self.asm["obj"]

    @property
    def shared(self):
        """Bytes of shared memory of a block."""
        return self.metadata.shared

    @property
    def function(self):
        """What launches take for the loaded code: the kernel itself."""
        return self

    module = function

    def _init_handles(self):
        """Loads the code, in other runtimes; here that happens by itself."""

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
            arguments = {**self.constants, **self.fn.launch_arguments}
            found.update(self.fn.launch_metadata(tuple(grid), self.metadata, arguments) or {})
        return LaunchMetadata(found)

    def __getitem__(self, grid):
        return functools.partial(self._launch, grid)

    def _launch(self, grid, *args, **kwargs):
        names = self.fn.arg_names
        if not hasattr(self.fn, "params"):
            return self._launch_module(grid, args, **kwargs)
        declared = [p.name for p in self.fn.params if not p.is_constexpr]
        if len(args) != len(names):
            # The run-time arguments alone; some of these may be constants, such as None.
            given = declared if len(args) == len(declared) else self._runtime_names
            args, kwargs = (), {**self.constants, **dict(zip(given, args)), **kwargs}
        if self.target.partition(":")[0] != "cpu" and "target" not in names:
            kwargs.setdefault("target", self.target)
        options = {k: v for k, v in self.options.items() if k not in names}
        return self.fn[grid](*args, **{**options, **kwargs})

    def _launch_module(self, grid, args, stream=None):
        """Launches code that was made of a module, whose arguments are arrays and numbers by position."""
        if len(args) != len(self.fn.arg_names):
            raise ArgumentError(f"kernel {self.name} takes {len(self.fn.arg_names)} arguments, found {len(args)}")
        extents = (*((grid,) if isinstance(grid, int) else grid), 1, 1)[:3]
        kind = self.target.partition(":")[0]
        device = 0 if kind == "cpu" else runtime.current_device(kind)
        if device not in self._loaded:
            self._loaded[device] = devices.opened(kind).load(self.data, device)
        if stream is None:
            stream = 0 if kind == "cpu" else runtime.current_stream(kind, device)
        with statuses.statuses():
            self._loaded[device].launch(list(extents), [address_of(arg) for arg in args], stream)
        return self

    def run(self, x, y, z, stream, function, packed, metadata, enter_hook, exit_hook, *args):
        """Launches as generated launchers do: the grid's extents, the stream, what `function` and `packed_metadata`
        gave, what hooks are told, the hooks, and the arguments.
        """
        if enter_hook:
            enter_hook(metadata)
        on = {"stream": stream} if self.target.partition(":")[0] != "cpu" else {}
        self[(x, y, z)](*args, **on)
        if exit_hook:
            exit_hook(metadata)

    def __repr__(self):
        return f"<CompiledKernel {self.name}({self.signature}) for {self.target}>"


class LaunchMetadata(dict):
    """A dictionary that also has `get()` without arguments, as tools that watch launches expect."""

    def get(self, *args):
        """All entries, or the one of a key."""
        return super().get(*args) if args else dict(self)
