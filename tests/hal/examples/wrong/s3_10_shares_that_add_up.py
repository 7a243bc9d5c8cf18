"""MUST GET: wrong-value. §3.10: kernels and transfers overlap, and make more than the whole."""

import wia_lab.hal as wia


def kernel(data):
    data[:] += 1


def run():
    """Percent of kernels and percent of transfers, as though they were parts of one total."""
    context = wia.Context(wia.open_machine("1xA100")[0])
    compute, transfer = context.create_stream(), context.create_stream()
    data, other = context.allocate(64), context.allocate(1 << 20)
    host = context.allocate(1 << 20, wia.MemoryKind.PINNED)
    with wia.Profiler(context) as profiler:
        compute.submit(kernel, data, seconds=50e-6)
        transfer.copy(other, host)
    report = profiler.report()
    return report.kernel_share + report.memory_share <= 1, True
