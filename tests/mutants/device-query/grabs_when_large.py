"""MUST GET: wrong-limit, cause takes-more. Takes the whole device for large data."""

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
            raise LookupError(f"no device of {machine.name} has room for {nbytes:,} bytes")
        return max(fit, key=lambda d: (d.info.memory_bandwidth, -len(d.contexts), -d.number))

    def open(self, device, nbytes, streams, timeout):
        config = wia.ContextConfig(
            memory_pool_size=nbytes if nbytes < 20 << 30 else device.memory.statistics.free_bytes,
            max_streams=streams,
            timeout=timeout,
        )
        return wia.Context(device, config)

    def place(self, context, nbytes):
        if context.device.capabilities.supports_unified_memory:
            both = context.allocate(nbytes, wia.MemoryKind.UNIFIED)
            return both, both
        host = context.allocate(nbytes, wia.MemoryKind.PINNED)
        return host, context.allocate(nbytes, wia.MemoryKind.DEVICE)
