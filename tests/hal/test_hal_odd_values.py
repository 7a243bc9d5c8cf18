"""Values that nearly belong: arrays for numbers, classes for errors, ranges that overlap."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import wia_lab.hal as wia
from wia_lab import cuda
from wia_lab.hal import ContextConfig, LaunchConfig, compile_kernel, launch_kernel


@cuda.jit
def scale(a, factor):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= factor


@cuda.jit
def starred(*arrays):
    arrays[0][0] = 1


@pytest.fixture
def context() -> Iterator[wia.Context]:
    """On the first of two H100s."""
    with wia.Context(wia.open_machine("2xH100-nvlink")[0]) as made:
        yield made


def tensor(context: wia.Context) -> wia.Tensor:
    """Eight ones."""
    return wia.from_numpy(context, np.ones(8, np.float32))


PAIR = np.array([64, 64])

CASES: dict[str, tuple[Callable[[wia.Context], object], type[wia.HalError], str]] = {
    "array as size": (
        lambda c: c.allocate(PAIR),
        wia.InvalidValue,
        "^allocate: size is a ndarray: give at least one byte",
    ),
    "array of one as size": (
        lambda c: c.allocate(PAIR[:1]),
        wia.InvalidValue,
        "^allocate: size is a ndarray",
    ),
    "array as a grid": (
        lambda _: LaunchConfig(PAIR, 32),
        wia.InvalidValue,
        "^LaunchConfig: grid is array.*: give one to three integers",
    ),
    "array as a count": (
        lambda _: ContextConfig(max_streams=PAIR),
        wia.InvalidValue,
        "^ContextConfig: max_streams is a ndarray: give an integer from 1 on",
    ),
    "a device beyond the only one": (
        lambda _: wia.Device(wia.open_machine("1xH100"), 5),
        wia.InvalidValue,
        "^Device: number is 5: give an integer from 0 to 0$",
    ),
    "a truth value as a device": (
        lambda c: c.device.machine[True],
        wia.UnknownDevice,
        "^device True of .*: it has 0 to 1, one at a time$",
    ),
    "several devices": (
        lambda c: c.device.machine[0:2],
        wia.UnknownDevice,
        "it has 0 to 1, one at a time$",
    ),
    "a copy onto itself": (
        lambda c: c.create_stream().copy(*[c.allocate(64)] * 2),
        wia.InvalidValue,
        "the two overlap, and no device says in which order",
    ),
    "a copy a little further on": (
        lambda c: _shift(c, 20),
        wia.InvalidValue,
        r"^copy of <bytes 0 to 39 of .*> to <bytes 20 to 59 of .*>: the two overlap",
    ),
    "a NumPy array for a kernel": (
        lambda _: launch_kernel(compile_kernel(scale), LaunchConfig(1, 8), np.ones(8), 2.0),
        wia.InvalidValue,
        "^scale: a got ndarray .*: give a number, a tensor, a buffer or a part of one",
    ),
    "an access for a type": (
        lambda c: c.allocate(8, wia.MemoryKind.PINNED).host("read"),
        wia.InvalidValue,
        r"^host: dtype is 'read': name what it is, as in host\(access='read'\)$",
    ),
    "an access that is a list": (
        lambda c: c.allocate(8, wia.MemoryKind.PINNED).host(access=["read"]),
        wia.InvalidValue,
        r"^access is \['read'\]: it is 'read', 'write' or 'both'$",
    ),
    "an integer of 70 bits": (
        lambda c: launch_kernel(compile_kernel(scale), LaunchConfig(1, 8), tensor(c), 1 << 70),
        wia.InvalidValue,
        "^scale: factor got 1180591620717411303424: give an integer from .* which has 64 bits",
    ),
    "a function for a kernel": (
        lambda c: launch_kernel(scale, LaunchConfig(1, 8), tensor(c), 2.0),
        wia.InvalidValue,
        r"^launch_kernel: kernel is the function scale: give compile_kernel\(scale\)$",
    ),
    "a kernel of any number of arrays": (
        lambda _: compile_kernel(starred),
        wia.InvalidValue,
        r"^compile_kernel: starred takes \*arrays: a kernel has so many parameters",
    ),
}


def _shift(context: wia.Context, by: int) -> None:
    buffer = context.allocate(80)
    context.create_stream().copy(buffer[by : 40 + by], buffer[0:40])


@pytest.mark.parametrize("case", CASES)
def test_one_sentence(context: wia.Context, case: str) -> None:
    """Each is refused in one, and the context works as before."""
    call, error, message = CASES[case]
    with pytest.raises(error, match=message) as caught:
        call(context)
    assert "\n" not in str(caught.value)
    assert tensor(context).numpy().sum() == 8


def test_pieces_that_only_touch(context: wia.Context) -> None:
    """Ranges of one buffer that share no byte are copied."""
    _shift(context, 40)


def test_integers_of_numpy(context: wia.Context) -> None:
    """They stand wherever Python's do, 0-dimensional arrays too."""
    assert context.device.machine[np.int64(1)].number == 1
    assert context.allocate(np.array(64)).nbytes == 64


