"""Virtual devices: streams and events on a simulated clock, and the order between them.

`virtual_machine("2xH100-nvlink")` describes devices and links; a `Timeline` runs work on its
engines. Work is done when its turn comes on the simulated clock, not when it is submitted, so a
missing wait gives stale data, as on hardware; `Order` names it all the same, whatever the timing.
The same program gives the same timeline, to the nanosecond.
"""

from __future__ import annotations

from wia_lab.timeline.aside import Aside
from wia_lab.timeline.machine import Route, VirtualDevice, VirtualMachine, virtual_machine
from wia_lab.timeline.order import Buffer, Order, Region, StreamHazard
from wia_lab.timeline.schedule import Fault, Timeline, TimelineError
from wia_lab.timeline.work import Engine, Event, Operation, Outcome, Site, Stream, Work

__all__ = [
    "Aside",
    "Buffer",
    "Engine",
    "Event",
    "Fault",
    "Operation",
    "Order",
    "Outcome",
    "Region",
    "Route",
    "Site",
    "Stream",
    "StreamHazard",
    "Timeline",
    "TimelineError",
    "VirtualDevice",
    "VirtualMachine",
    "Work",
    "virtual_machine",
]
