"""Results that a process works out once: the worker does so before it forks, and its runs inherit.

Without the decorator a function works the same out each time: `function.__wrapped__`.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from results.kept import stamp

P = ParamSpec("P")
R = TypeVar("R")


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
    """Say of which state files are, as `results.kept.stamp` does; no state equals "none"."""
    return tuple(stamp(path) or object() for path in paths)
