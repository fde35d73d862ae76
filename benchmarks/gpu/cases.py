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
    # The one compiler that has the kernel.
    only: str = ""

    def may_run(self, kernels: Any) -> bool:
        """Whether a compiler has the kernel."""
        return self.only in ("", kernels.COMPILER)

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


def by_pointers(kernels: Any, data: tuple, bm: int, bn: int, bk: int, warps: int, stages: int) -> Call:
    """The product a b by pointers, of any strides; `data` is a, b, c and what the epilogue takes."""
    a, b, c, *epilogue = data
    bias, gelu = epilogue or (None, False)
    (m, k), n = a.shape, b.shape[1]
    grid = (cdiv(m, bm) * cdiv(n, bn),)
    sizes = {"BM": bm, "BN": bn, "BK": bk, "GROUP": 8, "GELU": gelu, "num_warps": warps, "num_stages": stages}
    strides = (*a.stride(), *b.stride(), *c.stride())
    return lambda: kernels.matmul_kernel[grid](a, b, c, bias, m, n, k, *strides, **sizes)


def matmul(device: str, small: bool) -> Iterator[Case]:
    """Square products in bf16; an odd one among the small."""
    return products(device, "matmul", by_pointers, [(128, 256, 128), (130, 70, 200)] if small else SQUARES)


def allow_scratch(kernels: Any, device: Any) -> None:
    """Triton's descriptors are made on the device, in memory that it asks for."""
    if hasattr(kernels.tz, "set_allocator"):
        kernels.tz.set_allocator(lambda size, _align, _stream: torch.empty(size, dtype=torch.int8, device=device))


def by_descriptors(kernels: Any, data: tuple, bm: int, bn: int, bk: int, warps: int, stages: int) -> Call:
    """The same by tensor descriptors; a and b are contiguous or transposes of what is."""
    a, b, c, *epilogue = data
    bias, gelu = epilogue or (None, False)
    (m, k), n = a.shape, b.shape[1]
    allow_scratch(kernels, a.device)
    grid = (cdiv(m, bm) * cdiv(n, bn),)
    turns = {"TURN_A": not a.is_contiguous(), "TURN_B": not b.is_contiguous()}
    sizes = {"BM": bm, "BN": bn, "BK": bk, "GROUP": 8, "GELU": gelu, "num_warps": warps, "num_stages": stages}
    return lambda: kernels.matmul_desc_kernel[grid](a, b, c, bias, m, n, k, **turns, **sizes)


def by_either(kernels: Any, data: tuple, *config: Any) -> Call:
    """By descriptors where a configuration ends with "desc", else by pointers."""
    return (by_descriptors if config[5:] else by_pointers)(kernels, data, *config[:5])


def matmul_desc(device: str, small: bool) -> Iterator[Case]:
    """The same products by tensor descriptors, whose rows are multiples of 16 bytes."""
    small_shapes = [(128, 256, 128), (144, 80, 208), (136, 72, 200)]
    return products(device, "matmul_desc", by_descriptors, small_shapes if small else SQUARES)


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


def matmul_types(device: str, small: bool) -> Iterator[Case]:
    """Square products of other types: fp16, fp32 by way of tf32, and fp8; of some the second factor is transposed.

    Each compiler may take its pointers or its tensor descriptors.
    """
    half = [(128, 256, 64, 8, 3), (128, 256, 64, 8, 4), (256, 128, 64, 8, 3), (128, 128, 64, 4, 4)]
    half += [(128, 256, 64, 8, 3, "desc"), (128, 256, 64, 8, 4, "desc"), (256, 128, 64, 8, 3, "desc")]
    single = [(128, 256, 32, 8, 3), (128, 128, 32, 4, 4), (128, 128, 32, 8, 4), (256, 128, 32, 8, 3)]
    single += [(128, 256, 32, 8, 4, "desc"), (256, 128, 32, 8, 4, "desc"), (128, 128, 32, 4, 3, "desc")]
    eighth = [(128, 256, 128, 8, 3), (128, 128, 128, 8, 4), (128, 128, 128, 4, 4), (256, 128, 128, 8, 3)]
    kinds = [(torch.float16, half, False), (torch.float32, single, False), (torch.float32, single, True)]
    kinds += [(torch.float8_e4m3fn, eighth, True)]
    for dtype, configs, is_turned in kinds:
        for size in (128, 144) if small else (4096, 8192):
            a, b = (torch.randn(size, size, device=device) for _ in range(2))
            a, b = a.to(dtype), b.to(dtype)
            b = b.t() if is_turned else b
            c = torch.empty(size, size, device=device, dtype=torch.float32 if dtype.itemsize == 4 else torch.bfloat16)
            make = lambda kernels, *config, data=(a, b, c): by_either(kernels, data, *config)
            reference = lambda a=a, b=b: a.float() @ b.float()
            name = f"matmul {str(dtype).removeprefix('torch.')} {'b^T ' * is_turned}{size}"
            peers = {"cublas": lambda a=a, b=b: a @ b}
            if dtype == torch.float8_e4m3fn:
                one = torch.ones((), device=device)
                peers = {
                    f"cublas{'_fast' * fast}": lambda a=a, b=b, fast=fast, one=one: torch.ops.aten._scaled_mm(
                        a, b, one, one, None, None, torch.bfloat16, fast
                    )
                    for fast in (False, True)
                }
            torch.backends.cuda.matmul.allow_tf32 = True
            yield Case(name, 2.0 * size**3, "TFLOP/s", make, configs, c, reference, peers)


