# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The rows of `make bench`: one function a bar, which checks the result before it measures."""

from __future__ import annotations

import gc
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable

import kernels as K
import numpy as np
import terrazzo as tz
import terrazzo.language as tl
import torch
from measuring import OURS, Row, against_peers, check, fastest

F = torch.nn.functional
_rng = np.random.default_rng(0)


def _normal(*shape: int) -> np.ndarray:
    return _rng.standard_normal(shape, dtype=np.float32)


def _gflops(row: Row, work: float) -> Row:
    row.rate = f"{work / row.times[OURS] / 1e6:.0f} GFLOP/s"
    return row


def _matmul(a, b, c, BM: int, BN: int, BK: int, GROUP: int = 4, ACC=tl.float32) -> Callable[[], object]:
    (M, Kd), N = a.shape, b.shape[1]
    grid = (tz.cdiv(M, BM) * tz.cdiv(N, BN),)
    shape, strides = (M, N, Kd), (Kd, 1, N, 1, N, 1)
    return lambda: K.matmul_kernel[grid](a, b, c, *shape, *strides, BM=BM, BN=BN, BK=BK, GROUP=GROUP, ACC=ACC)


_MATMUL_CONFIGS = [
    {"BM": BM, "BN": BN, "BK": BK}
    for BM, BN, BK in (
        (128, 128, 128), (256, 256, 128), (512, 256, 128), (1024, 256, 128), (128, 256, 256), (240, 256, 256),
        (256, 256, 256), (512, 256, 256), (1024, 256, 256), (512, 512, 256), (256, 256, 512), (512, 256, 512),
        (1024, 256, 512), (512, 512, 512), (256, 256, 1024), (512, 256, 1024), (1024, 128, 1024),
    )
]  # fmt: skip


def _dot_instructions(assembly: str) -> str:
    """Which instructions the products of a narrow matmul were compiled to."""
    ways = {"tdpb": "AMX", "vdpbf16ps": "AVX512-BF16", "vpdpbusd": "VNNI"}
    return next((way for name, way in ways.items() if name in assembly), "widened")


def matmul(rounds: int) -> list[Row]:
    """fp32 beside OpenBLAS and torch, bf16 beside torch (oneDNN)."""
    n = 1024
    a, b, c = _normal(n, n), _normal(n, n), np.zeros((n, n), np.float32)
    ours, note = fastest(lambda **config: _matmul(a, b, c, **config), _MATMUL_CONFIGS)
    ours()
    check("matmul fp32", c, a.astype(np.float64) @ b, 1e-4)
    ta, tb, tc = torch.from_numpy(a), torch.from_numpy(b), torch.empty(n, n)
    out = np.empty_like(c)
    row = Row("matmul fp32 1024³", "≥ 0.95 × best peer", 0.95, note=note)
    peers = {"numpy": lambda: np.matmul(a, b, out=out), "torch": lambda: torch.mm(ta, tb, out=tc)}
    first = _gflops(against_peers(row, ours, peers, rounds), 2 * n**3)

    ha, hb, hc = ta.bfloat16(), tb.bfloat16(), torch.empty(n, n, dtype=torch.bfloat16)
    hout = torch.empty_like(hc)
    half, note = fastest(lambda **config: _matmul(ha, hb, hc, **config), _MATMUL_CONFIGS)
    half()
    way = _dot_instructions(K.matmul_kernel.asm["asm"])
    check("matmul bf16", hc, ha.double() @ hb.double(), 2e-2)
    second = Row(f"matmul bf16 1024³, {way}", "≥ 0.9 × torch", 0.9, note=note)
    against_peers(second, half, {"torch": lambda: torch.mm(ha, hb, out=hout)}, rounds)
    return [first, _gflops(second, 2 * n**3)]


