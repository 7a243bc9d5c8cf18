"""Tensors: creation, views, lifetimes, and the way to NumPy and DLPack."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import wia_lab.hal as wia
from wia_lab import HazardError, hazards
from wia_lab.hal import MemoryKind
from wia_lab.hal.tensor_layout import DTYPES, Layout

HOST_KINDS = [kind for kind in MemoryKind if kind.host_access]


@pytest.fixture
def context() -> Iterator[wia.Context]:
    """On an H100."""
    made = wia.Context(wia.open_machine("H100")[0])
    yield made
    with hazards("off"):
        made.close()


class TestNumPy:
    """Values come back as they went, whatever their type, shape, order and memory."""

    @pytest.mark.parametrize("dtype", DTYPES, ids=str)
    @pytest.mark.parametrize("kind", list(MemoryKind))
    def test_round_trip(self, context: wia.Context, dtype: np.dtype, kind: MemoryKind) -> None:
        values = np.arange(105).reshape(3, 5, 7).astype(dtype)
        tensor = wia.from_numpy(context, values, memory=kind)
        assert (tensor.shape, tensor.dtype, tensor.memory) == ((3, 5, 7), dtype, kind)
        back = tensor.numpy()
        assert back.dtype == dtype
        assert np.array_equal(back, values)

    @pytest.mark.parametrize("shape", [(), (1,), (0,), (3, 0, 2), (1, 1, 1)])
    @pytest.mark.parametrize("kind", list(MemoryKind))
    def test_small_shapes(
        self, context: wia.Context, shape: tuple[int, ...], kind: MemoryKind
    ) -> None:
        values = np.full(shape, 2.5, np.float32)
        back = wia.from_numpy(context, values, memory=kind).numpy()
        assert back.shape == shape
        assert np.array_equal(back, values)

    @pytest.mark.parametrize(
        "array",
        [
            np.arange(12.0).reshape(3, 4).T,
            np.arange(24.0)[::-2],
            np.asfortranarray(np.arange(6.0).reshape(2, 3)),
            np.broadcast_to(np.float64(3), (2, 3)),
            np.arange(5, dtype=">i4"),
            np.array([np.nan, np.inf, -np.inf, -0.0]),
        ],
        ids=["transposed", "backwards", "Fortran", "broadcast", "big-endian", "special values"],
    )
    def test_any_array(self, context: wia.Context, array: np.ndarray) -> None:
        back = wia.from_numpy(context, array).numpy()
        assert np.array_equal(back, array, equal_nan=array.dtype.kind == "f")
        assert np.array_equal(np.signbit(back), np.signbit(array))

    def test_the_source_may_change_at_once(self, context: wia.Context) -> None:
        values = np.arange(1000.0)
        tensor = wia.from_numpy(context, values)
        values[:] = 0
        assert np.array_equal(tensor.numpy(), np.arange(1000.0))

    def test_the_copy_is_ones_own(self, context: wia.Context) -> None:
        tensor = wia.from_numpy(context, np.arange(4.0), memory=MemoryKind.UNIFIED)
        tensor.numpy()[:] = 0
        assert tensor.numpy().tolist() == [0, 1, 2, 3]

    def test_near_a_socket(self) -> None:
        """Pinned tensors lie where they are asked for; device memory has no socket."""
        with wia.Context(wia.open_machine("2xT4-pcie-2numa")[1]) as context:
            node = context.device.numa_node
            pinned = wia.from_numpy(context, [1.0], memory=MemoryKind.PINNED, numa_node=node)
            assert pinned.buffer.numa_node == node == 1
            with pytest.raises(wia.InvalidValue, match="only host and pinned memory"):
                wia.empty(context, 3, numa_node=0)

    @pytest.mark.parametrize("values", [[True], ["a"], [1j], [object()], ["2020-01-01"]])
    def test_other_types(self, context: wia.Context, values: list) -> None:
        before = context.memory_in_use
        with pytest.raises(wia.InvalidValue, match="is no type of a tensor's elements: choose"):
            wia.from_numpy(context, np.array(values))
        assert context.memory_in_use == before

    def test_asarray(self, context: wia.Context) -> None:
        tensor = wia.from_numpy(context, np.arange(4.0))
        assert np.asarray(tensor).tolist() == [0, 1, 2, 3]
        assert np.asarray(tensor, np.int32).dtype == np.int32
        with pytest.raises(wia.InvalidValue, match=r"ask tensor\.host\(\)"):
            np.array(tensor, copy=False)

    def test_not_iterated(self, context: wia.Context) -> None:
        with pytest.raises(TypeError):
            list(wia.from_numpy(context, np.arange(4.0)))  # type: ignore[call-overload]

    @pytest.mark.parametrize("kind", HOST_KINDS)
    def test_host_view(self, context: wia.Context, kind: MemoryKind) -> None:
        """`host` gives the memory itself, of a view too."""
        tensor = wia.from_numpy(context, np.arange(12.0).reshape(3, 4), memory=kind)
        wia.transpose(tensor)[1].host()[:] = -1
        assert tensor.numpy()[:, 1].tolist() == [-1, -1, -1]
        with pytest.raises(wia.InvalidValue, match="access is 'all'"):
            tensor.host("all")  # type: ignore[arg-type]

    def test_device_memory_has_no_host_view(self, context: wia.Context) -> None:
        with pytest.raises(wia.AccessRefused, match="which the host cannot reach"):
            wia.zeros(context, 3).host()


class TestDLPack:
    """Memory that the host reaches is shared with others; a virtual device's is not."""

    @pytest.mark.parametrize("kind", HOST_KINDS)
    def test_shared(self, context: wia.Context, kind: MemoryKind) -> None:
        tensor = wia.from_numpy(context, np.arange(6.0).reshape(2, 3), memory=kind)
        shared = np.from_dlpack(wia.transpose(tensor))
        assert shared.tolist() == [[0, 3], [1, 4], [2, 5]]
        tensor.host()[0, 1] = 7
        assert shared[1, 0] == 7

    def test_refused(self, context: wia.Context) -> None:
        tensor = wia.zeros(context, 3)
        for ask in (tensor.__dlpack__, tensor.__dlpack_device__):
            with pytest.raises(wia.AccessRefused, match=r"share tensor\.numpy\(\) instead"):
                ask()

    def test_from(self, context: wia.Context) -> None:
        source = np.arange(6, dtype=np.int16).reshape(2, 3)[:, ::2]
        assert wia.from_dlpack(context, source).numpy().tolist() == [[0, 2], [3, 5]]

    @pytest.mark.parametrize("source", [[1.0], "text", None])
    def test_from_nothing(self, context: wia.Context, source: object) -> None:
        with pytest.raises(wia.InvalidValue, match="gives nothing that the host can read"):
            wia.from_dlpack(context, source)


