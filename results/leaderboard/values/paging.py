"""A part of a long list as a page."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar


class OfKinds(Protocol):
    """What a list holds."""

    @property
    def kinds(self) -> Collection[str]:
        """The kinds that it is of."""


Value = TypeVar("Value", bound=OfKinds)


@dataclass(frozen=True)
class Paged(Generic[Value]):
    """What a page shows of a list, and how much there is of each kind."""

    shown: tuple[Value, ...]
    pages: int
    counts: dict[str, int]
    """Of the whole list, by kind, and of all under "all"."""


def paged(
    every: Sequence[Value], known: Iterable[str], kind: str | None, page: int, size: int
) -> Paged[Value]:
    """Give a page, from 1, of those of a kind, or of all; a page after the last is empty."""
    kinds = [one.kinds for one in every]
    kept = [one for one, own in zip(every, kinds, strict=True) if kind is None or kind in own]
    counts = {one: sum(one in own for own in kinds) for one in known}
    return Paged(
        shown=tuple(kept[(page - 1) * size : page * size]),
        pages=pages(len(kept), size),
        counts={"all": len(every), **counts},
    )


def pages(many: int, size: int) -> int:
    """Count pages; there is always a first one.

    >>> pages(0, 20), pages(20, 20), pages(21, 20)
    (1, 1, 2)
    """
    return max(1, -(-many // size))
