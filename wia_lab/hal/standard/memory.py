"""Sections 4.1 to 4.9 of the standard: memory."""

from __future__ import annotations

from wia_lab.hal.standard.row import Row, rows

CLOSED = "`with` ends it, or `close`, and twice is fine."
SUBMITTED = "Stands for any kernel of the program's: submit a callable, or launch one."
ONE_ALLOCATE = "One function for all kinds of memory: `kind=` says which."
TWO_BLOCKS = (
    "Two structs of this name: a block says where it lies and whose it is, a region of the map "
    "whether it is free."
)
OWN_TEXT = "The sources' kernel, with its bounds put right."

BUDDIES = "hal/test_standard_rows.py::test_buddies"
SLABS = "hal/test_standard_rows.py::test_slabs"
BOOKS = "hal/test_standard_rows.py::test_a_pools_books"
COUNTED = "hal/test_standard_rows.py::test_a_counted_buffer"
BACKING = "hal/test_hal_backing.py::"
BUDDY = ("memory/test_allocator_machines.py::TestBuddy::runTest", BUDDIES)
SLAB = ("memory/test_allocator_machines.py::TestSlab::runTest", SLABS)
COUNTS = "memory/test_refcount.py::TestCounts::"
COMPACTION = "memory/test_compaction.py::"
SAMPLES = "hal/examples/test_examples_"
BANDWIDTH = SAMPLES + "kernels.py::TestBandwidth::"
POOL = "memory/test_pool.py::"

