"""MUST GET: refused, line 18, cause does-not-ask.

reads == 1 or reachable: data is read in place although it is read often, or cannot be reached.
"""

from wia_lab import hal as wia


class PeerReader:
    """Brings data of one device to kernels of another, and to the host."""

    def share(self, data, ready, stream, reads):
        stream.wait(ready)
        reader, owner = stream.context, data.context
        if reader.device is owner.device:
            return data
        if reads == 1 or reader.device.can_access_peer(owner.device):
            reader.enable_peer_access(owner)
            return data
        copy = reader.allocate(data.nbytes)
        stream.copy(copy, data)
        return copy

    def fetch(self, data, ready, stream):
        stream.wait(ready)
        node = data.context.device.numa_node
        target = stream.context.allocate(data.nbytes, wia.MemoryKind.PINNED, numa_node=node)
        stream.copy(target, data)
        return target
