"""Demos for a class: each is a widget that a notebook's cell shows and Voilà serves as a page."""

from wia_lab.viz.demos.kernels import RooflineDemo, TileStepper, WarpDebugger
from wia_lab.viz.demos.machine import HeapStepper, StreamTimeline, TopologyDemo
from wia_lab.viz.demos.warps import BankExplorer, WarpExplorer

__all__ = [
    "BankExplorer",
    "HeapStepper",
    "RooflineDemo",
    "StreamTimeline",
    "TileStepper",
    "TopologyDemo",
    "WarpDebugger",
    "WarpExplorer",
]
