# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Clocks for testing.do_bench: the host's for work that is done on return, a device's events for queued work."""

import sys
import time

from . import devices, statuses, targets
from ._terrazzo import runtime

CACHE_BYTES = 256 << 20  # more than the last cache of any GPU


class HostTimer:
    """The host's clock."""

    @staticmethod
    def _once(fn):
        start = time.perf_counter()
        fn()
        return (time.perf_counter() - start) * 1e3

    def estimate(self, fn, milliseconds):
        """Runs fn for so long; gives the least time that it took."""
        best = self._once(fn)
        stop = time.perf_counter() + milliseconds / 1e3
        while time.perf_counter() < stop:
            best = min(best, self._once(fn))
        return best

    def times(self, fn, count, grad_to_none=()):
        """Milliseconds of each of `count` calls."""
        found = []
        for _ in range(count):
            for tensor in grad_to_none:
                tensor.grad = None
            found.append(self._once(fn))
        return found

    def best(self, fn, count=20):
        """The least of `count` times after one call more."""
        return min(self.times(fn, count + 1)[1:])


class DeviceTimer:
    """Events of a device; subclasses make them and overwrite the cache."""

    def event(self):
        """An event that takes its time."""
        raise TypeError("a DeviceTimer has events by its subclass")

    def record(self, event):
        """Marks the point where the stream is now."""
        event.record()

    def elapsed(self, start, stop):
        """Milliseconds between two events."""
        return start.elapsed(stop)

    def clear_cache(self):
        """Overwrites the device's last cache."""
        raise TypeError("a DeviceTimer clears the cache by its subclass")

    def synchronize(self):
        """Waits for the device."""
        raise TypeError("a DeviceTimer waits by its subclass")

    def _mean(self, fn, count):
        start, stop = self.event(), self.event()
        self.record(start)
        for _ in range(count):
            fn()
        self.record(stop)
        self.synchronize()
        return self.elapsed(start, stop) / count

    def estimate(self, fn, milliseconds):
        """Runs fn for about so long; gives the mean time, the one of overwriting the cache included."""

        def call():
            self.clear_cache()
            fn()

        mean = self._mean(call, 5)
        count = max(1, min(int(milliseconds / max(mean, 1e-4)), 1_000_000))
        return self._mean(fn, count)

    def times(self, fn, count, grad_to_none=()):
        """Milliseconds of each of `count` calls."""
        pairs = [(self.event(), self.event()) for _ in range(count)]
        for start, stop in pairs:
            for tensor in grad_to_none:
                tensor.grad = None
            self.clear_cache()
            self.record(start)
            fn()
            self.record(stop)
        self.synchronize()
        return [self.elapsed(start, stop) for start, stop in pairs]


class TorchTimer(DeviceTimer):
    """Events of torch, on its current stream."""

    def __init__(self):
        self._cuda = sys.modules["torch"].cuda
        self._cache = sys.modules["torch"].empty(CACHE_BYTES, dtype=sys.modules["torch"].int8, device="cuda")

    def event(self):
        """An event of torch."""
        return self._cuda.Event(enable_timing=True)

    def elapsed(self, start, stop):
        """Milliseconds between two events."""
        return start.elapsed_time(stop)

    def clear_cache(self):
        """Writes to 256 MiB."""
        self._cache.zero_()

    def synchronize(self):
        """Waits for torch's device; a kernel that failed raises."""
        self._cuda.synchronize()
        devices.synchronize()


class DriverTimer(DeviceTimer):
    """Events of our own driver, on the stream of the launches that are timed."""

    def __init__(self, name, device, stream):
        from .device import DeviceArray

        self._driver, self._device, self._stream = devices.opened(name), device, stream
        place = f"{name}:{device}"
        self._cache = DeviceArray((CACHE_BYTES,), "int8", place)

    def event(self):
        """An event of the driver."""
        with statuses.statuses():
            return self._driver.event(self._device)

    def record(self, event):
        """Marks the point where the stream is now."""
        with statuses.statuses():
            event.record(self._stream)

    def clear_cache(self):
        """Writes to 256 MiB."""
        with statuses.statuses():
            self._driver.fill(self._cache.data_ptr(), 0, CACHE_BYTES, self._device, self._stream)

    def synchronize(self):
        """Waits for the device; a kernel that failed raises."""
        with statuses.statuses():
            self._driver.synchronize(self._device, self._stream)


def timer_of(fn):
    """The timer for a function, which is called once to see where it works."""
    before = runtime.last_gpu_launch()[0]
    fn()
    count, name, device, stream = runtime.last_gpu_launch()
    torch = sys.modules.get("torch")
    is_cpu = (targets.wanted() or "").partition(":")[0] == "cpu"
    if torch is not None and torch.cuda.is_initialized() and not is_cpu:
        return TorchTimer()
    return DriverTimer(name, device, stream) if count != before else HostTimer()
