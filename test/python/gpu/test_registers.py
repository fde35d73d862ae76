# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What only one vendor's GPUs have: special registers, and the error of asking for them elsewhere."""

import pytest
import terrazzo as tz
import terrazzo.language as tl


@tz.jit
def registers(out_ptr, time_ptr):
    before = tl.extra.cuda.globaltimer()
    tl.store(out_ptr + tl.program_id(0), tl.extra.cuda.smid())
    tl.store(out_ptr + 100, tl.extra.cuda.num_threads() + tl.extra.cuda.num_warps())
    tl.store(time_ptr, tl.extra.cuda.globaltimer() - before)


def test_registers_of_nvidia():
    compiled = registers.warmup("*i32", "*i64", grid=(1,), target="cuda:sm_90a", num_warps=8)
    text = compiled.asm["ptx"]
    assert "%smid" in text
    assert text.count("%globaltimer") == 2
    assert "264" in text


@pytest.mark.parametrize(("target", "shown"), [("hip:gfx942", "hip:gfx942"), ("cpu", "cpu")])
def test_they_are_errors_elsewhere(target, shown):
    message = rf"tl.extra.cuda.globaltimer\(\) is of NVIDIA's GPUs, found the target {shown}"
    with pytest.raises(tz.CompileError, match=message):
        registers.warmup("*i32", "*i64", grid=(1,), target=target)
