"""MUST GET: wrong-kind, cause pageable.

The host's buffer is ordinary HOST memory, not PINNED, where there is no unified memory.
"""

from wia_lab import hal as wia


class DeviceQuery:
    def choose(self, machine, nbytes, needs):
        fit = [
            device
            for device in machine
            if device.memory.statistics.largest_free_bytes >= nbytes
            and all(getattr(device.capabilities, name) for name in needs)
            and not any(context.config.exclusive for context in device.contexts)
        ]
        if not fit:
            raise LookupError("no device fits")
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
        host = context.allocate(nbytes, wia.MemoryKind.HOST)
        device = context.allocate(nbytes, wia.MemoryKind.DEVICE)
        return host, device
