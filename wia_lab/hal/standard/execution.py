"""Sections 3.1 to 3.4 of the standard: levels, devices, contexts, streams."""

from __future__ import annotations

from wia_lab.hal.standard.row import Row, rows
from wia_lab.hal.standard.wording import CLOSED, COLLECTED, MADE, SUBMITTED

COPIED = (
    "The sources write (src, dst) here and (dst, src) in §4.4 and §4.8: the target comes first."
)
DEVICES = "hal/test_hal_devices.py::TestDevices::"
CONTEXTS = "hal/test_hal_devices.py::TestContexts::"
STREAMS = "hal/test_hal_streams.py::"
LAUNCH = "hal/test_hal_launch.py::TestLaunch::test_both_styles"
OPS = "hal/ops/test_ops_"
TENSORS = "hal/test_tensor_"
SAMPLES = "hal/examples/test_examples_"

ROWS: tuple[Row, ...] = (
    *rows(
        "3.1",
        OPS + "products.py::TestMatmul::test_against_numpy",
        (
            "wia_matmul",
            "hal.matmul",
            "Called with and without a context in the sources: a tensor knows its own.",
        ),
    ),
    *rows(
        "3.1",
        OPS + "products.py::TestChoice::test_explained",
        (
            "wia_matmul_optimized",
            "hal.matmul",
            "One function at both levels: `config=` makes it the second.",
        ),
        ("wia_matmul_config_t", "hal.MatmulConfig"),
        ("wia_matmul_config_t.algorithm", "hal.MatmulConfig.algorithm"),
        ("WIA_MATMUL_AUTO", "hal.MatmulAlgorithm.AUTO"),
    ),
    *rows(
        "3.1",
        OPS + "products.py::TestPrecision::test_mixed_rounds_its_inputs",
        ("wia_matmul_config_t.precision", "hal.MatmulConfig.precision"),
        (
            "WIA_PRECISION_MIXED",
            "hal.Precision.MIXED",
            "The sources do not say what is mixed: inputs in float16, sums in float32.",
        ),
    ),
    *rows(
        "3.1", TENSORS + "sharing.py::TestNumPy::test_round_trip", ("wia_tensor_t", "hal.Tensor")
    ),
    *rows(
        "3.1",
        LAUNCH,
        ("wia_kernel_t", "hal.Kernel"),
        (
            "wia_compile_kernel",
            "hal.compile_kernel",
            "Called with one and with three arguments: source and, where it has several, the name; "
            "a kernel belongs to no context.",
        ),
        (
            "wia_launch_config_t",
            "hal.LaunchConfig",
            "Two structs of this name: one class takes a grid of blocks or a global size.",
        ),
        ("wia_launch_config_t.grid_dim", "hal.LaunchConfig.grid"),
        ("wia_launch_config_t.block_dim", "hal.LaunchConfig.block"),
        (
            "wia_launch_kernel",
            "hal.launch_kernel",
            "The sources do not say whether it waits: it is launched in the tensors' stream, and "
            "whoever reads the result waits.",
        ),
    ),
    *rows(
        "3.1",
        "hal/test_standard_rows.py::test_shared_memory_of_a_launch",
        (
            "wia_launch_config_t.shared_mem",
            "hal.LaunchConfig.shared_memory",
            "`shared_mem` in §3.1 and `shared_memory` in §3.6.2: the longer one.",
        ),
    ),
    *rows(
        "3.2",
        DEVICES + "test_enumeration",
        (
            "wia_get_device_count",
            "hal.Machine.__len__",
            "`len(machine)`: no machine is current, `open_machine` makes one.",
        ),
        ("wia_get_device", "hal.Machine.__getitem__", "`machine[number]`."),
        ("wia_device_t", "hal.Device"),
    ),
    *rows(
        "3.2",
        DEVICES + "test_info_is_the_data_sheet",
        ("wia_device_info_t", "hal.DeviceInfo"),
        ("wia_get_device_info", "hal.Device.info"),
        ("wia_device_info_t.vendor", "hal.DeviceInfo.vendor"),
        ("wia_device_info_t.type", "hal.DeviceInfo.type"),
        ("wia_device_info_t.compute_units", "hal.DeviceInfo.compute_units"),
        ("wia_device_info_t.memory_size", "hal.DeviceInfo.memory_size"),
        ("wia_device_info_t.memory_bandwidth", "hal.DeviceInfo.memory_bandwidth"),
        ("wia_device_info_t.peak_flops", "hal.DeviceInfo.peak_flops"),
    ),
    *rows(
        "3.2",
        "hal/test_standard_rows.py::test_type_of_a_device",
        ("wia_device_info_t.name", "hal.DeviceInfo.name"),
        ("device_type_to_string", "hal.DeviceType.value", "`device.info.type.value`."),
    ),
    *rows(
        "3.2.1",
        DEVICES + "test_capabilities",
        ("wia_device_capabilities_t", "hal.Capabilities"),
        ("wia_get_device_capabilities", "hal.Device.capabilities"),
        ("wia_device_capabilities_t.supports_float16", "hal.Capabilities.supports_float16"),
        ("wia_device_capabilities_t.supports_bfloat16", "hal.Capabilities.supports_bfloat16"),
        ("wia_device_capabilities_t.supports_int8", "hal.Capabilities.supports_int8"),
        (
            "wia_device_capabilities_t.supports_unified_memory",
            "hal.Capabilities.supports_unified_memory",
        ),
        (
            "wia_device_capabilities_t.supports_peer_to_peer",
            "hal.Capabilities.supports_peer_to_peer",
            "A flag in the sources, but support is a matter of pairs: the devices it can read.",
        ),
    ),
    *rows(
        "3.2.1",
        "hal/test_standard_rows.py::test_tensors_of_either_memory",
        ("wia_create_tensor_unified", "hal.empty", "`memory=MemoryKind.UNIFIED`."),
        ("wia_create_tensor_device", "hal.empty", "`memory=MemoryKind.DEVICE`, the default."),
    ),
    *rows(
        "3.2.1",
        (
            STREAMS + "TestStreams::test_peer_copy_over_nvlink",
            "hal/test_hal_hardware.py::TestPeers::test_copies",
        ),
        (
            "wia_copy_peer_to_peer",
            "hal.Stream.copy",
            "(source device, target device, tensor) here and (target, source) in §4.8: the second, "
            "as memory knows its device; straight once access was enabled, else through the host.",
        ),
    ),
    *rows(
        "3.3",
        CONTEXTS + "test_two_side_by_side",
        ("wia_context_t", "hal.Context"),
        ("wia_context_config_t", "hal.ContextConfig"),
        (
            "wia_create_context",
            "hal.Context",
            MADE + " Where C returns NULL, it raises.",
        ),
    ),
    *rows(
        "3.3",
        SAMPLES + "devices.py::TestContexts::test_two_at_once",
        ("wia_context_config_t.device_id", "hal.Context.device", "The context's first argument."),
        ("wia_compute_in_context", "hal.Stream.submit", SUBMITTED),
    ),
    *rows(
        "3.3",
        CONTEXTS + "test_pool_is_reserved_at_once",
        ("wia_context_config_t.memory_pool_size", "hal.ContextConfig.memory_pool_size"),
    ),
    *rows(
        "3.3",
        CONTEXTS + "test_streams_are_limited",
        ("wia_context_config_t.max_streams", "hal.ContextConfig.max_streams"),
    ),
    *rows(
        "3.3",
        "hal/test_hal_profiler.py::TestAttached::test_from_its_making_to_its_end",
        (
            "wia_context_config_t.enable_profiling",
            "hal.ContextConfig.profiling",
            "True, or a ProfilerConfig; the profiler is `context.profiler`.",
        ),
    ),
    *rows(
        "3.3",
        CONTEXTS + "test_exclusive",
        (
            "wia_context_config_t.flags",
            "hal.ContextConfig.exclusive",
            "The one flag that the sources name is an option of its own.",
        ),
        ("WIA_CONTEXT_EXCLUSIVE", "hal.ContextConfig.exclusive"),
    ),
    *rows(
        "3.3",
        SAMPLES + "devices.py::TestContexts::test_a_limit_that_is_set_later",
        (
            "wia_context_set_memory_limit",
            "hal.Context.memory_limit",
            "A property, and an option; a limit beyond the context's pool is its pool, where the "
            "sources set 2 GiB over a pool of 1 GiB.",
        ),
        (
            "wia_context_set_timeout",
            "hal.ContextConfig.timeout",
            "Seconds rather than milliseconds, also set by `context.timeout`.",
        ),
    ),
    *rows(
        "3.3",
        CONTEXTS + "test_used_after_close",
        ("wia_destroy_context", "hal.Context.close", CLOSED),
    ),
    *rows(
        "3.4",
        STREAMS + "TestStreams::test_pipeline",
        ("wia_stream_t", "hal.Stream"),
        (
            "wia_create_stream",
            "hal.Context.create_stream",
            "The sources' second argument, 0, is not explained: StreamOptions(priority=0).",
        ),
        ("wia_stream_wait_event", "hal.Stream.wait"),
        ("wia_compute_async", "hal.Stream.submit", SUBMITTED),
    ),
    *rows(
        "3.4",
        STREAMS + "TestKinds::test_copies_in_every_direction",
        (
            "wia_copy_async",
            "hal.Stream.copy",
            COPIED + " The length is that of both, which must agree.",
        ),
    ),
    *rows(
        "3.4",
        SAMPLES + "streams.py::TestPipeline::test_three_streams",
        ("wia_postprocess_async", "hal.Stream.submit", SUBMITTED),
    ),
    *rows(
        "3.4",
        LAUNCH,
        (
            "wia_launch_kernel_async",
            "hal.launch_kernel_async",
            "Without a configuration in §3.4, with one in §3.6.2: always with one.",
        ),
    ),
    *rows(
        "3.4.1",
        SAMPLES + "streams.py::TestEvents::test_merge",
        ("wia_event_t", "hal.Event"),
        (
            "wia_event_record",
            "hal.Stream.record",
            "A verb of the stream's, where the sources make it the event's.",
        ),
        ("wia_stream_wait_stream", "hal.Stream.wait", "One verb for both."),
        ("wia_merge_async", "hal.Stream.submit", SUBMITTED),
        ("wia_stream_synchronize", "hal.Stream.synchronize"),
    ),
    *rows(
        "3.4.1",
        "hal/test_standard_rows.py::test_what_needs_no_destroying",
        ("wia_destroy_event", "hal.Event", COLLECTED),
    ),
    *rows(
        "3.4.1",
        "hal/test_standard_rows.py::test_an_event_of_ones_own",
        (
            "wia_create_event",
            "hal.Context.create_event",
            "Of a context, as no context is current.",
        ),
    ),
)
