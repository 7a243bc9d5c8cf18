"""What was measured on an H200 of each claim in `claims`, as text.

Every figure is read or computed from the recorded tables when it is asked for.
"""

from __future__ import annotations

from wia_lab.kernels.convolution import BLOCK, HALO
from wia_lab.kernels.figures import (
    KERNELS,
    allocation,
    faster,
    figure,
    milliseconds,
    overhead,
    rate,
    ratio,
    sectors,
    solution,
    wavefronts,
)
from wia_lab.kernels.levels import CLOCK

ALLOCATED = (1 << 12, 1 << 20, 1 << 26)  # bytes
TILED, ASYNC = "tiled matmul, 16×16 tiles", "async convolution, 5 taps"
SYNCHRONOUS, OVERLAPPED, BUSY = 650, 550, 50  # cycles, as 003 counts them
OPERATIONS = 2 * 4096**3  # of the product that was timed


def nothing() -> str:
    """Nothing that is recorded."""
    return "not measured"


def full_control() -> str:
    """The 16 × 16 product beside cuBLAS."""
    reached = OPERATIONS / solution(TILED) / 1e9
    beside = figure(KERNELS, "beside_rate", topic="matmul", step="naive")
    return f"a product in blocks of 16 × 16 reaches {reached / beside:.2f} of cuBLAS without TF32"


def coalescing() -> str:
    """Copies with lanes apart and side by side, and their sectors."""
    return (
        f"{faster('copy', 'strided lanes', 'one element a thread')} for float32; a request moves "
        f"{sectors('strided-32'):.0f} sectors where lanes are 32 apart, {sectors('strided-1'):.0f} "
        "side by side"
    )


def banks() -> str:
    """Wavefronts of loads at steps of two and one."""
    doubled = wavefronts("shared-load-stride-2") / wavefronts("shared-load-stride-1")
    return f"{doubled:.0f} times the wavefronts; its time not measured"


def padding() -> str:
    """A transpose through a tile, plain and padded."""
    fewer = wavefronts("transpose-tile-32") / wavefronts("transpose-tile-33")
    return (
        f"transpose, rows of 33 for 32: {fewer:.0f} times fewer wavefronts of shared loads, and "
        f"{faster('transpose', 'tile', 'padded tile')}"
    )


def tiles() -> str:
    """Products, naive, tiled, and at their best."""
    took = solution(TILED)
    return (
        f"{milliseconds('matmul', 'naive') / took:.1f} times the naive product (16 × 16, "
        f"{OPERATIONS / took / 1e9:.2f} TFLOP/s, another run); with register tiles and 16-byte "
        f"copies too {rate('matmul', 'turned tile, unrolled'):.1f} TFLOP/s, "
        f"{ratio('matmul', 'turned tile, unrolled'):.2f} of cuBLAS without TF32"
    )


def buffers() -> str:
    """Batches and a product, each with one buffer and with two."""
    return (
        f"batches from the host: {batches()}; tiles of a product, with their layout changed too: "
        f"{faster('matmul', 'register tile', 'double-buffered')}"
    )


def batches() -> str:
    """Batches from the host and back, in turn on several streams."""
    one, two, three = (overhead(f"batches, streams: {used}") for used in (1, 2, 3))
    return f"{one:.1f} ms on one stream, {two:.1f} on two, {three:.1f} on three"


def hints() -> str:
    """A kernel over unified memory that the host has written."""
    faults = overhead("unified memory, moved by faults")
    prefetched = overhead("unified memory, prefetched")
    return (
        f"a kernel after the host's writes: {prefetched:.1f} GB/s prefetched, {faults:.1f} by "
        f"faults, {prefetched / faults:.1f} times"
    )


def pinned() -> str:
    """Copies of pinned and of pageable memory."""
    there, back = (overhead(f"pinned copy to the {end}, HAL") for end in ("device", "host"))
    pageable = overhead("pageable copy to the device, HAL")
    return (
        f"{there / pageable:.1f} times: {there:.1f} GB/s to the device, pageable {pageable:.1f}; "
        f"{back:.1f} back"
    )


def constant_time() -> str:
    """A pool at three sizes."""
    took = [allocation(size, allocator="wia_lab Pool") for size in ALLOCATED]
    return f"wia_lab's pool {', '.join(f'{each:.2f}' for each in took)} µs for 4 KiB, 1 and 64 MiB"


