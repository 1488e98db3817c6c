"""Pages of charts, and their drawings as files that stand alone."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import count

from markupsafe import Markup

from results.errors import ResultsError
from results.leaderboard.charts import drawings
from results.leaderboard.html.links import AXES, Links
from results.leaderboard.html.pages import POLICIES, backbone_choices
from results.leaderboard.html.render import page
from results.leaderboard.values.charted.curves import Curve, Curves, CurvesPage
from results.leaderboard.values.charted.means import Choices
from results.leaderboard.values.charted.scale import Scale, ScalePage
from results.leaderboard.values.charted.tradeoffs import COSTS, TradeOff, TradeOffPage
from results.leaderboard.view import Axes, Chart

Value = TradeOff | Scale | Curves
Part = TradeOff | Scale | Curve
"""What one drawing is of."""


@dataclass(frozen=True)
class Drawing:
    """One chart as SVG; where there is nothing to draw it is empty, and has no number."""

    number: int
    """Of its page, from 1."""
    of: Part
    svg: Markup


@dataclass(frozen=True)
class Drawn:
    """A page of charts, drawn."""

    chart: Chart
    choices: Choices
    axes: Axes
    charts: tuple[tuple[Value, tuple[Drawing, ...]], ...]
    """What each is of, and its drawings: one, or of training curves one of each method."""

    @property
    def drawings(self) -> list[Drawing]:
        """List what was drawn."""
        return [one for _, own in self.charts for one in own if one.svg]

    def drawing(self, number: int) -> Markup:
        """Give one drawing.

        Raises:
            ResultsError: There are fewer.
        """
        found = {one.number: one.svg for one in self.drawings}
        if number not in found:
            raise ResultsError(f"There is no chart {number}: this view has {len(found)} of them.")
        return found[number]

    def page(self, links: Links, firsts: Mapping[str, tuple[str, ...]]) -> str:
        """Write the page; `firsts` are the backbones that each group opens with."""
        return page(
            self.chart,
            links,
            page=self,
            view=self.choices.view,
            firsts=firsts,
            backbone_pairs=backbone_choices(self.choices.backbones),
            policies=POLICIES,
            costs=[(name, cost.title) for name, cost in COSTS.items()],
        )


def trade_offs(values: TradeOffPage) -> Drawn:
    """Draw the trade-offs of a view."""
    parts = [(one, [(one, drawings.trade_off(one))]) for one in values.charts]
    return Drawn("trade-off", values.choices, values.axes, _numbered(parts))


def scale(values: ScalePage) -> Drawn:
    """Draw the scale curves of a view."""
    parts = [(one, [(one, drawings.scale(one))]) for one in values.charts]
    return Drawn("scale", values.choices, values.axes, _numbered(parts))


def training(values: CurvesPage) -> Drawn:
    """Draw the training curves of a view."""
    parts = [
        (one, [(own, drawings.losses(own, one)) for own in one.curves]) for one in values.charts
    ]
    return Drawn("training", values.choices, AXES, _numbered(parts))


def _numbered(
    parts: Iterable[tuple[Value, Iterable[tuple[Part, str]]]],
) -> tuple[tuple[Value, tuple[Drawing, ...]], ...]:
    """Number drawings through, as far as something was drawn."""
    numbers = count(1)

    def drawing(of: Part, svg: str) -> Drawing:
        # The texts of a drawing were escaped when it was made.
        return Drawing(next(numbers) if svg else 0, of, Markup(svg))

    return tuple((value, tuple(drawing(*one) for one in own)) for value, own in parts)
