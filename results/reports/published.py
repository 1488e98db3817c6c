"""What a paper prints, beside the user's rows, as Markdown."""

from collections import Counter
from collections.abc import Sequence
from math import exp

from results.analysis.metrics import Metric
from results.analysis.published import Beside, Verdict
from results.audit.papers import Paper
from results.reports.markdown_table import markdown_table

MARK = "‡"
PLURAL: dict[Verdict, str] = {
    "reproduces": "reproduce:",
    "does not reproduce": "do not:",
    "cannot be told": "cannot be told:",
}
HEAD = (
    *("backbone", "method", "column", "here", "seeds"),
    *(MARK, "gap", "95 % interval", "reproduces?"),
)
EXPLAINED = (
    f"{MARK} is neither ranked nor tested. The interval of the gap is that of one more run like "
    "those here. yes: it holds 0, and the runs are closer together than the 95 % interval of "
    f"{MARK} over test items; no: it does not hold 0."
)


def markdown(paper: Paper, found: Sequence[Beside]) -> str:
    """Write the pairs, what the words mean, and why some cannot be told."""
    if not found:
        return f"{MARK} {paper.title} prints no number of these methods on these backbones."
    table = markdown_table(HEAD, map(_row, found), "lllrrrrll")
    return "\n\n".join([f"{MARK} {_sources(found)}.", table, _counts(found), EXPLAINED])


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
        metric.written(one.mean),
        str(one.seeds),
        metric.written(one.figure.value),
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
