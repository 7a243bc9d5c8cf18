"""Every step of every ladder: right against NumPy in float64, no hazards, cheaper than the last.

Counts that are compared with formulas follow from the sizes: a coalesced request of 32 floats is 4
sectors, one of 32 separate lanes 32.
"""

from __future__ import annotations

import numpy as np
import pytest

from wia_lab import simulate
from wia_lab.kernels.workloads import WORKLOADS

TOPICS = {each.topic.name: each.topic for each in WORKLOADS}
CASES = [
    pytest.param(topic, step, size, id=f"{topic.name}-{step.name}-{'x'.join(map(str, size))}")
    for topic in TOPICS.values()
    for step in topic.steps
    for size in topic.sizes
]


def run(topic, step, size):
    """Output, expected output and reports of a step's launches."""
    arguments = topic.arguments(np.random.default_rng(3), *size)
    expected = topic.reference(*arguments)
    reports = [
        simulate(each.kernel, each.grid, each.block, *each.arguments)
        for each in step.plan(*arguments)
    ]
    return arguments[0], expected, reports


def counts(topic, *size):
    """Counters of the first launch of each step at one size."""
    steps = TOPICS[topic].steps
    return {step.name: run(TOPICS[topic], step, size)[2][0].counters for step in steps}


@pytest.mark.parametrize(("topic", "step", "size"), CASES)
def test_step_is_right_and_clean(topic, step, size) -> None:
    """The answer is NumPy's within rounding, and no launch has a hazard."""
    found, expected, reports = run(topic, step, size)
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= topic.tolerance * np.abs(expected).max()
    assert [hazard.message for report in reports for hazard in report.hazards] == []


def test_arguments_hold_no_answer() -> None:
    """Outputs begin as NaN, or as zero counts, so that an idle kernel is wrong."""
    for topic in TOPICS.values():
        arguments = topic.arguments(np.random.default_rng(3), *topic.sizes[-1])
        begun = arguments[0]
        assert np.isnan(begun).all() if begun.dtype.kind == "f" else not begun.any()


def test_unknown_step_is_named() -> None:
    """Asking for a step that is not there names those that are."""
    assert TOPICS["axpy"].step("fused").name == "fused"
    with pytest.raises(KeyError, match="axpy has no step 'one': two kernels, fused"):
        TOPICS["axpy"].step("one")


