"""A buffer as the bytes behind an allocator's range: `wia_lab.memory.Heap(…, backing=…)`."""

from __future__ import annotations

import numpy as np

from wia_lab.hal.buffer import Buffer
from wia_lab.hal.checks import checked, checked_whole
from wia_lab.hal.kinds import MemoryKind
from wia_lab.hal.stream import Stream
from wia_lab.memory.backing import move_in_pieces


class DeviceBacking:
    """Bytes of a buffer of any kind, reached by copies in one stream.

    Reads wait for the stream; writes, fills and moves are ordered in it. The owner orders other
    streams' work against it, with events.

    Parameters
    ----------
    buffer : Buffer
        The memory.
    stream : Stream
        In which it is copied.
    """

    def __init__(self, buffer: Buffer, stream: Stream) -> None:
        way = "give what context.allocate(...) returned"
        self.buffer = checked("DeviceBacking: buffer", buffer, Buffer, way)
        way = "give one that context.create_stream() made"
        self.stream = checked("DeviceBacking: stream", stream, Stream, way)
        buffer.span()
        stream.check_open()

    @property
    def nbytes(self) -> int:
        """How many bytes there are."""
        return self.buffer.nbytes

    def read(self, offset: int, nbytes: int) -> bytes:
        """A copy of `nbytes` bytes."""
        self._check("read: offset", offset, nbytes)
        with self._staging(nbytes) as staging:
            self.stream.copy(staging, self.buffer[offset : offset + nbytes])
            return staging.host(np.uint8, "read").tobytes()

    def write(self, offset: int, data: bytes) -> None:
        """Put `data` at `offset`."""
        checked("write: data", data, (bytes, bytearray), "give bytes")
        self._check("write: offset", offset, len(data))
        with self._staging(len(data)) as staging:
            staging.host(np.uint8, "write")[:] = np.frombuffer(data, np.uint8)
            self.stream.copy(self.buffer[offset : offset + len(data)], staging)

    def fill(self, offset: int, nbytes: int, value: int) -> None:
        """Set `nbytes` bytes to `value`, 0 to 255."""
        self._check("fill: offset", offset, nbytes)
        checked_whole("fill: value", value, 0, 255)
        self.write(offset, bytes([value]) * nbytes)

    def move(self, target: int, source: int, nbytes: int) -> None:
        """Copy `nbytes` bytes from `source` to `target`; the two ranges may overlap."""
        self._check("move: target", target, nbytes)
        self._check("move: source", source, nbytes)

        def copy(to: int, start: int, count: int) -> None:
            self.stream.copy(self.buffer[to : to + count], self.buffer[start : start + count])

        move_in_pieces(copy, target, source, nbytes)

    def _check(self, where: str, offset: int, nbytes: int) -> None:
        """Refuse a range that is not in the buffer."""
        call = where.partition(":")[0]
        checked_whole(f"{call}: nbytes", nbytes, 1, self.buffer.nbytes)
        checked_whole(where, offset, 0, self.buffer.nbytes - nbytes)

    def _staging(self, nbytes: int) -> Buffer:
        return self.buffer.context.allocate(nbytes, MemoryKind.HOST, name="staging")
