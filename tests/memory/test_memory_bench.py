"""The bench prints its tables; times are not judged."""

from __future__ import annotations

import pytest

from wia_lab.memory import bench
from wia_lab.memory.trace import Trace, TraceEvent


def test_outcomes_of_a_small_trace():
    """Both accounts of what is reserved, for each design."""
    events = [TraceEvent("a", n, 3 << 20) for n in range(4)] + [TraceEvent("f", 0, 3 << 20)]
    found = {n: bench.outcome(make, Trace("small", events)) for n, make in bench.DESIGNS.items()}
    assert found["best fit, one range"].high_water == 1.0
    assert found["buddy"].high_water == pytest.approx(16 / 12)  # blocks of 4 MiB
    assert found["page ring"].pages == found["page ring"].reserved == 1.0
    assert found["best fit, compacted"].reserved == 1.0


def test_tables(capsys, monkeypatch):
    """Every trace, every design, PyTorch's recorded figure, the curve."""
    monkeypatch.setattr(bench, "RECORDED", ("resnet18_train",))
    monkeypatch.setattr(bench, "REPEATS", 1)
    monkeypatch.setattr(bench, "pool_hit", lambda: 1e-6)
    monkeypatch.setattr(bench, "PAIRS", 400)
    monkeypatch.setattr(bench, "CURVE", (100, 200))
    assert bench.main([]) == 0
    out, err = capsys.readouterr()
    for name in (*bench.DESIGNS, *bench.AT_SIZE):
        assert f"  {name}" in out
    assert err.splitlines() == [
        "wia-lab: resnet18_train was replayed on each design",
        *(
            f"wia-lab: {name} was timed with up to 200 live blocks"
            for name in ("a dictionary", *bench.AT_SIZE)
        ),
    ]
    assert "1.409*" in out  # 824.0 MiB reserved by PyTorch / 584.7 MiB live
    assert "A pool hit (allocate + free): 1.00 µs." in out


def test_command(monkeypatch):
    """`wia-lab bench memory` hands its options on."""
    from click.testing import CliRunner

    from wia_lab.commands.bench import bench as group

    seen = []
    monkeypatch.setattr(bench, "main", seen.append)
    for arguments in (["memory"], ["memory", "--no-curve", "--most", "5000"]):
        assert CliRunner().invoke(group, arguments).exit_code == 0
    assert seen == [["--most", "1000000"], ["--no-curve", "--most", "5000"]]
    assert CliRunner().invoke(group, ["memory", "--most", "3"]).exit_code == 2