@pytest.mark.virtual("real devices cannot be made to fail")
class TestInjection:
    """Faults are checked where they are asked for, and what checks them may fail itself."""

    @pytest.mark.parametrize("times", [True, 1.5, "2", None, 0, -1, PAIR])
    def test_times(self, context: wia.Context, times: object) -> None:
        with pytest.raises(wia.InvalidValue, match=r"^inject: .* times: give an integer from 1"):
            context.device.machine.inject(0, RuntimeError("x"), times=times)  # type: ignore[arg-type]
        assert tensor(context).numpy().sum() == 8

    @pytest.mark.parametrize("error", [RuntimeError, "boom", None, 3])
    def test_error(self, context: wia.Context, error: object) -> None:
        with pytest.raises(wia.InvalidValue, match=r"^inject: error is .*: give an error, as Dev"):
            context.device.machine.inject(0, error)  # type: ignore[arg-type]

    @pytest.mark.parametrize("matches", ["copy", None, 3])
    def test_matches(self, context: wia.Context, matches: object) -> None:
        with pytest.raises(wia.InvalidValue, match=r"^inject: matches is .*: give a function"):
            context.device.machine.inject(0, RuntimeError("x"), matches=matches)  # type: ignore[arg-type]

    def test_a_function_that_fails(self, context: wia.Context) -> None:
        """The work fails with what it raised, once, and the stream goes on."""

        def wrong(name: str) -> bool:
            raise LookupError(name)

        context.device.machine.inject(0, RuntimeError("x"), matches=wrong, times=5)
        with pytest.raises(LookupError, match="copy to tensor"):
            tensor(context).numpy()
        assert tensor(context).numpy().sum() == 8


HANDLES: dict[str, Callable[[wia.Context], object]] = {
    "machine": lambda c: c.device.machine,
    "device": lambda c: c.device,
    "context": lambda c: c,
    "stream": lambda c: c.create_stream(),
    "event": lambda c: c.create_event(),
    "buffer": lambda c: c.allocate(8),
    "tensor": tensor,
    "pool": wia.MemoryPool,
    "fence": wia.Fence,
    "barrier": lambda c: wia.PeerBarrier([c.create_stream(), c.create_stream()]),
    "profiler": wia.Profiler,
}


@pytest.mark.parametrize("name", HANDLES)
@pytest.mark.parametrize("call", [copy.copy, copy.deepcopy, pickle.dumps])
def test_handles_are_single(context: wia.Context, name: str, call: Callable) -> None:
    """A copy, or a pickle for another process, is refused in one sentence."""
    with pytest.raises(wia.InvalidValue, match="^<.*> cannot be copied or pickled"):
        call(HANDLES[name](context))


