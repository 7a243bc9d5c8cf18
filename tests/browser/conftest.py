"""A real JupyterLab on a learner's folder, and a real headless Chromium to look at it."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
TOKEN = "learner"
SECONDS_TO_START = 180
SECONDS_TO_END = 60

# Tests are no package: what they share is taken from the file beside this one
_SPEC = importlib.util.spec_from_file_location(
    "demo_page", Path(__file__).with_name("demo_page.py")
)
demo_page = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(demo_page)


@pytest.fixture(scope="session")
def browser():
    """Return a headless Chromium of this system; Playwright's own is not downloaded."""
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine: apt-get install chromium")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def connected():
    """Return the function that waits until a page has its kernel.

    A key that runs a cell before that brings up a dialog; the page's indicator says "idle" even so.
    """
    return lambda page: page.wait_for_function(demo_page.READY)


@pytest.fixture
def lab(tmp_path):
    """Start `wia-lab start` on a new folder; return the folder and the address of its pages."""
    with running(tmp_path) as found:
        yield found


@pytest.fixture(scope="session")
def shared_lab(tmp_path_factory):
    """As `lab`, once for all tests that only look."""
    with running(tmp_path_factory.mktemp("shared-lab")) as found:
        yield found


@pytest.fixture
def demos_address(shared_lab):
    """Return the address of the shared server's pages; the kernels end with the test."""
    _, address = shared_lab
    yield address
    root = address.partition("/lab/")[0]
    permit = {"Authorization": f"token {TOKEN}"}
    with urlopen(Request(f"{root}/api/sessions", headers=permit), timeout=SECONDS_TO_END) as answer:
        sessions = json.load(answer)
    for session in sessions:
        place = f"{root}/api/sessions/{session['id']}"
        with urlopen(Request(place, headers=permit, method="DELETE"), timeout=SECONDS_TO_END):
            pass


@pytest.fixture(scope="session")
def window(browser):
    """Return one browser window for all demos, so that JupyterLab's scripts are loaded once."""
    context = browser.new_context(viewport={"width": 1280, "height": 1150})
    yield context
    context.close()


@pytest.fixture
def opened(window, demos_address):
    """Return the function that opens a demo in a page of its own."""
    pages = []

    def opens(name):
        pages.append(window.new_page())
        return demo_page.Page(pages[-1], demos_address, name)

    yield opens
    for page in pages:
        page.close()


@pytest.fixture
def opened_apart(browser, lab):
    """As `opened`, each time in the same page of a server of its own."""
    page = browser.new_page(viewport={"width": 1280, "height": 1150})
    yield lambda name: demo_page.Page(page, lab[1], name)
    page.close()


@contextmanager
def running(home):
    """Run JupyterLab on a new folder below `home` until it answers; give folder and address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folder = home / "my-notebooks"
    with server(folder, port, home) as process:
        wait_for(f"http://127.0.0.1:{port}/api/status?token={TOKEN}", process)
        yield folder, f"http://127.0.0.1:{port}/lab/tree/{{}}?token={TOKEN}"


@contextmanager
def server(folder, port, home):
    """Run JupyterLab in a process group of its own, with settings and caches below `home`."""
    settings = home / "settings" / "@jupyterlab" / "notebook-extension"
    settings.mkdir(parents=True)
    # Every cell is in the page, so that a test can find the n-th
    (settings / "tracker.jupyterlab-settings").write_text(json.dumps({"windowingMode": "none"}))
    news = home / "settings" / "@jupyterlab" / "apputils-extension"
    news.mkdir(parents=True)
    quiet = {"fetchNews": "false", "checkForUpdates": False}
    (news / "notification.jupyterlab-settings").write_text(json.dumps(quiet))
    config = home / "config"
    config.mkdir()
    # `window.jupyterapp`, by which a test sees whether the page has its kernel
    told = {"LabApp": {"expose_app_in_browser": True}}
    (config / "jupyter_server_config.json").write_text(json.dumps(told))
    environment = {
        **os.environ,
        "JUPYTER_TOKEN": TOKEN,
        "JUPYTER_CONFIG_DIR": str(config),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
    }
    command = [sys.executable, "-m", "wia_lab", "start", str(folder)]
    with (home / "lab.log").open("w") as log:
        process = subprocess.Popen(
            [*command, "--no-browser", "--port", str(port)],
            env=environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            end(process)


def end(process):
    """End a server and its group; one that is too busy to end itself is killed."""
    if process.poll() is not None:
        return
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_for(address, process):
    """Wait until the server answers; fail when it ends instead."""
    deadline = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < deadline:
        assert process.poll() is None, "JupyterLab ended: see lab.log in the test's folder"
        try:
            with urlopen(address, timeout=5):
                return
        except OSError:  # refused, or too busy to answer within the 5 s
            time.sleep(0.3)
    pytest.fail(f"JupyterLab did not answer within {SECONDS_TO_START} s")
