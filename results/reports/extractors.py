"""The effect of the extractors as Markdown."""

from collections.abc import Sequence

from results.analysis.extractors import (
    ACCURACY,
    BenchmarkReadings,
    ExtractorEffect,
    MethodReadings,
    OrderChange,
    Reading,
)
from results.reports import prose
from results.reports.markdown_table import markdown_table


def markdown(effects: Sequence[ExtractorEffect]) -> str:
    """Write a table for each backbone, and below it which methods change their order."""
    return "\n\n".join(map(_section, effects))


def _section(one: ExtractorEffect) -> str:
    titles = [title for name in one.extractors for title in (name, "rank", "unparsed %")]
    header = ["method", "seeds", "benchmark", *titles, "difference"]
    align = "lrl" + "rrr" * len(one.extractors) + "r"
    quantity = prose.quantity(ACCURACY.title, one.folds)
    rows = (_line(method, read) for method in one.methods for read in method.benchmarks)
    lines = [
        f"{one.backbone}: {prose.subject(one.conditions)}, {quantity}, mean over seeds, "
        f"as each extractor reads the answers; {one.extractors[0]} is that of the protocol.",
        prose.marks(one.conditions),
        markdown_table(header, rows, align),
        *map(_sentence, one.changes),
        "" if one.changes else "No two methods change their order between the extractors.",
        prose.environment(one.conditions),
    ]
    return "\n\n".join(filter(None, lines))


def _line(method: MethodReadings, read: BenchmarkReadings) -> list[str]:
    readings = [text for reading in read.readings for text in _reading(reading)]
    seeds = str(len(method.seeds))
    return [method.method, seeds, read.benchmark, *readings, _percent(read.difference)]


def _reading(reading: Reading) -> list[str]:
    return [_percent(reading.accuracy), str(reading.rank or "-"), _percent(reading.unparsed)]


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{ACCURACY.points(share):.2f}"


def _sentence(change: OrderChange) -> str:
    first, second = change.methods
    return (
        f"In {change.average}, {first} is ahead of {second} under "
        f"{', '.join(change.first_ahead)}, but behind it under {', '.join(change.second_ahead)}."
    )
