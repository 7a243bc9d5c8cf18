"""A demo's notebook in a page of JupyterLab: every wait is for a state that can be seen.

What JupyterLab's own indicator shows is no such state: it says "idle" before there is a kernel. The
page is asked for its kernel instead (`expose_app_in_browser`), and the cell is run by the command
that the key is bound to.
"""

from __future__ import annotations

import json
import re
from contextlib import contextmanager

import ipywidgets as widgets
import pytest

SECONDS = 90  # patience, not a limit that a test is held to
MOST_KEYS = 60
TWIN = ".widget-html pre.twin"
EDITOR = ".wia-editor textarea"
PICTURE = '.wia-picture svg[role="img"], .wia-picture table'
IS = f"text => document.querySelector('{TWIN}')?.textContent === text"
KERNEL = "window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel"
READY = f"""() => window.jupyterapp?.shell.currentWidget?.sessionContext?.isReady
  && {KERNEL}?.connectionStatus === "connected" && {KERNEL}.status === "idle" """
# The kernel has told the end of all that the widgets sent; JupyterLab has no public word for it
DONE = f"""() => [...{KERNEL}._futures.values()].every(
  each => each.msg.header.msg_type !== "comm_msg")"""

# On failure: what the page shows, and what the kernel says of the same widgets
EVIDENCE = f"""async asked => {{
  const told = {{
    twin: document.querySelector('{TWIN}')?.textContent,
    alert: document.querySelector('[role=alert]')?.textContent,
    textarea: document.querySelector('{EDITOR}')?.value,
    focus: document.activeElement?.outerHTML.slice(0, 120),
    dialog: document.querySelector('.jp-Dialog')?.textContent,
  }};
  const kernel = {KERNEL};
  if (!kernel) return told;
  told.kernel = [kernel.connectionStatus, kernel.status];
  const reply = kernel.requestExecute({{code: "", silent: true, user_expressions: asked}}).done;
  const late = new Promise(done => setTimeout(done, 10000, null));
  told.inKernel = (await Promise.race([reply, late]))?.content.user_expressions ?? "no answer";
  return told;
}}"""
WIDGETS = "__import__('ipywidgets').widgets.widget._instances.values()"
ASKED = {
    "editor.value": f"[w.value for w in {WIDGETS} if type(w).__name__ == 'Textarea']",
    "widgets heard in": (
        f"[(type(w).__name__, getattr(w.comm, '_reply_subshell_id', None)) for w in {WIDGETS}"
        " if hasattr(w, 'disabled')]"
    ),
}


class Page:
    """A demo's notebook open in a page, its cell run once."""

    def __init__(self, page, address, name):
        self.page, self.name = page, name
        page.set_default_timeout(SECONDS * 1000)
        # One document a page: another demo's tab would stay in it
        page.goto(address.replace("/lab/", "/doc/").format(f"demos/{name}.ipynb"))
        with self._waits("the page and its kernel to talk"):
            page.wait_for_function(READY)
        page.evaluate("window.jupyterapp.commands.execute('notebook:run-all-cells')")
        with self._waits("the demo"):
            page.locator(TWIN).wait_for(state="attached")

    @contextmanager
    def _waits(self, wanted):
        """Fail, with the evidence, where what is waited for does not come."""
        from playwright.sync_api import TimeoutError as TooLong  # or `browser` has skipped

        try:
            yield
        except TooLong:
            evidence = json.dumps(self.page.evaluate(EVIDENCE, ASKED), indent=1)
            pytest.fail(f"{self.name}: waited {SECONDS} s for {wanted}; there is {evidence}")

    def twin(self):
        """Return the text twin, which is in the page although it is folded away."""
        return self.page.locator(TWIN).text_content()

    def shows(self, text):
        """Wait until the twin is `text`, and a picture stands above it."""
        with self._waits(f"the picture of {text!r}"):
            self.page.wait_for_function(IS, arg=text)
            self.page.locator(PICTURE).first.wait_for()

    def diagnoses(self, *told):
        """Wait until a diagnosis with these words stands where the picture stood."""
        alert = self.page.locator(".widget-html [role=alert]")
        with self._waits(f"the diagnosis {told}"):
            for words in told:
                alert.filter(has_text=words).wait_for()
            self.page.locator(PICTURE).first.wait_for(state="detached")

    def asks(self, question):
        """Wait until the question stands where the picture stood, and no twin tells the answer."""
        with self._waits(f"the question {question}"):
            self.page.locator(".wia-vote", has_text=question).wait_for()
            self.page.locator(PICTURE).first.wait_for(state="detached")
            self.page.locator(TWIN).wait_for(state="detached")

    def control(self, control):
        """Return the element of one control by its label."""
        label = re.compile(rf"^{re.escape(control.description)}$")
        kinds = (
            ".widget-hslider, .widget-dropdown, .widget-checkbox, .widget-text, "
            ".widget-select-multiple"
        )
        inner = self.page.locator(".widget-label, .widget-label-basic, span", has_text=label)
        return self.page.locator(kinds).filter(has=inner).first

    def at(self, control):
        """Return the number that a slider's page shows."""
        return int(self.control(control).locator(".widget-readout").inner_text().replace(",", ""))

    def slide(self, control, value):
        """Take a slider there by its keys.

        The page itself writes a slider's number while it handles the key, whatever the kernel does:
        a number that stays is a key that was not delivered, and is pressed again.
        """
        handle = self.control(control).locator(".noUi-handle")
        for _ in range(MOST_KEYS):
            now = self.at(control)
            if now == value:
                return
            handle.press("ArrowRight" if now < value else "ArrowLeft")
        pytest.fail(f"{control.description} stands at {self.at(control)}, not {value}")

    def put(self, control, value):
        """Set a control on the page, and its twin in this process likewise."""
        element = self.control(control)
        if isinstance(control, widgets.IntSlider):
            self.slide(control, value)
        elif isinstance(control, widgets.Dropdown):
            names = [each[1] if isinstance(each, tuple) else each for each in control.options]
            element.locator("select").select_option(index=names.index(value))
        elif isinstance(control, widgets.SelectMultiple):
            element.locator("select").select_option(list(value))
        elif isinstance(control, widgets.Checkbox):
            element.locator("input").set_checked(value)
        else:
            element.locator("input").fill(value)
            element.locator("input").press("Tab")
        control.value = value

    def button(self, name):
        """Press a button of the demo."""
        words = re.compile(rf"^\s*{re.escape(name)}\s*$")  # an icon may stand before them
        self.page.locator(".jp-OutputArea .widget-button", has_text=words).click()

    def type(self, text):
        """Type a kernel and stay in the editor.

        While the kernel still has an edit, the page keeps the next one back, but sends a button's
        click at once: so this waits for the end of what was sent before.
        """
        with self._waits("the kernel to be done"):
            self.page.wait_for_function(DONE)
        self.page.locator(EDITOR).fill(text)
        assert self.typed() == text

    def edit(self, text):
        """Type a kernel and leave it, which runs it."""
        self.type(text)
        self.page.locator(EDITOR).blur()

    def typed(self):
        """Return the editor's text."""
        return self.page.locator(EDITOR).input_value()

    def check(self, name):
        """Return the box of one of the two switches that every demo has."""
        return self.page.locator(".widget-checkbox", has_text=name).locator("input")
