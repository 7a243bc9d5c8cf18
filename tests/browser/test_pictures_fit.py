"""No label of a picture is cut or lies over another, measured in a real browser."""

from __future__ import annotations

import ipywidgets as widgets
import numpy as np
import pytest

from wia_lab import cuda, simulate, viz
from wia_lab.viz import demos

OUTPUT = 1092  # pixels of an output's width in a page of 1280
# Bounding boxes have some air around the letters: a small overlap of theirs is none of the words
UNFIT = """() => {
  const found = [];
  for (const svg of document.querySelectorAll("svg")) {
    const paper = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll("text")].filter(each => each.textContent.trim())
      .map(each => [each.textContent.trim(), each.getBoundingClientRect()]);
    texts.forEach(([words, at], n) => {
      if (at.left < paper.left - 1 || at.right > paper.right + 1
          || at.top < paper.top - 1 || at.bottom > paper.bottom + 1) found.push(`cut: ${words}`);
      for (const [other, there] of texts.slice(n + 1)) {
        const across = Math.min(at.right, there.right) - Math.max(at.left, there.left);
        const down = Math.min(at.bottom, there.bottom) - Math.max(at.top, there.top);
        if (across > 2 && down > 5) found.push(`${words} over ${other}`);
      }
    });
  }
  for (const table of document.querySelectorAll("table"))
    if (table.scrollWidth > table.parentElement.clientWidth) found.push("a table is cut");
  return found;
}"""


@pytest.fixture
def unfit(window):
    """Return the function that shows a picture and lists the labels that do not fit."""
    page = window.new_page()
    page.set_viewport_size({"width": OUTPUT, "height": 1000})

    def shows(html):
        page.set_content(f'<body style="margin:0">{html}</body>')
        return page.evaluate(UNFIT)

    yield shows
    page.close()


def ends(control):
    """Return the values of a control at which a picture is fullest or emptiest."""
    if isinstance(control, widgets.IntSlider):
        return [control.min, (control.min + control.max) // 2, control.max]
    if isinstance(control, widgets.Dropdown):
        return [each[1] if isinstance(each, tuple) else each for each in control.options]
    if isinstance(control, widgets.SelectMultiple):
        return [control.options[:1], control.options]
    if isinstance(control, widgets.Checkbox):
        return [True, False]
    return ["2xA100+T4", "16xA100-nvlink", "8xA100-pcie-2numa"]


@pytest.mark.parametrize("name", demos.__all__)
def test_labels_of_a_demo(name, unfit):
    """At the ends of every control, the others as they were left, every label stands free."""
    demo = getattr(demos, name)()
    for control in demo.controls.values():
        for value in ends(control):
            control.value = value
            assert unfit(demo.shown.html(twin=False)) == [], (control.description, value)


def test_an_overlap_and_a_cut_are_found(unfit):
    """The measure itself: words over words, words over the edge, a table wider than its place."""
    svg = '<svg viewBox="0 0 100 50"><text x="5" y="20">one</text><text x="9" y="22">two</text>'
    assert unfit(svg + "</svg>") == ["one over two"]
    assert unfit('<svg viewBox="0 0 100 50"><text x="90" y="30">three</text></svg>') == [
        "cut: three"
    ]
    assert unfit('<div><table style="width:3000px"></table></div>') == ["a table is cut"]


@cuda.jit
def with_long_lines(out, a):
    i = cuda.grid(1)
    tile = cuda.shared.array(64, "float32")
    if i < out.size and i % 2 == 0 and a.size > 0:  # a line of this length is usual in a solution
        cuda.atomic.add(out, i, a[i] * a[(i + 1) % a.size] * a[(i + 2) % a.size] * a[(i + 3) % 7])
    tile[cuda.threadIdx.x] = a[i]
    cuda.syncthreads()
    out[i] += tile[cuda.threadIdx.x ^ 1]


def test_a_listing_of_many_counts(unfit):
    """Long lines leave room for the column of every count."""
    report = simulate(with_long_lines, 2, 64, np.zeros(128, "f4"), np.ones(128, "f4"))
    listing = viz.listing(report)
    assert len(listing.columns) >= 5
    assert unfit(listing.html(twin=False)) == []
