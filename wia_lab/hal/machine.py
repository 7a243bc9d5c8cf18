"""Machines: the devices that one back end offers, and nothing shared between two of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from wia_lab.hal.backends.virtual import VirtualBackend
from wia_lab.hal.checks import Single, checked_callable, is_whole, refuse, said
from wia_lab.hal.device import Device
from wia_lab.hal.errors import InvalidValue, UnknownDevice
from wia_lab.wording import counted

if TYPE_CHECKING:
    from wia_lab.hal.backends.base import Backend
    from wia_lab.timeline import VirtualMachine


HARDWARE = "hardware"


class Machine(Single, Sequence[Device]):
    """The devices that one back end offers: `machine[0]`, `len(machine)`, `for device in machine`.

    Two machines have nothing in common, not even a clock. A virtual one has one clock, which one
    thread at a time may move on; threads may share real devices, and their streams.
    """

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self._devices = tuple(Device(self, number) for number in range(backend.device_count))

    def __repr__(self) -> str:
        return f"<machine {self.name} with {counted(len(self), 'device')}>"

    @property
    def name(self) -> str:
        """As the back end calls it."""
        return self.backend.name

    @property
    def is_virtual(self) -> bool:
        """Whether it is simulated."""
        return self.backend.is_virtual

    def inject(
        self,
        device: int,
        error: BaseException,
        *,
        matches: Callable[[str], bool] = lambda name: True,  # noqa: ARG005 - any work
        times: int = 1,
    ) -> None:
        """Let work of a virtual device fail, to try what a program does then.

        The next `times` copies or calls of the device whose name `matches` fail with `error`, which
        whoever waits for the stream gets.

        Raises
        ------
        InvalidValue
            For what is no error or no function, less than one time, or a real device.
        """
        number = self[device].number
        if not isinstance(error, BaseException):
            refuse("inject: error", error, "give an error, as DeviceLost('fell off the bus')")
        checked_callable("inject: matches", matches)
        if not is_whole(times) or times < 1:
            raise InvalidValue(f"inject: {said(times)} times: give an integer from 1 on")
        self.backend.inject(number, error, matches, int(times))

    def __len__(self) -> int:
        return len(self._devices)

    def __iter__(self) -> Iterator[Device]:
        return iter(self._devices)

    def __getitem__(self, number: int) -> Device:  # type: ignore[override]
        if not is_whole(number) or not 0 <= number < len(self):
            raise UnknownDevice(
                f"device {number!r} of {self.name}: it has 0 to {len(self) - 1}, one at a time"
            )
        return self._devices[int(number)]


def open_machine(specification: str | VirtualMachine) -> Machine:
    """A virtual machine, or its name, such as `2xH100-nvlink`; or "hardware".

    `wia_lab.timeline` says how virtual machines are named. "hardware" is the GPUs of this computer,
    all of them; nothing else stands in where they cannot be used.

    Raises
    ------
    InvalidValue
        For a name of neither, or hardware that is not there.
    """
    if specification == HARDWARE:
        from wia_lab.hal.backends.hardware import HardwareBackend  # noqa: PLC0415 - where asked for

        return Machine(HardwareBackend())
    return Machine(VirtualBackend(specification))
