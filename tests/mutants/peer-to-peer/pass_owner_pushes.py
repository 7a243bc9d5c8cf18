"""MUST PASS. Where the reader cannot reach the owner, the owner may reach the reader."""

from wia_lab import hal as wia


class PeerReader:
    def share(self, data, ready, stream, reads):
        stream.wait(ready)
        reader, owner = stream.context, data.context
        if reader.device is owner.device:
            return data
        if reader.device.can_access_peer(owner.device):
            reader.enable_peer_access(owner)
            if reads == 1:
                return data
        elif owner.device.can_access_peer(reader.device):
            owner.enable_peer_access(reader)
        local = reader.allocate(data.nbytes)
        stream.copy(local, data)
        return local

    def fetch(self, data, ready, stream):
        near = data.context.device.numa_node
        host = data.context.allocate(data.nbytes, wia.MemoryKind.PINNED, numa_node=near)
        stream.wait(ready)
        stream.copy(host, data)
        return host
