# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The numbers of enumerations are the dialects' own: the language asks for them by name."""

import pytest
from terrazzo._terrazzo import ir
from terrazzo.language.builder import enum_attributes


@pytest.mark.parametrize(
    ("name", "cases"),
    [
        ("arith.CmpIPredicate", {"eq": "0 : i64", "uge": "9 : i64"}),
        ("arith.CmpFPredicate", {"oeq": "1 : i64", "une": "13 : i64"}),
        ("arith.RoundingMode", {"toward_zero": "3 : i32"}),
        ("tile.RMWKind", {"and": "0 : i32", "exch": "11 : i32"}),
        ("tile.MemSem", {"relaxed": "0 : i32", "acq_rel": "3 : i32"}),
        ("tile.MemScope", {"cta": "0 : i32", "sys": "2 : i32"}),
        ("tile.CacheModifier", {"none": "0 : i32", "wt": "6 : i32"}),
        ("tile.EvictionPolicy", {"normal": "0 : i32", "evict_last": "2 : i32"}),
        ("tile.Precision", {"default": "0 : i32", "bf16x6": "5 : i32"}),
    ],
)
def test_first_and_last_case(name, cases):
    found = enum_attributes(name)
    assert cases.items() <= found.items()
    assert sorted(found.values(), key=lambda text: int(text.split()[0])) == [
        f"{i} : {next(iter(cases.values())).split()[-1]}" for i in range(len(found))
    ]


@pytest.mark.parametrize("name", ["arith.Nonsense", "RMWKind", ""])
def test_unknown_name(name):
    with pytest.raises(ValueError, match=f"there is no enumeration '{name}'"):
        ir.enum_attributes(name)
