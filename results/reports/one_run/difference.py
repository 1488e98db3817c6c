"""Two runs side by side, as text."""

from collections.abc import Iterator, Mapping, Sequence
from textwrap import indent

from results.analysis.difference import Difference, Facts, Flips
from results.analysis.items import ScorePair
from results.analysis.metrics import metric
from results.record import Run
from results.reports.markdown_table import markdown_table
from results.reports.one_run import items

SHOWN = 5
"""Items with their answers; `harness items` shows all."""


def markdown(found: Difference) -> str:
    """Say what the runs are, in what they differ, their scores and the items that flipped."""
    sections: Mapping[str, str] = {
        "Spec": _facts(found.spec),
        "Environment": _facts(found.environment),
        "Scores": _scores(found.scores),
        "Items that only one answers right": _flips(found.flips),
        "Answers to these": "\n\n".join(_items(found)),
    }
    head = "\n".join(
        f"{letter}: {_title(run)}" for letter, run in zip("AB", _runs(found), strict=True)
    )
    parts = [f"## {title}\n\n{text}" for title, text in sections.items() if text]
    return "\n\n".join([head, *parts])


def _runs(found: Difference) -> tuple[Run, Run]:
    return found.first, found.second


def _title(run: Run) -> str:
    fold = "" if run.fold is None else f", fold {run.fold}"
    when = f"{run.status}, {run.started:%Y-%m-%d %H:%M}"
    return (
        f"{run.run_id}: {run.method} on {run.backbone}, {run.group}, seed {run.seed}{fold}; {when}"
    )


def _facts(facts: Facts) -> str:
    lines = [f"{name}: {_value(a)} -> {_value(b)}" for name, (a, b) in facts.items()]
    return indent("\n".join(lines) or "the same", "    ")


def _value(value: object) -> str:
    return "-" if value is None else str(value)


def _scores(scores: Sequence[ScorePair]) -> str:
    rows = [[one.benchmark, one.metric, *_numbers(one)] for one in scores]
    return markdown_table(["benchmark", "metric", "A", "B", "B - A"], rows, "llrrr") if rows else ""


def _numbers(one: ScorePair) -> list[str]:
    of, values = metric(one.metric), (one.before, one.after)
    printed = ["-" if value is None else of.written(value) for value in values]
    if one.before is None or one.after is None:
        return [*printed, "-"]
    return [*printed, of.written(one.after - one.before, "+")]


def _flips(flips: Sequence[Flips]) -> str:
    rows = [[one.benchmark, f"{one.n:,}", str(one.first), str(one.second)] for one in flips]
    return markdown_table(["benchmark", "items", "only A", "only B"], rows, "lrrr") if rows else ""


def _items(found: Difference) -> Iterator[str]:
    if found.items:
        yield items.pages(found.items[:SHOWN], 0, SHOWN)
        names = f"{found.first.run_id} --against {found.second.run_id}"
        if len(found.items) > SHOWN:
            yield f"{len(found.items) - SHOWN:,} more: harness items {names}"
