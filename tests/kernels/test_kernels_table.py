"""The recorded table of the reference kernels, and `wia-lab bench kernels`."""

from __future__ import annotations

import math
import re

import pytest
from click.testing import CliRunner

from wia_lab.commands.bench_ladders import kernels
from wia_lab.kernels import bench, order, table
from wia_lab.kernels.measure import Row
from wia_lab.kernels.workloads import WORKLOADS
from wia_lab.simt.counts import Counts

ASKED = {  # topic → the ratio asked for
    "vector-add": 0.90,
    "transpose": 0.90,
    "convolution": 0.90,
    "reduction": 0.85,
    "softmax": 0.85,
    "layer-norm": 0.85,
    "matmul": 0.70,
    "convolution-2d": 0.40,
    "histogram": 0.70,
}


def row(step, ratio, error=1e-7, topic="matmul", reach=0.70):
    """A measured step."""
    return Row(topic, step, "8", 1.0, 50 * ratio, "TFLOP/s", "cuBLAS", 50.0, ratio, reach, error, 0)


class TestRecorded:
    """What was measured on an H200."""

    def test_says_where_it_comes_from(self) -> None:
        """Date, device, driver, versions and command stand above the table."""
        text = "\n".join(table.header())
        assert re.search(r"\d{4}-\d\d-\d\d, NVIDIA H200, \d+\.\d+", text)
        assert re.search(r"numba-cuda 0\.30\.\d, numpy \d", text)
        assert "python benchmarks/kernels_hardware.py" in text

    def test_holds_every_ladder_and_level(self) -> None:
        """Each topic, and the levels of memory, have rows."""
        topics = {each.topic for each in table.recorded()}
        assert topics == {each.topic.name for each in WORKLOADS} | {"hierarchy"}

    def test_rates_follow_from_times(self) -> None:
        """Work over time is the rate, and rate over the other's rate the ratio."""
        work = {each.topic.name: each.work(*each.size) for each in WORKLOADS}
        scale = {"GB/s": 1e6, "TFLOP/s": 1e9}
        for each in table.recorded():
            if each.ratio is None or each.beside_rate is None:
                continue
            rate = work[each.topic] / each.milliseconds / scale[each.unit]
            assert rate == pytest.approx(each.rate, rel=2e-3, abs=0.01)
            assert each.ratio == pytest.approx(each.rate / each.beside_rate, abs=0.002)

    def test_reach_is_what_is_asked(self) -> None:
        """The ratios asked for are those of the workloads and of the recorded rows."""
        assert {w.topic.name: w.reach for w in WORKLOADS if w.reach is not None} == ASKED
        assert {r.topic: r.reach for r in table.recorded() if r.reach is not None} == ASKED


class TestTable:
    """Writing, reading and printing."""

    def test_reads_what_it_writes(self) -> None:
        """CSV holds every field, empty ones too."""
        rows = (row("naive", 0.5), Row("hierarchy", "L2, latency", "16 KiB", 1.5, 157.0, "ns"))
        assert table.parse(table.write(rows, ["today"])) == rows

    def test_best_right_step_gets_the_verdict(self) -> None:
        """A wrong answer is called so and reaches nothing."""
        lines = table.render([row("a", 0.5), row("b", 0.72), row("c", 0.9, math.nan)]).splitlines()
        found = {line.split()[1]: line for line in lines if line.startswith("matmul")}
        assert found["b"].endswith("reaches 0.70")
        assert found["c"].endswith("wrong answer")
        assert "0.70" not in found["a"]
        assert table.render([row("a", 0.5)]).endswith("misses 0.70")

    def test_wrong_answers_are_named(self) -> None:
        """At full size or at a small one, beyond the tolerance or NaN."""
        small = Row("matmul", "d", "8", 1, 1, "TFLOP/s", "cuBLAS", 1, 1, None, 1e-7, 1.3)
        rows = [row("a", 0.5), row("b", 0.5, 0.1), row("c", 0.5, math.nan), small]
        assert bench.wrong_answers(rows) == ["matmul, b", "matmul, c", "matmul, d"]


