"""Values to pictures: trade-offs, scale curves and training curves as a reader sees them."""

from collections.abc import Iterable, Sequence
from statistics import median

from results.leaderboard.charts.picture import Axis, Band, Line, Picture, Point, axis, shown
from results.leaderboard.values.charted.curves import Curve, CurvePoint, Curves
from results.leaderboard.values.charted.means import Mean, Subject
from results.leaderboard.values.charted.scale import Scale, ScaleLine, ScalePoint
from results.leaderboard.values.charted.tradeoffs import Reference, TradeOff, TradeOffPoint

WIDTH, HEIGHT = 760, 440
SMALL_WIDTH, SMALL_HEIGHT = 340, 220
LOW = 290
RIGHT = 18
FOR_LABELS = 150
FOR_REFERENCES = 90
FOR_LOSSES = 74

UNITS = {
    "%": ((1.0, "%"),),
    "s": ((1.0, "s"), (60.0, "min"), (3600.0, "h")),
    "B": ((1.0, "B"), (2.0**10, "KiB"), (2.0**20, "MiB"), (2.0**30, "GiB")),
}
"""Of costs, the smallest first; an axis has the largest that half of its numbers reach."""


def trade_off(of: TradeOff) -> Picture | None:
    """Draw score against cost; None without a point."""
    if not of.points:
        return None
    size, unit = _unit(of.cost_unit, [one.cost for one in of.points])
    x = axis(f"{of.cost_title} ({unit})", [one.cost / size for one in of.points], ratio=True)
    y = _scores(of.subject, [one.score for one in of.points])
    references = _references(of, x, y)
    return Picture(
        width=WIDTH,
        height=HEIGHT,
        right=FOR_REFERENCES if references else RIGHT,
        x=x,
        y=y,
        points=tuple(_point(one, size, of.cost_title) for one in of.points),
        lines=(*_settings(of, size), *_front(of, size, x), *references),
    )


def _unit(unit: str, costs: Sequence[float]) -> tuple[float, str]:
    return max((one for one in UNITS[unit] if one[0] <= median(costs)), default=UNITS[unit][0])


def _scores(subject: Subject, means: Iterable[Mean]) -> Axis:
    """Fit an axis to means and intervals; of perplexities it may be logarithmic."""
    better = ", lower is better" * subject.lower_is_better
    ends = [end for one in means for end in (one.value, one.low, one.high) if end is not None]
    title = shown(f"{subject.column}: {subject.metric}{better}", 80)
    return axis(title, ends, ratio=subject.lower_is_better)


def _point(of: TradeOffPoint, size: float, cost: str) -> Point:
    front = "on the front" if of.on_front else f"beaten by {', '.join(of.beaten_by)}"
    return Point(
        x=of.cost / size,
        y=of.score.value,
        low=of.score.low,
        high=of.score.high,
        ink="accent" if of.on_front else "quiet",
        filled=of.on_front,
        label=shown(of.title),
        hint=shown(f"{of.title}: {_told(of.score)}, {cost} {of.cost_text}, {front}", 200),
    )


def _told(mean: Mean) -> str:
    return f"{mean.text} ({mean.interval} over {mean.over})" if mean.interval else mean.text


def _front(of: TradeOff, size: float, x: Axis) -> list[Line]:
    """Draw the best score that each cost buys, up to the end of the axis."""
    if len(of.points) + of.hidden == 1:
        return []
    xs, ys = [cost / size for cost, _ in of.front], [score for _, score in of.front]
    return [Line((*xs, max(x.high, xs[-1])), (*ys, ys[-1]), "accent", 1.4, steps=True)]


def _settings(of: TradeOff, size: float) -> list[Line]:
    """Join the settings of one method."""
    return [
        Line(
            tuple(one.cost / size for one in of.points if one.method in own),
            tuple(one.score.value for one in of.points if one.method in own),
            "quiet",
            0.8,
        )
        for own in of.settings
    ]


