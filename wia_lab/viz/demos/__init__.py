"""Demos for a class: each is a widget that a notebook's cell shows and Voilà serves as a page."""

from wia_lab.viz.demos.warps import BankExplorer, WarpExplorer

__all__ = ["BankExplorer", "WarpExplorer"]