class TestCommand:
    """`wia-lab bench kernels`."""

    def test_prints_the_recorded_table(self) -> None:
        """Header and rows of the topics named, and why nothing is run where nothing can be."""
        result = CliRunner().invoke(kernels, ["transpose", "--recorded"])
        assert result.exit_code == 0
        assert table.header()[0] in result.output
        assert result.output.count("transpose  ") == len(
            [each for each in table.recorded() if each.topic == "transpose"]
        )
        assert "online  " not in result.output

    def test_says_why_nothing_is_run(self, monkeypatch) -> None:
        """Without what a run needs, it prints the reason and ends well."""
        monkeypatch.setattr(bench, "missing", lambda: "torch is not installed")
        result = CliRunner().invoke(kernels, ["copy"])
        assert result.exit_code == 0
        assert result.output.endswith("Not run here: torch is not installed.\n")

    def test_refuses_an_unknown_topic(self) -> None:
        """The sentence names the nearest, or how all are shown."""
        with pytest.raises(bench.UnknownTopic, match="called sort: wia-lab bench kernels --rec"):
            bench.main(bench.Options(("sort",)))
        with pytest.raises(bench.UnknownTopic, match=r"called matmull: did you mean matmul\?"):
            bench.main(bench.Options(("copy", "matmull")))

    def test_refuses_a_table_that_nothing_fills(self, tmp_path, monkeypatch) -> None:
        """--out beside --recorded, without a GPU, or in no folder is told, and nothing is run."""
        monkeypatch.setattr(bench, "missing", lambda: "torch is not installed")
        out = tmp_path / "nowhere" / "x.csv"
        for arguments, said in [
            (["--recorded", "--out", str(out)], "--recorded measures nothing that"),
            (["--out", str(out)], "as torch is not installed: leave --out out"),
        ]:
            result = CliRunner().invoke(kernels, arguments)
            assert said in (str(result.exception) + result.stderr)
        monkeypatch.setattr(bench, "missing", lambda: "")
        result = CliRunner().invoke(kernels, ["--out", str(out)])
        assert "nowhere is no folder: name one that exists with --out" in str(result.exception)
        assert "Recorded" not in result.output


class TestOrder:
    """The simulator's order beside the measured one."""

    def test_kendall(self) -> None:
        """1 for the same order, −1 for the other; one swapped pair of three costs 2/3; ties 0."""
        assert order.kendall([1, 2, 3], [10, 20, 30]) == 1
        assert order.kendall([1, 2, 3], [30, 20, 10]) == -1
        assert order.kendall([1, 2, 3], [20, 10, 30]) == pytest.approx(1 / 3)
        assert order.kendall([1, 1], [1, 2]) == 0

    def test_fused_is_cheaper_on_both(self) -> None:
        """The command ranks axpy's two steps as the H200 did."""
        result = CliRunner().invoke(kernels, ["axpy", "--recorded", "--order"])
        assert result.exit_code == 0
        assert result.stdout.endswith(f"Kendall's tau +1.00\n{order.LIMITS}\n")
        assert result.stderr == "wia-lab: axpy is simulated\n"

    def test_counts_are_scaled_to_the_full_size(self) -> None:
        """A tiled product of 4096³ reads shared memory twice a product: 2 · 2³⁶ / 32 wavefronts."""
        (found,) = order.orders(["matmul"])
        tiled = found.cycles[found.steps.index("tiled")]
        wavefronts = (2 + 2 / 32) * 4096**3 / 32  # and a store of each factor for 32 products
        assert tiled == pytest.approx(wavefronts / 132)

    def test_registers_are_no_instructions(self) -> None:
        """Index arithmetic, loop control and arrays in registers leave 3 of 1,000 instructions."""
        counts = Counts(
            warp_instructions=1000,
            local_loads=500,
            integer_operations=9600,
            logic_operations=64,
            control_operations=3200,
            float32_operations=32,
            shared_load_requests=1,
            barriers=1,
        )
        left = order.irreducible(counts)
        assert (left.warp_instructions, left.integer_operations, left.logic_operations) == (3, 0, 0)

    @pytest.mark.parametrize("topic", ["matmul", "scan", "reduction", "layer-norm"])
    def test_faster_kernels_are_cheaper(self, topic) -> None:
        """Where counts decide, at least 85 pairs of 100 stand in the measured order."""
        (found,) = order.orders([topic])
        assert found.tau >= 0.7
