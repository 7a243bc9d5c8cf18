"""Nsight Compute's names for what the simulator counts.

Names as `ncu --query-metrics` prints them for a Hopper device; each value is the `.sum` over the
device, so that it can be laid beside `ncu --metrics <name>` of the same kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wia_lab.simt.counts import Counts

METRICS = {
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": "global_load_requests",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": "global_load_sectors",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": "global_store_requests",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": "global_store_sectors",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": "shared_load_wavefronts",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum": "shared_load_bank_conflicts",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum": "shared_store_wavefronts",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum": "shared_store_bank_conflicts",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum": "shared_atomic_wavefronts",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum": "shared_atomic_bank_conflicts",
    "smsp__sass_inst_executed_op_ldgsts.sum": "async_copies",
    "smsp__sass_l1tex_t_requests_pipe_lsu_mem_global_op_ldgsts.sum": "async_copy_requests",
    "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum": "async_copy_sectors",
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum": (
        "async_copy_shared_wavefronts"
    ),
    "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum": (
        "async_copy_shared_bank_conflicts"
    ),
}
"""Metric → counter."""


def metrics(counters: Counts) -> dict[str, float]:
    """Every metric that the simulator knows, with its value."""
    return {metric: getattr(counters, counter) for metric, counter in METRICS.items()}
