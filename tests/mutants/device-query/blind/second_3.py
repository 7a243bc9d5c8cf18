"""MUST GET: wrong-choice, cause order.

Sorts by speed and takes the last, so of equal devices the highest number wins.
"""

from wia_lab import hal as wia


class DeviceQuery:
    def choose(self, machine, nbytes, needs):
        fit = []
        for device in machine:
            taken = any(context.config.exclusive for context in device.contexts)
            able = all(getattr(device.capabilities, name) for name in needs)
            if able and not taken and device.memory.statistics.largest_free_bytes >= nbytes:
                fit.append(device)
        if len(fit) == 0:
            raise LookupError("no device fits")
        fit.sort(key=lambda d: (d.info.memory_bandwidth, -len(d.contexts)))
        return fit[-1]

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
        kernels = context.allocate(nbytes, wia.MemoryKind.DEVICE)
        return host, kernels
