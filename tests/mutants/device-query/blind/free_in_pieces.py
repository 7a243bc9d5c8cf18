"""MUST GET: accepted, cause free-in-pieces.

The choice looks at all free bytes together, but a buffer needs one piece.
"""

from wia_lab import hal as wia


class DeviceQuery:
    """Chooses devices, opens contexts and places memory."""

    def choose(self, machine, nbytes, needs):
        good = []
        for device in machine:
            if any(context.config.exclusive for context in device.contexts):
                continue
            if device.memory.statistics.free_bytes < nbytes:
                continue
            if all(getattr(device.capabilities, need) for need in needs):
                good.append(device)
        if not good:
            raise LookupError(f"no device has {nbytes} bytes and {needs}")
        return min(good, key=lambda d: (-d.info.memory_bandwidth, len(d.contexts), d.number))

    def open(self, device, nbytes, streams, timeout):
        config = wia.ContextConfig(
            memory_pool_size=nbytes, memory_limit=nbytes, max_streams=streams, timeout=timeout
        )
        return wia.Context(device, config)

    def place(self, context, nbytes):
        if context.device.capabilities.supports_unified_memory:
            both = context.allocate(nbytes, wia.MemoryKind.UNIFIED)
            return both, both
        host = context.allocate(nbytes, wia.MemoryKind.PINNED)
        return host, context.allocate(nbytes, wia.MemoryKind.DEVICE)
