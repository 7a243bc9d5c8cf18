"""Section 4.10 of the standard: errors of memory found."""

from __future__ import annotations

from wia_lab.hal.standard.row import Row, rows

GUARD = "memory/test_guard.py::"
BACKING = "hal/test_hal_backing.py::TestGuard::"
LEAK = "hal/test_standard_rows.py::test_a_leak_is_a_record"

ROWS: tuple[Row, ...] = (
    *rows(
        "4.10",
        (GUARD + "TestRedZones::test_overflow", BACKING + "test_zones"),
        (
            "WIA_DEBUG_MEMORY",
            "memory.Guard",
            "Wrapped around an allocator at run time, rather than compiled in.",
        ),
        ("safe_alloc", "memory.Guard.allocate"),
    ),
    *rows(
        "4.10",
        (GUARD + "TestRedZones::test_underflow", BACKING + "test_zones"),
        (
            "wia_protect_memory",
            "memory.Guard.verify",
            "Device memory has no pages of 4 KiB to protect: zones of known bytes are checked.",
        ),
        (
            "WIA_PROT_NONE",
            "memory.Guard.red_zone",
            "Bytes of a zone that nobody may write; a read of them is not seen.",
        ),
    ),
    *rows(
        "4.10",
        ("memory/test_adaptors.py::TestTrack::test_sites_and_leaks", LEAK),
        (
            "allocation_record_t.alloc_site",
            "memory.Leak.site",
            "The caller's line: the sources record their own.",
        ),
        ("track_allocation", "memory.Track.allocate"),
        ("add_to_tracker", "memory.Track.allocate", "A step of it."),
        ("find_allocation", "memory.Track.site_of"),
    ),
    *rows(
        "4.10",
        LEAK,
        ("allocation_record_t", "memory.Leak", "What is still live; a freed one is in the error."),
        ("allocation_record_t.ptr", "memory.Leak.offset"),
        ("allocation_record_t.size", "memory.Leak.size"),
    ),
    *rows(
        "4.10",
        (GUARD + "TestFreed::test_double_free_names_three_lines", BACKING + "test_freed_twice"),
        ("safe_free", "memory.Guard.free", "Raises DoubleFreeError where C aborts."),
        (
            "allocation_record_t.is_freed",
            "errors.DoubleFreeError",
            "Told by the error; freed blocks are in quarantine, so no address means two.",
        ),
        ("allocation_record_t.free_site", "errors.DoubleFreeError", "In the error's sentence."),
    ),
    *rows(
        "4.10",
        (GUARD + "TestLeaks::test_report", BACKING + "test_leaks"),
        ("detect_leaks", "memory.Guard.leaks"),
    ),
)
