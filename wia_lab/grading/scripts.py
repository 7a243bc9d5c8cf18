"""The scripts that a host answer plays, judged one by one as they come out of the sandbox."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wia_lab.grading import plain
from wia_lab.puzzles import host_judge
from wia_lab.puzzles.host_puzzle import HostCase, HostPuzzle, HostRun, Reply
from wia_lab.wording import counted

if TYPE_CHECKING:
    from wia_lab.puzzles.puzzle import Diagnosis, Verdict


class Scripts:
    """What an answer has played so far, in the judge's order.

    Parameters
    ----------
    puzzle, cases
        Of the judge; what comes back is joined with these and no others.

    Attributes
    ----------
    wrong : Diagnosis or None
        What the first script that went wrong is told: no later one changes it.
    """

    def __init__(self, puzzle: HostPuzzle, cases: Sequence[HostCase]) -> None:
        self.puzzle = puzzle
        self.cases = cases
        self.runs: list[HostRun] = []
        self.wrong: Diagnosis | None = None

    def hear(self, text: str) -> bool:
        """Judge the next script.

        Parameters
        ----------
        text
            Its replies and facts, as `plain` writes them.

        Returns
        -------
        bool
            Whether the answer is wrong, so that it need not play on.

        Raises
        ------
        ValueError, TypeError, KeyError
            It is no script's record, or a part of one, or one too many.
        """
        if self.wrong is not None:
            return True
        if len(self.runs) == len(self.cases):
            raise ValueError(f"more than {counted(len(self.cases), 'script')} came back")
        data = plain.loads(text)
        replies = tuple(data["replies"])
        if not replies or not all(type(reply) is Reply for reply in replies):
            raise TypeError("a reply is none")
        run = HostRun(self.cases[len(self.runs)], replies, data["facts"])
        self.runs.append(run)
        self.wrong = host_judge.unending(self.puzzle, run) or self.puzzle.diagnose(run)
        if self.wrong is None and not is_whole(run):
            raise ValueError(f"the script {run.case.name!r} came back in part")
        return self.wrong is not None

    def verdict(self, refusal: Diagnosis | None = None) -> Verdict:
        """Judge the answer; `refusal` is why it played nothing.

        Raises
        ------
        ValueError
            Nothing was wrong, and scripts are missing.
        """
        wrong = self.wrong or refusal
        if wrong is None and len(self.runs) != len(self.cases):
            raise ValueError(
                f"{counted(len(self.runs), 'run')} of {counted(len(self.cases), 'script')}"
            )
        return host_judge.host_verdict(self.puzzle, self.runs, wrong)


def is_whole(run: HostRun) -> bool:
    """Whether each step of a script has its reply and its facts: what is left out is unjudged."""
    steps = len(run.case.steps)
    replies = run.case.options.get("threads", steps + 1)  # one a thread, or the object's and steps
    return len(run.replies) == replies and len(run.facts.get("steps", run.case.steps)) == steps