class TestViews:
    """Reshape, transpose, slice and indices share the buffer, and agree with NumPy."""

    @given(data=st.data())
    def test_indices(self, data: st.DataObject) -> None:
        shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5))
        index = data.draw(hnp.basic_indices(shape))
        array = np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape)
        layout = Layout.contiguous(shape, array.dtype).indexed(index)
        low, high = layout.extent
        seen = layout.array(array.reshape(-1).view(np.uint8)[low:high])
        assert np.array_equal(seen, array[index])

    @given(data=st.data())
    def test_reshape(self, data: st.DataObject) -> None:
        """A view where NumPy makes one too; else the sentence that says what to do."""
        base = np.arange(2 * 3 * 4 * 5, dtype=np.int16).reshape(2, 3, 4, 5)
        axes = data.draw(st.permutations(range(4)))
        steps = tuple(slice(None, None, data.draw(st.sampled_from([1, 2, -1]))) for _ in range(4))
        array = base.transpose(axes)[steps]
        factors = data.draw(st.permutations(_factors(array.size)))
        cut = data.draw(st.integers(0, len(factors)))
        shape = (*factors[:cut], int(np.prod(factors[cut:], dtype=int)))
        layout = Layout.contiguous(base.shape, base.dtype).transposed(axes).indexed(steps)
        expected = array.reshape(shape)
        if not np.shares_memory(expected, base):
            with pytest.raises(wia.InvalidValue, match="without a copy"):
                layout.reshaped(shape)
            return
        layout = layout.reshaped(shape)
        low, high = layout.extent
        assert np.array_equal(layout.array(base.reshape(-1).view(np.uint8)[low:high]), expected)

    def test_nothing_is_copied(self, context: wia.Context) -> None:
        tensor = wia.from_numpy(context, np.arange(24.0).reshape(2, 3, 4))
        in_use = context.memory_in_use
        views = [
            wia.reshape(tensor, (6, -1)),
            wia.transpose(tensor, (1, -1, 0)),
            wia.slice(tensor, (0, 1), (2, 3)),
            tensor[..., ::-2],
        ]
        assert all(view.buffer is tensor.buffer for view in views)
        assert context.memory_in_use == in_use
        whole = np.arange(24.0).reshape(2, 3, 4)
        for view, expected in zip(
            views,
            (whole.reshape(6, 4), whole.transpose(1, 2, 0), whole[:, 1:3], whole[..., ::-2]),
            strict=True,
        ):
            assert np.array_equal(view.numpy(), expected)

    def test_contiguous(self, context: wia.Context) -> None:
        tensor = wia.from_numpy(context, np.arange(6.0).reshape(2, 3))
        turned = wia.transpose(tensor)
        assert not turned.is_contiguous
        copied = wia.contiguous(turned)
        assert copied.is_contiguous
        assert copied.buffer is not tensor.buffer
        assert wia.reshape(copied, 6).numpy().tolist() == [0, 3, 1, 4, 2, 5]
        assert wia.contiguous(tensor).buffer is tensor.buffer

    @pytest.mark.parametrize(
        ("attempt", "text"),
        [
            (lambda t: wia.reshape(t, (5, -1)), "6 elements, of shape (2, 3), do not fill (5, -1)"),
            (lambda t: wia.reshape(t, (-1, -1)), "do not fill (-1, -1)"),
            (lambda t: wia.reshape(t, (-2, -3)), "do not fill (-2, -3)"),
            (lambda t: wia.reshape(t, 2.5), "shape 2.5: give integers"),
            (lambda t: wia.reshape(wia.transpose(t), 6), "reshape contiguous(tensor)"),
            (lambda t: wia.transpose(t, (0, 0)), "name each of 0 to 1 once"),
            (lambda t: wia.transpose(t, (0,)), "name each of 0 to 1 once"),
            (lambda t: wia.transpose(t, (0, 2)), "name each of 0 to 1 once"),
            (lambda t: t[2], "index 2 along axis 0, which has 2 elements: give -2 to 1"),
            (lambda t: t[0, 0, 0], "at most one index for each of its 2 axes"),
            (lambda t: t[..., ...], "and one ..."),
            (lambda t: t[[0, 1]], "an array of indices would need a copy"),
            (lambda t: t[None], "give integers, slices or ..."),
            (lambda t: t[True], "give integers, slices or ..."),
            (lambda t: t[0:0][0], "there is none to give"),
            (lambda t: wia.slice(t, 1, 3), "1 to 3 along axis 0, which has 2 elements"),
            (lambda t: wia.slice(t, (0, 2), (1, 1)), "2 to 1 along axis 1"),
            (lambda t: wia.slice(t, -1, 1), "-1 to 1 along axis 0"),
            (lambda t: wia.slice(t, (0, 0), 1), "2 starts and 1 ends for 2 axes"),
            (lambda t: wia.slice(t, (0, 0, 0), (1, 1, 1)), "3 starts and 3 ends for 2 axes"),
        ],
    )
    def test_refused(self, context: wia.Context, attempt: object, text: str) -> None:
        tensor = wia.from_numpy(context, np.arange(6.0).reshape(2, 3))
        with pytest.raises(wia.InvalidValue) as refusal:
            attempt(tensor)  # type: ignore[operator]
        assert text in str(refusal.value)
        assert "\n" not in str(refusal.value)
        assert tensor.numpy().tolist() == [[0, 1, 2], [3, 4, 5]]


