"""MUST GET: wrong-limit, cause not-reserved.

Only limits the memory and reserves nothing, so somebody else may take it first.
"""

from wia_lab import hal as wia


class DeviceQuery:
    def choose(self, machine, nbytes, needs):
        fit = [
            d
            for d in machine
            if d.memory.statistics.largest_free_bytes >= nbytes
            and all(getattr(d.capabilities, name) for name in needs)
            and not any(c.config.exclusive for c in d.contexts)
        ]
        if not fit:
            raise LookupError(f"no device for {nbytes} bytes")
        return min(fit, key=lambda d: (-d.info.memory_bandwidth, len(d.contexts), d.number))

    def open(self, device, nbytes, streams, timeout):
        config = wia.ContextConfig(memory_limit=nbytes, max_streams=streams, timeout=timeout)
        return wia.Context(device, config)

    def place(self, context, nbytes):
        if context.device.capabilities.supports_unified_memory:
            buffer = context.allocate(nbytes, wia.MemoryKind.UNIFIED)
            return buffer, buffer
        host = context.allocate(nbytes, wia.MemoryKind.PINNED)
        return host, context.allocate(nbytes)