def linear(device: str, small: bool) -> Iterator[Case]:
    """The products of a linear layer of a language model in bf16: forward with bias and GELU, and both gradients.

    Each compiler may take its pointers or its tensor descriptors.
    """
    layers = [(8192, 768, 2304), (8192, 768, 3072), (8192, 3072, 768), (8192, 2048, 8192), (8192, 4096, 14336)]
    layers += [(8192, 768, 50304), (4096, 2048, 50304)]
    blocks = [(128, 256, 64, 8, 3), (128, 128, 64, 4, 4), (256, 128, 64, 8, 3)]
    blocks += [(128, 256, 64, 8, 3, "desc"), (128, 128, 64, 4, 3, "desc"), (256, 128, 64, 8, 3, "desc")]

    for tokens, inputs, outputs in [(130, 96, 72)] if small else layers:
        new = lambda *shape: torch.randn(*shape, device=device, dtype=torch.bfloat16)
        x, w, dy, bias = new(tokens, inputs), new(outputs, inputs), new(tokens, outputs), new(outputs)
        w *= inputs**-0.5
        fused = lambda x=x, w=w, bias=bias: torch.ops.aten._addmm_activation(bias, x, w.t(), use_gelu=True)
        kinds = {
            "x w^T": (x, w.t(), None, False, lambda x=x, w=w: x @ w.t()),
            "gelu(x w^T + b)": (x, w.t(), bias, True, fused),
            "dy w": (dy, w, None, False, lambda dy=dy, w=w: dy @ w),
            "dy^T x": (dy.t(), x, None, False, lambda dy=dy, x=x: dy.t() @ x),
        }
        for kind, (a, b, added, activated, peer) in kinds.items():
            c = torch.empty(a.shape[0], b.shape[1], device=device, dtype=torch.bfloat16)
            data = (a, b, c, added, activated)

            def reference(data=data):
                a, b, _, bias, activated = data
                product = a[:256].float() @ b.float() + (0 if bias is None else bias.float())
                return F.gelu(product, approximate="tanh") if activated else product

            name = f"{kind} {tokens}x{inputs}x{outputs}"
            work = 2.0 * tokens * inputs * outputs
            of_data = lambda kernels, *config, data=data: by_either(kernels, data, *config)
            yield Case(name, work, "TFLOP/s", of_data, blocks, c, reference, {"cublas": peer}, slice(256))


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


def attention_backward(device: str, small: bool) -> Iterator[Case]:
    """The gradients of attention by our library's kernels, beside cuDNN's and FlashAttention 2; dv is compared."""
    from terrazzo.kernels import attention as ours
    from torch.nn.attention import SDPBackend, sdpa_kernel

    shapes = [(4, 32, 4096, 128, True), (4, 32, 4096, 128, False), (4, 32, 4096, 64, True), (8, 16, 2048, 64, True)]
    for batch, heads, t, d, causal in [(1, 2, 256, 64, True), (1, 2, 200, 128, False)] if small else shapes:
        q, k, v, do = (torch.randn(batch, heads, t, d, device=device, dtype=torch.bfloat16) for _ in range(4))
        o, lse = ours.attention_forward(q, k, v, causal)
        delta = torch.empty_like(lse)
        dq, dk, dv = (torch.empty_like(q) for _ in range(3))

        def make(_kernels, first, second, data=(do, q, k, v, o, lse, delta, dq, dk, dv), causal=causal):
            do, q, k, v, o, lse, delta, dq, dk, dv = data
            b, h, t, d = q.shape
            steps = lambda *xs: [stride for x in xs for stride in x.stride()[:3]]
            common = (None, None, d**-0.5, t, t, h, 1)

            def sizes(bm, bn, warps, stages):
                return {"D": d, "BM": bm, "BN": bn, "CAUSAL": causal, "num_warps": warps, "num_stages": stages}

            def call():
                ours.attention_dq_kernel[(cdiv(t, first[0]), b * h)](
                    do, q, k, v, o, lse, delta, dq, *common, *steps(do, q, k, v, o, dq), **sizes(*first)
                )
                ours.attention_dkv_kernel[(cdiv(t, second[1]), b * h)](
                    do, q, k, v, lse, delta, dk, dv, *common, *steps(do, q, k, v, dk, dv), **sizes(*second)
                )

            return call

        def library(backend, data=(q, k, v, do), causal=causal):
            leaves = [x.detach().requires_grad_() for x in data[:3]]
            with sdpa_kernel(backend):
                out = F.scaled_dot_product_attention(*leaves, is_causal=causal)
            return lambda: torch.autograd.grad(out, leaves, data[3], retain_graph=True)

        def reference(data=(q, k, v, do), causal=causal):
            q, k, _, do = (x[:1, :2].float() for x in data)
            x = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
            if causal:
                x = x.masked_fill(torch.ones_like(x, dtype=torch.bool).triu(1), -float("inf"))
            return torch.softmax(x, -1).transpose(-1, -2) @ do

        peers = {}
        if not small:
            peers = {"cudnn": library(SDPBackend.CUDNN_ATTENTION), "flash": library(SDPBackend.FLASH_ATTENTION)}
        pairs = [(128, 64, 8, 2), (128, 128, 8, 2), (64, 64, 4, 3), (64, 64, 4, 2)]
        turned = [(64, 64, 4, 2), (64, 128, 8, 3), (64, 64, 4, 2), (64, 64, 8, 2)]
        configs = list(zip(pairs, turned, strict=True))
        work = 10.0 * batch * heads * t * t * d * (0.5 if causal else 1)
        name = f"attention_backward {batch}x{heads}x{t}x{d} {'causal' if causal else 'full'}"
        part = (slice(1), slice(2))
        yield Case(name, work, "TFLOP/s", make, configs, dv, reference, peers, part, only="terrazzo")


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
    "matmul_types": matmul_types,
    "linear": linear,
    "attention": attention,
    "attention_desc": lambda device, small: attention(device, small, described=True),
    "attention_backward": attention_backward,
    "scan": scan,
}
