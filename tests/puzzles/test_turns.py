"""Threads that take turns: what goes wrong at once goes wrong each time, and nothing else does."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from wia_lab.puzzles import find, judge
from wia_lab.puzzles.mutants import ROOT, load_answer
from wia_lab.puzzles.turns import DeadlockError, Idleness, TooLongError, Turns, Watched

POOL = find("memory-pool")
FOLDER = ROOT / "tests" / "mutants" / "memory-pool"


class Counter:
    """Counts, with a lock or without."""

    def __init__(self):
        self.lock = threading.Lock()
        self.count = 0

    def bare(self):
        self.count += 1

    def locked(self):
        with self.lock:
            self.count += 1


def watched(counter=None):
    """Return a counter whose lock is watched, and what watches it."""
    counter, turns = counter or Counter(), Turns(__file__)
    turns.watch(counter)
    return counter, turns


def counted(method, place):
    """Return the count after two threads, the first stopped before its bytecode `place`."""
    counter, turns = watched()
    work = getattr(counter, method)
    stop = turns.run(
        [work, work], lambda step: 1 if (step.thread, step.number) == (0, place) else step.thread
    )
    assert stop == [None, None]
    return counter.count


def steps_of(method):
    """Return how many bytecodes a call has."""
    counter, turns = watched()
    seen = []
    turns.run([getattr(counter, method)], lambda step: seen.append(step) or 0)
    return len(seen)


class TestPlaces:
    """One thread is stopped before a bytecode of its own."""

    def test_lost_update(self):
        """Between read and write a count is lost, elsewhere it is not; each time alike."""
        counts = [counted("bare", place + 1) for place in range(steps_of("bare"))]
        assert set(counts) == {1, 2}
        assert counts == [counted("bare", place + 1) for place in range(len(counts))]

    def test_lock_holds_everywhere(self):
        """Under the lock the count is right wherever the first is stopped."""
        assert {counted("locked", place + 1) for place in range(steps_of("locked"))} == {2}

    def test_many_threads_by_lot(self):
        """Eight threads and a lot: the same turns, the same count, twice."""

        def play():
            counter, turns = watched()
            lot, order = np.random.default_rng(28), []

            def choose(step):
                order.append(step.thread)
                return int(lot.integers(8)) if lot.random() < 0.2 else step.thread

            assert turns.run([counter.bare] * 8, choose) == [None] * 8
            return counter.count, order

        first = play()
        assert first[0] < 8
        assert first == play()


class TestDeadlock:
    """Where nobody can go on, all are told at once."""

    def test_twice(self):
        """A thread asks for what it holds."""
        counter, turns = watched()

        def twice():
            with counter.lock, counter.lock:
                pass

        [error] = turns.run([twice], lambda step: step.thread)
        assert type(error) is DeadlockError

    def test_opposite_order(self):
        """Two threads hold a lock each and ask for the other's."""
        counter, turns = watched()
        counter.other = threading.Lock()
        turns.watch(counter)

        def both(first, second):
            with first, second:
                pass

        one, other = counter.lock, counter.other
        stop = lambda step: 1 if step.thread == 0 and step.held == 1 else step.thread  # noqa: E731
        errors = turns.run([partial(both, one, other), partial(both, other, one)], stop)
        assert DeadlockError in map(type, errors)

    def test_outside_a_run(self):
        """The judge's own thread would wait for ever, too."""
        counter, _ = watched()
        counter.lock.acquire()
        with pytest.raises(DeadlockError):
            counter.locked()

    def test_with_a_timeout(self):
        """Who asks for a limited time is told no."""
        counter, _ = watched()
        counter.lock.acquire()
        assert not counter.lock.acquire(timeout=100)
        assert not counter.lock.acquire(blocking=False)
        assert counter.lock.locked()


class TestWatch:
    """Which locks are watched, and for how long."""

    def test_names_that_lead_to_a_lock(self):
        """Attributes, slots, containers, classes; all are put back."""

        class Slots:
            __slots__ = ("lock",)

            def __init__(self):
                self.lock = threading.RLock()

        class Holder:
            shared = threading.Semaphore()

            def __init__(self):
                self.apart, self.some = Slots(), {"of": [threading.Condition()]}

        holder, turns = watched(Holder())
        found = lambda: [holder.shared, holder.apart.lock, holder.some["of"][0]]  # noqa: E731
        assert {type(each) for each in found()} == {Watched}
        turns.close()
        assert Watched not in map(type, found())

    def test_method_of_a_lock(self):
        """A method that is kept for itself is one of the watched lock."""

        class Holder:
            def __init__(self):
                lock = threading.Lock()
                self.take, self.again = lock.acquire, threading.Condition(lock).acquire

        holder, _ = watched(Holder())
        assert holder.take()
        with pytest.raises(DeadlockError):
            holder.take()
        with pytest.raises(DeadlockError):
            holder.again()

    def test_lock_that_is_not_seen(self, monkeypatch):
        """One that is out of reach blocks; the other thread goes on, and nothing is refused."""
        monkeypatch.setattr("wia_lab.puzzles.turns.PATIENCE", 0.1)
        counter, turns = watched()
        hidden = threading.Lock()
        take, give = hidden.acquire, hidden.release

        def locked():
            take()
            counter.count += 1
            give()

        stop = lambda step: 1 if step.number == 12 else step.thread  # noqa: E731
        assert turns.run([locked, locked], stop) == [None, None]
        assert counter.count == 2
        assert turns.stuck == 1


def test_idleness():
    """Who waits is idle, who works is not."""
    idleness = Idleness()
    threading.Event().wait(0.05)
    assert idleness.is_idle()
    idleness = Idleness()
    sum(range(1_000_000))
    assert not idleness.is_idle()


def test_trace_that_is_lost():
    """Who runs so deep that nothing can be counted is stopped, and does not pass unseen."""

    def deep():
        try:
            return deep()
        except RecursionError:
            return None

    [error] = Turns(__file__).run([deep], lambda step: step.thread)
    assert type(error) is TooLongError


class TestPool:
    """Pools that are wrong only when two threads come at once."""

    @pytest.mark.parametrize("name", ["books_after_unlock", "two_locks", "looks_before_the_lock"])
    def test_wrong_on_every_seed_in_the_same_words(self, name):
        """The verdict does not hang on the seed, nor on how the threads happened to run."""
        answer = load_answer(FOLDER / f"{name}.py", POOL.function)
        texts = {judge(POOL, answer, seed=seed).diagnosis.text for seed in (1, 28)}
        assert len(texts) == 1

    def test_nothing_tried_is_no_pass(self):
        """A record of calls at once without one outcome cannot be judged."""
        answer = load_answer(FOLDER / "pass_shelves.py", POOL.function)
        case = next(c for c in POOL.cases(np.random.default_rng(1)) if "interrupted" in c.options)
        run = POOL.play(answer, case)
        assert POOL.diagnose(run) is None
        with pytest.raises(ValueError, match="nothing was tried"):
            POOL.diagnose(replace(run, facts={"steps": [[]]}))
