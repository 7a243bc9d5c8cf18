"""The arithmetic of the puzzles: references, rounding, and what known mistakes compute."""