class TestLifetime:
    """Release is deterministic, and a released tensor says so."""

    def test_with(self, context: wia.Context) -> None:
        with wia.zeros(context, (256, 256)) as tensor:
            assert context.memory_in_use == 256 * 256 * 4
        assert context.memory_in_use == 0
        tensor.close()
        assert "released on line" in repr(tensor)

    @pytest.mark.parametrize(
        "use",
        [
            lambda t: t.numpy(),
            lambda t: t[0],
            lambda t: t.buffer,
            lambda t: t.part,
            lambda t: t.host(),
            lambda t: wia.reshape(t, 6),
            lambda t: wia.add(t, 1),
            lambda t: wia.matmul(t, t),
            lambda t: wia.concat([t]),
            lambda t: t.__dlpack__(),
        ],
    )
    def test_used_after_release(self, context: wia.Context, use: object) -> None:
        tensor = wia.zeros(context, (2, 3))
        tensor.close()
        with pytest.raises(
            wia.Closed,
            match=r"full, \(2, 3\) of float32, is used after it was released on line \d+: release",
        ):
            use(tensor)  # type: ignore[operator]

    def test_the_last_sharer_frees(self, context: wia.Context) -> None:
        tensor = wia.from_numpy(context, np.arange(6.0))
        view = wia.reshape(tensor, (2, 3))
        tensor.close()
        assert context.memory_in_use > 0
        assert view.numpy().tolist() == [[0, 1, 2], [3, 4, 5]]
        view.close()
        assert context.memory_in_use == 0

    def test_a_dropped_view_holds_nothing(self, context: wia.Context) -> None:
        tensor = wia.from_numpy(context, np.arange(6.0))
        wia.reshape(tensor, (2, 3)).numpy()
        tensor.close()
        assert context.memory_in_use == 0

    def test_with_its_context(self, context: wia.Context) -> None:
        with wia.Context(context.device) as other:
            tensor = wia.zeros(other, 3)
        assert tensor.is_closed
        with pytest.raises(wia.Closed, match="is used after it was released"):
            tensor.numpy()

    def test_all_that_was_dropped_is_collected(self, context: wia.Context) -> None:
        """Python gives a dropped buffer's address to the next: none may be forgotten."""
        for _ in range(20):
            wia.add(wia.zeros(context, 256), 1)
        assert context.memory_in_use == 40 * 1024
        assert context.collect() == 40 * 1024

    def test_a_refused_operation_leaves_nothing(self, context: wia.Context) -> None:
        tensor = wia.from_numpy(context, np.arange(4.0), memory=MemoryKind.PINNED)
        with pytest.raises(wia.AccessRefused, match="pinned memory, which kernels cannot reach"):
            wia.relu(tensor)
        assert context.memory_in_use == 0

    def test_what_was_dropped_makes_room(self) -> None:
        """A chain of results may be longer than memory is."""
        config = wia.ContextConfig(memory_limit="1MiB")
        with wia.Context(wia.open_machine("T4")[0], config) as context:
            tensor = wia.zeros(context, 1 << 16)
            for _ in range(20):
                tensor = wia.add(tensor, 1)
            assert set(tensor.numpy()) == {20}

    def test_a_refused_copy_leaves_nothing(self, context: wia.Context) -> None:
        stream = context.create_stream()
        stream.close()
        with pytest.raises(wia.Closed):
            wia.from_numpy(context, np.ones(3), stream=stream)
        with pytest.raises(wia.Closed):
            wia.zeros(context, 3, stream=stream)
        assert context.memory_in_use == 0

    def test_out_of_memory(self) -> None:
        config = wia.ContextConfig(memory_limit=1024 + 256)
        with wia.Context(wia.open_machine("T4")[0], config) as context:
            tensor = wia.zeros(context, 200)
            with pytest.raises(wia.OutOfMemory):
                wia.relu(tensor)
            assert wia.sum(tensor).numpy() == 0


