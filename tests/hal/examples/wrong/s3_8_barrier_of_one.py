"""MUST GET: InvalidValue, 'give two or more'. §3.8: one thread waits for a barrier of four."""

import wia_lab.hal as wia


def run():
    """`wia_create_peer_barrier(devices, 4)`, with the one stream that comes."""
    context = wia.Context(wia.open_machine("4xA100")[0])
    barrier = wia.PeerBarrier([context.create_stream()])
    barrier.wait()
