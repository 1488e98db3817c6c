"""The events of a run: appended by the worker while whoever watches reads what is new."""

from pathlib import Path

from pydantic import ValidationError

from results.runfolder.values import Event


class EventLog:
    """Appends events to a file, one a line."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", buffering=1, encoding="utf-8")

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
    if not path.exists():
        return [], offset
    with path.open("rb") as file:
        file.seek(offset)
        content = file.read()
    whole = content[: content.rfind(b"\n") + 1]
    found = map(_event, whole.splitlines())
    return [event for event in found if event], offset + len(whole)


def _event(line: bytes) -> Event | None:
    try:
        return Event.model_validate_json(line)
    except ValidationError:
        return None
