"""Every public call with every argument replaced by what does not belong there: one sentence.

The sentence is an error of `wia_lab.hal`; it has the value, or its type, and a way out; the context
computes as before. A value that belongs there is not tried: see `FITS`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import wia_lab.hal as wia

sys.path.insert(0, str(Path(__file__).parent))

from wrong_device_calls import DEVICE_CALLS
from wrong_tensor_calls import TENSOR_CALLS
from wrong_world import FITS, INF, WRONG, World

FOLDER = Path(__file__).parent
CALLS = {**DEVICE_CALLS, **TENSOR_CALLS}
PLACES = [(call, argument) for call, (_, arguments) in CALLS.items() for argument in arguments]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """One of each thing, for all: what was refused leaves no trace."""
    made = World(tmp_path_factory.mktemp("world"))
    yield made
    made.close()


def make(world: World, call: str, **instead: object) -> object:
    """The call, with some arguments that do not belong there."""
    function, arguments = CALLS[call]
    given = {name: good(world) for name, (_, good) in arguments.items()}
    return function(world, **{**given, **instead})


@pytest.mark.parametrize(("call", "argument"), PLACES, ids=lambda each: each)
def test_what_does_not_belong_there(world: World, call: str, argument: str) -> None:
    """An error of the HAL's, in one sentence with a way out, told of this file; and no harm."""
    kind = CALLS[call][1][argument][0]
    faults = []
    for name, wrong in WRONG.items():
        if name in FITS[kind]:
            continue
        value = wrong(world)
        try:
            make(world, call, **{argument: value})
        except wia.HalError as error:
            text = str(error)
            if "\n" in text or len(text) > 500 or Path(error.details.file).parent != FOLDER:
                faults.append(f"{name}: {error.details.file}: {text}")
        except Exception as error:
            faults.append(f"{name}: {type(error).__name__}: {error}")
        else:
            faults.append(f"{name}: taken as it is")
    assert faults == [], "\n".join(faults)
    assert world.usable()


@pytest.mark.parametrize("call", CALLS)
def test_what_belongs_there(world: World, call: str) -> None:
    """The same call with the right arguments goes well: it is they that the errors are about."""
    if call in ("Stream.launch", "Buffer[]"):
        pytest.skip("its one argument is tried elsewhere")
    make(world, call)


def test_numbers_of_numpy(world: World) -> None:
    """They are sizes, seconds and counts as Python's are."""
    assert world.context.allocate(np.int64(64)).nbytes == 64
    assert wia.MemoryPool(world.context).allocate(np.uint8(64)).nbytes == 64
    world.context.synchronize(timeout=np.float32(1.0))
    assert wia.LaunchConfig(np.int32(2), (np.int64(8), 4)).threads == (8, 4, 1)


def test_waits_without_end(world: World) -> None:
    """Infinity stands for a wait of any length, wherever a timeout is taken."""
    world.stream.submit(lambda: None, seconds=1e6)
    fence = wia.Fence(world.context)
    fence.submit(world.stream)
    event = world.stream.record()
    for wait in (world.stream.synchronize, event.synchronize, fence.wait):
        wait(timeout=INF)
    world.context.synchronize(timeout=wia.TIMEOUT_INFINITE)
    assert wia.ContextConfig(timeout=INF).timeout == INF
