"""Pictures of what kernels, streams and allocators did; demos made of them are in `viz.demos`.

Each function takes what was recorded and returns a picture, which shows itself in a notebook and
prints as its text twin.
"""

from wia_lab.viz.banks import banks
from wia_lab.viz.picture import Picture, Plot, Sentence
from wia_lab.viz.sectors import sectors

__all__ = ["Picture", "Plot", "Sentence", "banks", "sectors"]
