"""What every demo is: controls above a picture, a question to vote on first, a text twin.

A control that moves draws a new picture; the slider's own front end drops the values that it has
passed while the kernel was busy, so the last picture is always that of the last value. A demo holds
one picture and one report at a time.

ipykernel 7 hears widgets in two threads: a widget's messages go to the thread in which it last
spoke, and a button that never spoke stays in the first. So demos draw in turns, each from the
values as they stand then, and let all their widgets speak in the thread that a change came by: what
the page sends one after the other is then heard in that order.
"""

from __future__ import annotations

import re
import threading
from html import escape
from typing import Any

import ipywidgets as widgets

from wia_lab.errors import WiaLabError
from wia_lab.viz.demos.source import Refused, live_file
from wia_lab.viz.picture import Picture
from wia_lab.viz.svg import STYLE

WIDE = widgets.Layout(width="100%")
WORDS = {"description_width": "initial"}
TURN = threading.RLock()  # of all demos: a text's output and source lines are the process's
NO_SPACE = "0 0 1000 1"


class Diagnosis(Picture):
    """Stands where the picture stood, and says why there is none."""

    def __init__(self, sentences: tuple[str, ...]) -> None:
        self.sentences = sentences

    def __str__(self) -> str:
        return "\n".join(["There is no picture of this kernel:", *self.sentences])

    def drawing(self) -> str:
        told = "".join(f"<li>{escape(each)}</li>" for each in self.sentences)
        return (
            '<div role="alert" style="font-size:17px;border-left:6px solid #e8743b;'
            f'padding:4px 14px"><b>There is no picture of this kernel:</b><ul>{told}</ul></div>'
        )


