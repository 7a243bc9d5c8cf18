"""Sections 3.8 to 3.10 of the standard: synchronisation, errors, profiles."""

from __future__ import annotations

from wia_lab.hal.standard.row import Row, rows
from wia_lab.hal.standard.wording import COLLECTED, MADE, SUBMITTED

ERRORS = "hal/test_hal_devices.py::TestErrors::"
SAMPLES = "hal/examples/test_examples_"
LOST = "hal/test_hal_hardware.py::TestFaults::test_an_illegal_address"
RESET = "hal/test_hal_recovery.py::TestLoss::test_a_well_device_can_be_reset"
REAL_BARRIER = "hal/test_hal_hardware.py::TestPeers::test_events_across_devices"

ROWS: tuple[Row, ...] = (
    *rows(
        "3.8",
        SAMPLES + "streams.py::TestSynchronisation::test_stream_and_context",
        ("wia_context_synchronize", "hal.Context.synchronize"),
    ),
    *rows(
        "3.8",
        SAMPLES + "streams.py::TestSynchronisation::test_event",
        ("wia_process_async", "hal.Stream.submit", SUBMITTED),
    ),
    *rows(
        "3.8",
        ("hal/test_hal_sync.py::TestPeerBarrier::test_all_see_what_all_wrote", REAL_BARRIER),
        ("wia_peer_barrier_t", "hal.PeerBarrier"),
        (
            "wia_create_peer_barrier",
            "hal.PeerBarrier",
            "Of streams, one a device, rather than of devices: work is ordered in streams.",
        ),
        (
            "wia_peer_barrier_wait",
            "hal.PeerBarrier.wait",
            "The streams wait for each other; the host, one thread of which cannot stand for four, "
            "does not.",
        ),
    ),
    *rows(
        "3.8",
        "hal/test_hal_sync.py::TestFence::test_waits_for_all",
        ("wia_fence_t", "hal.Fence"),
        ("wia_create_fence", "hal.Fence", MADE),
        (
            "wia_submit_with_fence",
            "hal.Fence.submit",
            "Put behind what streams were given: there are no lists of commands.",
        ),
        ("wia_wait_fence", "hal.Fence.wait"),
    ),
    *rows(
        "3.8",
        "hal/test_standard_rows.py::test_what_needs_no_destroying",
        ("wia_destroy_peer_barrier", "hal.PeerBarrier", COLLECTED),
        ("wia_destroy_fence", "hal.Fence", COLLECTED),
    ),
    *rows(
        "3.8",
        "hal/test_hal_sync.py::TestFence::test_timeout_is_for_all_together",
        (
            "TIMEOUT_INFINITE",
            "hal.TIMEOUT_INFINITE",
            "Infinity, in seconds: None stands for the context's timeout.",
        ),
    ),
    *rows(
        "3.9",
        ERRORS + "test_each_code_has_words_of_its_own",
        ("wia_error_t", "hal.ErrorCode", "Errors are raised; each class has its code."),
        ("wia_get_error_string", "hal.ErrorCode.text"),
        (
            "WIA_SUCCESS",
            "hal.ErrorCode.SUCCESS",
            "A call that returns has succeeded; no exception has this code.",
        ),
    ),
    *rows(
        "3.9",
        ERRORS + "test_details_name_the_caller",
        (
            "wia_error_details_t",
            "hal.ErrorDetails",
            "Every error carries its own, `error.details`.",
        ),
        (
            "wia_get_error_details",
            "hal.ErrorDetails",
            "`error.details`, rather than a question to a context that may have failed since.",
        ),
        ("wia_error_details_t.code", "hal.ErrorDetails.code"),
        ("wia_error_details_t.file", "hal.ErrorDetails.file"),
        ("wia_error_details_t.line", "hal.ErrorDetails.line"),
        ("wia_error_details_t.function", "hal.ErrorDetails.function"),
        ("wia_error_details_t.message", "hal.ErrorDetails.message"),
    ),
    *rows(
        "3.9",
        SAMPLES + "recovery.py::TestSafeCompute::test_memory_comes_back",
        (
            "safe_compute",
            "hal.run_safely",
            "A bounded number of attempts, where the sources call themselves for ever.",
        ),
        ("wia_memory_gc", "hal.Context.collect"),
    ),
    *rows(
        "3.9",
        SAMPLES + "recovery.py::TestSafeCompute::test_memory_does_not",
        ("WIA_ERROR_OUT_OF_MEMORY", "hal.OutOfMemory", "An exception."),
    ),
    *rows(
        "3.9",
        (SAMPLES + "recovery.py::TestSafeCompute::test_device_lost", LOST),
        ("WIA_ERROR_DEVICE_LOST", "hal.DeviceLost", "An exception."),
    ),
    *rows(
        "3.9",
        ("hal/test_hal_recovery.py::TestLoss::test_named_and_reset", LOST, RESET),
        (
            "wia_reset_device",
            "hal.Device.reset",
            "The device's, where the sources give a context: all contexts on it are lost.",
        ),
    ),
    *rows(
        "3.9",
        SAMPLES + "recovery.py::TestSafeCompute::test_timeout",
        (
            "wia_set_timeout",
            "hal.ContextConfig.timeout",
            "Another name of §3.3's wia_context_set_timeout: one attribute.",
        ),
    ),
    *rows(
        "3.9",
        "hal/test_hal_streams.py::TestStreams::test_timeout",
        (
            "WIA_ERROR_TIMEOUT",
            "hal.TimedOut",
            "An exception; the work still runs, so it is waited for, not submitted again.",
        ),
    ),
    *rows(
        "3.10",
        "hal/test_hal_profiler.py::TestReport::test_switched_off",
        ("wia_profiler_config_t", "hal.ProfilerConfig"),
        ("wia_profiler_config_t.enable_timing", "hal.ProfilerConfig.timing"),
        ("wia_profiler_config_t.enable_memory_tracking", "hal.ProfilerConfig.memory_tracking"),
        ("wia_profiler_config_t.enable_kernel_profiling", "hal.ProfilerConfig.kernel_profiling"),
    ),
    *rows(
        "3.10",
        "hal/test_hal_profiler.py::TestFiles::test_json",
        (
            "wia_profiler_config_t.output_format",
            "hal.Profiler.save",
            "The method chooses the form: `save` writes JSON, `save_trace` a Chrome trace.",
        ),
        ("WIA_PROFILE_JSON", "hal.Profiler.save"),
        ("wia_save_profile", "hal.Profiler.save"),
    ),
    *rows(
        "3.10",
        "hal/test_hal_profiler.py::TestAttached::test_a_stretch_alone",
        ("wia_enable_profiling", "hal.ContextConfig.profiling"),
        ("wia_begin_profiling", "hal.Profiler.__enter__", "`with context.profiler:`."),
        ("wia_end_profiling", "hal.Profiler.__exit__", "The end of the `with`."),
    ),
    *rows(
        "3.10",
        "hal/test_standard_rows.py::test_what_needs_no_destroying",
        ("wia_destroy_profiler", "hal.Profiler", COLLECTED),
    ),
    *rows(
        "3.10",
        "hal/test_hal_profiler.py::TestReport::test_figures",
        ("wia_profiler_t", "hal.Profiler"),
        ("run_model", "hal.Stream.submit", SUBMITTED),
        ("wia_profile_report_t", "hal.ProfileReport"),
        ("wia_get_profile_report", "hal.Profiler.report"),
        ("wia_profile_report_t.total_time_ms", "hal.ProfileReport.total_time_ms"),
        (
            "wia_profile_report_t.kernel_time_ms",
            "hal.ProfileReport.kernel_time_ms",
            "While at least one kernel ran, so that no share passes 100 %.",
        ),
        (
            "wia_profile_report_t.memory_time_ms",
            "hal.ProfileReport.memory_time_ms",
            "While at least one copy ran; `overlap_ms` is in both.",
        ),
        ("wia_profile_report_t.peak_memory_bytes", "hal.ProfileReport.peak_memory_bytes"),
        (
            "wia_profile_report_t.num_kernels",
            "hal.ProfileReport.kernel_stats",
            "`len(report.kernel_stats)`.",
        ),
        ("wia_profile_report_t.kernel_stats", "hal.ProfileReport.kernel_stats"),
        ("wia_kernel_stats_t", "hal.KernelStats"),
        ("wia_kernel_stats_t.name", "hal.KernelStats.name"),
        ("wia_kernel_stats_t.total_time_ms", "hal.KernelStats.total_time_ms"),
        ("wia_kernel_stats_t.call_count", "hal.KernelStats.call_count"),
    ),
)