class TestCreation:
    """Shapes and types are checked where a tensor is made."""

    def test_empty_is_poisoned(self, context: wia.Context) -> None:
        assert set(wia.empty(context, 3, np.uint8).numpy()) == {0xFB}

    def test_full(self, context: wia.Context) -> None:
        assert wia.full(context, (2, 1), -3, np.int8).numpy().tolist() == [[-3], [-3]]
        assert wia.full(context, 2, np.nan, np.float16).numpy().view(np.uint16)[0] == 0x7E00
        assert wia.zeros(context, (0, 3)).numpy().shape == (0, 3)

    @pytest.mark.parametrize(
        ("shape", "dtype", "text"),
        [
            ((-1,), "float32", "shape (-1,): give at most 32 lengths, each 0 or more"),
            ((1,) * 33, "float32", "give at most 32 lengths"),
            (2.0, "float32", "shape 2.0: give integers"),
            ("ab", "float32", "shape 'ab': give integers"),
            (3, "float23", "'float23' is no type of a tensor's elements"),
            (3, None, "None is no type of a tensor's elements"),
            (3, "complex64", "'complex64' is no type of a tensor's elements"),
        ],
    )
    def test_refused(self, context: wia.Context, shape: object, dtype: object, text: str) -> None:
        with pytest.raises(wia.InvalidValue) as refusal:
            wia.empty(context, shape, dtype)  # type: ignore[arg-type]
        assert text in str(refusal.value)

    @pytest.mark.parametrize(
        ("value", "dtype"),
        [(300, "uint8"), (-1, "uint64"), (0.5, "int32"), (np.nan, "int32"), (1e6, "float16")],
    )
    def test_a_value_that_the_type_has_not(
        self, context: wia.Context, value: float, dtype: str
    ) -> None:
        with pytest.raises(wia.InvalidValue, match=rf"full: {value!r} is no {dtype}"):
            wia.full(context, 3, value, dtype)
        assert context.memory_in_use == 0