ROWS: tuple[Row, ...] = (
    *rows(
        "4.1",
        SAMPLES + "kernels.py::TestProgressiveDisclosure::test_three_levels",
        (
            "optimized_matmul",
            "hal.compile_kernel",
            "The sources' text with its indices filled in: rows by y, columns by x, and the tail.",
        ),
        ("get_local_id", "hal.compile_kernel", "In text; `cuda.threadIdx` in Python."),
        ("__local", "hal.compile_kernel", "In text; `cuda.shared.array` in Python."),
    ),
    *rows(
        "4.1",
        SAMPLES + "kernels.py::TestProgressiveDisclosure::test_three_levels",
        ("barrier", "hal.compile_kernel", "In text; `cuda.syncthreads` in Python."),
        (
            "CLK_LOCAL_MEM_FENCE",
            "hal.compile_kernel",
            "In text; a barrier here orders all memory of the block.",
        ),
    ),
    *rows(
        "4.2.1",
        BUDDY,
        (
            "memory_block_t.left_buddy",
            "memory.Buddy.free",
            "Not stored: the buddy of a block of 2ⁿ lies at its offset XOR 2ⁿ.",
        ),
        (
            "memory_block_t.right_buddy",
            "memory.Buddy.free",
            "Not stored: the buddy of a block of 2ⁿ lies at its offset XOR 2ⁿ.",
        ),
        (
            "memory_block_t.buddy",
            "memory.Buddy.free",
            "Used and not declared in the sources; the offset XOR 2ⁿ.",
        ),
        (
            "buddy_alloc",
            "memory.Buddy.allocate",
            "Splits until the block fits, where the sources stop at twice its size.",
        ),
        (
            "buddy_free",
            "memory.Buddy.free",
            "Merges free buddies of the same order, as long as there are any.",
        ),
        ("split_block", "memory.Buddy.allocate", "A step of it."),
        ("merge_buddies", "memory.Buddy.free", "A step of it."),
    ),
    *rows(
        "4.2.1",
        BUDDIES,
        ("memory_block_t", "memory.Block", TWO_BLOCKS),
        ("memory_block_t.size", "memory.Block.size"),
        ("memory_block_t.is_free", "memory.Region.state", TWO_BLOCKS),
        (
            "memory_block_t.data",
            "memory.Block.offset",
            "Used and not declared in the sources; bytes from the start of the range.",
        ),
        ("next_power_of_2", "memory.Buddy.order_of", "Its logarithm, in smallest blocks."),
        ("find_free_block", "memory.Buddy.explain", "Says which block a request would get."),
        ("get_block", "memory.Buddy.block_at"),
    ),
    *rows(
        "4.2.2",
        SLAB,
        ("slab_t", "memory.Slab"),
        ("slab_free", "memory.Slab.free", "A second free is refused."),
    ),
    *rows(
        "4.2.2",
        SLABS,
        ("slab_t.object_size", "memory.Slab.object_size"),
        (
            "slab_t.objects_per_slab",
            "memory.Slab.objects_per_arena",
            "A slab has as many arenas as it needs, where the sources' is full after 256 objects.",
        ),
        (
            "slab_t.free_list",
            "memory.Slab.regions",
            "Kept by the host: device memory cannot hold links that the host follows.",
        ),
        ("create_slab", "memory.Slab", "Making one is calling the class."),
        ("slab_alloc", "memory.Slab.allocate", "Raises where C returns NULL."),
    ),
    *rows(
        "4.3",
        SAMPLES + "memory.py::TestUnified::test_process_data_unified",
        ("wia_alloc_unified", "hal.Context.allocate", ONE_ALLOCATE),
        (
            "wia_compute_kernel",
            "hal.Stream.submit",
            SUBMITTED + " The host waits before it reads, which the sources forget.",
        ),
    ),
    *rows(
        "4.3",
        "hal/test_hal_streams.py::TestKinds::test_lifetime",
        ("wia_free_unified", "hal.Buffer.close", CLOSED),
    ),
    *rows(
        "4.3",
        "hal/test_hal_unified.py::TestAdvice::test_preferred_on_the_host",
        ("wia_advise_memory", "hal.Buffer.advise"),
        (
            "WIA_MEM_ADVISE_CPU_PREFER",
            "hal.Advice.PREFERRED_LOCATION",
            "Without a device it is the host's.",
        ),
    ),
    *rows(
        "4.3",
        SAMPLES + "memory.py::TestUnified::test_process_with_hints",
        (
            "wia_prefetch_async",
            "hal.Stream.prefetch",
            "To the stream's device, in the stream of the kernel that needs it.",
        ),
    ),
    *rows(
        "4.4",
        SAMPLES + "memory.py::TestTransfers::test_pinned",
        ("wia_alloc_device", "hal.Context.allocate", ONE_ALLOCATE),
        ("wia_alloc_pinned", "hal.Context.allocate", ONE_ALLOCATE),
        (
            "wia_copy_h2d",
            "hal.Stream.copy",
            "(target, source): the direction follows from the two kinds of memory.",
        ),
    ),
    *rows(
        "4.4",
        "hal/test_hal_streams.py::TestKinds::test_lifetime",
        ("wia_free_pinned", "hal.Buffer.close", CLOSED),
        ("wia_free_device", "hal.Buffer.close", CLOSED),
    ),
    *rows(
        "4.5",
        (POOL + "TestReuse::test_same_class_hits", BOOKS),
        ("memory_pool_t", "memory.Pool"),
        ("pool_alloc", "memory.Pool.allocate"),
        (
            "pool_free",
            "memory.Pool.free",
            "Reused on its own stream at once, on another after its event: the sources let a "
            "kernel's memory be handed out while it runs.",
        ),
        ("size_class_pool_t", "memory.Pool", "A row of the pool's, not an object of its own."),
    ),
    *rows(
        "4.5",
        BOOKS,
        (
            "memory_pool_t.pools",
            "memory.Pool.classes",
            "As many classes as there are sizes, not 32; kept apart by stream as well.",
        ),
        ("size_class_pool_t.cache", "memory.Pool.regions", "Those whose state is cached."),
        ("size_class_pool_t.cache_size", "memory.Statistics.cached_bytes", "Of all classes."),
        (
            "memory_pool_t.total_allocated",
            "memory.Statistics.reserved_bytes",
            "What was taken from below and not given back; the sources never subtract.",
        ),
        ("memory_pool_t.peak_allocated", "memory.Statistics.peak_reserved_bytes"),
    ),
    *rows(
        "4.5",
        POOL + "TestAge::test_bound_of_blocks",
        ("size_class_pool_t.cache_capacity", "memory.Pool.keep_blocks"),
    ),
    *rows(
        "4.5",
        POOL + "TestSpacing::test_known_classes",
        ("get_size_class", "memory.SizeClasses.index"),
        ("size_class_size", "memory.SizeClasses.size"),
        ("size_class_pool_t.size_class", "memory.SizeClasses.index"),
    ),
    *rows(
        "4.5",
        POOL + "TestThreads::test_eight_threads",
        (
            "memory_pool_t.lock",
            "memory.Pool",
            "The pool's own, held for a whole step; the sources count outside of it.",
        ),
    ),
    *rows(
        "4.5",
        "memory/test_adaptors.py::test_locked_heap_under_threads",
        ("wia_mutex_t", "memory.Locked", "An adaptor puts a lock around any allocator."),
        ("wia_mutex_lock", "memory.Locked.allocate", "Taken at the beginning of each step."),
        ("wia_mutex_unlock", "memory.Locked.allocate", "Let go at its end, also by an exception."),
    ),
    *rows(
        "4.5",
        "hal/test_hal_pool.py::TestReuse::test_blocks",
        ("wia_memory_size", "hal.Buffer.nbytes"),
    ),
    *rows(
        "4.6",
        (COUNTS + "test_last_release_frees", COUNTED),
        ("ref_counted_memory_t.ref_count", "memory.Strong.count"),
        (
            "retain_memory",
            "memory.Strong.retain",
            "Returns a handle of its own, so that nobody can release for another.",
        ),
        (
            "release_memory",
            "memory.Strong.release",
            "`stream=` defers the last one until that stream has passed: a count on the host knows "
            "nothing of a device at work.",
        ),
    ),
    *rows(
        "4.6",
        COUNTED,
        ("ref_counted_memory_t", "memory.Strong"),
        ("ref_counted_memory_t.data", "memory.Strong.block"),
        ("ref_counted_memory_t.size", "memory.Block.size", "Of `handle.block`."),
        ("ref_counted_memory_t.device", "memory.Counted.upstream", "The memory it came from."),
        ("create_ref_counted", "memory.Counted.create"),
    ),
    *rows(
        "4.7",
        (COMPACTION + "test_overlapping_moves_keep_the_bytes", BACKING + "test_compaction"),
        (
            "defragment_memory",
            "memory.Compacting.compact",
            "Reports the largest hole before and after, as compaction changes nothing else.",
        ),
        (
            "wia_copy_device_to_device",
            "memory.move_in_pieces",
            "(target, source), in pieces no longer than the way they go: CUDA's copies may not "
            "overlap.",
        ),
        ("memory_block_t.address", "memory.Block.offset"),
    ),
    *rows(
        "4.7",
        (COMPACTION + "test_owners_are_told_after_the_move", BACKING + "test_owners"),
        (
            "memory_block_t.owner",
            "memory.Compacting.on_move",
            "Whoever wants to know of a move says so; not only tensors.",
        ),
        ("update_tensor_pointer", "memory.Compacting.on_move"),
    ),
    *rows(
        "4.7",
        "hal/test_standard_rows.py::test_the_map_of_a_heap",
        ("get_all_blocks", "memory.Compacting.regions", "In the order of their addresses."),
        ("get_num_blocks", "memory.Statistics.live_blocks"),
        ("get_heap_base", "memory.Region.offset", "Of the first region: 0."),
        ("get_heap_end", "memory.Compacting.capacity"),
        ("get_total_memory", "memory.Compacting.capacity"),
        (
            "create_free_block",
            "memory.Statistics.largest_free_bytes",
            "Holes join by themselves; this is what is left at the end.",
        ),
    ),
    *rows(
        "4.8",
        SAMPLES + "peers.py::test_enable_peer_access_example",
        ("wia_can_access_peer", "hal.Device.can_access_peer"),
        (
            "wia_enable_peer_access",
            "hal.Context.enable_peer_access",
            "From the context that will read to the one that holds; the sources enable the other "
            "direction.",
        ),
        ("wia_create_tensor", "hal.empty"),
        ("wia_compute_on_device", "hal.Stream.submit", SUBMITTED + " A stream has its device."),
        (
            "wia_copy_peer",
            "hal.Stream.copy",
            "(target, source), as here; §3.2.1 has it the other way round.",
        ),
    ),
    *rows(
        "4.8",
        SAMPLES + "peers.py::test_alloc_numa_aware",
        ("wia_numa_node_t", "hal.Device.numa_node", "A number."),
        ("wia_get_numa_node", "hal.Device.numa_node"),
        (
            "alloc_numa_aware",
            "hal.Context.allocate",
            "`numa_node=`, for host and pinned memory: device memory has no socket to choose.",
        ),
    ),
    *rows(
        "4.8",
        SAMPLES + "peers.py::test_create_tensor_numa",
        (
            "wia_create_tensor_numa",
            "hal.empty",
            "`numa_node=`, for host and pinned memory: device memory has no socket to choose.",
        ),
    ),
    *rows(
        "4.9",
        (BANDWIDTH + "test_sectors", BANDWIDTH + "test_strides"),
        ("uncoalesced_access", "hal.compile_kernel", OWN_TEXT),
        ("coalesced_access", "hal.compile_kernel", OWN_TEXT),
    ),
    *rows(
        "4.9",
        (BANDWIDTH + "test_banks", BANDWIDTH + "test_exchanges"),
        (
            "avoid_bank_conflicts",
            "hal.compile_kernel",
            "Even banks alone, not odd ones, and an array that is long enough.",
        ),
    ),
)