def int8(rounds: int) -> list[Row]:
    """int8 products to int32, beside torch's own and its quantized linear layer (oneDNN), whose weights are packed."""
    n = 1024
    a, b = (_rng.integers(-128, 128, (n, n), dtype=np.int8) for _ in range(2))
    c = np.zeros((n, n), np.int32)
    ta, tb = torch.from_numpy(a), torch.from_numpy(b)

    def make(**config: int) -> Callable[[], object]:
        return _matmul(a, b, c, ACC=tl.int32, **config)

    ours, note = fastest(make, _MATMUL_CONFIGS)
    ours()
    check("matmul int8", c, a.astype(np.float64) @ b.astype(np.float64), 0)
    way = _dot_instructions(K.matmul_kernel.asm["asm"])
    torch.backends.quantized.engine = "onednn"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # quantized dtypes are to be replaced
        x = torch.ops.aten._make_per_tensor_quantized_tensor(ta.to(torch.uint8), 0.05, 128)
        weight = torch.ops.aten._make_per_tensor_quantized_tensor(tb.t().contiguous(), 0.05, 0)
        packed = torch.ops.quantized.linear_prepack(weight, None)
    peers = {
        "torch": lambda: torch.ops.aten._int_mm(ta, tb),
        "torch quantized linear": lambda: torch.ops.quantized.linear(x, packed, 20.0, 128),
    }
    row = Row(f"matmul int8 1024³, {way}", "≥ 0.9 × best peer", 0.9, note=note)
    return [_gflops(against_peers(row, ours, peers, rounds), 2 * n**3)]


