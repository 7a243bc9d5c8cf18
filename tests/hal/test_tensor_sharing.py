"""Tensors: values that come from NumPy and DLPack, and go there."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import wia_lab.hal as wia
from wia_lab import hazards
from wia_lab.hal import MemoryKind
from wia_lab.hal.tensor_layout import DTYPES

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

    @pytest.mark.virtual("a device of another kind")
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

    @pytest.mark.virtual("memory that CUDA's libraries do not reach")
    def test_refused(self, context: wia.Context) -> None:
        tensor = wia.zeros(context, 3)
        for ask in (tensor.__dlpack__, tensor.__dlpack_device__):
            with pytest.raises(wia.AccessRefused, match=r"share that, or tensor\.numpy\(\)"):
                ask()

    def test_from(self, context: wia.Context) -> None:
        source = np.arange(6, dtype=np.int16).reshape(2, 3)[:, ::2]
        assert wia.from_dlpack(context, source).numpy().tolist() == [[0, 2], [3, 5]]

    @pytest.mark.parametrize("source", [[1.0], "text", None])
    def test_from_nothing(self, context: wia.Context, source: object) -> None:
        with pytest.raises(wia.InvalidValue, match="gives nothing that the host can read"):
            wia.from_dlpack(context, source)
