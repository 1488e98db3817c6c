"""How far a run is, as far as the events of its worker tell."""

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from results.runfolder.events import add_loss, read_new
from results.runfolder.folder import RunFolder
from results.runfolder.values import Event

NOTHING = Event(time=0.0)
"""What is known before the first event."""

ENDINGS = {"finished", "diverged"}
"""What stands in the place of a phase when there is none left."""

ONE_CLOCK = {"train", "validate", "checkpoint"}
"""Phases that take turns; their time counts together."""

LOSSES = 60
"""The last losses, so many of them."""


@dataclass(kw_only=True)
class Progress:
    """A run and what its events said so far.

    Attributes:
        since: Earlier events are of an earlier attempt.
        began: When the attempt wrote its first event; None before.
        heard: When it wrote its last one.
        phase_began: When its phase began; None before the first one.
        latest: The last event of the phase, with what those before it said.
        first: From where the speed of the phase is measured: the first step, whose start is slow,
            or the beginning of what has no steps.
        steps: The last ones of the training, with their losses.
    """

    folder: RunFolder = field(kw_only=False)
    since: float = field(default_factory=time.time)
    offset: int = 0
    began: float | None = None
    heard: float | None = None
    phase_began: float | None = None
    latest: Event = NOTHING
    first: Event | None = None
    steps: deque[Event] = field(default_factory=lambda: deque(maxlen=LOSSES))
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
    def losses(self) -> list[float]:
        """The last losses of the training."""
        return [event.loss for event in self.steps if event.loss is not None]

    @property
    def done(self) -> int:
        """Steps, answers or likelihoods done, of `latest.of` in all."""
        return _done(self.latest)

    @property
    def tokens_per_second(self) -> float | None:
        """Speed of the training so far; None while it is not known."""
        event, first = self.latest, self.first
        if first is None or not event.tokens or not first.tokens or event.time <= first.time:
            return None
        return (event.tokens - first.tokens) / (event.time - first.time)

    @property
    def left(self) -> float | None:
        """Seconds to the end of the phase, at the speed so far; None while it is not known."""
        event, first = self.latest, self.first
        if first is None or not event.of:
            return None
        done = self.done - _done(first)
        return (event.time - first.time) / done * (event.of - self.done) if done > 0 else None

    def _add(self, event: Event) -> Iterator[tuple[float, str]]:
        """Add an event to what is known; give the phase that it begins, unless it was begun."""
        self.began, self.heard = self.began or event.time, event.time
        if event.loss is not None:
            add_loss(self.steps, event)
        if not event.phase:
            self.latest = self.latest.model_copy(update=event.model_dump(exclude_none=True))
            if event.step is not None and self.first is None:
                self.first = event
            return
        if event.phase != self.latest.phase and {event.phase, self.latest.phase} <= ONE_CLOCK:
            self.latest = self.latest.model_copy(update={"phase": event.phase})
        else:
            self.latest, self.phase_began = event, event.time
            self.first = None if event.phase == "train" else event
        if event.phase in ENDINGS:
            return
        named = " ".join(filter(None, (event.phase, event.benchmark)))
        if named not in self.begun:
            self.begun.add(named)
            yield event.time, named


def _done(event: Event) -> int:
    return (event.done if event.step is None else event.step) or 0
