"""Tensors: how they are made, until when they last, and what nobody can make."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import wia_lab.hal as wia
from wia_lab import hazards
from wia_lab.hal import MemoryKind


@pytest.fixture
def context() -> Iterator[wia.Context]:
    """On an H100."""
    made = wia.Context(wia.open_machine("H100")[0])
    yield made
    with hazards("off"):
        made.close()


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

    @pytest.mark.virtual("poison in new memory")
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
