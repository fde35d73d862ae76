# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where a call runs: by its arrays, its options and the process; and what is refused. No device is asked."""

import numpy as np
import pytest
import terrazzo as tz
import terrazzo.language as tl
import torch
from terrazzo._terrazzo import runtime

ONE = (1,)


@tz.jit
def pair(x_ptr, y_ptr, n, BLOCK: tl.constexpr = 16):
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


@tz.jit
def alone(n):
    pass


def where(*arguments, kernel=pair, **options):
    """(target, key) of a call."""
    key, _, _, target = kernel._specialization(arguments, options)
    return target, key


def capsule(target, device, address=64, dtype=(2, 32)):
    return runtime.make_dlpack(object(), address, *dtype, [4], target, device)


class Dlpack:
    """An array that only knows DLPack; it notes the stream that it was asked for."""

    def __init__(self, target, device):
        self.target, self.number, self.streams = target, device, []

    def __dlpack_device__(self):
        return {"cpu": 1, "cuda": 2, "hip": 10}[self.target], self.number

    def __dlpack__(self, *, stream=None, max_version=None):
        self.streams.append(stream)
        return capsule(self.target, self.number)


@pytest.mark.parametrize(("array", "target"), [
    (lambda f, i: np.zeros(4, np.float32), "cpu"),
    (lambda f, i: torch.zeros(4), "cpu"),
    (lambda f, i: f("cuda:0"), "cuda"),
    (lambda f, i: f("hip:0"), "hip"),
    (lambda f, i: i(0), "cuda"),
    (lambda f, i: i(), "cuda"),
    (lambda f, i: capsule("cpu", 0), "cpu"),
    (lambda f, i: capsule("cuda", 1), "cuda"),
    (lambda f, i: capsule("hip", 0), "hip"),
    (lambda f, i: Dlpack("cuda", 0), "cuda"),
    (lambda f, i: tz.reinterpret(f("cuda:0"), tl.int32), "cuda"),
    (lambda f, i: tz.reinterpret(i(3), tl.int32), "cuda"),
])  # fmt: skip
def test_arrays_say_it(array, target, fake, interface):
    x = array(fake, interface)
    assert where(x, x, 4)[0] == target


def test_calls_without_arrays_follow_the_process():
    assert where(4, kernel=alone)[0] == tz.devices.default_name()
    with tz.targets.using("hip:gfx942"):
        assert where(4, kernel=alone)[0] == "hip"
        assert where(4, kernel=alone, target="cuda")[0] == "cuda"
    with tz.targets.using("cpu"):
        assert where(4, kernel=alone)[0] == "cpu"


def test_each_device_and_target_has_a_key_of_its_own(fake):
    def key(place, **options):
        return where(fake(place), fake(place), 4, **options)[1]

    keys = {key("cuda:0"), key("cuda:1"), key("hip:0"), key("cuda:0", target="cuda:sm_80")}
    assert len(keys) == 4
    assert key("cuda:1") == key("cuda:1", stream=7) == key("cuda:1", device=1)
    with tz.targets.using("cuda:sm_80"):
        old = key("cuda:0")
    with tz.targets.using("cuda:sm_90a"):
        assert len({old, key("cuda:0")} | keys) == 6


def test_interface_and_fakes_of_one_device_agree(fake, interface):
    assert where(fake("cuda:1"), interface(1), 4)[1] == where(interface(1), fake("cuda:1"), 4)[1]


def test_alignment_is_known(fake):
    for address, divisible in ((64, True), (68, False)):
        _, specs, _, _ = pair._specialization((fake("cuda:0", address=address), fake("cuda:0"), 4), {})
        assert specs[0] == ("ptr", "fp32", divisible, False)


@pytest.mark.parametrize("host", [lambda: np.zeros(4, np.float32), lambda: torch.zeros(4), lambda: capsule("cpu", 0)],
                         ids=["numpy", "torch", "dlpack"])  # fmt: skip
@pytest.mark.parametrize("target", ["cuda", "hip:gfx942"])
def test_host_memory_is_refused_by_a_gpu(host, target):
    name = target.partition(":")[0]
    with pytest.raises(
        tz.ArgumentError, match=rf"argument 'x_ptr': .* in host memory, expected {name}, which"
    ) as caught:
        pair[ONE](host(), host(), 4, target=target)
    assert "to_device" in str(caught.value)
    assert "nothing is copied silently" in str(caught.value)
    with tz.targets.using(target), pytest.raises(tz.ArgumentError, match="argument 'x_ptr': .* in host memory"):
        pair[ONE](host(), host(), 4)


def test_a_gpu_array_is_refused_by_the_cpu(fake, interface):
    for array in (fake("cuda:1"), interface(1), capsule("cuda", 1)):
        with pytest.raises(
            tz.ArgumentError, match="argument 'x_ptr': .* on device cuda:1, expected cpu, which the tar"
        ):
            pair[ONE](array, array, 4, target="cpu")


