"""A stored run beside another run of its spec, as text."""

from collections.abc import Iterator, Sequence

from results.analysis.items import Agreement, Rerun, ScorePair
from results.analysis.metrics import metric
from results.reports import prose
from results.reports.markdown_table import markdown_table

SHOWN = 10
"""Ids of different items in a line."""


def markdown(found: Rerun) -> str:
    """Say how alike the answers are, what the scores are now, and what differs around them."""
    return "\n\n".join(
        [
            f"## Rerun of {found.run_id}: {found.title}",
            _summary(found),
            _agreements(found.agreements),
            *_different(found.agreements),
            _scores(found.scores),
            _environment(found),
            *([f"The new run folder is {found.folder}."] if found.folder else []),
        ]
    )


def _summary(found: Rerun) -> str:
    items = sum(map(_count, found.agreements))
    equal = sum(one.bit_equal for one in found.agreements)
    different = sum(len(one.different) for one in found.agreements)
    weights = {True: "equal to the last bit", False: "different", None: "none: nothing is trained"}
    said = "All answers are the same" if found.same else f"{different} of {items} answers differ"
    return (
        f"{said}; {equal} of {items} items are equal to the last bit. "
        f"Adapter weights: {weights[found.adapter_equal]}."
    )


def _agreements(agreements: Sequence[Agreement]) -> str:
    header = ["benchmark", "items", "equal to the last bit", "only the answer equal", "different"]
    rows = [
        [
            one.benchmark,
            *map(str, (_count(one), one.bit_equal, one.same_answer, len(one.different))),
        ]
        for one in agreements
    ]
    return markdown_table(header, rows, align="lrrrr")


def _count(one: Agreement) -> int:
    return one.bit_equal + one.same_answer + len(one.different)


def _different(agreements: Sequence[Agreement]) -> Iterator[str]:
    for one in agreements:
        if one.different:
            rest = len(one.different) - SHOWN
            more = f" and {rest} more" if rest > 0 else ""
            listed = ", ".join(map(str, one.different[:SHOWN]))
            yield f"{one.benchmark}: other answers to the items {listed}{more}."


def _scores(scores: Sequence[ScorePair]) -> str:
    rows = [
        [one.benchmark, one.metric, _value(one, one.before), _value(one, one.after)]
        for one in scores
    ]
    return markdown_table(["benchmark", "metric", "before", "after"], rows, align="llrr")


def _value(score: ScorePair, value: float | None) -> str:
    return "-" if value is None else prose.value(metric(score.metric), value)


def _environment(found: Rerun) -> str:
    if not found.environment:
        return "The environment is the same."
    lines = [f"    {name}: {a} -> {b}" for name, (a, b) in found.environment.items()]
    return "\n".join(["The environment differs:", "", *lines])
