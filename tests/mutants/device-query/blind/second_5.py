"""MUST GET: wrong-limit, cause exclusive.

Opens the context with exclusive, as the document does, so nobody else gets the device.
"""

from wia_lab import hal as wia


class DeviceQuery:
    def choose(self, machine, nbytes, needs):
        best = None
        for device in machine:
            if any(context.config.exclusive for context in device.contexts):
                continue
            if device.memory.statistics.largest_free_bytes < nbytes:
                continue
            if not all(getattr(device.capabilities, name) for name in needs):
                continue
            rank = (device.info.memory_bandwidth, -len(device.contexts), -device.number)
            if best is None or rank > best[0]:
                best = rank, device
        if best is None:
            raise LookupError("nothing fits")
        return best[1]

    def open(self, device, nbytes, streams, timeout):
        return wia.Context(
            device,
            wia.ContextConfig(
                memory_pool_size=nbytes,
                memory_limit=nbytes,
                max_streams=streams,
                exclusive=True,
                timeout=timeout,
            ),
        )

    def place(self, context, nbytes):
        if context.device.capabilities.supports_unified_memory:
            buffer = context.allocate(nbytes, wia.MemoryKind.UNIFIED)
            return buffer, buffer
        return (
            context.allocate(nbytes, wia.MemoryKind.PINNED),
            context.allocate(nbytes, wia.MemoryKind.DEVICE),
        )