def _references(of: TradeOff, x: Axis, y: Axis) -> list[Line]:
    """Draw the level of what is not trained, where the axis reaches it."""

    def level(one: Reference) -> Line:
        label = shown(one.title, 10)
        return Line((x.low, x.high), (one.score.value,) * 2, "quiet", 1.0, True, label=label)

    return [level(one) for one in of.references if y.low <= one.score.value <= y.high]


def scale(of: Scale) -> Picture | None:
    """Draw score against the size of the backbone; None of a single backbone."""
    if len(of.sizes) < 2 or not of.lines:  # noqa: PLR2004 (a line has two ends)
        return None
    sizes = axis("parameters of the backbone", [s.parameters for s in of.sizes], ratio=True)
    marks = tuple((float(s.parameters), f"{shown(s.backbone, 16)}, {s.text}") for s in of.sizes)
    means = [point.score for line in of.lines for point in line.points]
    return Picture(
        width=WIDTH,
        height=HEIGHT,
        right=FOR_LABELS,
        x=Axis(sizes.title, sizes.low, sizes.high, sizes.logarithmic, marks),
        y=_scores(of.subject, means),
        points=tuple(_on_line(line, at) for line in of.lines for at in range(len(line.points))),
        lines=tuple(one for line in of.lines for one in _scale_lines(line)),
    )


def _on_line(line: ScaleLine, at: int) -> Point:
    of = line.points[at]
    return Point(
        x=of.parameters,
        y=of.score.value,
        low=of.score.low,
        high=of.score.high,
        ink="accent" if line.best_at_largest else "quiet",
        filled=line.best_at_largest,
        label="",
        hint=shown(f"{line.title} on {of.backbone}: {_told(of.score)}", 200),
    )


def _scale_lines(line: ScaleLine) -> list[Line]:
    """Join the backbones of each family; the line of the largest backbone has the label."""
    families: dict[str, list[ScalePoint]] = {}
    for point in line.points:
        families.setdefault(point.family, []).append(point)
    last = line.points[-1].family
    return [
        Line(
            xs=tuple(float(point.parameters) for point in points),
            ys=tuple(point.score.value for point in points),
            ink="accent" if line.best_at_largest else "quiet",
            width=1.6 if line.best_at_largest else 1.0,
            dashed=not line.trained,
            label=shown(line.title, 20) if family == last else "",
        )
        for family, points in families.items()
    ]


def training(of: Curve, beside: Curves | None = None) -> Picture | None:
    """Draw the losses of a method or a run; None without losses.

    Args:
        of: What is drawn.
        beside: The curves that it stands beside, itself among them: all have the same axes, and
            the lowest validation loss of any is a line. None of a run that stands alone.
    """
    if not of.loss:
        return None
    together = beside.curves if beside else (of,)
    lowest = beside.lowest if beside else None
    points = [point for one in together for point in (*one.loss, *one.validation_loss)]
    x = axis("optimizer step", [0, *(point.step for point in points)])
    y = axis("loss (nats per token)", [e for p in points for e in (p.low, p.high)], ratio=True)
    level = [] if lowest is None else [Line((x.low, x.high), (lowest,) * 2, "quiet", 0.8, True)]
    width, height = (SMALL_WIDTH, SMALL_HEIGHT) if beside else (WIDTH, LOW)
    return Picture(
        width=width,
        height=height,
        right=FOR_LOSSES,
        x=x,
        y=y,
        bands=tuple(_band(one) for one in _drawn(of) if len(of.runs) > 1),
        lines=(
            *level,
            _loss(of.loss, 0.9, "training"),
            *(_loss(one, 2.0, "validation") for one in _drawn(of)[1:]),
        ),
    )


def _drawn(of: Curve) -> list[Sequence[CurvePoint]]:
    return [one for one in (of.loss, of.validation_loss) if one]


def _loss(points: Sequence[CurvePoint], width: float, label: str) -> Line:
    steps, means = tuple(float(p.step) for p in points), tuple(p.mean for p in points)
    return Line(steps, means, "accent", width, label=label)


def _band(points: Sequence[CurvePoint]) -> Band:
    return Band(
        xs=tuple(float(point.step) for point in points),
        lows=tuple(point.low for point in points),
        highs=tuple(point.high for point in points),
        ink="accent",
    )
