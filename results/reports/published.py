"""What a paper prints, beside the user's rows, as Markdown."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from math import exp

from results.analysis.metrics import Metric
from results.analysis.published import Beside
from results.audit.papers import Paper
from results.reports.markdown_table import markdown_table

MARK = "‡"
HEAD = (
    "backbone",
    "method",
    "column",
    "here",
    "seeds",
    MARK,
    "gap",
    "95 % interval",
    "reproduces?",
)


def markdown(paper: Paper, found: Sequence[Beside]) -> str:
    """Write the pairs, what the words mean, and why some cannot be told."""
    if not found:
        return f"{MARK} {paper.title} prints no number of these methods on these backbones."
    table = markdown_table(HEAD, map(_row, found), "lllrrrrll")
    return "\n\n".join([f"{MARK} {_sources(found)}.", table, *_counts(found), EXPLAINED])


EXPLAINED = (
    f"{MARK} is neither ranked nor tested. The interval of the gap is that of one more run like "
    "those here. yes: it holds 0, and the runs are closer together than the 95 % interval of "
    f"{MARK} over test items; no: it does not hold 0."
)


def _sources(found: Sequence[Beside]) -> str:
    return "As printed in " + "; ".join(dict.fromkeys(one.figure.table for one in found))


def _row(one: Beside) -> list[str]:
    metric, interval = one.metric, "-"
    if one.interval:
        interval = " to ".join(_gap(metric, end) for end in one.interval)
    return [
        one.backbone,
        one.label,
        one.column,
        f"{metric.points(one.mean):.2f}",
        str(one.seeds),
        f"{metric.points(one.figure.value):.2f}",
        _gap(metric, one.gap),
        interval,
        {"reproduces": "yes", "does not reproduce": "no"}.get(one.verdict, "cannot be told"),
    ]


def _gap(metric: Metric, value: float) -> str:
    """Write a difference, or a ratio where logarithms are compared."""
    return f"x {exp(value):.3f}" if metric.logarithm else f"{metric.points(value):+.2f}"


def _counts(found: Sequence[Beside]) -> Iterable[str]:
    """Say how many reproduce, and why the others cannot be told."""
    order = sorted(found, key=lambda one: (one.verdict != "reproduces", one.verdict, one.reason))
    parts = []
    for (verdict, reason), some in groupby(order, key=lambda one: (one.verdict, one.reason)):
        parts.append(f"{len(list(some))} {verdict}{f' ({reason})' if reason else ''}")
    yield f"Of {len(found)} numbers: {'; '.join(parts)}."