class Demo(widgets.VBox):  # type: ignore[misc]
    """Controls, a picture, its text twin.

    A demo sets `title` and `question`, makes its controls, and draws in `picture`. `kernel` is the
    text that the presenter may edit.

    Attributes
    ----------
    controls : dict of str to widget
        By name; `picture` gets their values by these names.
    shown : Picture
        What the page shows, or would show had the class voted.
    file : str
        Under which name the lines of the kernel's text are known.
    """

    title = ""
    question = ""

    edited = "The kernel. Edit it, then run it:"

    def __init__(
        self,
        controls: dict[str, Any],
        kernel: str | None = None,
        placed: dict[str, Any] | None = None,
    ) -> None:
        self.controls, self.file = controls, live_file()
        shown = {**controls, **(placed or {})}  # what stands on the page for a control
        self.predict = widgets.Checkbox(False, description="predict first", indent=False)
        self.in_words = widgets.Checkbox(False, description="in words", indent=False)
        self.reveal = widgets.Button(description="Show", button_style="primary")
        self._image, self._twin = widgets.HTML(layout=WIDE), widgets.HTML(layout=WIDE)
        self._bar = widgets.HBox([self.predict, self.reveal, self.in_words])
        rows = [
            widgets.HTML(f'<h3 style="margin:4px 0;color:inherit">{escape(self.title)}</h3>'),
            widgets.HBox(list(shown.values()), layout=widgets.Layout(flex_flow="row wrap")),
            self._bar,
            self._image,
            self._twin,
        ]
        self.editor: widgets.Textarea | None = None
        if kernel is not None:
            self.editor = widgets.Textarea(
                kernel,
                continuous_update=False,
                rows=kernel.count("\n") + 2,
                layout={"width": "98%"},
            )
            self.editor.add_class("wia-editor")
            self.run = widgets.Button(description="Run")
            self.reset = widgets.Button(
                description="The first one again", layout={"width": "170px"}
            )
            rows += [
                widgets.HTML(f"<b>{escape(self.edited)}</b>"),
                self.editor,
                widgets.HBox([self.run, self.reset]),
                widgets.HTML("<style>.wia-editor textarea {font: 15px/1.4 monospace}</style>"),
            ]
            self.editor.observe(self._changed, "value")
            self.run.on_click(self._changed)
            self.reset.on_click(lambda _: setattr(self.editor, "value", kernel))
        super().__init__(rows)
        self._hidden, self._space, self._thread = False, NO_SPACE, 0
        for control in controls.values():
            control.observe(self._changed, "value")
        self.predict.observe(self._changed, "value")
        self.in_words.observe(self._place, "value")
        self.reveal.on_click(self._open)
        self._changed()

    def picture(self, **values: Any) -> Picture:
        """The picture for the controls' values. `Refused` says why there is none."""
        raise NotImplementedError

    @property
    def source(self) -> str:
        """The text of the kernel as it stands."""
        return "" if self.editor is None else str(self.editor.value)

    def draw(self) -> Picture:
        """The picture of the controls as they stand, or the diagnosis in its place."""
        try:
            return self.picture(**{name: each.value for name, each in self.controls.items()})
        except Refused as refused:
            return Diagnosis(refused.sentences)
        except WiaLabError as error:
            return Diagnosis((str(error),))

    def _changed(self, change: Any = None) -> None:
        with TURN:
            self.shown = self.draw()
            self._hidden = bool(self.predict.value) and not isinstance(self.shown, Diagnosis)
            self._place()
            if change is not None and self._thread != threading.get_ident():
                self._thread = threading.get_ident()
                _speak(self)

    def _open(self, _: Any = None) -> None:
        with TURN:
            self._hidden = False
            self._place()

    def _place(self, _: Any = None) -> None:
        """Put the picture on the page, or the question where the class has still to vote."""
        with TURN:
            self.reveal.layout.display = "inline-block" if self._hidden else "none"
            if self._hidden:
                self._image.value = self._in_space(
                    '<div class="wia-vote" style="font-size:26px;padding:40px">'
                    f"{escape(self.question)}<br><small>Vote, then press Show.</small></div>"
                )
                self._twin.value = ""
                return
            if isinstance(self.shown, Diagnosis):
                self._image.value = self._in_space(self.shown.drawing())
            else:
                html = self.shown.html(twin=False)
                drawn = re.search(r'viewBox="([^"]*)"', html)
                self._space = drawn[1] if drawn else NO_SPACE
                self._image.value = html
            hidden = "" if self.in_words.value else ' style="display:none"'
            words = escape(str(self.shown))
            self._twin.value = (
                f'<div class="wia-picture"{hidden}><pre class="twin">{words}</pre></div>'
            )

    def _in_space(self, html: str) -> str:
        """`html` in the space of the last picture: no button below moves from under the pointer."""
        same = 'style="grid-area:1/1"'
        return (
            f'{STYLE}<div class="wia-picture" style="display:grid"><svg viewBox="{self._space}" '
            f'aria-hidden="true" {same}></svg><div {same}>{html}</div></div>'
        )

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**options)
        bundle["text/plain"] = f"{self.title}\n{self.shown}"
        return bundle


def _speak(box: widgets.Box) -> None:
    """Let every control of a box send a word that changes nothing: see the head of the module."""
    for each in box.children:
        if isinstance(each, widgets.Box):
            _speak(each)
        elif "disabled" in each.keys:
            each.send_state("disabled")


def slider(low: int, high: int, value: int, name: str, step: int = 1) -> widgets.IntSlider:
    """A slider that answers while it is dragged."""
    return widgets.IntSlider(value, low, high, step, description=name, style=WORDS)


def choice(options: Any, value: Any, name: str) -> widgets.Dropdown:
    """One of several."""
    return widgets.Dropdown(
        options=options, value=value, description=name, style=WORDS, layout={"width": "max-content"}
    )


def stepper(low: int, high: int, value: int, name: str) -> tuple[widgets.IntSlider, widgets.HBox]:
    """A slider with buttons that go one step back and forward; the slider, and both together."""
    line = slider(low, high, value, name)
    back = widgets.Button(description="back", icon="step-backward", layout={"width": "90px"})
    forward = widgets.Button(description="forward", icon="step-forward", layout={"width": "100px"})

    def move(by: int) -> None:
        with TURN:
            line.value = min(max(line.value + by, line.min), line.max)

    back.on_click(lambda _: move(-1))
    forward.on_click(lambda _: move(1))
    return line, widgets.HBox([back, forward, line])
