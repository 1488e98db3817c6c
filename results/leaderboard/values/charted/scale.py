"""Score against the size of the backbone: as values that page and API share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from results.analysis.metrics import Metric
from results.analysis.series import unique
from results.analysis.table import Block
from results.leaderboard.source import Opened
from results.leaderboard.values.charted.means import (
    Charted,
    Choices,
    Mean,
    Missing,
    Subject,
    cell_of,
    charted,
    choices,
    mean_of,
    on_intervals,
    subject,
    why_missing,
)
from results.leaderboard.values.tables import found
from results.leaderboard.view import Axes, View
from results.record import Run
from results.reports.layouts.sizes import family

SIZES = (
    "Parameters of a backbone: the fewest of any of its models, which adds the least to it. "
    "Lines join the backbones of one family, as their names tell it."
)


@dataclass(frozen=True)
class Size:
    """A backbone and how many parameters it has: the fewest of any of its models."""

    backbone: str
    parameters: int
    text: str


@dataclass(frozen=True)
class ScalePoint:
    """A method on one backbone."""

    backbone: str
    family: str
    """The name of the backbone without its size: lines join the backbones of one family."""
    parameters: int
    score: Mean


@dataclass(frozen=True)
class ScaleLine:
    """A method on all backbones that it has a score on, from the smallest to the largest."""

    method: str
    title: str
    trained: bool
    best_at_largest: bool
    """Whether its mean on the largest backbone is the best of the trained methods."""
    points: tuple[ScalePoint, ...]
    missing: tuple[Missing, ...]
    """Backbones without a score."""


@dataclass(frozen=True)
class Scale:
    """The methods of one table on several backbones."""

    subject: Subject
    sizes: tuple[Size, ...]
    """From the smallest to the largest."""
    lines: tuple[ScaleLine, ...]
    missing: tuple[Missing, ...]
    hidden: int
    notes: tuple[str, ...]
    summary: str


@dataclass(frozen=True)
class ScalePage:
    """The scale curves of a view, a chart for each table."""

    choices: Choices
    axes: Axes
    charts: tuple[Scale, ...]


def scale_page(opened: Opened, asked: View, axes: Axes) -> ScalePage:
    """Make the scale curves of a view; one that names no backbone is of all of its group.

    Raises:
        ResultsError: There is no such group, backbone or column.
    """
    group = opened.completed(asked).group
    view = replace(asked, group=group, backbones=asked.backbones or opened.backbones(group))
    made = found(opened, view)
    return ScalePage(
        choices=choices(opened, view, made),
        axes=axes,
        charts=tuple(
            scale(one, made.runs, view) for one in charted(opened, made, view, axes.score)
        ),
    )


def scale(of: Charted, runs: Mapping[str, Run], view: View) -> Scale:
    """Make the scale curve of a table; `runs` are those of it, by id."""
    table = of.table
    known = [(block, _size(block, runs)) for block in table.blocks]
    sized = sorted(
        ((block, size) for block, size in known if size), key=lambda one: one[1].parameters
    )
    titles = unique([row.label for row in block.rows] for block, _ in sized)
    every = _best_marked(table.metric, [_line(of, title, sized) for title in titles])
    shown = tuple(one for one in every if one.points and view.shows(one.method, one.title))
    means = {
        f"{line.title} on {point.backbone}": point.score for line in every for point in line.points
    }
    sizes = tuple(size for _, size in sized)
    return Scale(
        subject=subject(of, *(block for block, _ in sized)),
        sizes=sizes,
        lines=shown,
        missing=tuple(
            Missing(block.backbone, "no run that counted its parameters")
            for block, size in known
            if size is None
        ),
        hidden=sum(bool(line.points) for line in every) - len(shown),
        notes=tuple(_notes(sizes, means)),
        summary=_summary(every, f"{of.column}, {table.metric.title},", sizes),
    )


def _size(block: Block, runs: Mapping[str, Run]) -> Size | None:
    """Count the parameters of a backbone: those of its smallest model, which adds the least."""
    totals = [
        runs[run].total_parameters
        for row in block.rows
        for run in row.flags
        if run in runs and runs[run].total_parameters
    ]
    return Size(block.backbone, min(totals), number_of(min(totals))) if totals else None


def _line(of: Charted, title: str, sized: Sequence[tuple[Block, Size]]) -> ScaleLine:
    points, missing, trained = [], [], True
    for block, size in sized:
        row = next((row for row in block.rows if row.label == title), None)
        if row is None:
            missing.append(Missing(block.backbone, "no run"))
            continue
        trained = trained and row.trained
        mean = mean_of(of.table.metric, cell_of(row, of.column))
        if mean:
            name = family(block.backbone)[0] or block.backbone
            points.append(ScalePoint(block.backbone, name, size.parameters, mean))
        else:
            missing.append(Missing(block.backbone, why_missing(cell_of(row, of.column))))
    return ScaleLine(of.labels[title], title, trained, False, tuple(points), tuple(missing))


def _best_marked(metric: Metric, lines: Sequence[ScaleLine]) -> list[ScaleLine]:
    """Mark the lines of the best mean on the largest backbone that any trained method has."""
    ends = {line.method: line.points[-1] for line in lines if line.points and line.trained}
    merits = {
        name: (point.parameters, metric.merit(point.score.value)) for name, point in ends.items()
    }
    best = max(merits.values(), default=None)
    return [replace(line, best_at_largest=merits.get(line.method) == best) for line in lines]


def number_of(parameters: int) -> str:
    """Write a number of parameters.

    >>> number_of(940_000), number_of(1_235_814_400), number_of(999)
    ('940K', '1.24B', '999')
    """
    for unit, size in (("B", 10**9), ("M", 10**6), ("K", 10**3)):
        if parameters >= size:
            return f"{parameters / size:.3g}{unit}"
    return str(parameters)


def _notes(sizes: Sequence[Size], means: Mapping[str, Mean]) -> list[str]:
    if len(sizes) > 1:
        return [SIZES, *on_intervals(means)]
    named = f"{sizes[0].backbone} alone has runs" if sizes else "No backbone has runs"
    return [f"{named} that may be compared here: a scale curve needs two backbones or more."]


def _summary(lines: Sequence[ScaleLine], score: str, sizes: Sequence[Size]) -> str:
    named = ", ".join(f"{size.backbone} ({size.text})" for size in sizes)
    best = ", ".join(line.title for line in lines if line.best_at_largest)
    told = f"{score} of {len(lines)} methods on {named}."
    return f"{told} The best mean on the largest: {best}." if len(sizes) > 1 and best else told