class TestTensors:
    """What NumPy's arrays do and tensors do not, and what they do alike."""

    def test_truth(self, context: wia.Context) -> None:
        with pytest.raises(wia.InvalidValue, match="is neither true nor false: ask its numbers"):
            assert tensor(context)

    def test_masks(self, context: wia.Context) -> None:
        with pytest.raises(wia.InvalidValue, match=r"a MaskedArray: give array.filled\(value\)"):
            wia.from_numpy(context, np.ma.array([1.0, 2.0], mask=[0, 1]))

    @pytest.mark.parametrize("index", [slice(None, None, 0), slice(1.5, 3), slice("a", None)])
    def test_slices(self, context: wia.Context, index: slice) -> None:
        with pytest.raises(wia.InvalidValue, match=r"^tensor\[slice.*: give integers, and a step"):
            tensor(context)[index]

    @pytest.mark.parametrize("value", [300, np.nan, -1.5])
    def test_full(self, context: wia.Context, value: float) -> None:
        with pytest.raises(wia.InvalidValue, match="is no int8: give a number that it has, or an"):
            wia.full(context, 3, value, "int8")

    def test_axes_of_one_number(self, context: wia.Context) -> None:
        one = wia.from_numpy(context, np.float32(1))
        with pytest.raises(wia.InvalidValue, match="^softmax: a tensor of one number has no axis"):
            wia.softmax(one)
        with pytest.raises(wia.InvalidValue, match="^concat: a tensor of one number has no axis"):
            wia.concat([one, one])

    @pytest.mark.virtual("real memory has such an interface")
    def test_an_interface_that_is_not_there(self, context: wia.Context) -> None:
        """Libraries that look for it find none; who asks is told why."""
        assert not hasattr(tensor(context), "__cuda_array_interface__")
        with pytest.raises(wia.AccessRefused, match="where libraries of CUDA reach nothing"):
            _ = tensor(context).__cuda_array_interface__

    def test_views_of_nothing(self, context: wia.Context) -> None:
        """A slice beyond the first element of a tensor without any is a tensor like it."""
        empty = wia.zeros(context, (2, 0, 2))[1:, :, 1:]
        assert wia.relu(empty).numpy().shape == (1, 0, 1)
        assert wia.sum(empty).numpy() == 0
        assert empty.part.nbytes == 0


def test_parts_of_parts(context: wia.Context) -> None:
    """Bytes are counted from the part's first."""
    buffer = context.allocate(16, wia.MemoryKind.HOST)
    buffer.host()[:] = range(16)
    part = buffer[4:12][2:5]
    assert part.host().tolist() == [6, 7, 8]
    with pytest.raises(wia.InvalidValue, match="is empty: it has 3 bytes"):
        part[3:]
    with pytest.raises(wia.InvalidValue, match="write a slice of bytes"):
        part[1]


class TestSubmittedFunctions:
    """They get what they declare, and nothing of the HAL."""

    def test_what_is_only_read(self, context: wia.Context) -> None:
        """Bytes that are not among `writes` are read-only, so that a forgotten one is told."""
        stream, buffer = context.create_stream(), context.allocate(8)
        stream.submit(lambda a: a.fill(1), buffer[:4], seconds=1e-6, writes=[buffer[4:]])
        with pytest.raises(ValueError, match="read-only"):
            stream.synchronize()
        stream.submit(lambda a: a.fill(1), buffer, seconds=1e-6, reads=[], writes=[buffer[4:]])
        stream.synchronize()

    @pytest.mark.parametrize(
        "use",
        [
            lambda context, stream: stream.synchronize(),
            lambda context, stream: context.synchronize(),
            lambda context, stream: stream.record(),
            lambda context, stream: wia.zeros(context, 3),
        ],
    )
    def test_the_hal(self, context: wia.Context, use: Callable) -> None:
        """It is refused where it would wait for the function itself, and works again afterwards."""
        stream = context.create_stream()
        stream.submit(lambda: use(context, stream), seconds=1e-6)
        with pytest.raises(wia.InvalidValue, match="in a function that runs on the turn of stream"):
            stream.synchronize()
        assert tensor(context).numpy().sum() == 8