def pool() -> str:
    """Pools beside the driver at three sizes."""
    driver = [allocation(size, allocator="cuMemAlloc") for size in ALLOCATED]
    own = [allocation(size, allocator="wia_lab Pool") for size in ALLOCATED]
    torch = [allocation(size, "caching_allocator_alloc+delete") for size in ALLOCATED]

    def times(other: list[float]) -> str:
        return ", ".join(f"{a / b:.0f}" for a, b in zip(driver, other, strict=True))

    return (
        f"{times(own)} times as fast as cuMemAlloc and cuMemFree for 4 KiB, 1 and 64 MiB; "
        f"PyTorch's allocator {times(torch)}; host malloc not measured"
    )


def peers() -> str:
    """Copies between two devices, straight and not."""
    link = overhead("peer copy, access enabled, cuMemcpyPeer")
    detour = overhead("peer copy, access not enabled, cuMemcpyPeer")
    return (
        f"copy with access {link:.0f} GB/s (NVLink 4), without, through the host, {detour:.0f}: "
        f"{link / detour:.1f} times"
    )


def in_place() -> str:
    """A kernel that reads a peer's memory."""
    share = overhead("peer memory read in place, over a copy")
    return f"read by a kernel over NVLink, at {share:.2f} of a copy's rate"


def kinds() -> str:
    """Bandwidths of the device's memory and the host's."""
    there, host = rate("hierarchy", "HBM, bandwidth"), rate("hierarchy", "pinned host, bandwidth")
    return f"{there:,.0f} GB/s, {there / host:.0f} times pinned host memory's {host:.0f}"


def choice() -> str:
    """The best product and 2-D convolution beside the vendor libraries."""
    product = ratio("matmul", "turned tile, unrolled")
    convolved = ratio("convolution-2d", "implicit product")
    return (
        f"wia_lab's best product {product:.2f} of cuBLAS, 2-D convolution {convolved:.2f} of "
        "cuDNN, both without TF32"
    )


def fused() -> str:
    """Chains as several kernels and as one."""
    block = faster("conv-norm-relu-pool", "four kernels", "fused")
    return f"one kernel for four {block}; vectors' a x + y {faster('axpy', 'two kernels', 'fused')}"


def vector_add() -> str:
    """Vector add beside a device copy."""
    plain, best = (
        ratio("vector-add", step) for step in ("one element a thread", "independent loads")
    )
    return f"{plain:.2f} of a device copy's rate; with independent loads {best:.2f}"


def launch() -> str:
    """Launches, as the host sees them."""
    return (
        f"the host is held {overhead('launch, launch_kernel_async'):.0f} µs, "
        f"{overhead('launch, Numba'):.0f} by Numba alone"
    )


def wait() -> str:
    """Latencies in nanoseconds and cycles."""
    far, near, nearer = (rate("hierarchy", f"{each}, latency") for each in ("HBM", "L2", "L1"))
    return (
        f"HBM {far:.0f} ns, {far * CLOCK:.0f} cycles at {CLOCK:.2f} GHz; L2 {near * CLOCK:.0f} "
        f"cycles, L1 {nearer * CLOCK:.0f}"
    )


def asynchronous() -> str:
    """The arithmetic of the claim, and convolutions with plain and asynchronous copies."""
    tile, copied = milliseconds("convolution", "halo tile"), solution(ASYNC)
    wide = faster("convolution", "eight outputs a thread", "async, 16-byte copies")
    saved = 100 * (1 - OVERLAPPED / SYNCHRONOUS)
    return (
        f"the cycles give {SYNCHRONOUS / OVERLAPPED:.2f} times, {saved:.0f} % less time; one "
        f"output a thread {tile / copied:.2f} times ({tile:.3f} to {copied:.3f} ms, two runs); "
        f"eight {wide}"
    )


def busy() -> str:
    """The arithmetic of the claim."""
    share = 100 * BUSY / SYNCHRONOUS
    return f"{BUSY} of their {SYNCHRONOUS} cycles are {share:.1f} %; not measured"


def pipeline() -> str:
    """Pipelines beside one or two buffers."""
    return (
        f"1-D convolution {faster('convolution', 'async, 16-byte copies', 'pipeline')}; product, "
        f"wider copies too, {faster('matmul', 'double-buffered', 'pipeline, 16-byte copies')}"
    )


def halo() -> str:
    """The margin of a tile, and convolutions with and without one."""
    tile, wide = (
        faster("convolution", "direct", step) for step in ("halo tile", "eight outputs a thread")
    )
    return (
        f"{200 * HALO / BLOCK:.1f} % more cells; beside no tile {tile}, with eight outputs {wide}"
    )
