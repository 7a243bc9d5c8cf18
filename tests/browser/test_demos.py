"""Every demo in a real JupyterLab: each control moved, the page compared with a fresh run."""

from __future__ import annotations

import re
from contextlib import suppress

import ipywidgets as widgets
import numpy as np
import pytest

from wia_lab import cuda, simulate
from wia_lab.viz import demos

SECONDS = 120  # patience, not a limit that a test is held to
NOTEBOOKS = {
    "warp-explorer": "WarpExplorer",
    "bank-explorer": "BankExplorer",
    "tile-stepper": "TileStepper",
    "stream-timeline": "StreamTimeline",
    "heap-stepper": "HeapStepper",
    "topology": "TopologyDemo",
    "roofline": "RooflineDemo",
    "step-debugger": "WarpDebugger",
}
WRONG = """\
@cuda.jit
def read(out, a, stride, offset):
    i = cuda.grid(1)
    out[i] = a[i * stride + offset + 100000]
"""


class Page:
    """A demo's notebook open in a page, its cell run."""

    def __init__(self, page, address, name):
        # Where it is missing, `browser` has skipped
        from playwright.sync_api import TimeoutError as TooLong
        from playwright.sync_api import expect

        self.page, self.expect = page, expect
        expect.set_options(timeout=SECONDS * 1000)
        # One document a page: another demo's tab would stay in it
        page.goto(address.replace("/lab/", "/doc/").format(f"demos/{name}.ipynb"))
        page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').first.wait_for()
        cell = page.locator(".jp-CodeCell").first
        twin = page.locator(".widget-html pre.twin")
        for _ in range(8):  # while the page still arranges itself, it can lose a key
            with suppress(TooLong):
                cell.locator(".cm-content").click(timeout=8000)
                page.keyboard.press("Control+Enter")
                twin.wait_for(state="attached", timeout=8000)
                return
            if page.locator(".jp-Dialog").count():  # such as: the kernel took long to start
                print(name, page.locator(".jp-Dialog").first.inner_text())
                with suppress(TooLong):  # it may have gone by itself
                    page.locator(".jp-Dialog .jp-mod-accept").first.click(timeout=4000)
        pytest.fail(f"{name} did not show")

    def twin(self):
        """Return the text twin, which is in the page although it is folded away."""
        return self.page.locator(".widget-html pre.twin").text_content()

    def shows(self, text):
        """Wait until the twin is `text`."""
        twin = self.page.locator(".widget-html pre.twin")
        self.expect(twin).to_have_text(text, use_inner_text=False, timeout=SECONDS * 1000)

    def control(self, control):
        """Return the element of one control by its label."""
        label = re.compile(rf"^{re.escape(control.description)}$")
        kinds = ".widget-hslider, .widget-dropdown, .widget-checkbox, .widget-text"
        inner = self.page.locator(".widget-label, .widget-label-basic, span", has_text=label)
        return self.page.locator(kinds).filter(has=inner).first

    def move(self, control):
        """Move a control on the page, and its twin in this process likewise."""
        element = self.control(control)
        if isinstance(control, widgets.IntSlider):
            element.locator(".noUi-handle").focus()
            forward = control.value < control.max
            self.page.keyboard.press("ArrowRight" if forward else "ArrowLeft")
            control.value += control.step if forward else -control.step
        elif isinstance(control, widgets.Dropdown):
            values = [each[1] if isinstance(each, tuple) else each for each in control.options]
            place = (values.index(control.value) + 1) % len(values)
            element.locator("select").select_option(index=place)
            control.value = values[place]
        elif isinstance(control, widgets.Checkbox):
            element.locator("input").click()
            control.value = not control.value
        elif isinstance(control, widgets.Combobox):
            element.locator("input").fill("2xH100-nvlink")
            self.page.keyboard.press("Tab")
            control.value = "2xH100-nvlink"

    def move_to(self, control, value):
        """Choose a value on the page and in this process."""
        if isinstance(control, widgets.IntSlider):
            self.control(control).locator(".noUi-handle").focus()
            self.page.keyboard.press("Home")
        else:
            place = [each[1] for each in control.options].index(value)
            self.control(control).locator("select").select_option(index=place)
        control.value = value

    def button(self, name):
        """Press a button of the demo."""
        self.page.get_by_role("button", name=name, exact=True).click()


def test_every_demo(browser, lab, tmp_path):
    """Each control changes the page to what a run of its own gives; screenshots are kept."""
    _, address = lab
    page = browser.new_page(viewport={"width": 1280, "height": 1150})
    page.set_default_timeout(SECONDS * 1000)
    for name, kind in NOTEBOOKS.items():
        opened, own = Page(page, address, name), getattr(demos, kind)()
        opened.shows(str(own.shown))
        for control in own.controls.values():
            if not isinstance(control, widgets.SelectMultiple):
                opened.move(control)
                opened.shows(str(own.shown))
        page.screenshot(path=tmp_path / f"{name}.png")
        if name == "warp-explorer":
            edit_live(opened, own)
            burst(opened, own)
            predict_first(opened)
    page.close()


def edit_live(opened, own):
    """A kernel that runs off its array gives the diagnosis; the next edit the picture again."""
    good = str(own.shown)
    area = opened.page.locator(".wia-editor textarea")
    area.fill(WRONG)
    opened.button("Run")
    opened.expect(opened.page.locator(".widget-html [role=alert]")).to_contain_text("out-of-bounds")
    area.fill(WRONG[: WRONG.index("offset +")])
    opened.button("Run")
    opened.expect(opened.page.locator(".widget-html [role=alert]")).to_contain_text("not Python")
    opened.button("The first one again")
    opened.shows(good)


def predict_first(opened):
    """With the switch on, a change hides the answer, in the text too, until Show is pressed."""
    opened.page.locator(".widget-checkbox", has_text="predict first").locator("input").click()
    vote = opened.page.locator(".wia-vote")
    vote.wait_for()
    assert opened.page.locator(".widget-html pre.twin").count() == 0
    opened.page.keyboard.press("Tab")
    opened.button("Show")
    opened.page.locator(".widget-html pre.twin").wait_for(state="attached")


def burst(opened, own):
    """After sixty changes without a pause the page shows the last one, as simulate counts it."""
    for name, value in (("size", 4), ("show", "a"), ("offset", 0)):  # 0: where Home takes it
        opened.move_to(own.controls[name], value)
    page, stride = opened.page, opened.control(own.controls["stride"])
    stride.locator(".noUi-handle").focus()
    page.keyboard.press("Home")
    for key in ("ArrowRight", "ArrowLeft", "ArrowRight") * 20:
        page.keyboard.press(key)

    @cuda.jit
    def read(out, a, stride):
        i = cuda.grid(1)
        out[i] = a[i * stride]

    counters = simulate(
        read, 1, 32, np.zeros(32, np.float32), np.zeros(4096, np.float32), 20
    ).counters
    twin = page.locator(".widget-html pre.twin")
    opened.expect(stride).to_contain_text("20")
    opened.expect(twin).to_contain_text(f"32 lanes, {counters.global_load_sectors} sectors: ")
    opened.expect(twin).to_contain_text("sector of bytes +2,464")  # lane 31, at 31 × 20 × 4
    own.controls["stride"].value = 20
    opened.shows(str(own.shown))