def test_the_array_in_the_wrong_place_is_named(fake):
    gpu, host = fake("cuda:0"), np.zeros(4, np.float32)
    with pytest.raises(tz.ArgumentError, match="argument 'y_ptr': .*host memory, but argument 'x_ptr' is on cuda:0"):
        pair[ONE](gpu, host, 4)
    with pytest.raises(tz.ArgumentError, match="argument 'x_ptr': .*host memory, but argument 'y_ptr' is on cuda:0"):
        pair[ONE](host, gpu, 4)


def test_devices_and_vendors_do_not_mix(fake):
    with pytest.raises(tz.ArgumentError, match="argument 'y_ptr': .* on cuda:1, but argument 'x_ptr' is on cuda:0"):
        pair[ONE](fake("cuda:0"), fake("cuda:1"), 4)
    with pytest.raises(tz.ArgumentError, match="argument 'y_ptr': .* on hip:0, but argument 'x_ptr' is on cuda:0"):
        pair[ONE](fake("cuda:0"), fake("hip:0"), 4)
    with pytest.raises(tz.ArgumentError, match="argument 'x_ptr': .* on device hip:0, expected cuda, which the target"):
        pair[ONE](fake("hip:0"), fake("hip:0"), 4, target="cuda")
    with pytest.raises(tz.ArgumentError, match="argument 'x_ptr': .* on device cuda:0, expected cuda:1, which the tar"):
        pair[ONE](fake("cuda:0"), fake("cuda:0"), 4, target="cuda", device=1)


def test_an_array_of_a_list_is_found(fake):
    with pytest.raises(tz.ArgumentError, match=r"argument 'y_ptr\[1\]': .* in host memory, but argument 'x_ptr' is on"):
        pair[ONE](fake("cuda:0"), (fake("cuda:0"), np.zeros(4, np.float32)), 4)


def test_other_devices_have_no_target():
    with pytest.raises(tz.ArgumentError, match="argument 'x_ptr': .* on device meta, which no target is for"):
        pair[ONE](torch.empty(4, device="meta"), torch.empty(4, device="meta"), 4)


def test_dlpack_is_asked_for_the_stream_of_the_launch():
    for stream, asked in ((None, 1), (1234, 1234)):
        x = Dlpack("cuda", 0)
        where(x, x, 4, stream=stream)
        assert x.streams == [asked] * 2
    x = Dlpack("hip", 0)
    where(x, x, 4)
    assert x.streams == [0, 0]
    x = Dlpack("cpu", 0)
    where(x, x, 4)
    assert x.streams == [None, None]


def test_streams_of_other_libraries(fake):
    for stream in (0, 77, type("S", (), {"cuda_stream": 5})(), type("S", (), {"ptr": 6})(), None):
        assert where(fake(), fake(), 4, stream=stream)[0] == "cuda"
    for stream in ("main", 1.5, object()):
        with pytest.raises(tz.ArgumentError, match="option 'stream' is an object of type"):
            where(fake(), fake(), 4, stream=stream)


def test_parameters_hide_options(fake):
    @tz.jit
    def kernel(target, stream, device):
        pass

    key, specs, options, name = kernel._specialization((fake("hip:0"), 5, 6), {})
    assert (name, options) == ("hip", {})


def test_capsules_give_memory_back():
    class Owner:
        alive = 0

        def __init__(self):
            Owner.alive += 1

        def __del__(self):
            Owner.alive -= 1

    array = tz.device_array(np.arange(6, dtype=np.int32).reshape(2, 3), device="cpu")
    taken = np.from_dlpack(array)
    del array
    assert taken.tolist() == [[0, 1, 2], [3, 4, 5]]
    held = runtime.make_dlpack(Owner(), 64, 2, 32, [1], "cpu", 0)
    assert Owner.alive == 1
    del held
    assert Owner.alive == 0


def test_device_arrays_of_the_host():
    x = tz.device_array(np.arange(8, dtype=np.float32), device="cpu")
    y = tz.device_array((8,), "float32", "cpu").zero_()
    assert (x.shape, x.nbytes, x.stride(), x.strides, x.ndim, x.device) == ((8,), 32, (1,), (4,), 1, "cpu")
    pair[ONE](x, y, 5)
    assert y.numpy().tolist() == [0, 1, 2, 3, 4, 0, 0, 0]
    assert x.clone().numpy().tolist() == list(range(8))
    assert tz.device_array((3, 2), tl.bfloat16, "cpu").itemsize == 2
    assert tz.device_array(4, "bfloat16", "cpu").numpy().dtype.itemsize == 2
    assert torch.from_dlpack(x).tolist() == list(range(8))
    with pytest.raises(tz.ArgumentError, match="an array of 12 bytes, expected 32"):
        x.copy_from(np.zeros(3, np.float32))
    with pytest.raises(tz.ArgumentError, match="'cpu:x' is no device"):
        tz.device_array(4, device="cpu:x")
    with pytest.raises(tz.ArgumentError, match="is no type of elements"):
        tz.device_array(4, "quux", "cpu")


def test_to_device_moves_what_it_is_given():
    x = np.zeros(3)
    assert tz.testing.to_device(x, "cpu") is x
    assert tz.testing.to_device({"a": [x, (x,)]}, "cpu") == {"a": [x, (x,)]}
    with pytest.raises(tz.ArgumentError, match="to_device takes arrays, found an object of type 'int'"):
        tz.testing.to_device(5, "cpu")
