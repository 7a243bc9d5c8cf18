"""Closing tells what failed and closes all the same; nothing that was dropped holds memory."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import wia_lab.hal as wia
from wia_lab.errors import HazardError
from wia_lab.hal import ContextConfig, MemoryKind, MemoryPool, Profiler

RACES = pytest.mark.virtual("hazards are found on virtual machines")
TIMES = pytest.mark.virtual("of the simulated clock")
FAULTS = pytest.mark.virtual("real devices cannot be made to fail")


@pytest.fixture
def machine() -> wia.Machine:
    """One H100."""
    return wia.open_machine("1xH100")


@pytest.fixture
def context(machine: wia.Machine) -> Iterator[wia.Context]:
    """On it."""
    with wia.Context(machine[0]) as made:
        yield made


def race(context: wia.Context) -> wia.Buffer:
    """Two streams use one buffer, and nothing orders them."""
    first, second = context.create_stream(), context.create_stream()
    shared, out = context.allocate(64, name="shared"), context.allocate(64, MemoryKind.PINNED)
    first.submit(lambda a: a.fill(1), shared, seconds=1e-3)
    second.copy(out, shared)
    return shared


class TestFailures:
    """What failed in a stream is raised once everything has been given back."""

    @RACES
    def test_a_context_is_closed_by_its_with(self, machine: wia.Machine) -> None:
        """An exclusive context that ends with a race leaves the device free for the next one."""
        with (
            pytest.raises(HazardError, match="nothing orders the two"),
            wia.Context(machine[0], ContextConfig(exclusive=True)) as context,
        ):
            race(context)
        assert context.is_closed
        assert not machine[0].contexts
        assert machine[0].memory.statistics.live_bytes == 0
        wia.Context(machine[0], ContextConfig(exclusive=True)).close()

    @RACES
    def test_a_buffer_is_freed_by_its_with(self, context: wia.Context) -> None:
        with pytest.raises(HazardError), race(context) as shared:
            pass
        assert shared.is_closed
        assert context.memory_in_use == 0

    @RACES
    def test_a_pool_is_closed_by_its_with(self, context: wia.Context) -> None:
        pool = MemoryPool(context)
        kept = pool.allocate(64)
        race(context)
        with pytest.raises(HazardError), pool:
            pass
        assert pool.is_closed
        assert kept.is_closed
        assert not context.pools

    @RACES
    def test_a_profiler_stops_with_its_with(self, context: wia.Context) -> None:
        with pytest.raises(HazardError), Profiler(context) as profiler:
            race(context)
        assert not profiler.is_running
        assert profiler.report().kernel_stats

    def test_of_several_streams(self, machine: wia.Machine) -> None:
        """The first is raised, and the others are told with it."""
        context = wia.Context(machine[0])
        for error in (KeyError("one"), LookupError("two")):
            context.create_stream().submit(_raiser(error), seconds=0.0)
        with pytest.raises(KeyError, match="one") as caught:
            context.close()
        assert caught.value.__notes__ == ["another stream failed, too: LookupError: two"]
        assert context.is_closed

    @FAULTS
    def test_a_loss_that_closing_finds(self, machine: wia.Machine) -> None:
        """The context is closed, and the device still knows what it held."""
        machine.inject(0, wia.DeviceLost("fell off the bus"))
        context = wia.Context(machine[0])
        weights = context.allocate(64, name="weights")
        context.create_stream().submit(lambda: None, seconds=0.0)
        with pytest.raises(wia.DeviceLost, match="fell off the bus"):
            context.close()
        assert context.is_closed
        assert weights.is_closed
        assert machine[0].reset() == ["weights"]
        with wia.Context(machine[0]) as context:
            assert wia.zeros(context, 3).numpy().tolist() == [0, 0, 0]
        assert machine[0].reset() == []


def _raiser(error: Exception) -> object:
    def failing() -> None:
        raise error

    return failing


class TestClosedStreams:
    """What they were given is still done, and waited for, and told."""

    def test_a_pool_waits_for_them(self, context: wia.Context) -> None:
        """Memory that a closed stream still uses goes to nobody else before it has ended."""
        with MemoryPool(context) as pool, context.create_stream() as later:
            first, stream = pool.allocate(256), context.create_stream()
            stream.submit(lambda a: a.fill(1), first, seconds=1e-3)
            stream.close()
            first.close()
            second, host = pool.allocate(256), context.allocate(256, MemoryKind.PINNED)
            host.host()[:] = 7
            later.copy(second, host)
            later.synchronize()
            later.copy(host, second)
            later.synchronize()
            assert set(host.host().tolist()) == {7}

    def test_a_context_waits_for_them(self, context: wia.Context) -> None:
        host = context.allocate(64, MemoryKind.PINNED)
        with context.create_stream() as stream:
            source = context.allocate(64)
            stream.submit(lambda a: a.fill(3), source, seconds=1e-3)
            stream.copy(host, source)
        context.synchronize()
        assert host.host("u1", "read").tolist() == [3] * 64

    @pytest.mark.parametrize("wait", [wia.Context.synchronize, wia.Context.close])
    def test_their_failures(self, machine: wia.Machine, wait: Callable) -> None:
        context = wia.Context(machine[0])
        with context.create_stream() as stream:
            stream.submit(_raiser(LookupError("in a closed stream")), seconds=1e-6)
        with pytest.raises(LookupError, match="in a closed stream"):
            wait(context)
        context.close()

    @TIMES
    def test_the_timeout(self, context: wia.Context) -> None:
        with context.create_stream() as stream:
            stream.submit(lambda: None, seconds=10.0)
        with pytest.raises(wia.TimedOut, match=r"closed stream of .* within 1\.0 s: wait longer"):
            context.synchronize(timeout=1)
        context.synchronize()


class TestDropped:
    """Copies to and from NumPy, and results that nobody keeps, hold no memory."""

    def test_host_copies(self, context: wia.Context) -> None:
        tensor = wia.from_numpy(context, np.ones(1000, np.float32))
        for _ in range(5):
            tensor.numpy()
            wia.from_numpy(context, np.ones(1000)).close()
        assert len(context._buffers) == 1  # noqa: SLF001 - buffers are dropped, and not listed

    @pytest.mark.virtual("real memory is freed by collect()")
    def test_results(self, context: wia.Context) -> None:
        """The bytes of a virtual device go when the work on them has ended, without collect()."""
        tensor = wia.zeros(context, 1000)
        bytes_of = weakref.ref(tensor.buffer.storage.array)
        result = wia.relu(tensor)
        del tensor
        context.synchronize()
        assert bytes_of() is None
        assert context.memory_in_use == 2 * 4096
        assert context.collect() == 4096
        assert result.numpy().sum() == 0

    def test_launches_stay_prepared(self, context: wia.Context) -> None:
        """Host memory is nothing that kernels reach: freeing some undoes no preparation."""
        tensor = wia.zeros(context, 10)
        before = context.generation
        tensor.numpy()
        context.allocate(64, MemoryKind.PINNED).close()
        assert context.generation == before
        tensor.close()
        assert context.generation > before


class TestProfiler:
    """It ends once, and only what has begun ends."""

    def test_never_begun(self, context: wia.Context) -> None:
        with pytest.raises(wia.NotReady, match="the profiler is not running: begin"):
            Profiler(context).stop()

    def test_twice(self, context: wia.Context) -> None:
        """The second end is refused, and another profiler of the device goes on."""
        first, second = Profiler(context), Profiler(context)
        first.begin()
        second.begin()
        first.stop()
        with pytest.raises(wia.NotReady, match="not running"):
            first.stop()
        wia.zeros(context, 10).numpy()
        second.stop()
        assert [each.name for each in second.report().kernel_stats] == ["fill"]

    @pytest.mark.parametrize("path", ["", ".", "missing/report.json"])
    def test_where_nothing_can_be_written(
        self, context: wia.Context, path: str, tmp_path: object, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(str(tmp_path))
        with Profiler(context) as profiler:
            pass
        with pytest.raises(wia.InvalidValue, match=r"^save(_trace)?: .*: give .* file"):
            profiler.save(path)
        with pytest.raises(wia.InvalidValue, match=r"^save_trace: "):
            profiler.save_trace(path)


@RACES
class TestTwoErrors:
    """The error that ended a `with` is raised; what closing finds after it is a note on it."""

    def test_of_a_context(self, machine: wia.Machine) -> None:
        def fail() -> None:
            with wia.Context(machine[0]) as context:
                race(context)
                raise LookupError("in the body")

        with pytest.raises(LookupError, match="in the body") as caught:
            fail()
        (note,) = caught.value.__notes__
        assert note.startswith("closing <context on <device 0 of 1xH100: H100>, closed> failed")
        assert "nothing orders the two" in note
        assert not machine[0].contexts

    def test_of_a_buffer(self, context: wia.Context) -> None:
        def fail() -> None:
            with race(context):
                raise LookupError("in the body")

        with pytest.raises(LookupError, match="in the body") as caught:
            fail()
        assert "HazardError" in caught.value.__notes__[0]
        assert context.memory_in_use == 0
