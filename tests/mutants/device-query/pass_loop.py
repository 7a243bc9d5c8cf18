"""MUST PASS. A loop that keeps the best, and a managed buffer."""

from wia_lab import hal as wia


class DeviceQuery:
    def choose(self, machine, nbytes, needs):
        best = None
        for device in machine:
            if device.memory.statistics.largest_free_bytes < nbytes:
                continue
            if not all(getattr(device.capabilities, name) for name in needs):
                continue
            if [1 for context in device.contexts if context.config.exclusive]:
                continue
            rank = device.info.memory_bandwidth, -len(device.contexts)
            if best is None or rank > best[0]:
                best = rank, device
        if best is None:
            raise wia.UnknownDevice("no device fits")
        return best[1]

    def open(self, device, nbytes, streams, timeout):
        config = wia.ContextConfig(memory_pool_size=nbytes, max_streams=streams, timeout=timeout)
        return wia.Context(device, config)

    def place(self, context, nbytes):
        if context.device.capabilities.supports_unified_memory:
            both = context.allocate(nbytes, wia.MemoryKind.MANAGED)
            return both, both
        host = context.allocate(nbytes, wia.MemoryKind.PINNED)
        return host, context.allocate(nbytes, wia.MemoryKind.DEVICE)
