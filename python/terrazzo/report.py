# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a kernel's code needs and how it uses memory, read from the compiler's own output: no device is asked.

Registers of AMD code come from the code object. PTX names none: they are known once the kernel is loaded on a device,
or from ptxas where it is there and asked for.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

from . import ptxas
from ._terrazzo import ir, runtime


@dataclass(frozen=True, order=True)
class Access:
    """Accesses to memory of one kind and width, by one thread at one line of the source (0: not known)."""

    line: int
    what: str  # load, store, atomic, copy
    space: str  # global, shared, local
    bits: int
    count: int


@dataclass
class Report:
    """Facts about one kernel for one chip; None is what is not known without a device."""

    name: str
    target: str
    threads: int
    shared_bytes: int
    registers: int | None = None
    spills: int | None = None
    source: str = ""  # who says the registers
    barriers: int = 0
    matrix: int = 0  # instructions of matrix units
    accesses: list[Access] = field(default_factory=list)

    def widths(self, what, space="global"):
        """{bits: count} of the accesses of a kind."""
        found = Counter()
        for access in self.accesses:
            if (access.what, access.space) == (what, space):
                found[access.bits] += access.count
        return dict(found)

    def __str__(self):
        def known(value):
            return "not known without a device" if value is None else value

        lines = [
            f"{self.name} for {self.target}",
            f"  threads of a block   {self.threads}",
            f"  registers of a thread {known(self.registers)}" + (f" ({self.source})" if self.source else ""),
            f"  spills               {known(self.spills)}",
            f"  shared memory        {self.shared_bytes} bytes",
            f"  barriers             {self.barriers}",
            f"  matrix instructions  {self.matrix}",
        ]
        for access in sorted(self.accesses):
            where = f"line {access.line}" if access.line else "any line"
            lines.append(f"  {where}: {access.count} x {access.what} of {access.bits} bits, {access.space} memory")
        return "\n".join(lines)


_PTX = re.compile(
    r"\b(?P<op>ld|st|atom|red|cp\.async)(?P<mods>(?:[.:]+[\w:]+)*)\s"
    r"|\b(?P<barrier>bar\.sync|barrier\.sync|barrier\.cta\.sync)\b"
    r"|\b(?P<matrix>mma\.sync|wgmma\.mma_async|ldmatrix)\b"
)
_LOC = re.compile(r"^\s*\.loc\s+\d+\s+(\d+)")
_WHAT = {"ld": "load", "st": "store", "atom": "atomic", "red": "atomic", "cp.async": "copy"}


def _ptx_access(match):
    mods = re.split(r"[.:]+", match["mods"])
    space = next((s for s in ("global", "shared", "local", "param", "const") if s in mods), "global")
    if match["op"] == "cp.async":
        return "copy", "global", 128
    if space in ("param", "const"):
        return None
    lanes = next((int(m[1:]) for m in mods if re.fullmatch(r"v\d", m)), 1)
    width = next((int(m[1:]) for m in mods if re.fullmatch(r"[bufs]\d+", m)), 0)
    return _WHAT[match["op"]], space, lanes * width


def read_ptx(text):
    """(accesses, barriers, matrix instructions) of PTX."""
    found, barriers, matrix, line = Counter(), 0, 0, 0
    for row in text.splitlines():
        at = _LOC.match(row)
        if at:
            line = int(at[1])
            continue
        for match in _PTX.finditer(row.partition("//")[0]):
            if match["barrier"]:
                barriers += 1
            elif match["matrix"]:
                matrix += match["matrix"] != "ldmatrix"
            else:
                access = _ptx_access(match)
                if access:
                    found[line, *access] += 1
    return found, barriers, matrix


_GCN = re.compile(
    r"^\s*(?P<space>global|flat|buffer|scratch)_(?P<what>load|store|atomic)_?(?P<kind>\w*)"
    r"|^\s*ds_(?P<ds>read|write|load|store)(?P<two>2?)(?:st64)?_(?P<width>[a-z]+\d+)"
)
_GCN_BITS = {"dwordx4": 128, "dwordx3": 96, "dwordx2": 64, "dword": 32, "ushort": 16, "sshort": 16, "short": 16,
             "ubyte": 8, "sbyte": 8, "byte": 8, "b128": 128, "b96": 96, "b64": 64, "b32": 32, "u16": 16, "i16": 16,
             "b16": 16, "u8": 8, "i8": 8, "b8": 8}  # fmt: skip


def _gcn_bits(kind):
    best = [bits for name, bits in _GCN_BITS.items() if re.search(rf"(^|_){name}(_|$)", kind)]
    return max(best, default=64 if kind.endswith("x2") else 32)


def read_amdgcn(text):
    """(accesses, barriers, matrix instructions) of AMD assembly."""
    found, barriers, matrix, line = Counter(), 0, 0, 0
    for row in text.splitlines():
        at = _LOC.match(row)
        if at:
            line = int(at[1])
        elif re.match(r"\s*s_barrier(_wait)?\b", row):
            barriers += "_signal" not in row
        elif re.match(r"\s*v_(s?mfmac?|wmma|swmmac)_", row):
            matrix += 1
        else:
            match = _GCN.match(row)
            if match and match["ds"]:
                what = "load" if match["ds"] in ("read", "load") else "store"
                found[line, what, "shared", _gcn_bits(match["width"]) * (2 if match["two"] else 1)] += 1
            elif match:
                space = "local" if match["space"] == "scratch" else "global"
                found[line, match["what"], space, _gcn_bits(match["kind"])] += 1
    return found, barriers, matrix


def _with_lines(compiled, stage):
    """A stage as text that tells the lines of the source: the kernel is traced and compiled once more."""
    from . import frontend

    spec = compiled.specialization
    builder = frontend.build_module(compiled.fn, spec.arg_types, spec.constexprs, spec.arg_attrs, compiled.options)
    return dict(runtime.Artifact(ir.compile(builder, compiled.target, f"{stage},lines")).stages)[stage]


def report(compiled, assemble=False):
    """The Report of a compiled kernel; with `assemble`, ptxas says the registers of PTX."""
    artifact, backend = compiled.artifact, compiled.target.partition(":")[0]
    result = Report(compiled.name, compiled.target, artifact.threads_per_block or 1, artifact.shared_bytes)
    if backend == "cuda":
        found, result.barriers, result.matrix = read_ptx(_with_lines(compiled, "ptx"))
        if assemble:
            result.registers, result.spills = ptxas.resources(compiled.asm["ptx"], artifact.chip)
            result.source = "ptxas"
        elif compiled.n_regs:
            result.registers, result.spills, result.source = compiled.n_regs, compiled.n_spills, "the device's driver"
    elif backend == "hip":
        found, result.barriers, result.matrix = read_amdgcn(_with_lines(compiled, "amdgcn"))
        result.registers, result.spills, result.source = artifact.registers, artifact.spills, "the code object"
    else:
        found = Counter()
    result.accesses = [Access(*key, count=count) for key, count in sorted(found.items())]
    return result
