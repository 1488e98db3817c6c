"""The events of a run: appended by the worker while whoever watches reads what is new."""

from collections.abc import Iterable, MutableSequence
from pathlib import Path

from pydantic import ValidationError

from results.runfolder.values import Event


class EventLog:
    """Appends events to a file, one a line."""

    def __init__(self, path: Path) -> None:
        torn = path.is_file() and path.read_bytes()[-1:] not in (b"", b"\n")
        self._file = path.open("a", buffering=1, encoding="utf-8")
        if torn:  # so that the first event is not taken for the end of what was cut short
            self._file.write("\n")

    def append(self, event: Event) -> None:
        """Write one event; a reader sees all of it or nothing."""
        self._file.write(event.model_dump_json(exclude_none=True) + "\n")

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def read_new(path: Path, offset: int) -> tuple[list[Event], int]:
    """Read the events from byte `offset` on; return them and the offset of the next call.

    A line that is not whole yet is left for the next call; a file that is not there has no events.
    A line that holds no event, such as one that a full disk cut short, is skipped.
    """
    if not path.is_file():
        return [], offset
    with path.open("rb") as file:
        file.seek(offset)
        content = file.read()
    whole = content[: content.rfind(b"\n") + 1]
    found = map(_event, whole.splitlines())
    return [event for event in found if event], offset + len(whole)


def losses(events: Iterable[Event]) -> list[Event]:
    """Return the events with a loss of a training, in the order of its steps, each step once."""
    kept: list[Event] = []
    for event in events:
        if (event.loss, event.validation_loss) != (None, None):
            add_loss(kept, event)
    return kept


def add_loss(kept: MutableSequence[Event], event: Event) -> None:
    """Add an event with a loss to those of its training, in the order of their steps.

    An attempt goes on from a checkpoint, or from the start. So what an earlier one wrote of the
    same step, or of a later one, is dropped: the training took these steps again.
    """
    while kept and _place(kept[-1]) >= _place(event):
        kept.pop()
    kept.append(event)


def _place(event: Event) -> tuple[int, bool]:
    """Say where an event stands in a training; the validation follows its step."""
    return event.step or 0, event.validation_loss is not None


def _event(line: bytes) -> Event | None:
    try:
        return Event.model_validate_json(line)
    except ValidationError:
        return None
