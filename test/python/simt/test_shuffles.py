# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every exclusive-or of lane numbers on AMD, from the machine code: what each lane receives, whatever the instruction.

A kernel stores what a shuffle by each mask gives. Its code is straight, so a model of the few instructions that move
values between lanes, and of those that compute their addresses, follows each register through it.
"""

import re
import subprocess

import numpy as np
import pytest
from programs import tz_opt

CHIPS = {"gfx90a": 64, "gfx942": 64, "gfx950": 64, "gfx1100": 32, "gfx1201": 32}
PASSES = (
    "tz-attach-target{{target=hip:{}}},tz-simt-to-rocdl,convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts"
)


def kernel(masks):
    body = "".join(
        f"    %s{mask} = simt.shuffle_xor %v, {mask}\n    llvm.store volatile %s{mask}, %p : i32, !llvm.ptr<1>\n"
        for mask in masks
    )
    return f"""
module attributes {{tile.entry = "kernel", tile.num_warps = 1 : i32}} {{
  func.func @kernel(%x: !llvm.ptr<1>) {{
    %t = simt.thread_id
    %p = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %v = llvm.load volatile %p : !llvm.ptr<1> -> i32
{body}    return
  }}
}}
"""


def assembly(chip, masks):
    lowered = subprocess.run(
        [tz_opt(), "-", f"--pass-pipeline=builtin.module({PASSES.format(chip)})"],
        input=kernel(masks), capture_output=True, text=True, check=True,
    )  # fmt: skip
    translate = str(tz_opt()).replace("tz-opt", "tz-translate")
    emitted = subprocess.run(
        [translate, "--tz-emit", "--tz-stage=amdgcn"], input=lowered.stdout, capture_output=True, text=True, check=True
    )
    code = emitted.stdout.split("\nkernel:", 1)[1].split("s_endpgm", 1)[0]
    return [line.split(";")[0].strip() for line in code.splitlines()]


class Machine:
    """The registers of one wave, a number a lane; the loaded value of a lane is its number."""

    def __init__(self, lanes):
        self.lane = np.arange(lanes)
        self.registers = {"v0": self.lane}
        self.stored = []

    def operand(self, text):
        """A register, or a constant."""
        if text in self.registers:
            return self.registers[text]
        return np.full(self.lane.size, int(text, 0)) if re.fullmatch(r"-?(0x)?[0-9a-f]+", text) else None

    def step(self, line):
        name, _, rest = line.partition(" ")
        name = re.sub(r"_e(32|64)$", "", name)
        operands, _, modifiers = re.match(r"((?:[^ ,]+, )*[^ ]+)( (.*))?", rest.strip() or "-").groups()
        target, *sources = operands.split(", ")
        if name.startswith("global_load_"):
            self.registers[target] = self.lane
        elif name.startswith("global_store_"):
            self.stored.append(self.registers[sources[0]])
        elif name in MOVES:
            value = self.operand(sources[1 if name == "ds_bpermute_b32" else 0])
            self.registers[target] = value[MOVES[name](self, sources, modifiers or "")]
        elif name in ARITHMETIC:
            values = [self.operand(source) for source in sources]
            known = all(value is not None for value in values)
            self.registers[target] = ARITHMETIC[name](*values) if known else None
        elif re.match(r"[vs]\d+$", target):
            self.registers[target] = None  # anything else that writes it


def from_dpp(machine, _, modifiers):
    lane = machine.lane
    assert "row_mask:0xf bank_mask:0xf" in modifiers
    kind, _, value = modifiers.split(" ")[0].partition(":")
    if kind == "quad_perm":
        return lane & ~3 | np.array([int(digit) for digit in value.strip("[]").split(",")])[lane & 3]
    if kind == "row_ror":
        return lane & ~15 | (lane - int(value)) & 15
    return lane ^ {"row_half_mirror": lambda: 7, "row_mirror": lambda: 15, "row_xmask": lambda: int(value)}[kind]()


def from_swizzle(machine, _, modifiers):
    kind, value = re.match(r"offset:swizzle\((\w+),(.*)\)", modifiers).groups()
    if kind == "BITMASK_PERM":
        return machine.lane ^ int(value.strip('"').replace("p", "0").replace("i", "1"), 2)
    return machine.lane ^ {"SWAP": int(value), "REVERSE": int(value) - 1}[kind]


def from_other_row(machine, sources, _):
    low, high = (int(machine.operand(source)[0]) for source in sources[1:3])
    chosen = np.array([(low | high << 32) >> 4 * lane & 15 for lane in range(16)])
    return (machine.lane ^ 16) & ~15 | chosen[machine.lane & 15]


def from_address(machine, sources, _):
    return machine.operand(sources[0]) // 4 % machine.lane.size


MOVES = {
    "v_mov_b32_dpp": from_dpp,
    "ds_swizzle_b32": from_swizzle,
    "v_permlanex16_b32": from_other_row,
    "ds_bpermute_b32": from_address,
}
ARITHMETIC = {
    "s_mov_b32": lambda a: a & 0xFFFFFFFF,
    "v_mov_b32": lambda a: a,
    "v_and_b32": lambda a, b: a & b,
    "v_xor_b32": lambda a, b: a ^ b,
    "v_or_b32": lambda a, b: a | b,
    "v_lshlrev_b32": lambda a, b: b << a,
}


@pytest.mark.parametrize("chip", CHIPS)
def test_each_lane_gets_what_its_partner_has(chip):
    lanes = CHIPS[chip]
    machine = Machine(lanes)
    for line in assembly(chip, range(1, lanes)):
        machine.step(line)
    assert len(machine.stored) == lanes - 1
    for mask, found in enumerate(machine.stored, 1):
        assert found is not None and found.tolist() == (np.arange(lanes) ^ mask).tolist(), f"mask {mask}"


def test_the_model_sees_a_wrong_lane():
    machine = Machine(32)
    machine.step("global_load_b32 v1, v0, s[0:1]")
    machine.step("v_mov_b32_dpp v2, v1 quad_perm:[1,0,3,3] row_mask:0xf bank_mask:0xf bound_ctrl:1")
    assert machine.registers["v2"].tolist()[:4] == [1, 0, 3, 3]