def int4(rounds: int) -> list[Row]:
    """bf16 activations and 4-bit weights with a scale a group of 128, beside torch's; weights are packed by each."""
    n, group = 1024, 128
    w = torch.from_numpy(_rng.integers(0, 16, (n, n), dtype=np.int32))  # [N, K]
    scales = torch.from_numpy(_rng.random((n // group, n), dtype=np.float32)).bfloat16()
    packed = (w.t()[0::2] | (w.t()[1::2] << 4)).to(torch.uint8).contiguous()  # [K / 2, N], the even row below
    theirs = torch.ops.aten._convert_weight_to_int4pack_for_cpu(w, 2)
    pairs = torch.stack([scales, torch.zeros_like(scales)], 2).contiguous()
    exact = (w.t().double() - 8) * scales.double().repeat_interleave(group, 0)

    def one(m: int) -> Row:
        x, y = torch.from_numpy(_normal(m, n)).bfloat16(), torch.empty(m, n, dtype=torch.bfloat16)

        def make(BM: int, BN: int) -> Callable[[], object]:
            grid = (tz.cdiv(m, BM) * tz.cdiv(n, BN),)
            return lambda: K.int4_matmul_kernel[grid](x, packed, scales, y, m, n, n, BM=BM, BN=BN, BK=group)

        configs = [{"BM": min(m, rows), "BN": columns} for rows in (128, 256, 1024) for columns in (64, 128, 256)]
        ours, note = fastest(make, configs[:3] if m <= 128 else configs)
        ours()
        want = x.double() @ exact
        check("int4 weights", y.double() / want.abs().max(), want / want.abs().max(), 1e-2)
        peers = {"torch": lambda: torch.ops.aten._weight_int4pack_mm_for_cpu(x, theirs, group, pairs)}
        row = Row(f"int4 weights {m}×{n}×{n}", "≥ 0.9 × torch", 0.9, note=note)
        return _gflops(against_peers(row, ours, peers, rounds), 2 * m * n * n)

    return [one(16), one(n)]


def _gbs(row: Row, size: float) -> Row:
    row.rate = f"{size / row.times[OURS] / 1e6:.1f} GB/s"
    return row


_M = _N = 4096
_ROW_BAR = "≥ 1.2 × best peer"


def softmax(rounds: int) -> list[Row]:
    x = _normal(_M, _N)
    y, tx = np.empty_like(x), torch.from_numpy(x)

    def ours() -> object:
        return K.softmax_kernel[(_M,)](x, y, _N, _N, BLOCK=_N)

    def numpy_softmax() -> np.ndarray:
        e = np.exp(x - x.max(1, keepdims=True))
        e /= e.sum(1, keepdims=True)
        return e

    ours()
    check("softmax", y, torch.softmax(tx.double(), 1), 1e-6)
    peers = {"numpy": numpy_softmax, "torch": lambda: torch.softmax(tx, 1)}
    return [_gbs(against_peers(Row("softmax 4096²", _ROW_BAR, 1.2), ours, peers, rounds), 2 * x.nbytes)]


def rmsnorm(rounds: int) -> list[Row]:
    x, w = _normal(_M, _N), _normal(_N)
    y, tx, tw = np.empty_like(x), torch.from_numpy(x), torch.from_numpy(w)

    def ours() -> object:
        return K.rmsnorm_kernel[(_M,)](x, w, y, _N, 1e-5, BLOCK=_N)

    def numpy_rmsnorm() -> np.ndarray:
        return x / np.sqrt(np.einsum("ij,ij->i", x, x)[:, None] / np.float32(_N) + np.float32(1e-5)) * w

    ours()
    check("rmsnorm", y, F.rms_norm(tx.double(), (_N,), tw.double(), 1e-5), 1e-5)
    peers = {"numpy": numpy_rmsnorm, "torch": lambda: F.rms_norm(tx, (_N,), tw, 1e-5)}
    return [_gbs(against_peers(Row("rmsnorm 4096²", _ROW_BAR, 1.2), ours, peers, rounds), 2 * x.nbytes)]


def layernorm(rounds: int) -> list[Row]:
    x, w, b = _normal(_M, _N), _normal(_N), _normal(_N)
    y, tx, tw, tb = np.empty_like(x), *(torch.from_numpy(array) for array in (x, w, b))

    def ours() -> object:
        return K.layernorm_kernel[(_M,)](x, w, b, y, _N, 1e-5, BLOCK=_N)

    def numpy_layernorm() -> np.ndarray:
        d = x - x.mean(1, keepdims=True)
        return d / np.sqrt(np.einsum("ij,ij->i", d, d)[:, None] / np.float32(_N) + np.float32(1e-5)) * w + b

    ours()
    check("layernorm", y, F.layer_norm(tx.double(), (_N,), tw.double(), tb.double(), 1e-5), 1e-5)
    peers = {"numpy": numpy_layernorm, "torch": lambda: F.layer_norm(tx, (_N,), tw, tb, 1e-5)}
    return [_gbs(against_peers(Row("layernorm 4096²", "≥ 1.3 × best peer", 1.3), ours, peers, rounds), 2 * x.nbytes)]


def gelu(rounds: int) -> list[Row]:
    x = _normal(_M, _N)
    y, tx = np.empty_like(x), torch.from_numpy(x)

    def make(BLOCK: int) -> Callable[[], object]:
        return lambda: K.gelu_kernel[(tz.cdiv(x.size, BLOCK),)](x, y, x.size, BLOCK=BLOCK)

    def numpy_gelu() -> np.ndarray:
        """The tanh form: numpy has no erf."""
        return 0.5 * x * (1 + np.tanh(np.float32(0.7978845608) * (x + np.float32(0.044715) * x * x * x)))

    ours, note = fastest(make, [{"BLOCK": 1024}, {"BLOCK": 4096}, {"BLOCK": 16384}])
    ours()
    check("GELU", y, F.gelu(tx.double()), 1e-6)
    peers = {"numpy": numpy_gelu, "torch": lambda: F.gelu(tx)}
    return [_gbs(against_peers(Row("GELU 4096²", _ROW_BAR, 1.2, note=note), ours, peers, rounds), 2 * x.nbytes)]


def attention(rounds: int) -> list[Row]:
    B, H, T, D = 1, 8, 1024, 64
    q, k, v = (_normal(B, H, T, D) for _ in range(3))
    o, lse = np.empty_like(q), np.empty((B, H, T), np.float32)
    tq, tk, tv = (torch.from_numpy(array) for array in (q, k, v))

    def make(BM: int, BN: int) -> Callable[[], object]:
        grid, scale = (T // BM, B * H), D**-0.5
        return lambda: K.attention_kernel[grid](q, k, v, o, lse, scale, T, H, D=D, BM=BM, BN=BN, CAUSAL=True)

    ours, note = fastest(
        make, [{"BM": 64, "BN": 64}, {"BM": 128, "BN": 64}, {"BM": 128, "BN": 128}, {"BM": 64, "BN": 128}]
    )
    ours()
    exact = F.scaled_dot_product_attention(tq.double(), tk.double(), tv.double(), is_causal=True)
    check("attention", o, exact, 1e-5)
    row = Row("causal attention B1 H8 T1024 D64", "≥ 1.0 × torch", 1.0, note=note)
    peers = {"torch": lambda: F.scaled_dot_product_attention(tq, tk, tv, is_causal=True)}
    return [_gflops(against_peers(row, ours, peers, rounds), 2 * B * H * T * T * D)]


def selective_scan(rounds: int) -> list[Row]:
    Bt, L, E, N = 1, 512, 256, 16
    u, dt, A = _normal(Bt, L, E), np.abs(_normal(Bt, L, E)) * np.float32(0.1), -np.abs(_normal(E, N))
    Bm, C, Dp = _normal(Bt, L, N), _normal(Bt, L, N), _normal(E)
    y = np.empty_like(u)
    tensors = [torch.from_numpy(array) for array in (u, dt, A, Bm, C, Dp)]

    def make(BL: int, BE: int) -> Callable[[], object]:
        grid = (E // BE, Bt)
        return lambda: K.selective_scan_kernel[grid](u, dt, A, Bm, C, Dp, y, L, E, N=N, BL=BL, BE=BE)

    def loop(double: bool = False) -> torch.Tensor:
        """The recurrence, a time step at a time, all channels at once."""
        U, DT, a, b, c, d = (tensor.double() if double else tensor for tensor in tensors)
        h = torch.zeros(Bt, E, N, dtype=U.dtype)
        steps = []
        for t in range(L):
            decay = torch.exp(DT[:, t, :, None] * a)
            h = decay * h + (DT[:, t] * U[:, t])[:, :, None] * b[:, t, None, :]
            steps.append((h * c[:, t, None, :]).sum(-1) + U[:, t] * d)
        return torch.stack(steps, 1)

    configs = [{"BL": 16, "BE": 8}, {"BL": 32, "BE": 8}, {"BL": 32, "BE": 16}, {"BL": 64, "BE": 16}]
    ours, note = fastest(make, configs)
    ours()
    check("selective scan", y, loop(double=True), 1e-4)
    row = Row(f"selective scan L{L} E{E} N{N}", "≥ 5 × torch loop", 5.0, note=note)
    return [against_peers(row, ours, {"torch": loop}, rounds)]


def launch(rounds: int) -> list[Row]:
    """Host time of an empty kernel with six arrays."""
    arrays = [np.zeros(16, np.float32) for _ in range(6)]
    kernel = K.empty_kernel[(1,)]
    count = 20000
    kernel(*arrays)
    taken = []
    gc.disable()
    for _ in range(max(rounds, 5)):
        start = time.perf_counter()
        for _ in range(count):
            K.empty_kernel[(1,)](*arrays)
        taken.append((time.perf_counter() - start) / count * 1e6)
    gc.enable()
    row = Row("launch, 6 arrays", "< 5 µs", 5.0, unit="µs", times={OURS: statistics.median(taken)})
    row.passed = row.times[OURS] < row.limit
    return [row]


def importing(rounds: int) -> list[Row]:
    """What `import terrazzo` adds to a process that has numpy."""
    code = "import numpy, time; t = time.perf_counter(); import terrazzo; print(time.perf_counter() - t)"
    taken = [float(subprocess.check_output([sys.executable, "-c", code])) * 1e3 for _ in range(max(rounds, 5))]
    row = Row("import", "< 250 ms", 250.0, times={OURS: statistics.median(taken)})
    row.passed = row.times[OURS] < row.limit
    return [row]


def compiling(rounds: int) -> list[Row]:
    """The slowest of all shipped kernels, cold in a warm process and loaded from the disk cache; then the language's
    own functions, cold.
    """
    import shipped

    cold, cached = shipped.compile_times(rounds)
    slowest, load = max(cold, key=cold.__getitem__), max(cached, key=cached.__getitem__)
    first = Row("slowest cold compile", "< 1 s", 1000.0, times={OURS: cold[slowest]})
    first.note = ", ".join(f"{name} {value:.0f} ms" for name, value in sorted(cold.items(), key=lambda item: -item[1]))
    first.rate = slowest
    second = Row("slowest cached load", "< 5 ms", 5.0, times={OURS: cached[load]}, rate=load)
    import own_functions

    taken = own_functions.compile_times(rounds)
    few, many = (taken.pop(f"{n} lines") for n in own_functions.LINES)
    own = [Row(f"compiling {name}", "< 1 s", 1000.0, times={OURS: value}) for name, value in taken.items()]
    # Twice the source: twice the time, and a little for n log n.
    own.append(Row("compiling 10,000 lines", "≤ 2.2 × 5,000", 2.2 * few, times={OURS: many}, ratio=many / few))
    for row in (first, second, *own):
        row.passed = row.times[OURS] < row.limit
    return [first, second, *own]


ROWS: dict[str, Callable[[int], list[Row]]] = {
    "matmul": matmul,
    "int8": int8,
    "int4": int4,
    "softmax": softmax,
    "rmsnorm": rmsnorm,
    "layernorm": layernorm,
    "gelu": gelu,
    "attention": attention,
    "selective_scan": selective_scan,
    "launch": launch,
    "import": importing,
    "compiling": compiling,
}

# The host's own work: one thread does it.
HOST_ROWS = ("launch", "compiling")
