"""A comparison of two methods as Markdown."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import exp

from results.analysis.metrics import Metric
from results.analysis.pairwise import Comparison, Contrast
from results.analysis.series import unique
from results.analysis.testing.evidence import Interval
from results.analysis.testing.tests import named
from results.reports import prose, testing
from results.reports.markdown_table import markdown_table
from results.reports.sheets.shown import AVERAGES
from results.statistics.equivalence import Equivalence
from results.statistics.power import detectable
from results.statistics.test import ALPHA, Test, Undefined

INTERVAL = f"{100 * (1 - ALPHA):g} % interval"
WITHIN = f"{100 * (1 - 2 * ALPHA):g} % interval"

SMALL = 0.001
"""Below it a p says no more: how normal the noise is decides its digits."""

Part = Callable[[Comparison, Sequence[Contrast]], Iterator[str]]


def markdown(comparisons: Sequence[Comparison]) -> str:
    """Write comparisons one below the other, and below them the flags of the runs."""
    flags = unique(one.flags for one in comparisons)
    return "\n\n".join(filter(None, [*map(_section, comparisons), prose.flags(flags)]))


def _section(one: Comparison) -> str:
    first, second = one.methods
    shown = contrasts(one)
    lines = [
        f"{first} minus {second}{one.backbone and f' on {one.backbone}'}: "
        f"{prose.subject(one.conditions)}, {prose.quantity(one.metric.title, one.folds)}.",
        prose.marks(one.conditions),
        *(text for part in PARTS for text in part(one, shown)),
        *one.notes,
        *prose.several_signatures(one.signatures),
        prose.environment(one.conditions),
    ]
    return "\n\n".join(filter(None, lines))


def contrasts(one: Comparison) -> Sequence[Contrast]:
    """Leave out averages over one benchmark, which would repeat its numbers."""
    benchmarks = [contrast for contrast in one.contrasts if contrast.column not in AVERAGES]
    return one.contrasts if len(benchmarks) > 1 else benchmarks


def _over_seeds(one: Comparison, shown: Sequence[Contrast]) -> Iterator[str]:
    """Show means, differences and the test that was chosen, or the default."""
    header = ["", *one.methods, "difference", _interval_of(one.metric), "p", "effect"]
    rows = [
        [
            contrast.column,
            prose.mean(one.metric, contrast.first),
            prose.mean(one.metric, contrast.second),
            written_points(one.metric, contrast.difference),
            *_tested(one.metric, contrast.test),
            written_effect(contrast.test),
            written_detectable(one.metric, contrast.test),
            f"{len(contrast.first.by_seed)}, {len(contrast.second.by_seed)}",
        ]
        for contrast in shown
    ]
    yield markdown_table([*header, "detectable", "seeds"], rows, align="lrrrrrrrr")
    tests = {contrast.column: contrast.test for contrast in shown}
    if made := named(tests.items()):
        yield (
            f"p ({'chosen' if one.chosen else 'default'}): {testing.listed(one.metric, made)}. It "
            "is of this pair alone, not adjusted for others. Effect: the difference in SD (Hedges' "
            "g). Detectable: what samples of this size find with a power of 80 %."
        )
    yield from _impossible(tests)
    yield from not_made("the chosen test" if one.chosen else "over seeds", tests)


def _over_items(one: Comparison, shown: Sequence[Contrast]) -> Iterator[str]:
    """Show what can be said of new items, where their verdicts are known."""
    crossed = {contrast.column: contrast.crossed for contrast in shown}
    items = {contrast.column: contrast.items for contrast in shown}
    over_both, over_items = named(crossed.items()), named(items.items())
    if over_both or over_items:
        rows = [
            [
                contrast.column,
                *_tested(one.metric, contrast.crossed),
                *_tested(one.metric, contrast.items),
                *_exchanged(contrast),
            ]
            for contrast in shown
        ]
        header = ["", "new seeds and items", "p", "new items alone", "p", "gained", "lost", "items"]
        yield markdown_table(header, rows, align="lrrrrrrr")
        first, second = one.methods
        told = (testing.listed(one.metric, tests) for tests in (over_both, over_items))
        moved = (
            f" Gained and lost are the items that {first} answers right in more, and in fewer, of "
            f"its runs than {second}."
        )
        yield (
            f"{'. '.join(_capital(text) for text in told if text)}. Intervals are of "
            f"{100 * (1 - ALPHA):g} %{', of the ratio' * one.metric.logarithm}."
            f"{moved if any(contrast.exchanged for contrast in shown) else ''}"
        )
    if over_items and all(len(c.first.by_seed) == len(c.second.by_seed) == 1 for c in shown):
        yield f"{testing.MODELS}."
    yield from _impossible(items)
    yield from not_made("new seeds and items", crossed)
    yield from not_made("new items alone", items)


def spread(one: Comparison, shown: Sequence[Contrast]) -> Iterator[str]:
    """Say how much of the spread of a run is due to seeds, and how much to items."""
    contrast = next((c for c in shown if c.column in AVERAGES), shown[0])
    for method, parts in zip(one.methods, contrast.components, strict=True):
        if not isinstance(parts, Undefined):
            seeds, items, rest = (
                one.metric.written(part**0.5) for part in (parts.seeds, parts.items, parts.residual)
            )
            yield (
                f"Spread of one run of {method} in {contrast.column}, as SD: {seeds} since some "
                f"seeds do better on all items alike, {items} since other items could be asked, "
                f"{rest} since each seed gets other items right."
            )


def _means(one: Comparison, shown: Sequence[Contrast]) -> Iterator[str]:
    """Show the interval of each mean."""
    found = [interval for contrast in shown for interval in contrast.intervals if interval]
    if found:
        rows = [
            [contrast.column, *(_around(one.metric, mean) for mean in contrast.intervals)]
            for contrast in shown
        ]
        yield markdown_table(["mean", *one.methods], rows, align="lrr")
        over = " and ".join(OVER[kind] for kind in OVER if any(i.over == kind for i in found))
        yield f"{INTERVAL}s of the means: {over}."


def worst(one: Comparison, shown: Sequence[Contrast]) -> Iterator[str]:
    """Say where each method is worst."""
    means = {contrast.column: (contrast.first, contrast.second) for contrast in shown}
    if len(means) > 1 and all(one.worst):
        told = [
            f"{method} {name} ({prose.mean(one.metric, means[name][place])})"
            for place, (method, name) in enumerate(zip(one.methods, one.worst, strict=True))
            if name
        ]
        yield f"Worst benchmark: {', '.join(told)}."


def _within(one: Comparison, shown: Sequence[Contrast]) -> Iterator[str]:
    """Show whether differences are smaller than the margin, if one was given."""
    if all(contrast.equivalence is None for contrast in shown):
        return
    rows = [[contrast.column, *_equivalent(one.metric, contrast.equivalence)] for contrast in shown]
    yield markdown_table(["", WITHIN, "p", "shown", "smallest margin"], rows, align="lrrlr")
    yield (
        f"Equivalence: two one-sided tests at {ALPHA}, whether the difference is smaller than the "
        "margin. Where that is not shown, the two may differ or not. Smallest margin: what these "
        "runs could have shown of a difference of 0."
    )
    yield from not_made("equivalence", {c.column: c.equivalence for c in shown})


def _equivalent(metric: Metric, found: Equivalence | Undefined | None) -> tuple[str, ...]:
    if not isinstance(found, Equivalence):
        return "-", "-", "-", "-"
    told = f"{'' if found.equivalent else 'not '}within {metric.points(found.margin):g}"
    least = metric.written(found.smallest_margin)
    return written_interval(metric, *found.interval), _p(found.p), told, least


def _around(metric: Metric, mean: Interval | None) -> str:
    return prose.interval(metric, mean) or "-"


OVER = {"seeds": "over new training runs (t)", "items": "of one run, over new items (Wilson)"}

PARTS: Sequence[Part] = (_over_seeds, _within, _over_items, _means, worst, spread)


def _interval_of(metric: Metric) -> str:
    return f"{INTERVAL} of the ratio" if metric.logarithm else INTERVAL


def _tested(metric: Metric, test: Test | Undefined) -> tuple[str, str]:
    """Write interval and p of a test."""
    if isinstance(test, Undefined):
        return "-", "withheld" if test.withheld else "undefined"
    interval = written_interval(metric, *test.interval) if test.interval else "-"
    return interval, _p(test.p)


def _p(p: float) -> str:
    return f"{p:.3g}" if p >= SMALL else f"< {SMALL}"


def written_interval(metric: Metric, low: float, high: float) -> str:
    """Write the interval of a difference; of logarithms, of the ratio."""
    return f"{written_end(metric, low)} to {written_end(metric, high)}"


def written_end(metric: Metric, value: float) -> str:
    """Write a difference as tests take it: one of logarithms is the logarithm of a ratio."""
    return f"{exp(value):.3f}" if metric.logarithm else written_points(metric, value)


def written_points(metric: Metric, value: float | None) -> str:
    """Write a difference with its sign."""
    return "-" if value is None else metric.written(value, "+")


def written_effect(test: Test | Undefined) -> str:
    """Write a difference in SD."""
    effect = None if isinstance(test, Undefined) else test.effect
    return "-" if effect is None else f"{effect:+z.2f}"


def written_detectable(metric: Metric, test: Test | Undefined) -> str:
    """Write the smallest difference that is found with a power of 80 %; of logarithms, a ratio."""
    least = None if isinstance(test, Undefined) else detectable(test)
    if least is None:
        return "-"
    return f"{exp(least):.3f}" if metric.logarithm else metric.written(least)


def _exchanged(contrast: Contrast) -> tuple[str, str, str]:
    found = contrast.exchanged
    return (f"{found.gained:,}", f"{found.lost:,}", f"{found.items:,}") if found else ("-",) * 3


def _impossible(tests: Mapping[str, Test | Undefined]) -> Iterator[str]:
    """Say which tests cannot find a difference, whatever the numbers are."""
    for column, test in tests.items():
        if isinstance(test, Test) and (why := testing.impossible(test)):
            yield f"{column}: {test.name} {why}."


def not_made(what: str, tests: Mapping[str, object]) -> Iterator[str]:
    """Say in which columns something is undefined or withheld, and why."""
    found: dict[str, list[str]] = {}
    for column, test in tests.items():
        if isinstance(test, Undefined):
            found.setdefault(str(test), []).append(column)
    for why, columns in found.items():
        where = "" if len(columns) == len(tests) else f" of {', '.join(columns)}"
        yield f"{_capital(what)}{where}: {why}."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
