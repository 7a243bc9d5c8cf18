"""Numbers with their nouns."""

from __future__ import annotations

import numpy as np
import pytest

from wia_lab import CheckFailed, check, cuda, simulate
from wia_lab.errors import LaunchError
from wia_lab.wording import counted


@pytest.mark.parametrize(
    ("number", "said"),
    [(0, "0 threads"), (1, "1 thread"), (2, "2 threads"), (1024, "1,024 threads")],
)
def test_the_noun_is_singular_for_one_alone(number, said):
    assert counted(number, "thread") == said


@pytest.mark.parametrize(("number", "said"), [(1, "1 copy"), (3, "3 copies")])
def test_a_plural_of_its_own(number, said):
    assert counted(number, "copy", "copies") == said


@cuda.jit
def one(o):
    """One parameter, one load, one store."""
    if cuda.grid(1) == 0:
        o[0] = o[0] + 1


SAID = "one takes 1 argument (o) and got 2: pass one for each"


class TestSentencesOfOne:
    """What is told of one thing has its noun in the singular, at every door."""

    def test_a_launch_s_arguments(self):
        with pytest.raises(LaunchError) as caught:
            simulate(one, 1, 1, np.zeros(1), 2)
        assert str(caught.value) == SAID
        with pytest.raises(TypeError) as caught:
            one[1, 1](np.zeros(1), 2)
        assert str(caught.value) == SAID

    def test_a_signature_s_arguments(self):
        with pytest.raises(TypeError, match=r"one takes 1 argument, but the signature .* has 2"):
            cuda.jit("void(float32[:], int32)")(one.py_func)

    def test_an_answer_s_parameters(self):
        with pytest.raises(CheckFailed, match=r"one\(o\) has 1 parameter, but the check calls"):
            check("tiled-matmul", one)

    def test_a_report_s_counts(self):
        text = str(simulate(one, 1, 1, np.zeros(1)))
        assert "1 request, 1 sector (" in text
