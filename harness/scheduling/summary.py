"""What became of the runs of a request, counted."""

from dataclasses import dataclass, field


@dataclass
class Summary:
    """How many runs ended in which way.

    Attributes:
        stored: Runs that were in the store, or whole in their folder, before.
        finished: Runs that finished now.
        by_others: Runs that finished meanwhile in another process.
        diverged: Ids of the runs that diverged, now or before.
        failed: Ids of the runs that failed now.
        failed_before: Why runs failed before that are not run again, by id.
        forgotten: Runs that the user forgot, which are not run again.
        elsewhere: Runs that another process still worked on when this one left.
        cancelled: Runs that the user cancelled; those too that stopped or did not start since the
            user left, or since another run had failed (`--fail-fast`).
        unstored: Attempts that are whole in their folders and that the store did not take.
    """

    stored: int = 0
    finished: int = 0
    by_others: int = 0
    diverged: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    failed_before: dict[str, str] = field(default_factory=dict)
    forgotten: int = 0
    elsewhere: int = 0
    cancelled: int = 0
    unstored: int = 0

    @property
    def sound(self) -> bool:
        """Whether each run came to a result, as far as it was not cancelled."""
        return not (self.failed or self.failed_before or self.diverged or self.unstored)
