"""What a launch does with hazards."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import pytest

import wia_lab
from wia_lab.cuda import policy
from wia_lab.errors import HazardError, HazardWarning, WiaLabError
from wia_lab.settings import SettingError


def hazard(severity, message):
    """Something like a hazard."""
    return SimpleNamespace(severity=severity, message=message, kind="race")


RACE = hazard("error", "line 9: thread 0 reads tile[63], no barrier between")
OUTSIDE = hazard("error", "line 12: a[8] is out of bounds")
WIDE = hazard("warning", "line 7: float64 arithmetic")
REPORT = SimpleNamespace(hazards=(WIDE, RACE, OUTSIDE))


class TestRaise:
    """The default: errors raise once the grid has run, warnings warn."""

    def test_first_error_and_how_many_more(self):
        with pytest.warns(HazardWarning), pytest.raises(HazardError) as caught:
            policy.apply(REPORT)
        assert str(caught.value) == f"{RACE.message} (and 1 more error)"
        assert caught.value.hazards == [RACE, OUTSIDE, WIDE]
        assert caught.value.report is REPORT

    def test_one_error(self):
        with pytest.raises(HazardError) as caught:
            policy.apply(SimpleNamespace(hazards=[RACE]))
        assert str(caught.value) == RACE.message

    def test_warning_does_not_raise(self):
        with pytest.warns(HazardWarning, match="float64") as heard:
            policy.apply(SimpleNamespace(hazards=[WIDE]))
        assert [each.message.hazard for each in heard] == [WIDE]


class TestModes:
    """`WIA_LAB_HAZARDS`, and `with hazards(...)`, which wins."""

    def test_warn(self, monkeypatch):
        """Each hazard is a warning that carries it, and names the line of the launch."""
        monkeypatch.setenv("WIA_LAB_HAZARDS", "warn")
        with pytest.warns(HazardWarning) as heard:
            policy.apply(REPORT)
        assert [each.message.hazard for each in heard] == [RACE, OUTSIDE, WIDE]
        assert {each.filename for each in heard} == {__file__}

    def test_off(self, monkeypatch):
        monkeypatch.setenv("WIA_LAB_HAZARDS", "off")
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            policy.apply(REPORT)
        assert heard == []

    def test_with_wins_and_nests(self, monkeypatch):
        monkeypatch.setenv("WIA_LAB_HAZARDS", "warn")
        with wia_lab.hazards("off"):
            with wia_lab.hazards("raise"):
                assert policy.current_mode() == "raise"
            assert policy.current_mode() == "off"
        assert policy.current_mode() == "warn"

    def test_restored_after_an_error(self):
        with pytest.raises(KeyError), wia_lab.hazards("off"):
            raise KeyError
        assert policy.current_mode() == "raise"

    def test_bad_value(self, monkeypatch):
        monkeypatch.setenv("WIA_LAB_HAZARDS", "ignore")
        with pytest.raises(SettingError, match="WIA_LAB_HAZARDS is 'ignore': set it to one of"):
            policy.apply(REPORT)

    def test_bad_mode(self):
        with pytest.raises(WiaLabError, match="given 'loud': give it"), wia_lab.hazards("loud"):
            pass
