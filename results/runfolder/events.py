"""The events of a run: appended by the worker while whoever watches reads what is new."""

from pathlib import Path

from results.runfolder.values import Event


class EventLog:
    """Appends events to a file, one a line."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", buffering=1)

    def append(self, event: Event) -> None:
        """Write one event; a reader sees all of it or nothing."""
        self._file.write(event.model_dump_json(exclude_none=True) + "\n")

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def read_new(path: Path, offset: int) -> tuple[list[Event], int]:
    """Read the events from byte `offset` on; return them and the offset of the next call.

    A line that is not whole yet is left for the next call; a file that is not there has no events.
    """
    if not path.exists():
        return [], offset
    with path.open("rb") as file:
        file.seek(offset)
        content = file.read()
    whole = content[: content.rfind(b"\n") + 1]
    lines = whole.splitlines()
    return [Event.model_validate_json(line) for line in lines], offset + len(whole)
