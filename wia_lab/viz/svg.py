"""Diagrams as SVG that takes its colours from the page.

Lines and texts have the page's own text colour; fills are of a palette that colour-blind readers
tell apart (Okabe and Ito), light enough for black letters on them on a light page and a dark one.
No meaning hangs on hue alone: what is filled, hatched, outlined or labelled differs in grey too.
No element has an id, so that any number of pictures can stand on one page.
"""

from __future__ import annotations

from html import escape

BLUE, ORANGE, GREEN, RED = "#4aa3df", "#f0b429", "#2fb390", "#e8743b"
STYLE = f"""<style>
.wia-picture {{ color: var(--jp-content-font-color1, currentColor); font-size: 14px; }}
.wia-picture svg {{ width: 100%; max-width: 1080px; height: auto; display: block; }}
.wia-picture text {{ fill: currentColor; font-family: system-ui, "DejaVu Sans", sans-serif; }}
.wia-picture text.m {{ font-family: ui-monospace, "DejaVu Sans Mono", monospace; }}
.wia-picture text.k {{ fill: #111; }}
.wia-picture .s {{ stroke: currentColor; fill: none; stroke-width: 1.2; }}
.wia-picture .d {{ stroke: currentColor; fill: none; stroke-width: 1; stroke-dasharray: 4 3;
  opacity: .7; }}
.wia-picture .f {{ fill: currentColor; opacity: .13; }}
.wia-picture .w {{ stroke: {RED}; stroke-width: 6; fill: none; }}
.wia-picture .h {{ stroke: currentColor; stroke-width: 4; fill: none; }}
.wia-picture .a {{ fill: {BLUE}; }} .wia-picture .b {{ fill: {ORANGE}; }}
.wia-picture .c {{ fill: {GREEN}; }} .wia-picture .r {{ fill: {RED}; }}
.wia-picture table {{ border-collapse: collapse; color: inherit; font-size: 14px; }}
.wia-picture th, .wia-picture td {{ padding: 2px 10px 2px 0; text-align: right; color: inherit;
  border-bottom: 1px solid var(--jp-border-color2, rgba(128, 128, 128, .4)); background: none;
  font-variant-numeric: tabular-nums; }}
.wia-picture td.t {{ text-align: left; white-space: pre; max-width: 46em; overflow: hidden;
  text-overflow: ellipsis; font-family: var(--jp-code-font-family, monospace); }}
.wia-picture tr.now td {{ background: {ORANGE}; color: #111; }}
.wia-picture details {{ margin: 4px 0; }}
.wia-picture pre.twin {{ white-space: pre-wrap; color: inherit; background: none; margin: 2px 0;
  font-size: 14px; line-height: 1.4; }}
</style>"""


def number(value: float) -> str:
    """A coordinate with at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")


class Canvas:
    """An SVG drawing of `width` × `height` units; each method adds one element.

    `kind` names one of the style's classes: a, b, c, r (filled), f (faint), s (outline), d (dashed
    outline), h (thick outline), w (thick and red: a way).
    """

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self._parts: list[str] = []

    def rect(
        self, x: float, y: float, width: float, height: float, kind: str = "s", tip: str = ""
    ) -> None:
        """A rectangle; `tip` is shown under the pointer."""
        inner = f"><title>{escape(tip)}</title></rect>" if tip else "/>"
        self._parts.append(
            f'<rect x="{number(x)}" y="{number(y)}" width="{number(max(width, 0.6))}" '
            f'height="{number(height)}" class="{kind}"{inner}'
        )

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str = "s") -> None:
        """A straight line."""
        self._parts.append(
            f'<path d="M{number(x1)} {number(y1)}L{number(x2)} {number(y2)}" class="{kind}"/>'
        )

    def arrow(self, x1: float, y1: float, x2: float, y2: float, kind: str = "s") -> None:
        """A line with a head at its second end."""
        length = max(((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5, 1e-9)
        ux, uy = (x2 - x1) / length, (y2 - y1) / length
        left = (x2 - 9 * ux - 4.5 * uy, y2 - 9 * uy + 4.5 * ux)
        right = (x2 - 9 * ux + 4.5 * uy, y2 - 9 * uy - 4.5 * ux)
        self._parts.append(
            f'<path d="M{number(x1)} {number(y1)}L{number(x2)} {number(y2)}'
            f"M{number(left[0])} {number(left[1])}L{number(x2)} {number(y2)}"
            f'L{number(right[0])} {number(right[1])}" class="{kind}"/>'
        )

    def text(
        self,
        x: float,
        y: float,
        words: object,
        *,
        size: float = 15,
        anchor: str = "start",
        bold: bool = False,
        mono: bool = False,
        black: bool = False,
    ) -> None:
        """Words whose baseline starts, has its middle or ends at (x, y)."""
        marks = " ".join(name for name, on in (("m", mono), ("k", black)) if on)
        self._parts.append(
            f'<text x="{number(x)}" y="{number(y)}" font-size="{number(size)}"'
            + (f' text-anchor="{anchor}"' if anchor != "start" else "")
            + (' font-weight="600"' if bold else "")
            + (f' class="{marks}"' if marks else "")
            + f' xml:space="preserve">{escape(str(words))}</text>'
        )

    def image(self, x: float, y: float, width: float, height: float, png: str) -> None:
        """A PNG, base64-encoded, its pixels kept sharp."""
        self._parts.append(
            f'<image x="{number(x)}" y="{number(y)}" width="{number(width)}" '
            f'height="{number(height)}" preserveAspectRatio="none" '
            f'style="image-rendering:pixelated" href="data:image/png;base64,{png}"/>'
        )

    def render(self, label: str) -> str:
        """The `svg` element; `label` is what a screen reader says of it."""
        return (
            f'<svg viewBox="0 0 {number(self.width)} {number(self.height)}" role="img" '
            f'aria-label="{escape(label, quote=True)}" xmlns="http://www.w3.org/2000/svg">'
            + "".join(self._parts)
            + "</svg>"
        )


def shortened(words: str, most: int) -> str:
    """`words`, cut to `most` characters with an ellipsis."""
    return words if len(words) <= most else words[: most - 1].rstrip() + "…"
