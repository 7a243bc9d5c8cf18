"""What a back end may have to be told of access between devices."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class PeerAccess(Protocol):
    """A back end that copies straight between two devices only after one was let reach the other.

    CUDA's programming guide says so of `cudaMemcpyPeer` (Peer-to-Peer Memory Copy).
    """

    def enable_peer_access(self, device: int, peer: int) -> None:
        """Let `device` reach memory of `peer`, which it can."""
