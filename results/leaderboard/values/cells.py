"""One cell of a ranking as a page shows it: numbers as they are printed, and what was tested."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp

from results.analysis.metrics import Metric
from results.analysis.ranking import Cell
from results.record import Run
from results.reports import prose
from results.reports.sheets.titles import method_title
from results.reports.testing import CLAIMS
from results.statistics.power import detectable
from results.statistics.test import Test


@dataclass(frozen=True)
class Bar:
    """Where a mean and its interval lie between the ends of its column, 0 to 100."""

    low: float
    middle: float
    high: float


@dataclass(frozen=True)
class Tested:
    """The test of a method minus its rival, in the units of the table; ratios of perplexities."""

    against: str
    """The title of the rival."""
    rival: str
    """The same as the command line writes it."""
    name: str
    claim: str
    """What it generalises to."""
    difference: str
    interval: str
    p: float
    adjusted: float | None
    detectable: str
    """The smallest difference that is found with a power of 80 %."""
    significant: bool


@dataclass(frozen=True)
class CellValue:
    """A method in a column."""

    column: str
    value: float | None
    """The mean as it is printed, in the unit of the table."""
    text: str
    """The same, or a word that says why there is none."""
    sd: str
    low: float | None
    """The interval of the mean at 95 %."""
    high: float | None
    interval: str
    over: str
    """What the interval is over: "seeds", or of one run "items"."""
    seeds: int
    rows: int | None
    """Test items of one run; None where that is not known."""
    rank: int | None
    best: bool
    """Whether it is significantly better than every other trained method."""
    ranks: tuple[int, int] | None
    """The first and the last rank that tests leave to it."""
    top_band: bool
    tested: Tested | None
    untested: str
    """Why there is no test."""
    missing: tuple[str, ...]
    """Seeds without a number, and why."""
    runs: tuple[str, ...]
    bar: Bar | None = None


def cell_value(
    metric: Metric, cell: Cell, runs: Mapping[str, Run], titles: Mapping[str, str]
) -> CellValue:
    """Give a cell as a page shows it; `runs` are those of its table, by id."""
    against = method_title(cell.rival, titles)
    mean, around = cell.sample.mean, cell.interval
    low, high = (metric.points(around.low), metric.points(around.high)) if around else (None, None)
    return CellValue(
        column=cell.column,
        value=None if mean is None else metric.points(mean),
        text=prose.missing(cell) if mean is None else metric.written(mean),
        sd="" if cell.sample.sd is None else metric.written(cell.sample.sd),
        low=low,
        high=high,
        interval=(
            f"{metric.written(around.low)} to {metric.written(around.high)}" if around else ""
        ),
        over=around.over if around else "",
        seeds=len(cell.sample.by_seed),
        rows=_rows(metric, cell, runs),
        rank=cell.rank,
        best=cell.significantly_best,
        ranks=(cell.ranks.first, cell.ranks.last) if cell.ranks else None,
        top_band=bool(cell.ranks and cell.ranks.top_band),
        tested=(
            _tested(metric, cell.test, cell.rival, against) if isinstance(cell.test, Test) else None
        ),
        untested="" if isinstance(cell.test, Test) else str(cell.test),
        missing=tuple(f"seed {seed}: {why}" for seed, why in cell.missing.items()),
        runs=cell.runs,
    )


def with_bars(cells: Sequence[CellValue], trained: Sequence[bool]) -> list[CellValue]:
    """Place the cells of one column between the smallest and the largest number of trained ones.

    The others have no bar: a backbone before training is far from all methods, and would leave no
    room to tell these apart.
    """
    pairs = list(zip(cells, trained, strict=True))
    numbers = [(one.value, one.low, one.high) for one, is_trained in pairs if is_trained]
    ends = [end for one in numbers for end in one if end is not None]
    if not ends or (width := max(ends) - min(ends)) == 0:
        return list(cells)

    def placed(end: float) -> float:
        return round(100 * (end - min(ends)) / width, 1)

    def barred(one: CellValue, is_trained: bool) -> CellValue:
        if not is_trained or one.value is None or one.low is None or one.high is None:
            return one
        return replace(one, bar=Bar(placed(one.low), placed(one.value), placed(one.high)))

    return [barred(*pair) for pair in pairs]


def _rows(metric: Metric, cell: Cell, runs: Mapping[str, Run]) -> int | None:
    """Count the items behind one run's number; tokens, of a perplexity, are none."""
    first = next((runs[name] for name in cell.runs if name in runs), None)
    if first is None or metric.logarithm:
        return None
    scores = first.headline(metric.name)
    own = [scores[cell.column]] if cell.column in scores else list(scores.values())
    return sum(score.n for score in own)


def _tested(metric: Metric, test: Test, rival: str, against: str) -> Tested:
    least = detectable(test)
    between = test.interval and " to ".join(_difference(metric, end) for end in test.interval)
    return Tested(
        against=against,
        rival=rival,
        name=test.name,
        claim=CLAIMS[test.claim],
        difference=_difference(metric, test.difference),
        interval=between or "",
        p=test.p,
        adjusted=test.adjusted,
        detectable="" if least is None else _size(metric, least),
        significant=test.significant,
    )


def _difference(metric: Metric, value: float) -> str:
    """Write a difference with its sign; of logarithms, the ratio."""
    return f"factor {exp(value):.3f}" if metric.logarithm else metric.written(value, "+")


def _size(metric: Metric, value: float) -> str:
    return f"factor {exp(value):.3f}" if metric.logarithm else metric.written(value)
