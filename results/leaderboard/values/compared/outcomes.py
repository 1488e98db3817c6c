"""What a test says of a difference: in numbers, and in words."""

from dataclasses import dataclass

from results.analysis.metrics import Metric
from results.analysis.pairwise import Comparison, Contrast
from results.reports import pairwise as written
from results.reports.testing import CLAIMS, impossible
from results.statistics.test import ALPHA, Test, Undefined

EQUAL = "equal as printed"
NO_NUMBER = "one of the two has no number"


@dataclass(frozen=True)
class Outcome:
    """A test of the difference, in the units of the table; ratios of perplexities."""

    name: str
    """Empty where no test was made."""
    claim: str
    """What it generalises to."""
    interval: str
    p: float | None
    adjusted: float | None
    """p adjusted for all pairs of methods of the table; None where it was not."""
    effect: str
    """The difference in SD (Hedges' g); a dash without one."""
    detectable: str
    """The smallest difference that is found with a power of 80 %; a dash where that is unknown."""
    significant: bool
    """Whether p, adjusted if it was, is below 0.05."""
    impossible: str
    """Why no numbers could have made it significant; empty where some could."""
    untested: str
    """Why there is no test."""


def outcome(metric: Metric, test: Test | Undefined, adjusted: float | None = None) -> Outcome:
    """Give a test as a page shows it."""
    if isinstance(test, Undefined):
        return Outcome("", "", "", None, None, "-", "-", False, "", str(test))
    return Outcome(
        name=test.name,
        claim=CLAIMS[test.claim],
        interval=written.written_interval(metric, *test.interval) if test.interval else "",
        p=test.p,
        adjusted=adjusted,
        effect=written.written_effect(test),
        detectable=written.written_detectable(metric, test),
        significant=(test.p if adjusted is None else adjusted) < ALPHA,
        impossible=impossible(test),
        untested="",
    )


def words(metric: Metric, difference: float | None, told: Outcome) -> str:
    """Say whether the first is higher, and whether the test tells the two apart."""
    if difference is None:
        return NO_NUMBER
    return f"{_side(metric, difference)}{_better(metric, difference)}; {_told(told)}"


def direction(one: Comparison, contrast: Contrast, told: Outcome) -> str:
    """Say the same as a sentence, with the size of the difference."""
    (first, second), difference = one.methods, contrast.difference
    if difference is None:
        return f"{contrast.column}: {NO_NUMBER}."
    side = _side(one.metric, difference)
    if side == EQUAL:
        return f"{contrast.column}: {first} and {second} are {EQUAL}; {_told(told)}."
    unit = "" if one.metric.logarithm else " points"
    size = f"{one.metric.written(abs(difference))}{unit}"
    better = _better(one.metric, difference)
    return f"{contrast.column}: {first} is {size} {side} than {second}{better}; {_told(told)}."


def _side(metric: Metric, difference: float) -> str:
    moved = metric.points(difference)
    return ("higher" if moved > 0 else "lower") if moved else EQUAL


def _better(metric: Metric, difference: float) -> str:
    if not (metric.lower_is_better and metric.points(difference)):
        return ""
    return f", which is {'worse' if difference > 0 else 'better'}"


def _told(test: Outcome) -> str:
    if not test.name:
        return "not tested"
    over = "items" if test.claim == CLAIMS["items"] else "seeds"
    return f"{'' if test.significant else 'not '}told apart over {over}"
