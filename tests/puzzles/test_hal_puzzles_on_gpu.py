"""The solutions of puzzles on the HAL, on this computer's GPUs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wia_lab.hal as wia
from wia_lab import cuda
from wia_lab.cuda.choice import describe_backend
from wia_lab.puzzles.mutants import notebook_answer

SOLUTIONS = Path(__file__).resolve().parents[2] / "solutions"

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.filterwarnings("ignore:.*Grid size"),
    pytest.mark.skipif(describe_backend().backend != "hardware", reason="needs an NVIDIA GPU"),
]


def solution(notebook: str, name: str) -> Any:
    """An object of the class in a solution's answer cell."""
    return notebook_answer(SOLUTIONS / notebook, name)()


def test_device_query() -> None:
    """The device that has the room is chosen, its limits hold, and memory is as it says."""
    answer, machine = solution("02-device-query.ipynb", "DeviceQuery"), wia.open_machine("hardware")
    device = answer.choose(machine, 1 << 30, ["supports_float16", "supports_unified_memory"])
    assert device.machine is machine
    with pytest.raises(LookupError):
        answer.choose(machine, 1 << 50, [])
    with answer.open(device, 1 << 26, 2, 5.0) as context:
        assert (context.config.max_streams, context.timeout) == (2, 5.0)
        host, kernels = answer.place(context, 1 << 20)
        host.host(np.float32, "write")[:] = 3
        assert kernels.kind.kernel_access
        with pytest.raises(wia.OutOfMemory):
            context.allocate(1 << 27)


def test_three_levels() -> None:
    """Three ways to one product, each as near as its precision allows."""
    answer = solution("03-three-levels.ipynb", "ThreeLevels")
    rng = np.random.default_rng(3)
    a, b = rng.uniform(-1, 1, (130, 67)), rng.uniform(-1, 1, (67, 129))
    exact = a @ b
    with wia.Context(wia.open_machine("hardware")[0]) as context:
        left, right = (wia.from_numpy(context, each.astype(np.float32)) for each in (a, b))
        for way, allowed in (("simple", 1e-5), ("configured", 2e-2), ("own", 1e-5)):
            made = getattr(answer, way)(left, right)
            assert np.abs(made.numpy() - exact).max() < allowed
        assert answer.configured(left, right).choice.algorithm == "PIPELINE"


@cuda.jit
def doubled(out, a):
    """Reads `a`, which may lie on another device."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] * 2


@pytest.mark.parametrize("reads", [1, 5])
def test_peer_to_peer(reads: int) -> None:
    """Kernels of device 1 read what device 0 has, in place or copied; the host gets it too."""
    machine = wia.open_machine("hardware")
    if len(machine) < 2:
        pytest.skip("needs 2 devices")
    answer = solution("24-peer-to-peer.ipynb", "PeerReader")
    values = np.arange(100_003, dtype=np.uint8)
    with wia.Context(machine[0]) as owner, wia.Context(machine[1]) as reader:
        data, producing = owner.allocate(values.size), owner.create_stream()
        source = owner.allocate(values.size, wia.MemoryKind.PINNED)
        source.host()[:] = values
        producing.copy(data, source)
        ready = producing.record()
        stream = reader.create_stream()
        shared = answer.share(data, ready, stream, reads)
        assert (shared is data) == (reads == 1 and machine[1].can_access_peer(machine[0]))
        out = wia.zeros(reader, values.size, "uint8")
        reader.synchronize()
        config = wia.LaunchConfig(-(-values.size // 256), 256)
        for _ in range(reads):
            wia.launch_kernel(wia.compile_kernel(doubled), config, out, shared, stream=stream)
        assert np.array_equal(out.numpy(), values * 2)
        fetching = owner.create_stream()
        host = answer.fetch(data, ready, fetching)
        fetching.synchronize()
        assert np.array_equal(host.host(), values)
