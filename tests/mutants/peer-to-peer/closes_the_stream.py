"""MUST GET: closed, cause closed. Closes the stream once it has waited."""


class PeerReader:
    def share(self, data, ready, stream, reads):
        with stream:
            stream.wait(ready)
        return data

    def fetch(self, data, ready, stream):
        return data
