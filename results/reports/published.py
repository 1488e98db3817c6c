"""What a paper prints, beside the user's rows: cells, notes, and the gaps in words."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import exp, log10

from results.analysis.metrics import Metric
from results.analysis.published import Beside, PrintedRow, Verdict
from results.audit.figures import Figure
from results.audit.papers import Paper
from results.reports.markdown_table import markdown_table
from results.reports.prose import PUBLISHED
from results.reports.sheets.notes import Note
from results.reports.sheets.titles import method_title

PLURAL: dict[Verdict, str] = {
    "reproduces": "reproduce:",
    "does not reproduce": "do not:",
    "cannot be told": "cannot be told:",
}
HEAD = (
    *("backbone", "method", "column", "here", "seeds"),
    *(PUBLISHED, "gap", "95 % interval", "reproduces?"),
)
ALIGN = "lllrrrrll"
EXPLAINED = (
    "The interval of the gap is that of one more run like those here. yes: it holds 0, and the "
    f"runs are closer together than the 95 % interval of {PUBLISHED} over test items; no: it does "
    "not hold 0."
)


def score(metric: Metric, figure: Figure | None) -> str:
    """Write a printed number in the unit of a table, with the digits that are printed."""
    if figure is None:
        return "-"
    unit = 2 * figure.half_digit * (100 if metric.share else 1)
    return replace(metric, digits=_digits(unit)).written(figure.value)


def trainable(row: PrintedRow) -> str:
    """Write the printed share of trainable parameters."""
    value, unit = next((one.trainable for one in row.figures if one and one.trainable), (0.0, 0.0))
    return f"{value:.{_digits(unit)}f}" if unit else "-"


def _digits(unit: float) -> int:
    """Count the decimals of a number whose last digit is worth so much."""
    return max(0, -round(log10(unit)))


def notes(rows: Iterable[PrintedRow]) -> list[Note]:
    """Explain the mark of printed rows, if there are any."""
    found = [figure for row in rows for figure in row.figures if figure]
    text = f"{PUBLISHED}: as printed in {_sources(found)}; neither ranked nor tested."
    return [Note("data", text, short=text)] if found else []


def _sources(found: Iterable[Figure]) -> str:
    return "; ".join(dict.fromkeys(one.table for one in found))


def markdown(paper: Paper, found: Sequence[Beside]) -> str:
    """Write the pairs, what the words mean, and why some cannot be told."""
    first, *rest = sentences(paper, found)
    table = [markdown_table(HEAD, table_of(found), ALIGN)] if found else []
    return "\n\n".join([first, *table, *rest])


def sentences(paper: Paper, found: Sequence[Beside]) -> list[str]:
    """Say where the numbers are from, how many reproduce, and what the words mean."""
    if not found:
        return [f"{paper.title} prints no number of these methods on these backbones."]
    gaps = f"Gaps to {_sources(one.figure for one in found)} ({PUBLISHED})."
    return [gaps, _counts(found), EXPLAINED]


def table_of(
    found: Iterable[Beside], titles: Mapping[str, str] | None = None
) -> Iterator[list[str]]:
    """Give the lines of the table of gaps, one for each title of `HEAD`."""
    for one in found:
        label = one.label if titles is None else method_title(one.label, titles)
        yield [one.backbone, label, (titles or {}).get(one.column, one.column), *_numbers(one)]


def _numbers(one: Beside) -> list[str]:
    metric, interval = one.metric, "-"
    if one.interval:
        interval = " to ".join(_gap(metric, end) for end in one.interval)
    return [
        metric.written(one.mean),
        str(one.seeds),
        score(metric, one.figure),
        _gap(metric, one.gap),
        interval,
        {"reproduces": "yes", "does not reproduce": "no"}.get(one.verdict, "cannot be told"),
    ]


def _gap(metric: Metric, value: float) -> str:
    """Write a difference, or a ratio where logarithms are compared."""
    return f"x {exp(value):.3f}" if metric.logarithm else metric.written(value, sign="+")


def _counts(found: Sequence[Beside]) -> str:
    """Say how many reproduce, and why the others cannot be told."""
    told = Counter((one.verdict, one.reason) for one in found)
    parts = [
        f"{PLURAL[verdict]} {many}{f' ({reason})' if reason else ''}"
        for (verdict, reason), many in sorted(told.items(), reverse=True)
    ]
    return f"Of {len(found)}: {'; '.join(parts)}."
