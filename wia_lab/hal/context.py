"""Contexts (§3.3): what a program holds on one device. There is no current one."""

from __future__ import annotations

import math
import os
from typing import Any

from wia_lab.cuda.policy import caller_site
from wia_lab.hal.checks import checked, checked_limit, checked_timeout, configured
from wia_lab.hal.context_config import ContextConfig
from wia_lab.hal.context_memory import MemoryHolder
from wia_lab.hal.device import Device
from wia_lab.hal.errors import AccessRefused, Closed, DeviceLost, InvalidValue, TimedOut
from wia_lab.hal.event import Event
from wia_lab.hal.placing import check_free_for
from wia_lab.hal.profiler import Profiler
from wia_lab.hal.stream import Stream, StreamOptions
from wia_lab.hal.turn import check_no_turn


class Context(MemoryHolder):
    """Memory and streams on one device. Use `with`, or `close`; closing twice is fine.

    Attributes
    ----------
    streams : list of Stream
        Those that are open.
    peers : set of int
        Devices whose memory its kernels were let reach.
    process : int
        Number of the process that made it.
    profiler : Profiler or None
        Of a context made with `profiling`; `with context.profiler` watches that stretch alone.
    """

    def __init__(self, device: Device, config: ContextConfig | None = None) -> None:
        checked("Context: device", device, Device, "give a device, as machine[0] is")
        settings = configured("Context: config", config, ContextConfig)
        check_free_for(device, settings)
        super().__init__(device, settings)
        self.streams: list[Stream] = []
        self._draining: list[Any] = []  # handles of closed streams, whose work may not have ended
        self.peers: set[int] = set()
        self._timeout = settings.timeout
        self.is_closed = False
        self.process = os.getpid()
        device.contexts.append(self)
        self.profiler: Profiler | None = None
        if profiling := self.config.profiling:
            self.profiler = Profiler(self, profiling if profiling is not True else None)
            self.profiler.begin()

    def __repr__(self) -> str:
        return f"<context on {self.device!r}{', closed' * self.is_closed}>"

    @property
    def timeout(self) -> float | None:
        """As `ContextConfig.timeout`; may be set."""
        return self._timeout

    @timeout.setter
    def timeout(self, seconds: float | None) -> None:
        self._timeout = checked_limit("timeout", seconds)

    # Waits

    def wait_for(self, handle: Any, timeout: float | None) -> bool:
        """Wait for a stream's or an event's handle; False when `timeout` seconds did not do.

        A loss of the device that comes to light here is remembered.
        """
        try:
            return self.backend.synchronize(handle, None if timeout == math.inf else timeout)
        except DeviceLost as error:
            self.device.lost = error
            self.generation += 1
            raise

    def settled(self) -> Exception | None:
        """Let the host wait for all streams, closed ones too, whatever the context's timeout.

        Returns what failed first in them, with the rest as notes, for the caller to raise.
        """
        failures: list[Exception] = []
        closed, self._draining = self._draining, []
        for handle in (*closed, *[stream.handle for stream in self.streams]):
            try:
                self.wait_for(handle, None)
            except Exception as error:  # whatever the stream's work raised
                failures.append(error)
                if self.device.lost is not None:
                    break
        for other in failures[1:]:
            failures[0].add_note(f"another stream failed, too: {type(other).__name__}: {other}")
        return failures[0] if failures else None

    def settle(self) -> None:
        """As `settled`, and raise what failed."""
        failed = self.settled()
        if failed is not None:
            raise failed

    # Streams, events, peers

    def drain(self, handle: Any) -> None:
        """Remember a stream that is being closed until what it was given has ended."""
        self._draining = [each for each in self._draining if not each.is_drained] + [handle]

    def create_stream(self, options: StreamOptions | None = None) -> Stream:
        """A new stream."""
        self.check_open()
        chosen = configured("create_stream: options", options, StreamOptions)
        if len(self.streams) >= self.config.max_streams:
            raise InvalidValue(
                f"{self!r} has {len(self.streams)} open streams, its most: close one, or raise "
                "max_streams"
            )
        stream = Stream(self, chosen)
        self.streams.append(stream)
        return stream

    def create_event(self, name: str = "event") -> Event:
        """An event that was never recorded."""
        return Event(self, name)

    def enable_peer_access(self, peer: Context) -> None:
        """Let kernels of this context reach device memory of `peer`'s device; not the other way.

        Copies between the two devices go straight from then on; without it, through the host.

        Raises
        ------
        AccessRefused
            When there is no way between the two devices.
        """
        self.check_open()
        if not isinstance(peer, Context):
            raise InvalidValue(
                f"enable_peer_access({peer!r}): give the context that holds the memory, not its "
                "device"
            )
        peer.check_open()
        if not self.device.can_access_peer(peer.device):
            raise AccessRefused(
                f"device {self.device.number} cannot reach memory of device {peer.device.number} "
                f"in {self.device.machine.name}: copy it in a stream"
            )
        self.backend.enable_peer_access(self.device.number, peer.device.number)
        self.peers.add(peer.device.number)

    def synchronize(self, *, timeout: float | None = None) -> None:
        """Let the host wait for all its streams, each at most `timeout` seconds.

        What streams were given that are closed by now is waited for as well.
        """
        self.check_open()
        given = checked_timeout("synchronize: timeout", timeout)
        allowed = self.timeout if given is None else given
        while self._draining:
            if not self.wait_for(self._draining[0], allowed):
                raise TimedOut(
                    f"work of a closed stream of {self!r} did not end within {allowed} s: wait "
                    "longer, with timeout= or the context's timeout"
                )
            self._draining.pop(0)
        for stream in list(self.streams):
            stream.synchronize(timeout=timeout)

    def close(self) -> None:
        """Wait for its streams, then give back streams and memory; with a lost device, at once.

        What failed in a stream is raised when all has been given back: the context is closed then.
        """
        if self.is_closed:
            return
        if self.device.lost is not None:
            self.lose()
            return
        self.check_open()
        failed: Exception | None = None
        try:
            self.after_waiting(self._give_all_back)
        except Exception as error:  # whatever the streams' work raised
            failed = error
        self._end()
        if failed is not None:
            raise failed

    def _end(self) -> None:
        if self.device.lost is None:
            self.abandon()
        else:
            self.lose()

    def lose(self) -> None:
        """Close as `abandon` does; the device remembers which of its memory that was."""
        self.device.gone += [each.name for each in self.buffers if each.kind.on_device]
        self.abandon()

    def abandon(self) -> None:
        """Close without waiting and without giving memory back, as when the device was lost."""
        if self.profiler is not None and self.profiler.is_running:
            self.profiler.stop()
        for stream in list(self.streams):
            stream.close()
        for buffer in self.buffers:
            buffer.freed_at = buffer.freed_at or caller_site()
        for pool in list(self.pools):
            pool.abandon()
        self._buffers.clear()
        self.generation += 1
        self.device.contexts.remove(self)
        self.is_closed = True

    def check_open(self) -> None:
        """Refuse a context that was closed, made by another process, or used on a stream's turn."""
        check_no_turn(self)
        if self.is_closed:
            raise Closed(f"{self!r} was used: make another with Context(device)")
        if os.getpid() != self.process:
            raise Closed(
                f"{self!r} was made by process {self.process} and used by {os.getpid()}: make one "
                "in each process"
            )
        if self.device.lost is not None:
            raise DeviceLost(
                f"{self.device!r} was lost ({self.device.lost}): call device.reset() and make what "
                "you need anew"
            )
