"""The pictures of `wia_lab.viz.reading`, under the names by which puzzle pages know them."""

from wia_lab.viz.reading import Extent, ReadMap, Step, Story, read_map, story
from wia_lab.viz.reading import Image as Picture

__all__ = ["Extent", "Picture", "ReadMap", "Step", "Story", "read_map", "story"]
