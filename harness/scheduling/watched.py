"""How far a run is, as far as the events of its worker tell."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from harness.scheduling.times import duration
from results.runfolder.events import read_new
from results.runfolder.folder import RunFolder
from results.runfolder.values import Event

NOTHING = Event(time=0.0)
"""What is known before the first event."""

ENDINGS = {"finished", "diverged"}
"""What stands in the place of a phase when there is none left."""

ONE_CLOCK = {"train", "validate"}
"""Phases that take turns; their time counts together."""


@dataclass
class Watched:
    """A run and what its events said so far.

    Attributes:
        since: When it was put up; earlier events are of an earlier attempt.
        started: When it was first seen at work; None before.
        latest: The last event of the phase, with what those before it said.
        first: From where the speed of the phase is measured: the first step, whose start is slow,
            or the beginning of what has no steps.
    """

    folder: RunFolder
    name: str
    since: float = field(default_factory=time.time)
    started: float | None = None
    offset: int = 0
    latest: Event = NOTHING
    first: Event | None = None
    begun: set[str] = field(default_factory=set)

    def update(self) -> list[tuple[float, str]]:
        """Read the events that are new; return when which phases began for the first time."""
        events, self.offset = read_new(self.folder.events, self.offset)
        return [new for event in events if event.time >= self.since - 1 for new in self._add(event)]

    @property
    def phase(self) -> str:
        """What the run is doing."""
        return self.latest.phase or "start"

    @property
    def left(self) -> float | None:
        """Seconds to the end of the phase, at the speed so far; None while it is not known."""
        event, first = self.latest, self.first
        if first is None or not event.of:
            return None
        done = _done(event) - _done(first)
        return (event.time - first.time) / done * (event.of - _done(event)) if done > 0 else None

    def describe(self) -> dict[str, str]:
        """Say how far the phase is: place, loss, speed and time left."""
        event, first = self.latest, self.first
        if not event.of:
            return {}
        facts = {"done": f"{event.benchmark or 'step'} {_done(event)}/{event.of}"}
        if event.loss is not None:
            facts["loss"] = f"{event.loss:.3f}"
        if self.left is None or first is None:
            return facts
        if event.tokens and first.tokens and event.time > first.time:
            facts["tokens/s"] = f"{(event.tokens - first.tokens) / (event.time - first.time):,.0f}"
        return {**facts, "left": duration(self.left)}

    def _add(self, event: Event) -> Iterator[tuple[float, str]]:
        """Add an event to what is known; give the phase that it begins, unless it was begun."""
        if not event.phase:
            self.latest = self.latest.model_copy(update=event.model_dump(exclude_none=True))
            if event.step is not None and self.first is None:
                self.first = event
            return
        if {event.phase, self.latest.phase} == ONE_CLOCK:
            self.latest = self.latest.model_copy(update={"phase": event.phase})
        else:
            self.latest = event
            self.first = None if event.phase == "train" else event
        if event.phase in ENDINGS:
            return
        named = " ".join(filter(None, (event.phase, event.benchmark)))
        if named not in self.begun:
            self.begun.add(named)
            yield event.time, named


def _done(event: Event) -> int:
    return (event.done if event.step is None else event.step) or 0
