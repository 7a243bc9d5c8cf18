"""Sections 3.5 to 3.7 of the standard: memory, kernels, tensors."""

from __future__ import annotations

from wia_lab.hal.standard.row import Row, rows
from wia_lab.hal.standard.wording import CLOSED, COLLECTED, MADE, SUBMITTED

STREAMS = "hal/test_hal_streams.py::"
LAUNCH = "hal/test_hal_launch.py::TestLaunch::test_both_styles"
OPS = "hal/ops/test_ops_"
TENSORS = "hal/test_tensor_"
VIEWS = TENSORS + "views.py::TestViews::"
SAMPLES = "hal/examples/test_examples_"

ROWS: tuple[Row, ...] = (
    *rows(
        "3.5.1",
        SAMPLES + "memory.py::TestKinds::test_demonstration",
        ("wia_memory_t", "hal.Buffer"),
        ("wia_alloc", "hal.Context.allocate"),
        ("DEVICE", "hal.MemoryKind.DEVICE"),
        ("PINNED", "hal.MemoryKind.PINNED"),
        ("UNIFIED", "hal.MemoryKind.UNIFIED"),
        ("MANAGED", "hal.MemoryKind.MANAGED"),
        ("WIA_MEMORY_DEVICE", "hal.MemoryKind.DEVICE"),
        ("WIA_MEMORY_PINNED", "hal.MemoryKind.PINNED"),
        (
            "WIA_MEMORY_UNIFIED",
            "hal.MemoryKind.UNIFIED",
            "Both migrate: pages of this one go where the caller advises.",
        ),
        (
            "WIA_MEMORY_MANAGED",
            "hal.MemoryKind.MANAGED",
            "Both migrate: pages of this one go where the library puts them.",
        ),
        (
            "wia_memory_ptr",
            "hal.Buffer.host",
            "An array over the bytes, as a pointer is no use in Python.",
        ),
        ("wia_compute", "hal.Stream.submit", SUBMITTED + " Never at once: always in a stream."),
    ),
    *rows("3.5.1", STREAMS + "TestKinds::test_host", ("HOST", "hal.MemoryKind.HOST")),
    *rows("3.5.1", STREAMS + "TestKinds::test_lifetime", ("wia_free", "hal.Buffer.close", CLOSED)),
    *rows(
        "3.5.2",
        "hal/test_hal_pool.py::TestReuse::test_the_loop_of_the_standard",
        ("wia_memory_pool_t", "hal.MemoryPool"),
        ("wia_create_memory_pool", "hal.MemoryPool", MADE),
        ("wia_alloc_from_pool", "hal.MemoryPool.allocate"),
        (
            "wia_free_to_pool",
            "hal.Buffer.close",
            "A buffer knows its pool: closing gives it back, behind its stream's work.",
        ),
        ("wia_pool_stats_t", "hal.PoolStats"),
        ("wia_get_pool_stats", "hal.MemoryPool.stats"),
        ("wia_pool_stats_t.num_allocations", "hal.PoolStats.num_allocations"),
        ("wia_pool_stats_t.cache_hit_rate", "hal.PoolStats.cache_hit_rate"),
    ),
    *rows(
        "3.5.2",
        "hal/test_hal_pool.py::TestSizes::test_initial_size_is_set_aside",
        (
            "wia_pool_config_t",
            "hal.PoolConfig",
            "The name of §3.6.1's struct too, so that one is Pool2dConfig.",
        ),
        (
            "wia_configure_pool",
            "hal.PoolConfig",
            "Given when the pool is made: it cannot change under what it has handed out.",
        ),
        ("wia_pool_config_t.initial_size", "hal.PoolConfig.initial_size"),
    ),
    *rows(
        "3.5.2",
        "hal/test_hal_pool.py::TestSizes::test_max_size",
        ("wia_pool_config_t.max_size", "hal.PoolConfig.max_size"),
    ),
    *rows(
        "3.5.2",
        "hal/test_hal_pool.py::TestReuse::test_blocks",
        ("wia_pool_config_t.block_size", "hal.PoolConfig.block_size"),
    ),
    *rows(
        "3.5.2",
        "hal/test_hal_pool.py::TestReuse::test_without_caching",
        ("wia_pool_config_t.enable_caching", "hal.PoolConfig.caching"),
    ),
    *rows(
        "3.5.2",
        "hal/test_hal_pool.py::TestSizes::test_fragmentation_past_the_threshold_is_tidied",
        (
            "wia_pool_config_t.defragment_threshold",
            "hal.PoolConfig.defragment_threshold",
            "Past it what is kept goes back; live buffers are never moved.",
        ),
        (
            "wia_pool_stats_t.fragmentation",
            "hal.PoolStats.fragmentation",
            "Not defined in the sources: the share of free memory outside its largest piece.",
        ),
    ),
    *rows(
        "3.5.2",
        "hal/test_hal_pool.py::test_a_context_closes_its_pools",
        ("wia_destroy_pool", "hal.MemoryPool.close", CLOSED),
    ),
    *rows(
        "3.6.1",
        OPS + "images.py::TestConv2d::test_against_loops",
        ("wia_conv2d", "hal.conv2d"),
        ("wia_conv_config_t", "hal.ConvConfig"),
        ("wia_conv_config_t.padding", "hal.ConvConfig.padding"),
        ("wia_conv_config_t.stride", "hal.ConvConfig.stride"),
        ("wia_conv_config_t.dilation", "hal.ConvConfig.dilation"),
        ("wia_conv_config_t.groups", "hal.ConvConfig.groups"),
    ),
    *rows(
        "3.6.1",
        OPS + "elementwise.py::TestCurves::test_relu",
        (
            "wia_relu",
            "hal.relu",
            "Called with and without a context in the sources: a tensor knows its own.",
        ),
    ),
    *rows(
        "3.6.1",
        OPS + "images.py::TestBatchNorm::test_against_numpy",
        ("wia_batch_norm", "hal.batch_norm", "`epsilon=` too, which the sources forget."),
    ),
    *rows(
        "3.6.1",
        OPS + "images.py::TestPool2d::test_max",
        ("wia_pool2d", "hal.pool2d"),
        (
            "wia_pool_config_t",
            "hal.Pool2dConfig",
            "The name of §3.5.2's struct too, so this one is Pool2dConfig.",
        ),
        ("wia_pool_config_t.type", "hal.Pool2dConfig.type"),
        ("wia_pool_config_t.kernel_size", "hal.Pool2dConfig.kernel_size"),
        ("wia_pool_config_t.stride", "hal.Pool2dConfig.stride"),
        ("WIA_POOL_MAX", "hal.PoolType.MAX"),
    ),
    *rows(
        "3.6.2",
        LAUNCH,
        ("vector_add", "hal.compile_kernel", "The sources' text, as it stands."),
        ("get_global_id", "hal.compile_kernel", "In text; `cuda.grid` in a Python kernel."),
        ("__kernel", "hal.compile_kernel", "In text; `@cuda.jit` in Python."),
        ("__global", "hal.compile_kernel", "In text; an array's home in Python."),
        (
            "wia_launch_config_t.global_size",
            "hal.LaunchConfig.global_size",
            "It need not be a multiple of local_size: the kernel tests its bounds.",
        ),
        ("wia_launch_config_t.local_size", "hal.LaunchConfig.local_size"),
        (
            "wia_set_kernel_arg",
            "hal.launch_kernel_async",
            "Arguments are given at the launch: a kernel that remembers them is shared state.",
        ),
    ),
    *rows(
        "3.6.2",
        "hal/test_standard_rows.py::test_a_kernel_needs_no_destroying",
        ("wia_destroy_kernel", "hal.Kernel", COLLECTED),
    ),
    *rows(
        "3.6.2",
        "hal/test_standard_rows.py::test_shared_memory_of_a_launch",
        ("wia_launch_config_t.shared_memory", "hal.LaunchConfig.shared_memory"),
    ),
    *rows(
        "3.7",
        OPS + "elementwise.py::TestPairs::test_same_shape",
        ("wia_add", "hal.add"),
        ("wia_mul", "hal.mul"),
    ),
    *rows("3.7", OPS + "elementwise.py::TestCurves::test_gelu", ("wia_gelu", "hal.gelu")),
    *rows("3.7", OPS + "elementwise.py::TestCurves::test_sigmoid", ("wia_sigmoid", "hal.sigmoid")),
    *rows("3.7", OPS + "reductions.py::TestSum::test_against_numpy", ("wia_sum", "hal.sum")),
    *rows("3.7", OPS + "reductions.py::TestMax::test_against_numpy", ("wia_max", "hal.max")),
    *rows(
        "3.7",
        OPS + "reductions.py::TestSoftmax::test_against_numpy",
        ("wia_softmax", "hal.softmax"),
    ),
    *rows(
        "3.7",
        (VIEWS + "test_reshape", VIEWS + "test_nothing_is_copied"),
        ("wia_reshape", "hal.reshape"),
    ),
    *rows(
        "3.7",
        VIEWS + "test_nothing_is_copied",
        ("wia_transpose", "hal.transpose"),
        ("wia_slice", "hal.slice"),
    ),
    *rows(
        "3.7",
        OPS + "reductions.py::TestConcat::test_against_numpy",
        ("wia_concat", "hal.concat", "A sequence knows how many tensors it has."),
    ),
    *rows(
        "3.7",
        OPS + "products.py::TestBatchMatmul::test_against_numpy",
        ("wia_batch_matmul", "hal.batch_matmul"),
    ),
    *rows(
        "3.7",
        TENSORS + "lifetime.py::TestLifetime::test_used_after_release",
        ("wia_release_tensor", "hal.Tensor.close", CLOSED),
    ),
)
