# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is compared: a case is a problem with its data, the libraries' answer, the kernel's, and a reference.

A group is a function of (device, small) that yields cases, so that the data of one is freed before the next is made.
`small` gives shapes for checking instead of timing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F

Call = Callable[[], Any]


@dataclass
class Case:
    """`make(kernels, *config)` gives a call that computes `result`; `work` is bytes or operations, by `unit`."""

    name: str
    work: float
    unit: str
    make: Callable[..., Call]
    configs: list[tuple]
    result: torch.Tensor
    reference: Callable[[], torch.Tensor]
    peers: dict[str, Call] = field(default_factory=dict)
    # The part of the result that the reference computes.
    part: Any = ...
    # More configurations, for a compiler whose language has recurrences.
    recurrent: list[tuple] = field(default_factory=list)

    def configs_of(self, kernels: Any) -> list[tuple]:
        """The configurations that a compiler may try."""
        return self.configs + (self.recurrent if hasattr(kernels.tl, "recurrence") else [])

    def error(self) -> float:
        """The result's relative distance from the reference, in the Frobenius norm."""
        want = self.reference().double()
        return float((self.result[self.part].double() - want).norm() / want.norm())


def next_power_of_2(n: int) -> int:
    """The block of a row."""
    return 1 << (n - 1).bit_length()


