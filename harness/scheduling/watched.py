"""A run that the live table shows: how far it is, in words."""

from dataclasses import dataclass

from results.reports.times import duration
from results.runfolder.progress import Progress


@dataclass
class Watched(Progress):
    """The progress of a run.

    Attributes:
        name: What a reader calls the run.
        started: When it was first seen at work; None before.
    """

    name: str
    started: float | None = None

    def describe(self) -> dict[str, str]:
        """Say how far the phase is: place, loss, speed and time left."""
        event = self.latest
        if not event.of:
            return {}
        facts = {"done": f"{event.benchmark or 'step'} {self.done}/{event.of}"}
        if event.loss is not None:
            facts["loss"] = f"{event.loss:.3f}"
        if self.left is None:
            return facts
        if self.tokens_per_second is not None:
            facts["tokens/s"] = f"{self.tokens_per_second:,.0f}"
        return {**facts, "left": duration(self.left)}