class TestWrongArguments:
    """What stands in another's place is named; nothing is left behind."""

    @pytest.mark.parametrize(
        ("attempt", "text"),
        [
            (lambda c, t: wia.from_numpy(np.ones(3), c), "a ndarray stands where a Context is"),
            (lambda c, t: wia.zeros(3, c), "a int stands where a Context is expected"),
            (lambda c, t: wia.default_stream(t), "a Tensor stands where a Context is expected"),
            (lambda c, t: wia.zeros(c, 3, memory="device"), "memory is 'device': choose MemoryKi"),
            (lambda c, t: wia.zeros(c, 3, stream=c), "stream is a Context: give one that"),
            (lambda c, t: wia.relu(t, stream=0), "stream is a int: give one that"),
            (lambda c, t: wia.matmul(t, t, stream="s"), "stream is a str: give one that"),
            (lambda c, t: t.numpy(stream=c), "stream is a Context: give one that"),
            (lambda c, t: wia.transpose(t, 0), "transpose: (0,) for a tensor of 2 axes"),
            (lambda c, t: wia.transpose(t, (0, 1.5)), "transpose: axes (0, 1.5): give integers"),
            (lambda c, t: wia.slice(t, 0.5, 1), "slice: start 0.5: give integers"),
            (lambda c, t: wia.slice(t, 0, "1"), "slice: end '1': give integers"),
            (lambda c, t: wia.concat(t), "concat: a Tensor: give a list, as in [a, b]"),
            (lambda c, t: wia.batch_norm(t, *[t[0]] * 4, epsilon="1"), "epsilon is '1'"),
        ],
    )
    def test_refused(self, context: wia.Context, attempt: object, text: str) -> None:
        tensor = wia.zeros(context, (2, 2))
        in_use = context.memory_in_use
        with pytest.raises(wia.InvalidValue) as refusal:
            attempt(context, tensor)  # type: ignore[operator]
        assert text in str(refusal.value)
        assert context.memory_in_use == in_use


