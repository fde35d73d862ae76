# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measuring and comparing: do_bench, Benchmark and perf_report, assert_close."""

import functools
import importlib
import math
import os
import subprocess
from typing import Any

import numpy as np

from .device import DeviceArray, device_array
from .errors import ArgumentError, TerrazzoError
from .timers import HostTimer
from .timers import timer_of as _timer_of


def _quantile(sorted_times, q):
    """The quantile with linear interpolation."""
    if not 0 <= q <= 1:
        raise TerrazzoError(f"a quantile is between 0 and 1, found {q!r}")
    at = q * (len(sorted_times) - 1)
    low = math.floor(at)
    high = min(low + 1, len(sorted_times) - 1)
    return sorted_times[low] + (sorted_times[high] - sorted_times[low]) * (at - low)


def _summary(times, quantiles, return_mode):
    times = sorted(times)
    if quantiles is not None:
        found = [_quantile(times, q) for q in quantiles]
        return found[0] if len(found) == 1 else found
    if return_mode == "all":
        return times
    if return_mode == "mean":
        return sum(times) / len(times)
    return {"min": times[0], "max": times[-1], "median": _quantile(times, 0.5)}[return_mode]


def do_bench(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean"):
    """Milliseconds that `fn()` takes, after `warmup` milliseconds of running, over `rep` milliseconds.

    `quantiles` gives these; else `return_mode` is "min", "max", "mean", "median" or "all". `grad_to_none` are tensors
    whose `.grad` is dropped before each call. Where `fn` works on a GPU, the device's own events time it, and the
    device's last cache is overwritten before each call.
    """
    _check_mode(return_mode)
    timer = _timer_of(fn)
    estimate = max(timer.estimate(fn, warmup), 1e-4)
    times = timer.times(fn, max(1, min(int(rep / estimate), 1_000_000)), grad_to_none or ())
    return _summary(times, quantiles, return_mode)


def _check_mode(return_mode):
    if return_mode not in ("min", "max", "mean", "median", "all"):
        raise TerrazzoError(f"return_mode is {return_mode!r}, expected min, max, mean, median or all")


def do_bench_cudagraph(fn, rep=20, grad_to_none=None, quantiles=None, return_mode="mean"):
    """As do_bench, of `fn` as a CUDA graph of torch: without what the host takes to launch it.

    Where `fn` works on the CPU it is do_bench.
    """
    _check_mode(return_mode)
    if isinstance(_timer_of(fn), HostTimer):
        return do_bench(fn, 0, rep, grad_to_none, quantiles, return_mode)
    import torch

    for tensor in grad_to_none or ():
        tensor.grad = None
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        fn()
    return do_bench(graph.replay, 5, rep, None, quantiles, return_mode)


def do_bench_proton(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean"):
    """As do_bench."""
    return do_bench(fn, warmup, rep, grad_to_none, quantiles, return_mode)


def to_device(x, device=None):
    """A copy of an array, or of each array in a list, tuple or dictionary, on a device.

    Arrays of numpy become a terrazzo.DeviceArray, tensors of torch tensors. `device` is such as "cuda:1"; left out, it
    is the GPU at hand, or where there is none the CPU, and then arrays stay as they are.
    """
    from .device import place_of

    if isinstance(x, (list, tuple)):
        moved = [to_device(item, device) for item in x]
        return type(x)(*moved) if hasattr(x, "_fields") else type(x)(moved)
    if isinstance(x, dict):
        return {key: to_device(item, device) for key, item in x.items()}
    name, number = place_of(device)
    if hasattr(x, "detach"):
        return x.to("cpu" if name == "cpu" else f"cuda:{number}")
    if not isinstance(x, (np.ndarray, DeviceArray)):
        raise ArgumentError(f"to_device takes arrays, found an object of type '{type(x).__name__}'")
    if name == "cpu":
        return x.numpy() if isinstance(x, DeviceArray) and x.target != "cpu" else x
    return device_array(x.numpy() if isinstance(x, DeviceArray) else x, device=f"{name}:{number}")


def to_host(x):
    """A numpy array with the values of an array wherever it is."""
    return _as_array(x)


def _as_array(x):
    if isinstance(x, DeviceArray):
        x = x.numpy()
    if hasattr(x, "detach"):
        x = x.detach().cpu()
        x = x.float() if str(x.dtype) in ("torch.bfloat16", "torch.float16") or "float8" in str(x.dtype) else x
        return x.numpy()
    if hasattr(x, "__cuda_array_interface__") and hasattr(x, "get"):  # CuPy's
        x = x.get()
    x = np.asarray(x)
    return x.astype(np.float32) if x.dtype.name.startswith(("bfloat", "float8", "float16")) else x


def _tolerance(given: Any, dtype, default) -> float:
    if given is None:
        return default
    found: Any = given(dtype) if callable(given) else given
    return found


def assert_close(x, y, atol=None, rtol=None, err_msg=""):
    """Raises AssertionError unless |x - y| <= atol + rtol * |y|, for arrays, tensors and numbers.

    The tolerances (default 1e-2 and 0) may be functions of the dtype.
    """
    kind = getattr(x, "dtype", None)
    atol = _tolerance(atol, kind, 1e-2)
    rtol = _tolerance(rtol, kind, 0.0)
    x, y = _as_array(x), _as_array(y)
    if x.size > 1 or y.size > 1:
        np.testing.assert_allclose(x, y, atol=atol, rtol=rtol, equal_nan=True, err_msg=err_msg)
    elif not np.allclose(x, y, atol=atol, rtol=rtol, equal_nan=True):
        raise AssertionError(f"{err_msg} {x} is not close to {y} (atol={atol}, rtol={rtol})")


def nvsmi(attributes):
    """The integers that nvidia-smi reports of the first GPU, such as of ["clocks.current.sm", "clocks.max.sm"]."""
    command = ["nvidia-smi", "-i", "0", f"--query-gpu={','.join(attributes)}", "--format=csv,noheader,nounits"]
    try:
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise TerrazzoError(f"nvidia-smi does not say {', '.join(attributes)}: {error}") from None
    return [int(part) for part in text.strip().split(",")]


class Benchmark:
    """A plot: `x_names` take `x_vals`, there is a line for each of `line_vals` of `line_arg`, `args` are fixed."""

    def __init__(
        self,
        x_names,
        x_vals,
        line_arg,
        line_vals,
        line_names,
        plot_name,
        args,
        xlabel="",
        ylabel="",
        x_log=False,
        y_log=False,
        styles=None,
        color=None,
    ):
        self.x_names, self.x_vals = x_names, x_vals
        self.line_arg, self.line_vals, self.line_names = line_arg, line_vals, line_names
        self.plot_name, self.args = plot_name, args
        self.xlabel, self.ylabel = xlabel, ylabel
        self.x_log, self.y_log = x_log, y_log
        self.styles = styles


class Mark:
    """A function that is measured as its Benchmarks say."""

    def __init__(self, fn, benchmarks):
        self.fn = fn
        self.benchmarks = benchmarks

    def _table(self, bench, kwargs):
        """[{column: value}]: the line's value, its low and high end."""
        rows = []
        for x in bench.x_vals:
            xs = list(x) if isinstance(x, (list, tuple)) else [x] * len(bench.x_names)
            if len(xs) != len(bench.x_names):
                raise TerrazzoError(
                    f"benchmark '{bench.plot_name}': {x!r} gives {len(xs)} values, expected "
                    f"{len(bench.x_names)} ({', '.join(bench.x_names)})"
                )
            row = dict(zip(bench.x_names, xs))
            for value, name in zip(bench.line_vals, bench.line_names):
                found = self.fn(**dict(zip(bench.x_names, xs)), **{bench.line_arg: value}, **bench.args, **kwargs)
                middle, low, high = found if isinstance(found, (list, tuple)) else (found, None, None)
                row[name], row[f"{name}-min"], row[f"{name}-max"] = middle, low, high
            rows.append(row)
        return rows

    def _plot(self, bench, rows, path, show):
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots()
        xs = [row[bench.x_names[0]] for row in rows]
        for i, name in enumerate(bench.line_names):
            color, style = bench.styles[i] if bench.styles else (None, None)
            axes.plot(xs, [row[name] for row in rows], label=name, color=color, linestyle=style)
            if all(row[f"{name}-min"] is not None for row in rows):
                axes.fill_between(xs, [r[f"{name}-min"] for r in rows], [r[f"{name}-max"] for r in rows], alpha=0.15)
        axes.legend()
        axes.set(
            xlabel=bench.xlabel or bench.x_names[0],
            ylabel=bench.ylabel,
            xscale="log" if bench.x_log else "linear",
            yscale="log" if bench.y_log else "linear",
        )
        if path:
            figure.savefig(os.path.join(path, f"{bench.plot_name}.png"))
        if show:
            plt.show()
        plt.close(figure)

    def run(self, show_plots=False, print_data=False, save_path="", return_df=False, **kwargs):
        """Measures; prints a table, and saves it and the plots (with matplotlib) under `save_path`."""
        benches = self.benchmarks if isinstance(self.benchmarks, (list, tuple)) else [self.benchmarks]
        tables = []
        for bench in benches:
            rows = self._table(bench, kwargs)
            columns = [*bench.x_names, *bench.line_names]
            if print_data:
                print(f"{bench.plot_name}:")
                print("  ".join(f"{c:>14}" for c in columns))
                for row in rows:
                    print(
                        "  ".join(
                            f"{row[c]:>14.6g}" if isinstance(row[c], (int, float)) else f"{row[c]!s:>14}"
                            for c in columns
                        )
                    )
            if save_path:
                os.makedirs(save_path, exist_ok=True)
                with open(os.path.join(save_path, f"{bench.plot_name}.csv"), "w") as file:
                    file.writelines(
                        ",".join(map(str, line)) + "\n"
                        for line in [columns, *([row[c] for c in columns] for row in rows)]
                    )
            if save_path or show_plots:
                try:
                    self._plot(bench, rows, save_path, show_plots)
                except ImportError:
                    print(f"{bench.plot_name}: no plot, matplotlib is not installed")
            tables.append(_frame(rows, columns) if return_df else rows)
        if return_df:
            return tables if isinstance(self.benchmarks, (list, tuple)) else tables[0]
        return None


def _frame(rows, columns):
    return importlib.import_module("pandas").DataFrame([{c: row[c] for c in columns} for row in rows])


def perf_report(benchmarks):
    """Makes a function one that measures itself: perf_report(Benchmark(...))(f).run(print_data=True)."""
    return functools.partial(Mark, benchmarks=benchmarks)


def _least(fn) -> float:
    times: Any = do_bench(fn, 20, 60, return_mode="min")
    return times


def get_dram_gbps(device=None):
    """Bytes per nanosecond that memory delivers, measured by copying 256 MiB."""
    from .device import place_of

    name, number = place_of(device)
    if name != "cpu":
        source = DeviceArray(1 << 28, "int8", f"{name}:{number}")
        other = DeviceArray(1 << 28, "int8", f"{name}:{number}")
        # The copy waits, so the host's clock is right.
        return 2 * source.nbytes / (HostTimer().best(lambda: other.copy_from(source)) * 1e6)
    source = np.ones(32 << 20, np.float64)
    target = np.empty_like(source)
    return 2 * source.nbytes / (_least(lambda: np.copyto(target, source)) * 1e6)


def get_max_tensorcore_tflops(dtype, clock_rate=None, device=None):
    """Teraflops of matrix multiplication: what torch reaches on a GPU, else what numpy does."""
    from .device import place_of

    name, number = place_of(device)
    if name != "cpu":
        import torch

        kind = dtype if isinstance(dtype, torch.dtype) else torch.bfloat16
        a = torch.randn(8192, 8192, device=f"cuda:{number}").to(kind)
        return 2 * 8192**3 / (_least(lambda: a @ a) * 1e9)
    a = np.ones((1024, 1024), np.float32)
    return 2 * 1024**3 / (_least(lambda: a @ a) * 1e9)


get_max_simd_tflops = get_max_tensorcore_tflops
