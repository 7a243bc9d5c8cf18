"""MUST GET: gate, cause contexts opened to choose. Opens a context to see whether it can."""

from wia_lab import hal as wia


class DeviceQuery:
    def choose(self, machine, nbytes, needs):
        for device in sorted(machine, key=lambda d: (-d.info.memory_bandwidth, len(d.contexts))):
            if all(getattr(device.capabilities, name) for name in needs):
                try:
                    wia.Context(device, wia.ContextConfig(memory_pool_size=nbytes)).close()
                except wia.HalError:
                    continue
                return device
        raise LookupError(nbytes)

    def open(self, device, nbytes, streams, timeout):
        config = wia.ContextConfig(memory_pool_size=nbytes, max_streams=streams, timeout=timeout)
        return wia.Context(device, config)

    def place(self, context, nbytes):
        if context.device.capabilities.supports_unified_memory:
            both = context.allocate(nbytes, wia.MemoryKind.UNIFIED)
            return both, both
        host = context.allocate(nbytes, wia.MemoryKind.PINNED)
        return host, context.allocate(nbytes, wia.MemoryKind.DEVICE)
