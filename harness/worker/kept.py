"""Results that a process works out once: the worker does so before it forks, and its runs inherit.

Without the decorator a function works the same out each time: `function.__wrapped__`.
"""

import time
from collections.abc import Callable, Iterable
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

YOUNG = 2.0
"""Seconds; a file system may give two changes within them the same time."""


def kept(most: int, rows: int = 1) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Keep the last results of a function, which nobody may change.

    Args:
        most: How many results are kept.
        rows: How many of the arguments, from the first, are rows: these are told apart by which
            object they are, since to compare them costs what is to be saved; the others by value.
    """

    def decorate(work: Callable[P, R]) -> Callable[P, R]:
        @lru_cache(most)
        def found(*arguments: Any) -> R:
            given = [one.it for one in arguments[:rows]]
            return work(*given, *arguments[rows:])  # type: ignore[call-arg]

        @wraps(work)
        def asked(*arguments: P.args, **named: P.kwargs) -> R:
            assert not named, "a kept result is asked for by place"
            return found(*map(_Same, arguments[:rows]), *map(_fixed, arguments[rows:]))

        return asked

    return decorate


class _Same:
    """Equal where it is the same object, which it keeps alive."""

    def __init__(self, it: object) -> None:
        self.it = it

    def __hash__(self) -> int:
        return id(self.it)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.it is other.it


def _fixed(argument: object) -> object:
    return tuple(argument) if isinstance(argument, list) else argument


def stamps(paths: Iterable[Path]) -> tuple[object, ...]:
    """Say of which state files are; equal to an earlier answer only where none was changed since.

    A file counts as unchanged while device, inode, size and both times of change stay. The last
    one, of the inode, is set by the system at each change and by no program. What changed a moment
    ago equals nothing, since it could change again within one tick of the clock; nor does what is
    not there.
    """
    return tuple(_stamp(path) for path in paths)


def _stamp(path: Path) -> object:
    try:
        at = path.stat()
    except OSError:
        return object()
    if time.time() - at.st_ctime < YOUNG:
        return object()
    return str(path), at.st_dev, at.st_ino, at.st_size, at.st_mtime_ns, at.st_ctime_ns
