"""MUST GET: crash, line 9. Gives the device where the context belongs."""


class PeerReader:
    def share(self, data, ready, stream, reads):
        stream.wait(ready)
        reader, owner = stream.context, data.context
        if reader.device.can_access_peer(owner.device):
            reader.enable_peer_access(owner.device)
        return data

    def fetch(self, data, ready, stream):
        return data
