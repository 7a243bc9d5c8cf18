"""Threads that take turns: one runs at a time, and who is next is settled, not left to luck.

Between any two bytecodes of the learner's file the turn may pass, as Python allows, though it
seldom does it there. Locks are watched: who asks for one that is taken hands the turn on, and where
nobody can go on, that is a deadlock, found at once and every time.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from types import (
    BuiltinMethodType,
    CodeType,
    FrameType,
    FunctionType,
    MemberDescriptorType,
    MethodType,
)
from typing import Any, NamedTuple

PATIENCE = 1.0  # seconds in which nothing happens before something unwatched is what blocks
IDLE = 0.01  # share of a processor: a process that uses less waits for something
MOST_STEPS = 1_000_000  # bytecodes of one thread; loops that do not end are stopped there
DEEPEST = 6  # objects within objects in which locks are looked for
MOST_ITEMS = 1000  # of a container in which they are
CLASS_OWN = ("__dict__", "__weakref__", "__doc__", "__module__")
MADE = 1 << 9  # of a class's flags: made by a statement, and not in C

LOCKS = (
    type(threading.Lock()),
    type(threading.RLock()),
    threading.Condition,
    threading.Semaphore,
)

METHODS = (BuiltinMethodType, MethodType)


class Step(NamedTuple):
    """Where a thread stands: before one of its bytecodes."""

    thread: int
    number: int  # of its bytecodes, from 1
    line: int
    held: int  # watched locks that it holds
    section: int  # how often it has taken one or let go of one


Choose = Callable[[Step], int]
"""Who goes on, at a step of the thread whose turn it is."""


class DeadlockError(BaseException):
    """Nobody can go on; no `except Exception` of the learner's catches it."""


class TooLongError(BaseException):
    """A thread ran `MOST_STEPS` bytecodes, or so deep that they could not be counted."""


class Idleness:
    """Tells a process that waits from one that is slow, whatever else the machine does."""

    def __init__(self) -> None:
        self._since = time.monotonic(), time.process_time()

    def is_idle(self) -> bool:
        """Whether this process has done next to nothing since this object was made."""
        wall, processor = self._since
        return time.process_time() - processor < IDLE * (time.monotonic() - wall)


@dataclass
class _Thread:
    steps: int = 0
    is_waiting: bool = False  # for a watched lock
    is_stuck: bool = False  # in something unwatched
    is_done: bool = False
    held: int = 0
    section: int = 0
    error: BaseException | None = None


