# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Python's view of the runtime. What the runtime does is tested in C++ (test/unit/Runtime); here, that it arrives."""

import ctypes
import signal
import threading

import pytest
from terrazzo._terrazzo import ir, runtime

KEY = "0123456789abcdef0123456789abcdef"


def make_artifact():
    artifact = runtime.Artifact("null", "any", "kernel", b"code\0bytes")
    artifact.add_arg("pointer", 8, "x", "ptr<f32>", written=True)
    artifact.add_arg("int", 4, "n", "i32")
    artifact.add_arg("float", 2, "scale", "bf16")
    artifact.set_metadata("name", "scale_kernel")
    return artifact


def test_artifact_round_trip():
    artifact = runtime.Artifact(make_artifact().serialize())
    assert (artifact.target, artifact.chip, artifact.entry) == ("null", "any", "kernel")
    assert artifact.code == b"code\0bytes"
    assert artifact.stages == {}
    assert artifact.metadata == {"name": "scale_kernel"}
    assert artifact.lines == []
    assert artifact.args[0] == {"kind": "pointer", "bytes": 8, "name": "x", "dtype": "ptr<f32>", "written": True}
    assert [arg["dtype"] for arg in artifact.args] == ["ptr<f32>", "i32", "bf16"]
    assert (artifact.shared_bytes, artifact.stack_bytes, artifact.registers, artifact.spills) == (0, 0, 0, 0)


def test_artifact_rejects_damage():
    data = bytearray(make_artifact().serialize())
    data[40] ^= 1
    with pytest.raises(runtime.StatusError, match="checksum") as caught:
        runtime.Artifact(bytes(data))
    assert caught.value.status == "corrupt"


def test_artifact_rejects_unknown_kinds():
    with pytest.raises(ValueError, match="'pointer', 'int' or 'float', found 'tensor'"):
        make_artifact().add_arg("tensor", 8, "x", "f32")
    with pytest.raises(ValueError, match="1 to 8 bytes, found 9"):
        make_artifact().add_arg("int", 9, "x", "i72")


def test_drivers():
    assert {"cpu", "null"} <= set(runtime.drivers())
    with pytest.raises(runtime.StatusError, match="found 'abacus'") as caught:
        runtime.Driver("abacus")
    assert caught.value.status == "not found"


@pytest.mark.parametrize("name", ["cpu", "null"])
def test_driver_memory_and_events(name):
    driver = runtime.Driver(name)
    assert driver.name == name
    assert driver.device_count == 1
    assert driver.properties()["warp_size"] == 1
    values = (ctypes.c_int * 4)(1, 2, 3, 4)
    back = (ctypes.c_int * 4)()
    memory = driver.alloc(16)
    driver.copy(memory, ctypes.addressof(values), 16)
    driver.copy(ctypes.addressof(back), memory, 16)
    driver.free(memory)
    assert list(back) == [1, 2, 3, 4]
    start, stop = driver.event(), driver.event()
    start.record()
    stop.record()
    stop.synchronize()
    assert start.elapsed(stop) >= 0
    with pytest.raises(runtime.StatusError, match="device from 0 to 0, found 1"):
        driver.properties(1)


def test_kernel_launch():
    kernel = runtime.Driver("null").load(make_artifact().serialize())
    kernel.launch((2, 3, 4), (0, -1, 0.5))
    kernel.launch((0, 1, 1), (0, 2**32 - 1, 0.5))
    with pytest.raises(runtime.StatusError, match=r"found \(-1, 1, 1\)") as caught:
        kernel.launch((-1, 1, 1), (0, 1, 0.5))
    assert caught.value.status == "invalid argument"
    with pytest.raises(runtime.StatusError, match="expected 3 values, found 1"):
        kernel.launch((1, 1, 1), (0,))
    with pytest.raises(ValueError, match="3 numbers, found 1"):
        kernel.launch((1,), (0, 1, 0.5))
    with pytest.raises((TypeError, RuntimeError)):
        kernel.launch((1, 1, 1), (0, 1, "half"))


def test_cpu_refuses_other_targets():
    with pytest.raises(runtime.StatusError, match="target 'cpu', found one for 'null'"):
        runtime.Driver("cpu").load(make_artifact().serialize())


def test_cache(tmp_path):
    cache = runtime.Cache(str(tmp_path / "cache"))
    assert cache.get(KEY) is None
    cache.put(KEY, b"some\0bytes")
    assert cache.get(KEY) == b"some\0bytes"
    entry = tmp_path / "cache" / f"{KEY}.tz"
    entry.write_bytes(entry.read_bytes()[:-1])
    with pytest.raises(runtime.StatusError, match="has been removed"):
        cache.get(KEY)
    assert cache.get(KEY) is None
    stats = cache.stats()
    assert (stats["hits"], stats["misses"], stats["rejected"], stats["entries"]) == (1, 2, 1, 0)
    cache.put(KEY, b"x")
    cache.clear()
    assert cache.get(KEY) is None


def test_cache_refuses_shared_directories(tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    with pytest.raises(runtime.StatusError, match="chmod go-w"):
        runtime.Cache(str(shared))


def test_threads():
    before = runtime.threads()
    runtime.set_threads(3)
    assert runtime.threads() == 3
    with pytest.raises(runtime.StatusError, match="found -1"):
        runtime.set_threads(-1)
    runtime.set_threads(0)
    assert runtime.threads() == before


def test_errors_belong_to_their_thread():
    texts = []

    def fail(name):
        for _ in range(200):
            with pytest.raises(runtime.StatusError) as caught:
                runtime.Driver(name)
            texts.append(name in str(caught.value))

    threads = [threading.Thread(target=fail, args=(f"driver{i}",)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(texts) == 800 and all(texts)


def test_interrupt_handler_can_be_installed_again():
    """It must not take itself for the handler before it, which it passes the signal on to: Python's."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # A job in the background starts with none.
    runtime.install_interrupt_handler()
    runtime.install_interrupt_handler()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_text_that_nests_too_deep_is_refused():
    """Before the parser's stack overflows, wherever text comes in."""
    with pytest.raises(ir.DiagnosticError, match="brackets nest deeper than 500 levels") as caught:
        ir.compile("\n" + "module {" * 5000 + "}" * 5000, "cpu")
    assert (caught.value.line, caught.value.col) == (2, 4008)
    builder = ir.Builder()
    with pytest.raises(ir.DiagnosticError, match="brackets nest deeper than 500 levels"):
        builder.set_module_attr("tile.deep", "[" * 100000)
    with pytest.raises(ir.DiagnosticError, match="brackets nest deeper than 500 levels"):
        builder.func("kernel", ["tuple<" * 100000])
