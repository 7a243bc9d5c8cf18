"""A demo as a page without code, served by Voilà."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from wia_lab.viz import demos
from wia_lab.workbook.places import notebooks_folder

SECONDS = 120  # patience


@pytest.fixture
def address(tmp_path):
    """Serve the warp explorer; return the page's address."""
    pytest.importorskip("voila")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    notebook = notebooks_folder() / "demos" / "warp-explorer.ipynb"
    environment = {**os.environ, "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime")}
    command = [sys.executable, "-m", "voila", str(notebook), "--no-browser", f"--port={port}"]
    with (tmp_path / "voila.log").open("w") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        yield f"http://127.0.0.1:{port}/"
        process.terminate()
        process.wait(20)


def test_a_page_without_code(browser, address, tmp_path):
    """The page has the demo and its kernel's editor, no code cell, and answers a slider."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        try:  # the first answer is the page itself, rendered by a kernel of its own
            with urlopen(address + "voila/static/voila.js", timeout=5):
                break
        except (URLError, ConnectionError):
            time.sleep(0.3)
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    page.set_default_timeout(SECONDS * 1000)
    page.goto(address)
    twin, own = page.locator(".widget-html pre.twin"), demos.WarpExplorer()
    twin.wait_for(state="attached")
    assert twin.text_content() == str(own.shown)
    assert page.get_by_text("import WarpExplorer").count() == 0
    page.locator(".widget-hslider .noUi-handle").first.focus()
    page.keyboard.press("ArrowRight")
    own.controls["stride"].value += 1
    page.wait_for_function(
        "text => document.querySelector('pre.twin').textContent === text", arg=str(own.shown)
    )
    page.screenshot(path=tmp_path / "voila.png")
    page.close()
