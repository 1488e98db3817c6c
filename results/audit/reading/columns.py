"""What the columns of a table are, from their heads."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from results.audit.reading.grid import Entry
from results.audit.table import Cell, Column, Kind
from results.names import bare, benchmark

UNITS = re.compile(r"\s*\(\s*(?:%|points?)\s*\)|[↑↓%#]")
OF_TEXTS = ("ppl", "perplexity", "bleu", "rouge", "meteor", "bertscore", "f1", "nll", "loss")
LOWER = ("ppl", "perplexity", "nll", "loss", "latency", "time", "memory", "mem", "param", "cost")
KINDS: tuple[tuple[str, Kind], ...] = (
    (r"p|p ?values?", "p"),
    (r"(?:.* )?(?:sd|std|stdev|std\.? ?dev\.?)", "sd"),
    (r"micro(?:[- ]?(?:avg|average|mean))?", "micro"),
    (r"macro(?:[- ]?(?:avg|average|mean))?", "macro"),
    (r"avg|average|mean|all|overall", "average"),
)
A_BACKBONE = re.compile(r"\d(?:\.\d+)?\s?[BM]\b", re.IGNORECASE)


@dataclass(frozen=True)
class Heads:
    """The heads of one column, and the numbers below them."""

    title: str
    above: str
    cells: Sequence[Cell]


def heads(lines: Sequence[Sequence[Entry]], place: int) -> tuple[str, str]:
    """Give the title of a column, and the head over several columns that it stands below."""
    words = [line[place].words for line in lines if place < len(line) and line[place].words]
    if not words:
        return "", ""
    over = [word for word in words[:-1] if word != words[-1]]
    return words[-1], over[-1] if over else ""


def column(found: Heads, caption: str, sizes: Mapping[str, int], before: int | None) -> Column:
    """Say what a column is.

    Args:
        found: Its heads and numbers.
        caption: Of the table: it says what a column per backbone is the average of.
        sizes: Items of the test sets, by the letters of their names.
        before: The number of the column of scores to the left, which an SD or a p is of.
    """
    title = UNITS.sub("", found.title).strip()
    kind = _kind(title, found, caption, sizes)
    of_texts = bare(title).startswith(OF_TEXTS)
    return Column(
        title=title,
        kind=kind,
        metric="other" if of_texts else "share",
        whole=100 if kind == "parameters" else _whole(found.cells),
        n=sizes.get(benchmark(title)) if kind == "benchmark" and not of_texts else None,
        higher_is_better=not (bare(title).startswith(LOWER) or "↓" in found.title),
        above=UNITS.sub("", found.above).strip(),
        of=before if kind in ("sd", "p") else None,
    )


def _kind(title: str, found: Heads, caption: str, sizes: Mapping[str, int]) -> Kind:
    for pattern, kind in KINDS:
        if re.fullmatch(pattern, title.lower().removesuffix(".")):
            return kind
    if re.search("param|trainable", title.lower()):
        return "parameters" if "%" in found.title else "other"
    if benchmark(title) in sizes or bare(title).startswith(OF_TEXTS):
        return "benchmark"
    return _average(caption) if A_BACKBONE.search(title) else "other"


def _average(caption: str) -> Kind:
    """Read which average a table is of, whose columns are backbones."""
    if "macro" in caption.lower():
        return "macro"
    return "micro" if "micro" in caption.lower() else "average"


def _whole(cells: Sequence[Cell]) -> int:
    """Tell percent from shares of one."""
    return 1 if cells and all(cell.value <= 1 and cell.decimals > 1 for cell in cells) else 100


def common(lines: Sequence[Sequence[Entry]]) -> int:
    """Count the lines of heads: those above the first numbers and the head of their block."""
    with_numbers = (place for place, line in enumerate(lines) if any(one.cell for one in line[1:]))
    found = next(with_numbers, len(lines))
    while found > 1 and spans(lines[found - 1]):
        found -= 1
    return found


def spans(line: Sequence[Entry]) -> bool:
    """Whether one text stands at all places of a line, or alone at its first: a block's head."""
    if not line:  # all its entries were blank
        return False
    first, rest = line[0].words, [one.words for one in line[1:]]
    return not line[0].empty and (all(one == first for one in rest) or not any(rest))
