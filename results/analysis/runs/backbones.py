"""Which backbone a run is of, and what to call it where two have one name."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import TypeVar

from results.record import Kind, Run

Key = TypeVar("Key", bound=Hashable)

DIGITS = 7
"""Of a revision, as git shortens it."""


@dataclass(frozen=True)
class Named:
    """A backbone as it is called, and what may tell it from another of that name."""

    name: str
    place: str
    """Its folder or hub repository; empty where that is not known."""
    revision: str


def names(newest_first: Iterable[Run | Kind]) -> dict[tuple[str, str], str]:
    """Name the backbone of each identity, as its newest run does where that is clear."""
    found: dict[tuple[str, str], Named] = {}
    for run in newest_first:
        key = run.backbone_identity
        found.setdefault(key, Named(run.backbone, run.backbone_place, key[1]))
    return told_apart(found)


def told_apart(backbones: Mapping[Key, Named]) -> dict[Key, str]:
    """Name backbones; those of one name by as much of their path as tells them apart.

    Where the place is the same too, or unknown, the revision does.

    >>> places = {1: "/data/chat/Llama", 2: "/data/base/Llama"}
    >>> told_apart({key: Named("Llama", place, "") for key, place in places.items()})
    {1: 'chat/Llama', 2: 'base/Llama'}
    >>> told_apart({one: Named("tiny", "", f"sha256:{one}") for one in ("12345678", "9abcdef01")})
    {'12345678': 'tiny@1234567', '9abcdef01': 'tiny@9abcdef'}
    """
    return {
        key: _name(one, [other for k, other in backbones.items() if k != key])
        for key, one in backbones.items()
    }


def _name(one: Named, others: Iterable[Named]) -> str:
    places = [other.place for other in others if other.name == one.name]
    if not places:
        return one.name
    if one.place and one.place not in places:
        return _shortest(PurePath(one.place), list(map(PurePath, places)))
    return f"{one.name}@{one.revision.rpartition(':')[2][:DIGITS]}"


def _shortest(path: PurePath, others: list[PurePath]) -> str:
    """Give the shortest end of a path that no other path has."""
    lengths = range(1, len(path.parts) + 1)
    ends = (path.parts[-length:] for length in lengths)
    unique = (end for end in ends if all(other.parts[-len(end) :] != end for other in others))
    return str(PurePath(*next(unique, path.parts)))
