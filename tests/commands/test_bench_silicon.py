"""`wia-lab bench silicon`: counters beside an H200's."""

from __future__ import annotations

from click.testing import CliRunner

from wia_lab.commands.bench import bench


class TestBenchSilicon:
    """The table, and what a wrong name gets."""

    def test_prints_both_columns(self) -> None:
        """A kernel's counters stand beside the recorded ones."""
        result = CliRunner().invoke(bench, ["silicon", "strided-2"])
        assert result.exit_code == 0
        assert "2,048       2,048  =" in result.output
        assert result.output.endswith("1 of 1 kernels equal\n")

    def test_unknown_kernel(self) -> None:
        """A name that the suite lacks is answered with those near it, or how all are listed."""
        result = CliRunner().invoke(bench, ["silicon", "strided-5"])
        assert "there is no kernel 'strided-5': did you mean strided-" in result.stderr
        result = CliRunner().invoke(bench, ["silicon", "xyzzy"])
        assert "'xyzzy': wia-lab bench silicon without a name prints all" in result.stderr
        assert result.exit_code == 2