class TestStreams:
    """Work is done on its stream's turn; what nothing orders is named."""

    def test_a_missing_wait(self, context: wia.Context) -> None:
        first, second = context.create_stream(), context.create_stream()
        tensor = wia.from_numpy(context, np.ones(1 << 16, np.float32), stream=first)
        doubled = wia.add(tensor, tensor, stream=first)
        with pytest.raises(HazardError, match="add"):
            wia.relu(doubled, stream=second).numpy(stream=second)

    def test_a_wait(self, context: wia.Context) -> None:
        first, second = context.create_stream(), context.create_stream()
        tensor = wia.from_numpy(context, np.ones(1 << 16, np.float32), stream=first)
        doubled = wia.add(tensor, tensor, stream=first)
        second.wait(first)
        assert set(wia.relu(doubled, stream=second).numpy(stream=second)) == {2}

    def test_the_host_goes_on(self, context: wia.Context) -> None:
        """A product is still running when the call has returned."""
        a = wia.zeros(context, (512, 512))
        wia.matmul(a, a)
        stream = wia.default_stream(context)
        assert not stream.is_done
        stream.synchronize()
        assert stream.is_done

    def test_time_passes(self, context: wia.Context) -> None:
        """As long as the choice says it would."""
        a = wia.zeros(context, (512, 512))
        stream = context.create_stream()
        wia.default_stream(context).synchronize()
        begin = stream.record()
        product = wia.matmul(a, a, stream=stream)
        end = stream.record()
        stream.synchronize()
        assert product.choice is not None
        reckoned = product.choice.seconds[product.choice.algorithm]
        assert end.seconds_since(begin) == pytest.approx(reckoned, rel=0.2)

    def test_one_default_stream(self, context: wia.Context) -> None:
        assert wia.default_stream(context) is wia.default_stream(context)
        with wia.Context(context.device) as other:
            assert wia.default_stream(other) is not wia.default_stream(context)

    def test_another_machine(self, context: wia.Context) -> None:
        tensor = wia.zeros(context, 3)
        with (
            wia.Context(wia.open_machine("T4")[0]) as other,
            pytest.raises(wia.ForeignHandle, match="is of another machine"),
        ):
            wia.relu(tensor, stream=other.create_stream())

    def test_peers(self) -> None:
        """A kernel reaches a peer's tensor once its context was let do so."""
        machine = wia.open_machine("2xH100-nvlink")
        with wia.Context(machine[0]) as here, wia.Context(machine[1]) as there:
            tensor = wia.from_numpy(there, np.arange(3.0))
            wia.default_stream(there).synchronize()
            with pytest.raises(wia.AccessRefused, match="cannot reach"):
                wia.add(tensor, 1, stream=wia.default_stream(here))
            here.enable_peer_access(there)
            moved = wia.add(tensor, 1, stream=wia.default_stream(here))
            assert moved.context is here
            assert moved.numpy().tolist() == [1, 2, 3]

    @pytest.mark.parametrize("kind", [MemoryKind.UNIFIED, MemoryKind.MANAGED])
    def test_results_migrate_as_their_inputs(self, context: wia.Context, kind: MemoryKind) -> None:
        tensor = wia.from_numpy(context, np.arange(3.0), memory=kind)
        doubled = wia.mul(tensor, 2)
        assert doubled.memory is kind
        assert doubled.numpy().tolist() == [0, 2, 4]

    def test_a_fault_comes_to_light(self, context: wia.Context) -> None:
        """An operation is work like any other: it can be let fail."""
        machine = context.device.machine
        tensor = wia.zeros(context, 3)
        machine.inject(0, wia.InvalidValue("broken"), matches=lambda name: name == "relu")
        result = wia.relu(tensor)
        with pytest.raises(wia.InvalidValue, match="broken"):
            result.numpy()


def _factors(number: int) -> list[int]:
    """Prime factors, in rising order."""
    found, divisor = [], 2
    while number > 1:
        while number % divisor == 0:
            found.append(divisor)
            number //= divisor
        divisor += 1
    return found
