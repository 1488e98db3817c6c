"""What becomes of a run that failed, by what sort of failure it was and which came before it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from results.runfolder.values import FailureKind

Decision = Literal["again", "again with half the micro-batch", "no"]

TRANSIENT: tuple[FailureKind, ...] = ("vanished", "stalled")
"""What says nothing of the run itself: a machine was lost, or somebody ended the process."""

RETRIES = 2
"""A run that vanishes three times is more likely the cause of it than unlucky."""


@dataclass(frozen=True)
class Policy:
    """What a user wants of failures.

    Attributes:
        retries: How often a run is started again whose worker vanished or stalled.
        fail_fast: Whether nothing more starts once a run has failed for good.
        repeat: Whether runs are run again that ended with an exception before, which would come
            again unless something around them has changed.
    """

    retries: int = RETRIES
    fail_fast: bool = False
    repeat: bool = False

    def decide(self, kind: FailureKind, past: Sequence[FailureKind], *, halvable: bool) -> Decision:
        """Decide on a run that failed.

        Args:
            kind: Of this failure.
            past: Of the failures of this run before, as far as this command has seen them: what
                an earlier command met, its user has seen.
            halvable: Whether half the micro-batch gives the same numbers, but for rounding.
        """
        if kind == "memory":
            return "again with half the micro-batch" if halvable else "no"
        before = sum(one in TRANSIENT for one in past)
        return "again" if kind in TRANSIENT and before < self.retries else "no"

    def runs_again(self, kind: FailureKind) -> bool:
        """Say whether a command starts a run again that failed under an earlier command."""
        return self.repeat or kind != "exception"


DEFAULT = Policy()
