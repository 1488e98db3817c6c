"""A comparison of two methods as Markdown."""

from collections.abc import Sequence
from math import exp

from results.analysis.metrics import Metric
from results.analysis.pairwise import Comparison, Contrast
from results.analysis.series import unique
from results.reports import prose
from results.reports.markdown_table import markdown_table
from results.reports.shown import AVERAGES
from results.statistics.test import ALPHA, Undefined

INTERVAL = f"{100 * (1 - ALPHA):g} % interval"


def markdown(comparisons: Sequence[Comparison]) -> str:
    """Write comparisons one below the other, and below them the flags of the runs."""
    flags = unique(one.flags for one in comparisons)
    return "\n\n".join(filter(None, [*map(_section, comparisons), prose.flags(flags)]))


def _section(one: Comparison) -> str:
    first, second = one.methods
    interval = f"{INTERVAL} of the ratio" if one.metric.logarithm else INTERVAL
    header = ["", first, second, "difference", interval, "p", "seeds"]
    benchmarks = [contrast for contrast in one.contrasts if contrast.column not in AVERAGES]
    # Averages over one benchmark would repeat its numbers.
    shown = one.contrasts if len(benchmarks) > 1 else benchmarks
    rows = (_line(one.metric, contrast) for contrast in shown)
    lines = [
        f"{first} minus {second} on {one.backbone}: {prose.subject(one.conditions)}, "
        f"{prose.quantity(one.metric.title, one.folds)}.",
        prose.marks(one.conditions),
        markdown_table(header, rows, align="lrrrrrr"),
        f"p: {prose.test(one.metric, brief=False)}.",
        *one.notes,
        *prose.several_signatures(one.signatures),
        prose.environment(one.conditions),
    ]
    return "\n\n".join(filter(None, lines))


def _line(metric: Metric, contrast: Contrast) -> list[str]:
    first, second = contrast.first, contrast.second
    means = [prose.mean(metric, first), prose.mean(metric, second)]
    seeds = f"{len(first.by_seed)}, {len(second.by_seed)}"
    return [contrast.column, *means, *_difference(metric, contrast), seeds]


def _difference(metric: Metric, contrast: Contrast) -> tuple[str, str, str]:
    value = contrast.difference
    difference = "-" if value is None else f"{metric.points(value):+z.2f}"
    test = contrast.test
    if isinstance(test, Undefined):
        return difference, "-", test.reason
    interval = _interval(metric, *test.interval) if test.interval else "-"
    return difference, interval, f"{test.p:.3g}"


def _interval(metric: Metric, low: float, high: float) -> str:
    if metric.logarithm:  # a difference of logarithms is the logarithm of a ratio
        return f"{exp(low):.3f} to {exp(high):.3f}"
    return f"{metric.points(low):+z.2f} to {metric.points(high):+z.2f}"
