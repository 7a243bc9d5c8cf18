"""Pictures of what kernels, streams and allocators did; demos made of them are in `viz.demos`.

Each function takes what was recorded and returns a picture, which shows itself in a notebook and
prints as its text twin.
"""

from wia_lab.viz.banks import banks
from wia_lab.viz.engines import stream_timeline
from wia_lab.viz.flight import in_flight
from wia_lab.viz.heaps import heap_history, heap_map
from wia_lab.viz.links import topology
from wia_lab.viz.listing import divergence, listing
from wia_lab.viz.picture import Picture, Plot, Sentence
from wia_lab.viz.roof import roofline
from wia_lab.viz.sectors import sectors
from wia_lab.viz.tiles import tile

__all__ = [
    "Picture",
    "Plot",
    "Sentence",
    "banks",
    "divergence",
    "heap_history",
    "heap_map",
    "in_flight",
    "listing",
    "roofline",
    "sectors",
    "stream_timeline",
    "tile",
    "topology",
]
