"""A Markdown table whose source is aligned, so that a terminal can show it as it is."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from textwrap import wrap

from results.reports.plain_markdown import MOST, marked
from results.texts import one_line, shortened

GAP = 3
"""Characters that a column takes besides its text; a line has one more."""

LONGEST_WORD = 25
"""A longer word is broken where a line would be too long."""

SHORTEST_PART = 10
"""If it is too long still, all words are broken, into parts of at least so many characters."""


def markdown_table(
    header: Sequence[str], rows: Iterable[Sequence[str]], align: str, characters: int | None = None
) -> str:
    r"""Lay out texts in columns, each flush left or right as its letter of `align` says.

    Where a line would have more than `characters`, texts of the widest columns that are flush
    left go on in further lines.

    >>> print(markdown_table(["method", "micro"], [["lora", "8.50"], ["a|b", "12.00"]], align="lr"))
    | method | micro |
    | :----- | ----: |
    | lora   |  8.50 |
    | a\|b   | 12.00 |
    >>> print(markdown_table(["what", "n"], [["one or two words", "1"]], "lr", characters=20))
    | what       |   n |
    | :--------- | --: |
    | one or two |   1 |
    | words      |     |
    """
    lines = [[shortened(one_line(cell), MOST) for cell in line] for line in (header, *rows)]
    widths = _widths(lines)
    if characters is not None:
        room = (align, characters)
        _narrow(widths, [max(map(_longest_word, one)) for one in zip(*lines, strict=True)], *room)
        _narrow(widths, [SHORTEST_PART] * len(widths), *room)
        lines = [line for row in lines for line in _wrapped(row, widths)]
    lines = [list(map(marked, line)) for line in lines]
    widths = [max(pair) for pair in zip(widths, _widths(lines), strict=True)]
    head, *body = (_line(map(_padded, line, widths, align)) for line in lines)
    return "\n".join([head, _line(map(_rule, widths, align)), *body])


def _widths(lines: Sequence[Sequence[str]]) -> list[int]:
    return [max(3, *map(len, column)) for column in zip(*lines, strict=True)]


def _narrow(widths: list[int], least: Sequence[int], align: str, characters: int) -> None:
    """Take width from the widest column of texts until the line fits, if it can."""
    while sum(widths) + GAP * len(widths) + 1 > characters:
        texts = [n for n, side in enumerate(align) if side == "l" and widths[n] > least[n]]
        if not texts:
            return
        widths[max(texts, key=widths.__getitem__)] -= 1


def _longest_word(cell: str) -> int:
    return min(LONGEST_WORD, max(map(len, cell.split()), default=0))


def _wrapped(row: Sequence[str], widths: Sequence[int]) -> Iterator[list[str]]:
    parts = [
        [cell] if len(cell) <= width else wrap(cell, width, break_on_hyphens=False)
        for cell, width in zip(row, widths, strict=True)
    ]
    return map(list, zip_longest(*parts, fillvalue=""))


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _padded(cell: str, width: int, side: str) -> str:
    return cell.ljust(width) if side == "l" else cell.rjust(width)


def _rule(width: int, side: str) -> str:
    dashes = "-" * (width - 1)
    return f":{dashes}" if side == "l" else f"{dashes}:"
