"""What every picture is: an image, and a text twin that carries the same numbers.

In a notebook a picture shows itself; `print(picture)` gives its twin, which nbval compares and a
screen reader reads. Pictures hold plain numbers taken from a report, and none of the report.
"""

from __future__ import annotations

import io
import re
from abc import ABC, abstractmethod
from html import escape
from typing import TYPE_CHECKING, Any

from wia_lab.viz.svg import STYLE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_BYTES = 300_000
"""No picture is larger, as HTML."""


class Picture(ABC):
    """Something that prints as text and shows as an image."""

    @abstractmethod
    def __str__(self) -> str:
        """The text twin; its first line says what the picture shows."""

    @abstractmethod
    def drawing(self) -> str:
        """The image as an HTML fragment: an `svg` element or a table."""

    def html(self, *, twin: bool = True) -> str:
        """Style, image and, unfolded on a click, the text twin."""
        words = escape(str(self))
        text = f'<details><summary>in words</summary><pre class="twin">{words}</pre></details>'
        return f'{STYLE}<div class="wia-picture">{self.drawing()}{text if twin else ""}</div>'

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {"text/plain": str(self), "text/html": self.html()}


class Sentence(Picture):
    """What stands where there is nothing to draw: one sentence that says why."""

    def __init__(self, words: str) -> None:
        self.words = words

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.words}>"

    def __str__(self) -> str:
        return self.words

    def drawing(self) -> str:
        return f"<p>{escape(self.words)}</p>"

    def html(self, *, twin: bool = False) -> str:
        return super().html(twin=twin)


class Plot(Picture):
    """A picture that matplotlib draws: black becomes the page's text colour."""

    @abstractmethod
    def figure(self) -> Figure:
        """Draw it, on no background, lines and texts in black."""

    def drawing(self) -> str:
        import matplotlib as mpl  # noqa: PLC0415 - slow; only where a plot is drawn

        out = io.StringIO()
        # Fixed names for its parts and no date, so that the same numbers give the same text
        with mpl.rc_context({"svg.hashsalt": "wia-lab", "svg.fonttype": "none"}):
            self.figure().savefig(out, format="svg", transparent=True, metadata={"Date": None})
        text = out.getvalue()
        text = text[text.index("<svg") :].replace("#000000", "currentColor")
        text = re.sub(r"<(metadata|style)\b.*?</\1>", "", text, flags=re.DOTALL)
        label = escape(str(self).splitlines()[0], quote=True)
        named = f'<svg role="img" aria-label="{label}" '
        return re.sub(r' (width|height)="[^"]*pt"', "", text.replace("<svg ", named, 1), count=2)
