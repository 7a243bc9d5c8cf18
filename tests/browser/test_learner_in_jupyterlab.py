"""A learner opens a notebook in JupyterLab, fails the check, types the answer and passes."""

from __future__ import annotations

import re

import pytest

from wia_lab.workbook import places
from wia_lab.workbook.build import read_notebook
from wia_lab.workbook.form import BEGIN, END, checked_puzzles, is_answer
from wia_lab.workbook.progress import load

SECONDS = 180  # patience, not a limit that a test is held to
ANSWERED = ["06-tiled-matmul"]


class Notebook:
    """One notebook open in a page: its cells by id."""

    def __init__(self, page, path):
        self.page = page
        self.cells = read_notebook(path).cells

    def cell(self, name):
        """Return the cell's element in the page."""
        number = [cell.id for cell in self.cells].index(name)
        return self.page.locator(".jp-Notebook .jp-Cell").nth(number)

    def run(self, name):
        """Run one cell and wait until the kernel is done with it; return what it shows."""
        from playwright.sync_api import expect  # where it is missing, `browser` has skipped

        cell = self.cell(name)
        prompt = cell.locator(".jp-InputPrompt").first
        before = prompt.inner_text()
        for patience in (*[15] * 6, SECONDS):
            cell.scroll_into_view_if_needed()
            cell.locator(".cm-content").click()
            self.page.keyboard.press("Control+Enter")
            try:  # while the page still arranges itself, it can lose a key
                expect(prompt).not_to_have_text(before, timeout=patience * 1000)
                break
            except AssertionError:
                if patience == SECONDS:
                    raise
        expect(prompt).to_have_text(re.compile(r"^\[\d+\]:$"), timeout=SECONDS * 1000)
        return cell.locator(".jp-Cell-outputWrapper").inner_text()

    def type_into(self, name, text):
        """Replace a cell's text, as a learner who pastes."""
        self.cell(name).locator(".cm-content").click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.insert_text(text)


@pytest.fixture
def open_notebook(browser, lab, connected):
    """Return the function that opens a notebook of the learner's folder in a new page."""
    folder, address = lab
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    page.set_default_timeout(SECONDS * 1000)

    def opened(name):
        page.goto(address.format(f"{name}.ipynb"))
        page.locator(".jp-Notebook .jp-Cell").first.wait_for()
        connected(page)
        return Notebook(page, folder / f"{name}.ipynb")

    yield opened
    page.close()


@pytest.mark.parametrize("name", ANSWERED)
def test_fail_answer_pass(name, open_notebook, lab, tmp_path):
    """The stub fails in words, the answer passes in one line, and the success is remembered."""
    source = read_notebook(places.solutions_folder() / f"{name}.ipynb")
    [answer] = [cell for cell in source.cells if is_answer(cell)]
    [check] = [cell for cell in source.cells if checked_puzzles(cell)]
    marks = re.compile(rf"^\s*({BEGIN}|{END}|# STUB:.*)(\n|$)", re.MULTILINE)

    notebook = open_notebook(name)
    for cell in source.cells[: source.cells.index(check)]:
        if cell.cell_type == "code":
            notebook.run(cell.id)
    assert "is still the stub" in notebook.run(check.id)

    notebook.type_into(answer.id, marks.sub("", answer.source))
    notebook.run(answer.id)
    said = notebook.run(check.id)
    notebook.page.screenshot(path=tmp_path / "passed.png")
    assert "passed" in said
    assert "Error" not in said
    assert list(load(lab[0]).solved) == checked_puzzles(check)


def test_start_opens_the_first_notebook(browser, lab, connected, tmp_path):
    """The address that `wia-lab start` prints opens 00-start.ipynb, with a kernel that runs it."""
    address = re.search(r"http://127\.0\.0\.1:\d+/\S+", (tmp_path / "lab.log").read_text())[0]
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    page.set_default_timeout(SECONDS * 1000)
    token = lab[1].partition("token=")[2]  # the log hides it
    page.goto(address.replace("token=...", f"token={token}"))
    connected(page)
    notebook = Notebook(page, lab[0] / "00-start.ipynb")
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert notebook.page.title().startswith("00-start")
    assert "Error" not in notebook.run(code[0].id)
    page.screenshot(path=tmp_path / "start.png")
    page.close()