def cdiv(a: int, b: int) -> int:
    """The number of blocks of b in a."""
    return -(-a // b)


def copy(device: str, small: bool) -> Iterator[Case]:
    """The memory's speed: the ceiling of all that is bound by it."""
    n = 1000 if small else 1 << 29
    x = torch.randn(n, device=device, dtype=torch.bfloat16)
    y, z = torch.empty_like(x), torch.empty_like(x)

    def make(kernels, block, warps):
        return lambda: kernels.copy_kernel[(cdiv(n, block),)](x, y, n, BLOCK=block, num_warps=warps)

    configs = [(1024, 4), (2048, 4), (4096, 8), (8192, 8)]
    yield Case(f"copy {n}", 2 * x.nbytes, "GB/s", make, configs, y, lambda: x, {"torch": lambda: z.copy_(x)})


def rows(device: str, small: bool) -> Iterator[Case]:
    """Softmax and rmsnorm over rows that fit into a block."""
    warps = [(2,), (4,), (8,), (16,)]
    for m, n in [(37, 100), (5, 1024)] if small else [(16384, 4096), (4096, 16384), (32768, 1024)]:
        x = torch.randn(m, n, device=device, dtype=torch.bfloat16)
        w, y = torch.randn(n, device=device, dtype=torch.bfloat16), torch.empty_like(x)
        block = next_power_of_2(n)

        def softmax(kernels, warps, x=x, y=y, m=m, n=n, block=block):
            return lambda: kernels.softmax_kernel[(m,)](x, y, n, n, BLOCK=block, num_warps=warps)

        def rmsnorm(kernels, warps, x=x, w=w, y=y, m=m, n=n, block=block):
            return lambda: kernels.rmsnorm_kernel[(m,)](x, w, y, n, 1e-6, BLOCK=block, num_warps=warps)

        peers = {"torch": lambda x=x: torch.softmax(x, -1)}
        reference = lambda x=x: torch.softmax(x.double(), -1)
        yield Case(f"softmax {m}x{n}", 2 * x.nbytes, "GB/s", softmax, warps, y, reference, peers)
        peers = {"torch": lambda x=x, w=w, n=n: F.rms_norm(x, (n,), w, 1e-6)}
        reference = lambda x=x, w=w, n=n: F.rms_norm(x.double(), (n,), w.double(), 1e-6)
        yield Case(f"rmsnorm {m}x{n}", 2 * x.nbytes, "GB/s", rmsnorm, warps, y, reference, peers)


def loss(device: str, small: bool) -> Iterator[Case]:
    """Cross entropy over a vocabulary, in blocks of a row."""
    m, n = (9, 5003) if small else (8192, 50304)
    x = torch.randn(m, n, device=device, dtype=torch.bfloat16)
    labels = torch.randint(0, n, (m,), device=device)
    out = torch.empty(m, device=device)

    def make(kernels, block, warps):
        return lambda: kernels.cross_entropy_kernel[(m,)](x, labels, out, n, n, BLOCK=block, num_warps=warps)

    peers = {"torch": lambda: F.cross_entropy(x.float(), labels, reduction="none")}
    reference = lambda: F.cross_entropy(x.double(), labels, reduction="none")
    configs = [(2048, 4), (4096, 8), (8192, 8), (8192, 16)]
    yield Case(f"cross_entropy {m}x{n}", x.nbytes, "GB/s", make, configs, out, reference, peers)


def matmul(device: str, small: bool) -> Iterator[Case]:
    """Square products in bf16; an odd one among the small."""

    def make(kernels, data, bm, bn, bk, warps, stages):
        a, b, c = data
        (m, k), n = a.shape, b.shape[1]
        grid = (cdiv(m, bm) * cdiv(n, bn),)
        sizes = {"BM": bm, "BN": bn, "BK": bk, "GROUP": 8, "num_warps": warps, "num_stages": stages}
        return lambda: kernels.matmul_kernel[grid](a, b, c, m, n, k, k, 1, n, 1, n, 1, **sizes)

    return products(device, "matmul", make, [(128, 256, 128), (130, 70, 200)] if small else SQUARES)


def allow_scratch(kernels: Any, device: str) -> None:
    """Triton's descriptors are made on the device, in memory that it asks for."""
    if hasattr(kernels.tz, "set_allocator"):
        kernels.tz.set_allocator(lambda size, _align, _stream: torch.empty(size, dtype=torch.int8, device=device))


def matmul_desc(device: str, small: bool) -> Iterator[Case]:
    """The same products by tensor descriptors, whose rows are multiples of 16 bytes."""

    def make(kernels, data, bm, bn, bk, warps, stages):
        a, b, c = data
        (m, k), n = a.shape, b.shape[1]
        allow_scratch(kernels, device)
        grid = (cdiv(m, bm) * cdiv(n, bn),)
        sizes = {"BM": bm, "BN": bn, "BK": bk, "GROUP": 8, "num_warps": warps, "num_stages": stages}
        return lambda: kernels.matmul_desc_kernel[grid](a, b, c, m, n, k, **sizes)

    small_shapes = [(128, 256, 128), (144, 80, 208), (136, 72, 200)]
    return products(device, "matmul_desc", make, small_shapes if small else SQUARES)


SQUARES = [(s, s, s) for s in (2048, 4096, 8192)]


def products(device: str, name: str, of: Callable[..., Call], shapes: list[tuple]) -> Iterator[Case]:
    """Products of these shapes by `of(kernels, (a, b, c), *config)`."""
    blocks = [(128, 256, 64, 8, 3), (128, 128, 64, 4, 4), (128, 128, 64, 8, 4)]
    more = [(128, 256, 64, 8, 4), (256, 128, 64, 8, 3), (64, 256, 64, 4, 4), (128, 128, 128, 8, 3)]
    for m, n, k in shapes:
        a = torch.randn(m, k, device=device, dtype=torch.bfloat16)
        b = torch.randn(k, n, device=device, dtype=torch.bfloat16)
        c = torch.empty(m, n, device=device, dtype=torch.bfloat16)
        make = lambda kernels, *config, data=(a, b, c): of(kernels, data, *config)
        configs = blocks + (more if m > 2048 else [])
        peers = {"cublas": lambda a=a, b=b: a @ b}
        reference = lambda a=a, b=b: a.float() @ b.float()
        yield Case(f"{name} {m}x{n}x{k}", 2.0 * m * n * k, "TFLOP/s", make, configs, c, reference, peers)


def attention(device: str, small: bool, described: bool = False) -> Iterator[Case]:
    """Flash attention, forward, beside cuDNN's and FlashAttention 2; by pointers, or by tensor descriptors."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    shapes = [(4, 32, 4096, 128, True), (4, 32, 4096, 128, False), (4, 32, 4096, 64, True), (2, 16, 16384, 128, True)]
    for batch, heads, t, d, causal in [(1, 2, 256, 64, True), (1, 2, 256, 128, False)] if small else shapes:
        q, k, v = (torch.randn(batch, heads, t, d, device=device, dtype=torch.bfloat16) for _ in range(3))
        o, lse = torch.empty_like(q), torch.empty(batch, heads, t, device=device)

        def make(kernels, bm, bn, warps, stages, data=(q, k, v, o, lse), t=t, d=d, causal=causal):
            grid = (t // bm, data[0].shape[0] * data[0].shape[1])
            sizes = {"D": d, "BM": bm, "BN": bn, "CAUSAL": causal, "num_warps": warps, "num_stages": stages}
            if not described:
                return lambda: kernels.attention_kernel[grid](*data, d**-0.5, t, **sizes)
            allow_scratch(kernels, device)
            return lambda: kernels.attention_desc_kernel[grid](*data, d**-0.5, t, grid[1] * t, **sizes)

        def library(backend, q=q, k=k, v=v, causal=causal):
            with sdpa_kernel(backend):
                return F.scaled_dot_product_attention(q, k, v, is_causal=causal)

        def reference(q=q, k=k, v=v, causal=causal):
            with sdpa_kernel(SDPBackend.MATH):
                heads = [x[:1, :2].float() for x in (q, k, v)]
                return F.scaled_dot_product_attention(*heads, is_causal=causal)

        peers = {
            "cudnn": lambda library=library: library(SDPBackend.CUDNN_ATTENTION),
            "flash": lambda library=library: library(SDPBackend.FLASH_ATTENTION),
        }
        configs = [(128, 128, 8, 2), (128, 64, 4, 3), (128, 64, 8, 3), (128, 128, 8, 3), (64, 64, 4, 3)]
        work = 4.0 * batch * heads * t * t * d * (0.5 if causal else 1)
        kind = "attention_desc" if described else "attention"
        name = f"{kind} {batch}x{heads}x{t}x{d} {'causal' if causal else 'full'}"
        part = (slice(1), slice(2))
        yield Case(name, work, "TFLOP/s", make, configs, o, reference, peers, part)


def scan(device: str, small: bool) -> Iterator[Case]:
    """Mamba's selective scan and its convolution, forward; torch has neither."""
    states, width, steps = 16, 4, 256
    for batch, length, e in [(1, 64, 64)] if small else [(8, 2048, 2048), (4, 8192, 4096)]:
        new = lambda *shape: torch.randn(*shape, device=device, dtype=torch.bfloat16)
        u, dt, y = new(batch, length, e), new(batch, length, e).sigmoid() * 0.1, new(batch, length, e)
        a = -torch.rand(e, states, device=device) - 0.5
        b, c, d = new(batch, length, states), new(batch, length, states), torch.randn(e, device=device)
        w, bias = new(e, width), new(e)

        def make_scan(kernels, bl, be, warps, kind="selective", data=(u, dt, a, b, c, d, y), length=length, e=e):
            grid = (e // be, data[0].shape[0])
            sizes = {"N": states, "BL": bl, "BE": be, "num_warps": warps}
            kernel = getattr(kernels, f"{kind}_scan_kernel")
            return lambda: kernel[grid](*data, length, e, **sizes)

        def recurrence(u=u, dt=dt, a=a, b=b, c=c, d=d):
            """The first sequence's first steps, one by one."""
            u, dt, b, c = (x[0, :steps].double() for x in (u, dt, b, c))
            h, out = torch.zeros_like(a, dtype=torch.float64), []
            for t in range(len(u)):
                h = torch.exp(dt[t, :, None] * a.double()) * h + (dt[t] * u[t])[:, None] * b[t]
                out.append(h @ c[t] + u[t] * d.double())
            return torch.stack(out)

        def make_conv(kernels, bl, be, warps, data=(u, w, bias, y), length=length, e=e):
            grid = (e // be, length // bl, data[0].shape[0])
            sizes = {"W": width, "BL": bl, "BE": be, "num_warps": warps}
            return lambda: kernels.conv1d_kernel[grid](*data, length, e, **sizes)

        def convolution(u=u, w=w, bias=bias, length=length, e=e):
            x, taps = u[:1].double().transpose(1, 2), w.double()[:, None]
            x = F.conv1d(x, taps, bias.double(), padding=width - 1, groups=e)[..., :length]
            return F.silu(x).transpose(1, 2)

        blocks = [(16, 16, 4), (32, 16, 4), (32, 8, 4), (16, 8, 2), (16, 4, 1), (32, 4, 1), (32, 2, 1), (64, 2, 1)]
        shape, part = f"{batch}x{length}x{e}", (0, slice(steps))
        work = 3.0 * u.nbytes
        steps_of = [(64, 64, 4), (64, 32, 2), (32, 32, 2), (32, 64, 4), (16, 32, 2)]
        recurrent = [(*sizes, "recurrent") for sizes in steps_of if sizes[1] <= e]
        name = f"selective_scan {shape}x{states}"
        yield Case(name, work, "GB/s", make_scan, blocks, y, recurrence, {}, part, recurrent)
        blocks = [(64, 64, 4), (16, 32, 2)] if small else [(64, 64, 4), (32, 128, 4), (128, 64, 8), (16, 256, 4)]
        work = 2.0 * u.nbytes
        yield Case(f"conv1d {shape}x{width}", work, "GB/s", make_conv, blocks, y, convolution, {}, slice(1))


GROUPS = {
    "copy": copy,
    "rows": rows,
    "loss": loss,
    "matmul": matmul,
    "matmul_desc": matmul_desc,
    "attention": attention,
    "attention_desc": lambda device, small: attention(device, small, described=True),
    "scan": scan,
}