class TestCountersImprove:
    """What a step's docstring says, counted."""

    def test_vector_add(self) -> None:
        """Four neighbours a thread ask for four times the sectors of one element a thread."""
        found = counts("vector-add", 4096)
        assert found["four neighbours a thread"].global_load_sectors == 4 * 2 * 4096 // 8
        for name in ("one element a thread", "grid-stride loop", "independent loads"):
            assert found[name].global_load_sectors == 2 * 4096 // 8
            assert found[name].global_store_sectors == 4096 // 8

    def test_axpy(self) -> None:
        """Two kernels move 20 bytes an element, one 12."""
        moved = []
        for step in TOPICS["axpy"].steps:
            totals = [each.counters for each in run(TOPICS["axpy"], step, (2048,))[2]]
            moved.append(sum(32 * (c.global_load_sectors + c.global_store_sectors) for c in totals))
        assert moved == [20 * 2048, 12 * 2048]

    def test_copy(self) -> None:
        """Strided lanes ask for a sector each; 16-byte elements halve the requests."""
        found = counts("copy", 4096)
        assert found["strided lanes"].global_load_sectors == 4096
        assert found["one element a thread"].global_load_sectors == 4096 // 8
        assert found["one element a thread"].global_load_requests == 4096 // 32
        assert found["16-byte elements"].global_load_requests == 4096 // 64

    def test_transpose(self) -> None:
        """The tile mends the stores, the padding its bank conflicts, wide copies the requests."""
        found = counts("transpose", 128, 64)
        cells = 128 * 64
        assert found["naive"].global_store_sectors == cells
        assert found["tile"].global_store_sectors == cells // 8
        assert found["tile"].shared_load_bank_conflicts == 31 * cells // 32
        assert found["padded tile"].shared_load_bank_conflicts == 0
        assert found["independent loads"].shared_load_bank_conflicts == 0
        assert found["padded tile"].global_load_requests == cells // 32
        assert found["16-byte copies"].global_load_requests == cells // 128

    def test_reduction(self) -> None:
        """Divergence, then barriers, then blocks fall."""
        found = counts("reduction", 4096)
        assert found["interleaved"].divergent_branches > found["sequential"].divergent_branches
        assert found["warp shuffle"].barriers < found["sequential"].barriers
        assert found["warp shuffle"].shared_load_wavefronts < (
            found["sequential"].shared_load_wavefronts
        )

    @pytest.mark.parametrize("topic", ["softmax", "layer-norm"])
    def test_rows(self, topic) -> None:
        """A thread a row asks for a sector a lane; registers read the row once."""
        found = counts(topic, 4, 1024)
        per_row = found["row in registers"].global_load_sectors
        assert found["a thread a row"].global_load_sectors > 4 * per_row
        assert found["a block a row"].global_load_sectors > per_row
        if topic == "softmax":
            assert per_row == 4 * 1024 // 8
            assert found["a block a row"].global_load_sectors == 3 * per_row
            assert found["online"].global_load_sectors == 2 * per_row

    def test_scan(self) -> None:
        """A tree makes fewer shared accesses than all threads adding; shuffles hardly any."""
        found = counts("scan", 4096)
        reads = {name: each.shared_load_wavefronts for name, each in found.items()}
        assert reads["warp shuffle"] < reads["Hillis–Steele"]
        assert found["warp shuffle"].barriers < found["Hillis–Steele"].barriers
        assert found["eight a thread"].barriers < found["warp shuffle"].barriers
        assert found["eight a thread"].shared_load_bank_conflicts == 0

    def test_histogram(self) -> None:
        """Atomics move from global to shared memory, where lanes then no longer meet."""
        found = counts("histogram", 40_960)
        assert found["global atomics"].global_atomic_requests == 40_960 // 32
        assert found["privatised a block"].global_atomic_requests == 160 * 256 // 32
        lanes = found["privatised a lane"]
        assert lanes.global_load_requests == 40_960 // 4 // 32
        assert lanes.shared_atomic_bank_conflicts == 0
        assert found["privatised a block"].shared_atomic_bank_conflicts > 0

    def test_stencil(self) -> None:
        """A tile asks for a cell about once; marching for three of five."""
        found = counts("stencil", 64, 128)
        direct = found["direct"].global_load_requests
        assert found["tile"].global_load_requests < direct / 2
        assert found["marching registers"].global_load_requests < 0.6 * direct

    def test_convolution(self) -> None:
        """Tiles ask once, not five times; wide copies make a quarter of the requests again."""
        found = counts("convolution", 16_384)
        assert found["direct"].global_load_sectors > 5 * 16_384 // 8
        assert found["halo tile"].global_load_sectors < found["direct"].global_load_sectors / 2
        outputs = found["eight outputs a thread"]
        assert outputs.global_load_sectors < found["halo tile"].global_load_sectors
        copies = found["async, 16-byte copies"]
        assert copies.global_load_requests < outputs.global_load_requests
        assert copies.async_copies > 0
        assert found["pipeline"].async_copies > 0

    def test_convolution_2d(self) -> None:
        """The tile asks for a pixel about once; the product's threads share what they read."""
        found = counts("convolution-2d", 1, 8, 16, 8, 32)
        direct = found["direct"].global_load_requests
        assert found["tiled"].global_load_requests < direct
        assert found["implicit product"].global_load_requests < direct / 20

    def test_fused(self) -> None:
        """Fusing stores the pooled result alone."""
        size = (2, 2, 3, 8, 32)
        topic = TOPICS["conv-norm-relu-pool"]
        stored = [
            sum(each.counters.global_store_sectors for each in run(topic, step, size)[2])
            for step in topic.steps
        ]
        pooled = 2 * 3 * 4 * 16 * 4 // 32
        assert stored == [3 * 4 * pooled + pooled, pooled]

    def test_matmul(self) -> None:
        """Each step asks global or shared memory less for the same products."""
        found = counts("matmul", 128, 128, 32)
        products = 128 * 128 * 32
        assert found["naive"].global_load_requests == 2 * products // 32
        assert found["tiled"].global_load_requests == 2 * products // 32 // 32
        shared = {name: each.shared_load_requests for name, each in found.items()}
        assert shared["tiled"] == 2 * products // 32
        assert shared["register tile"] == products // 32 // 4
        doubled = found["double-buffered"]
        assert doubled.async_copies > 0
        assert doubled.global_load_requests == 2 * 128 * 32 // 32
        assert found["pipeline, 16-byte copies"].global_load_requests == 2 * 128 * 32 // 128
        turned = found["turned tile, unrolled"]
        assert turned.global_load_requests == 128 * 32 // 32 + 128 * 32 // 128
        assert turned.global_load_sectors == 2 * 128 * 32 // 8
        assert turned.shared_load_bank_conflicts == turned.async_copy_shared_bank_conflicts == 0
