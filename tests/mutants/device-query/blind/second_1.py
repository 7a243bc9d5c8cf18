"""MUST GET: wrong-choice, cause seized.

A device whose context is exclusive, so not to be had, is chosen all the same.
"""

from wia_lab import hal as wia


class DeviceQuery:
    def choose(self, machine, nbytes, needs):
        fit = []
        for device in machine:
            if device.memory.statistics.largest_free_bytes < nbytes:
                continue
            if not all(getattr(device.capabilities, name) for name in needs):
                continue
            fit.append(device)
        if not fit:
            raise LookupError(f"no device has {nbytes} bytes and {needs}")
        return max(fit, key=lambda d: (d.info.memory_bandwidth, -len(d.contexts), -d.number))

    def open(self, device, nbytes, streams, timeout):
        config = wia.ContextConfig(
            memory_pool_size=nbytes, memory_limit=nbytes, max_streams=streams, timeout=timeout
        )
        return wia.Context(device, config)

    def place(self, context, nbytes):
        if context.device.capabilities.supports_unified_memory:
            buffer = context.allocate(nbytes, wia.MemoryKind.UNIFIED)
            return buffer, buffer
        host = context.allocate(nbytes, wia.MemoryKind.PINNED)
        return host, context.allocate(nbytes, wia.MemoryKind.DEVICE)