class Turns:
    """Runs functions in threads of their own, one at a time.

    Parameters
    ----------
    file
        The learner's: the turn may pass before each bytecode of its code.

    Attributes
    ----------
    stuck : int
        How often a thread was blocked by something that is not watched.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self.stuck = 0
        self._threads: list[_Thread] = []
        self._numbers: dict[int, int] = {}
        self._gate = threading.Condition()
        self._turn = 0
        self._is_over = False
        self._undo: list[Callable[[], None]] = []

    def run(
        self, works: Sequence[Callable[[], None]], choose: Choose
    ) -> list[BaseException | None]:
        """Run each of `works` in a thread, the first one first; return what each ended with."""
        self._threads = [_Thread() for _ in works]
        self._numbers, self._turn, self._is_over = {}, 0, False
        self._choose = choose
        for number, work in enumerate(works):
            threading.Thread(target=self._thread, args=(number, work), daemon=True).start()
        with self._gate:
            while not (self._is_over or all(each.is_done for each in self._threads)):
                before, idleness = self._progress(), Idleness()
                is_told = self._gate.wait(PATIENCE)
                if not is_told and self._progress() == before and idleness.is_idle():
                    self._give_up()
        return [each.error if each.is_done else DeadlockError() for each in self._threads]

    def _progress(self) -> tuple[Any, ...]:
        return self._turn, *((each.steps, each.is_done) for each in self._threads)

    def _give_up(self) -> None:
        """Let another thread go on than the one that stands still in something unwatched."""
        thread = self._threads[self._turn]
        if thread.is_stuck:  # it was given the turn once more, as nobody else was left
            self._is_over = True
            self._gate.notify_all()
            return
        thread.is_stuck, self.stuck = True, self.stuck + 1
        self._pass_on(self._turn)

    def _thread(self, number: int, work: Callable[[], None]) -> None:
        thread = self._threads[number]
        self._numbers[threading.get_ident()] = number
        try:
            with self._gate:
                self._wait(number)
            sys.settrace(self._enter)
            try:
                work()
                if sys.gettrace() != self._enter:  # lost, as at the limit of recursion
                    raise TooLongError
            finally:
                sys.settrace(None)
        except BaseException as error:
            thread.error = error
        with self._gate:
            thread.is_done = True
            if self._turn == number:
                self._pass_on(number)
            self._gate.notify_all()

    def _wait(self, number: int) -> None:
        """Wait for the turn; the gate is held."""
        while self._turn != number and not self._is_over:
            self._gate.wait()
        if self._is_over:
            raise DeadlockError

    def _pass_on(self, number: int) -> None:
        """Give the turn to whoever can go on, looking from `number` on; the gate is held."""
        count = len(self._threads)
        order = [(number + more) % count for more in range(1, count + 1)]
        can = [n for n in order if not (self._threads[n].is_done or self._threads[n].is_waiting)]
        free = [n for n in can if not self._threads[n].is_stuck]
        if can:
            self._turn = (free or can)[0]
        else:
            self._is_over = True
        self._gate.notify_all()

    def _enter(self, frame: FrameType, event: str, arg: Any) -> Any:
        del event, arg
        if frame.f_code.co_filename != self.file:
            return None
        frame.f_trace_opcodes = True
        return self._step

    def _step(self, frame: FrameType, event: str, arg: Any) -> Any:
        del arg
        if event != "opcode":
            return self._step
        number = self._numbers[threading.get_ident()]
        thread = self._threads[number]
        thread.steps += 1
        thread.is_stuck = False
        if thread.steps > MOST_STEPS:
            raise TooLongError
        step = Step(number, thread.steps, frame.f_lineno, thread.held, thread.section)
        following = self._choose(step)
        if following == number == self._turn and not self._is_over:
            return self._step
        with self._gate:
            other = self._threads[following]
            if self._turn == number and not (other.is_done or other.is_waiting or other.is_stuck):
                self._turn = following
                self._gate.notify_all()
            self._wait(number)
        return self._step

    def blocked(self) -> None:
        """Hand the turn on while a watched lock is taken.

        Raises
        ------
        DeadlockError
            Nobody is there to let go of it.
        """
        number = self._numbers.get(threading.get_ident())
        if number is None:
            raise DeadlockError
        with self._gate:
            self._threads[number].is_waiting = True
            if self._turn == number:
                self._pass_on(number)
            self._wait(number)

    def taken(self, count: int) -> None:
        """Note that this thread took a watched lock (1), or let go of one (−1): others may try."""
        number = self._numbers.get(threading.get_ident())
        if number is not None:
            thread = self._threads[number]
            thread.held, thread.section = thread.held + count, thread.section + 1
        if count < 0:
            for each in self._threads:
                each.is_waiting = False

    def watch(self, owner: Any) -> None:
        """Put a watched lock in the place of each that an object, or its code, has by a name."""
        for value, put in list(_places(owner, self.file)):
            lock = value.__self__ if type(value) in METHODS else value
            if issubclass(type(lock), LOCKS):
                found = Watched(lock, self)
                put(found if lock is value else getattr(found, value.__name__))
                self._undo.append(partial(put, value))

    def close(self) -> None:
        """Put the locks back where they were."""
        while self._undo:
            self._undo.pop()()


class Watched:
    """A lock that hands the turn on instead of blocking; else as the one that it stands for."""

    def __init__(self, lock: Any, turns: Turns) -> None:
        self._lock = lock
        self._turns = turns

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """As a lock does; one with a timeout gives up where nobody can go on."""
        while not self._lock.acquire(False):
            if not blocking:
                return False
            try:
                self._turns.blocked()
            except DeadlockError:
                if timeout >= 0:
                    return False
                raise
        self._turns.taken(1)
        return True

    def release(self, *count: int) -> None:
        """As a lock does; a semaphore takes a count."""
        self._lock.release(*count)
        self._turns.taken(-1)

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_error: object) -> None:
        self.release()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lock, name)


Place = tuple[Any, Callable[[Any], None]]
"""A value, and what puts another there."""


def _places(owner: Any, file: str) -> Iterator[Place]:
    """Walk through an object, its classes, what they hold, and what code of `file` names."""
    todo: list[tuple[Any, int]] = [(owner, 0)]
    todo += [(kind, 0) for kind in type(owner).__mro__ if kind is not object]
    seen: set[int] = set()
    while todo:
        value, depth = todo.pop()
        if id(value) in seen or depth > DEEPEST:
            continue
        seen.add(id(value))
        for place in _within(value, type(owner).__module__, file):
            yield place
            todo.append((place[0], depth + 1))


def _within(value: Any, module: str, file: str) -> Iterator[Place]:
    """What lies in a value: a container, a function of `file`, a class or object of `module`."""
    if isinstance(value, FunctionType) and value.__code__.co_filename == file:
        yield from _named(value)
    elif type(value) in (dict, list) and len(value) <= MOST_ITEMS:
        keys = list(value) if type(value) is dict else range(len(value))
        yield from ((value[key], partial(value.__setitem__, key)) for key in keys)
    elif isinstance(value, type) and _is_of(value, module):
        names = [name for name in vars(value) if name not in CLASS_OWN]
        yield from ((vars(value)[name], partial(setattr, value, name)) for name in names)
    elif _is_of(type(value), module):
        own = getattr(value, "__dict__", {})
        yield from ((own[name], partial(own.__setitem__, name)) for name in list(own))
        for kind in type(value).__mro__:
            for name, slot in list(vars(kind).items()):
                if isinstance(slot, MemberDescriptorType) and hasattr(value, name):
                    yield getattr(value, name), partial(object.__setattr__, value, name)


def _is_of(kind: type, module: str) -> bool:
    """Whether a class was made by a statement in `module`; code without a name is "builtins"."""
    return kind.__module__ == module and bool(kind.__flags__ & MADE)


def _named(function: FunctionType) -> Iterator[Place]:
    """The globals that a function names, and the cells of its closure."""
    codes = [function.__code__]
    for code in codes:
        codes += [each for each in code.co_consts if isinstance(each, CodeType)]
    names = function.__globals__
    for name in {name for code in codes for name in code.co_names} & names.keys():
        yield names[name], partial(names.__setitem__, name)
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # a cell that holds nothing yet
            yield cell.cell_contents, partial(setattr, cell, "cell_contents")
