"""Record the suite's counters on a GPU: `python -m wia_lab.kernels.silicon.record OUT.csv`.

Runs itself under Nsight Compute, which must be on the PATH; numba-cuda must see the GPU. Each case
is launched once, so the launches that ncu lists are the cases in order.
"""

from __future__ import annotations

import csv
import datetime as dt
import re
import subprocess
import sys
import tempfile
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wia_lab.kernels.silicon.suite import CASES

if TYPE_CHECKING:
    from wia_lab.kernels.silicon.case import Case

METRICS = (
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
    "smsp__sass_l1tex_t_requests_pipe_lsu_mem_global_op_ldgsts.sum",
    "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum",
    "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum",
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum",
    "smsp__inst_executed.sum",
    "smsp__thread_inst_executed.sum",
    "smsp__inst_executed_op_global_ld.sum",
    "smsp__inst_executed_op_global_st.sum",
    "smsp__sass_inst_executed_op_ldgsts.sum",
    "smsp__inst_executed_op_global_ld_pred_on_any.sum",
    "smsp__inst_executed_op_global_st_pred_on_any.sum",
    "smsp__inst_executed_op_shared_ld_pred_on_any.sum",
    "smsp__inst_executed_op_shared_st_pred_on_any.sum",
    "smsp__sass_thread_inst_executed_op_fp32_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_fp64_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_integer_pred_on.sum",
    "smsp__inst_executed_op_shared_ld.sum",
    "smsp__inst_executed_op_shared_st.sum",
    "smsp__inst_executed_op_shared_atom.sum",
    "smsp__sass_data_bytes_mem_global_op_ld.sum",
    "smsp__sass_data_bytes_mem_global_op_st.sum",
    "smsp__sass_branch_targets_threads_divergent.sum",
    "gpu__time_duration.sum",
)
MEMORY = re.compile(r"\b((?:LDG|STG|LDS|STS|ATOMG|ATOMS|RED|REDG|LDGSTS|ATOM|BAR)[.\w]*)")


def launch(case: Case) -> Any:
    """Run a case once on the GPU; returns its dispatcher."""
    from wia_lab.cuda.rebind import Rebinding, numba_cuda  # noqa: PLC0415 - needs numba-cuda

    cuda = numba_cuda()
    kernel = cuda.jit(Rebinding().function(case.kernel))
    kernel[case.grid, case.block](*[_to_device(cuda, each) for each in case.arguments()])
    cuda.synchronize()
    return kernel


def _to_device(cuda: Any, argument: Any) -> Any:
    return cuda.to_device(argument) if hasattr(argument, "dtype") else argument


def instructions(kernel: Any) -> str:
    """Memory instructions in the machine code, `LDG.E×2 STG.E×1`: what the compiler merged."""
    (sass,) = kernel.inspect_sass().values()
    found = Counter(MEMORY.findall(sass))
    return " ".join(f"{name}×{count}" for name, count in sorted(found.items()))


def known_metrics() -> list[str]:
    """Those of METRICS that this ncu and this GPU have."""
    listed = subprocess.run(
        ["ncu", "--query-metrics"], capture_output=True, text=True, check=True
    ).stdout
    names = {line.split()[0] for line in listed.splitlines() if line.split()}
    return [metric for metric in METRICS if metric.rsplit(".", 1)[0] in names]


def profile(metrics: list[str]) -> list[dict[str, str]]:
    """One row a case, as ncu's raw page has them."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "ncu.csv"
        command = ["ncu", "--csv", "--page", "raw", "--clock-control", "none"]
        command += ["--print-units", "base"]
        command += ["--metrics", ",".join(metrics), "--log-file", str(log)]
        run = subprocess.run(
            [*command, sys.executable, "-m", __spec__.name, "--launch"], check=False
        )
        text = log.read_text()
    lines = [line for line in text.splitlines() if line.startswith('"')]
    rows = list(csv.DictReader(lines))[1:]  # the first row holds units
    if run.returncode or len(rows) != len(CASES):
        sys.exit(f"ncu recorded {len(rows)} of {len(CASES)} launches:\n{text[:3000]}")
    return rows


def main(arguments: list[str]) -> None:
    """Write the table to the path given; with `--launch`, only run the cases."""
    if arguments == ["--launch"]:
        for case in CASES.values():
            launch(case)
        return
    metrics = known_metrics()
    rows = profile(metrics)
    with Path(arguments[0]).open("w", newline="") as file:
        file.writelines(f"# {line}\n" for line in header(metrics))
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("kernel", "metric", "value"))
        for case, row in zip(CASES.values(), rows, strict=True):
            for metric in metrics:
                writer.writerow((case.name, metric, row[metric].replace(",", "")))
            writer.writerow((case.name, "sass", instructions(launch(case))))


def header(metrics: list[str]) -> list[str]:
    """When, on what and how the table was made."""
    gpu = subprocess.run(
        ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    ncu = subprocess.run(["ncu", "--version"], capture_output=True, text=True, check=True).stdout
    versions = ", ".join(f"{name} {version(name)}" for name in ("numba", "numba-cuda", "numpy"))
    return [
        f"{dt.datetime.now(dt.UTC).date()}, {gpu}",
        f"{ncu.strip().splitlines()[-1]}, {versions}, Python {sys.version.split()[0]}",
        "python -m wia_lab.kernels.silicon.record silicon.csv, which runs",
        f"ncu --csv --page raw --clock-control none --metrics {','.join(metrics)}",
        "`sass` counts instructions in the machine code: what the compiler merged is seen there.",
    ]


if __name__ == "__main__":
    main(sys.argv[1:])
