"""The environment variables that a user sets, what each may be, and the sentence for the rest.

===================  ==========================================  ===============================
`WIA_LAB_BACKEND`    hardware, simulator                         what launches run on
`WIA_LAB_HAZARDS`    raise, warn, off                            what a launch does with hazards
`WIA_LAB_DEVICE`     a name of `wia_lab.machines`                the device that is simulated
===================  ==========================================  ===============================

A value counts as it is written, to the letter (but a device's name is found as `machines.device`
finds it): one that is nearly right is refused with the right one. An empty one is refused too. What
is not set leaves the choice to the package.
"""

from __future__ import annotations

import os

from wia_lab import machines
from wia_lab.errors import WiaLabError

BACKEND, HAZARDS, DEVICE = "WIA_LAB_BACKEND", "WIA_LAB_HAZARDS", "WIA_LAB_DEVICE"
VALUES = {
    BACKEND: ("hardware", "simulator"),
    HAZARDS: ("raise", "warn", "off"),
    DEVICE: tuple(machines.DEVICES),
}


class SettingError(WiaLabError):
    """An environment variable has a value that it cannot have."""

    exit_code = 2


def setting(variable: str) -> str | None:
    """The value of one of `VALUES`; None where it is not set.

    Raises
    ------
    SettingError
        When it is set to something else than `VALUES` allows.
    """
    value = os.environ.get(variable)
    if value is None or value in VALUES[variable]:
        return value
    if variable == DEVICE and (name := _name_of_a_device(value)):
        return name
    raise SettingError(
        f"the environment variable {variable} is {value!r}: {_meant(value, VALUES[variable])}, or "
        "unset it"
    )


def check_settings() -> None:
    """Raise SettingError for the first variable that has a value it cannot have."""
    for variable in VALUES:
        setting(variable)


def _name_of_a_device(value: str) -> str | None:
    try:
        return machines.device(value).name
    except machines.UnknownMachine:
        return None


def _meant(value: str, allowed: tuple[str, ...]) -> str:
    for each in allowed:
        if value.strip().casefold() == each.casefold():
            return f"write {each}"
    return f"set it to one of {', '.join(allowed)}"
