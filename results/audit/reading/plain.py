"""Tables without markup: CSV in its three usual forms, and text copied from a page."""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from results.audit.reading.grid import DASHES, NOTHING, Entry, Grid
from results.audit.reading.markdown import entry

SEPARATORS = ("\t", ";", ",")
ONE = rf"(?:[-{DASHES}]|[*_]*<?[-+]?\d[\d,.]*%?[*_]*(?:\s?±\s?[\d.]+%?)?)(?=\s|$)"
NUMBER, NUMBERS = re.compile(ONE), re.compile(rf"(?:\s+{ONE})+\s*$")
"""A number or a dash in its place; and all those at the end of a line."""


def separated(source: str) -> str:
    r"""Find what separates the columns of a CSV; empty if it is no CSV.

    >>> separated("method,gsm8k,svamp\nlora,33.2,54.1\n"), separated("LoRA 33.2 54.1")
    (',', '')
    """
    rows = source.strip().splitlines()
    for mark in SEPARATORS:
        found = Counter(len(row) for row in csv.reader(rows, delimiter=mark))
        if any(columns > 1 and times > len(rows) / 2 for columns, times in found.items()):
            return mark
    return ""


def of_csv(source: str, mark: str) -> Iterator[Grid]:
    """Give the one table of a CSV; its cells may have the marks of Markdown."""
    rows = csv.reader(source.strip().splitlines(), delimiter=mark)
    yield Grid("", "", tuple(tuple(map(entry, row)) for row in rows))


def of_text(source: str) -> Iterator[Grid]:
    """Give the one table of a copied text: words, then the numbers of their line.

    A line that goes on in the next one is joined with it, and a head has as many words behind the
    first as there are numbers.
    """
    lines = [line.strip() for line in source.splitlines() if line.strip()]
    columns = max((len(_numbers(line)) for line in lines), default=0)
    if columns:
        yield Grid("", "", tuple(_line(line, columns) for line in _joined(lines, columns)))


def _numbers(line: str) -> list[str]:
    found = NUMBERS.search(f" {line}")
    return NUMBER.findall(found[0]) if found else []


def _words(line: str) -> str:
    return NUMBERS.sub("", f" {line}").strip()


def _joined(lines: Sequence[str], columns: int) -> list[str]:
    found: list[str] = []
    for line in lines:
        short = found and 0 < len(_numbers(found[-1])) < columns
        if short and not _words(line):
            found[-1] = f"{found[-1]} {line}"
        else:
            found.append(line)
    return found


def _line(line: str, columns: int) -> tuple[Entry, ...]:
    numbers = _numbers(line)
    if len(numbers) == columns:
        return entry(_words(line)), *map(entry, numbers)
    words = re.split(r"\t+|\s{2,}", line)
    words = words if len(words) in (columns, columns + 1) else line.split()
    if len(words) < columns:
        return entry(line), *[NOTHING] * columns
    return entry(" ".join(words[:-columns])), *map(entry, words[-columns:])
