"""Where in an answer extractors found something."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Mark:
    """A part of a text, by its first character and the one behind it."""

    start: int
    end: int
    found_by: tuple[str, ...]
    """The extractors that found it there."""


def marks(text: str, extracted: Mapping[str, str]) -> tuple[Mark, ...]:
    """Mark what was found where it stands in a text as a word of its own, the last time if often.

    What does not stand there as it was found, such as 1000 in a text with "1,000", is not marked.
    Where extractors found parts of one another, each part is a mark of its own.

    >>> marks("17 + 1 is 18. So 18!", {"strict": "18", "last": "18"})
    (Mark(start=17, end=19, found_by=('strict', 'last')),)
    >>> marks("17.5", {"strict": "7"})
    ()
    """
    starts = {name: _last(text, found) for name, found in extracted.items() if found}
    spans = {name: (at, at + len(extracted[name])) for name, at in starts.items() if at >= 0}
    ends = sorted({end for span in spans.values() for end in span})
    found = (
        Mark(start, end, tuple(n for n, (first, last) in spans.items() if first <= start < last))
        for start, end in pairwise(ends)
    )
    return tuple(mark for mark in found if mark.found_by)


def parted(text: str, found: Sequence[Mark]) -> list[tuple[str, tuple[str, ...]]]:
    """Part a text at its marks: each part, and the extractors that found it.

    >>> parted("So 18!", [Mark(3, 5, ("strict",))])
    [('So ', ()), ('18', ('strict',)), ('!', ())]
    """
    parts, behind = [], 0
    for mark in found:
        parts += [(text[behind : mark.start], ()), (text[mark.start : mark.end], mark.found_by)]
        behind = mark.end
    return [part for part in [*parts, (text[behind:], ())] if part[0]]


def _last(text: str, found: str) -> int:
    """Give the place where `found` stands last as a word of its own; -1 if it does nowhere."""
    at = text.rfind(found)
    while at >= 0 and not _is_alone(text, at, at + len(found)):
        at = text.rfind(found, 0, at + len(found) - 1)
    return at


def _is_alone(text: str, start: int, end: int) -> bool:
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    return not (_goes_on(text[start], before[::-1]) or _goes_on(text[end - 1], after))


def _goes_on(edge: str, beyond: str) -> bool:
    """Tell whether a word that ends with `edge` goes on with the characters beyond it."""
    if not (edge.isalnum() and beyond):
        return False
    in_number = edge.isdigit() and beyond[0] in ".," and beyond[1:].isdigit()
    # Chinese has no spaces between words.
    return in_number or (beyond[0].isalnum() and beyond[0].isascii() == edge.isascii())
