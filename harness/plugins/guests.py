"""What other distributions bring, and what to say of it in a line."""

import traceback
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from harness.errors import UserError

OFFERS = {"methods": "method", "tasks": "benchmark", "groups": "group", "executors": "executor"}
"""What a plugin of each kind is called, and the name at its end."""

TYPES = {
    "method": ("methods.contract", "Method", "methods/README.md"),
    "benchmark": ("tasks.contract", "Benchmark", "tasks/README.md"),
    "group": ("tasks.contract", "Group", "tasks/README.md"),
    "executor": ("collections.abc", "Callable", "harness/README.md"),
}
"""Where the type lies of what a plugin offers, and where it is documented."""


def entry_points_of(kind: str) -> list[EntryPoint]:
    """List what installed distributions offer of a kind, by name and distribution."""
    found = entry_points(group=f"harness.{kind}")
    return sorted(found, key=lambda one: (one.name, origin(one)))


def origin(entry: EntryPoint) -> str:
    """Name the distribution that an entry point belongs to."""
    assert entry.dist
    return f"{entry.dist.name} {entry.dist.version}"


def described(kind: str, entry: EntryPoint) -> str:
    """Say what a guest is and where it comes from."""
    return f"the {kind} {entry.name!r} of {origin(entry)}"


def check_type(kind: str, called: str, offered: Any) -> None:
    """Refuse what is not of the type that a kind of plugin offers.

    Raises:
        UserError: It is of another type, or None.
    """
    module, wanted, page = TYPES[kind]
    if not isinstance(offered, getattr(import_module(module), wanted)):
        raise UserError(
            f"{called} does not end in `{kind} = {wanted}(...)`; see {page}."
            if offered is None
            else f"{called} offers {type(offered).__name__!r}, not {wanted}; see {page}."
        )


def reason(error: BaseException, path: Path | None = None) -> str:
    """Say in one line what a guest raised, and where unless Python could not read it at all.

    Args:
        error: What it raised.
        path: The guest's file, if the user named it: then the place is one that the user wrote.
    """
    why = " ".join(f"{type(error).__name__}: {error}".split())
    if isinstance(error, SyntaxError):
        return why
    own = [one for one in _frames(error) if Path(one.filename).parent != Path(__file__).parent]
    written = place(error, path) if path else ""
    return why + (written or _last(own))


def place(error: BaseException, path: Path) -> str:
    """Say at which line of a file, or of one beside it, an error came about; or nothing."""
    return _last([one for one in _frames(error) if Path(one.filename).parent == path.parent])


def _frames(error: BaseException) -> list[traceback.FrameSummary]:
    return [one for one in traceback.extract_tb(error.__traceback__) if "<" not in one.filename]


def _last(frames: list[traceback.FrameSummary]) -> str:
    return f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
