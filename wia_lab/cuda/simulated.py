"""One launch on the simulator: at once, or when its turn comes in a stream.

A launch that runs later reads its arrays when it starts and writes them when it ends. In between,
other work sees the memory as it was: who does not wait gets what a GPU may well give, the past.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from wia_lab.cuda import options as jit_options
from wia_lab.cuda import places, policy, signatures, streams
from wia_lab.cuda.arguments import Prepared
from wia_lab.cuda.devices import get_current_device
from wia_lab.simt.launch import run, written_arguments
from wia_lab.timeline import Aside, Outcome, Site, Work

if TYPE_CHECKING:
    from wia_lab.cuda.kernel import Kernel
    from wia_lab.cuda.launchconfig import LaunchConfiguration


def launch(
    kernel: Kernel, configuration: LaunchConfiguration, args: Sequence[Any], names: Sequence[str]
) -> None:
    """Launch `kernel`.

    Raises
    ------
    HazardError
        When the launch had errors. A launch on a stream that the host does not wait for tells
        them where the host waits next; see `wia_lab.cuda.policy`.
    """
    made = Launch(kernel, configuration, args, names)
    if made.runs_at_once:
        streams.enqueue(configuration.stream, made.work(), wait=made.prepared.touches_host)
        policy.apply(made.report)
    else:
        made.check()
        streams.enqueue(configuration.stream, made.later(), wait=False)


class Launch:
    """A kernel, its configuration and its arguments; the report once it has run."""

    def __init__(
        self,
        kernel: Kernel,
        configuration: LaunchConfiguration,
        args: Sequence[Any],
        names: Sequence[str],
    ) -> None:
        jit_options.check_on_simulator(kernel.options, kernel.name)
        self.kernel, self.configuration = kernel, configuration
        self.prepared = Prepared(args, names, kernel.name)
        values = self.prepared.values
        if kernel.signatures:
            signature = signatures.choose(kernel.signatures, values, kernel.name)
            values = signatures.convert(signature, values)
        self.values = values
        self.function = kernel.frozen(values)
        self.options: dict[str, Any] = {
            "shared_bytes": int(configuration.shared_bytes),
            "device": get_current_device().name,
            "debug": bool(kernel.options.get("debug")),
        }
        self.site: Site = policy.caller_site()
        self.report: Any = None
        self._aside = Aside(())

    @property
    def runs_at_once(self) -> bool:
        """Whether the host waits for it, or cannot tell that it did not."""
        return self.prepared.touches_host or streams.is_default(self.configuration.stream)

    def work(self) -> Work:
        """The launch as work whose effects are there as soon as it has started."""
        return self._work(self._run, None)

    def later(self) -> Work:
        """The launch as work whose effects are there when it ends."""
        return self._work(self._run_aside, self._land)

    def check(self) -> None:
        """Refuse now what would be refused when the launch runs."""
        written = written_arguments(
            self.function,
            self.values,
            shared_bytes=self.options["shared_bytes"],
            device=self.options["device"],
        )
        self._aside = Aside(_arrays([self.values[position] for position in sorted(written)]))

    def _work(self, begin: Any, action: Any) -> Work:
        return Work(
            f"kernel {self.kernel.name}",
            engines=(streams.COMPUTE,),
            begin=begin,
            action=action,
            kind="kernel",
            site=self.site,
        )

    def _run(self) -> Outcome:
        arrays = list(_arrays(self.values))
        touched = places.Touched(arrays)
        ordered = not streams.is_default(self.configuration.stream)
        self.report = run(
            self.function,
            self.configuration.grid,
            self.configuration.block,
            self.values,
            listeners=(touched,) if ordered else (),
            **self.options,
        )
        if self.runs_at_once:
            self.prepared.copy_back()
        return Outcome(
            streams.nanoseconds(self.report.cost.seconds),
            touched.regions(places.READ),
            touched.regions(places.WRITTEN),
        )

    def _run_aside(self) -> Outcome:
        outcome = self._aside.run(self._run)
        streams.found(self.report, [self._told(each) for each in self.report.hazards])
        return outcome

    def _land(self) -> None:
        self._aside.land()
        self.prepared.copy_back()

    def _told(self, hazard: Any) -> Any:
        """A hazard of a launch that runs later says which launch."""
        stream = streams.resolve(self.configuration.stream)
        where = f"{self.kernel.name}, launched on line {self.site.line} in {stream.name}"
        return replace(hazard, message=f"{hazard.message} ({where})")


def _arrays(values: Any) -> Iterator[np.ndarray]:
    """The arrays among arguments, also those in tuples, as the memory behind them."""
    for value in values:
        memory = getattr(value, "memory", value)
        if isinstance(value, tuple):
            yield from _arrays(value)
        elif isinstance(memory, np.ndarray):
            yield memory
