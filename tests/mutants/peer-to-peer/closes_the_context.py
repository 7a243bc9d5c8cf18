"""MUST GET: wrong-value, cause no-buffer. Closes the owner's context, and returns nothing."""


class PeerReader:
    def share(self, data, ready, stream, reads):
        stream.wait(ready)
        data.context.close()

    def fetch(self, data, ready, stream):
        return None
