"""Tensors: whose turn work on them is, and what is told when nobody waits."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import wia_lab.hal as wia
from wia_lab import HazardError, hazards
from wia_lab.hal import MemoryKind


@pytest.fixture
def context() -> Iterator[wia.Context]:
    """On an H100."""
    made = wia.Context(wia.open_machine("H100")[0])
    yield made
    with hazards("off"):
        made.close()


class TestStreams:
    """Work is done on its stream's turn; what nothing orders is named."""

    @pytest.mark.virtual("hazards, which only virtual machines find")
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

    @pytest.mark.virtual("times of the simulated clock")
    def test_the_host_goes_on(self, context: wia.Context) -> None:
        """A product is still running when the call has returned."""
        a = wia.zeros(context, (512, 512))
        wia.matmul(a, a)
        stream = wia.default_stream(context)
        assert not stream.is_done
        stream.synchronize()
        assert stream.is_done

    @pytest.mark.virtual("times of the simulated clock")
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

    @pytest.mark.virtual("faults that are injected")
    def test_a_fault_comes_to_light(self, context: wia.Context) -> None:
        """An operation is work like any other: it can be let fail."""
        machine = context.device.machine
        tensor = wia.zeros(context, 3)
        machine.inject(0, wia.InvalidValue("broken"), matches=lambda name: name == "relu")
        result = wia.relu(tensor)
        with pytest.raises(wia.InvalidValue, match="broken"):
            result.numpy()
