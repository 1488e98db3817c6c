"""The charts of values as SVG: empty where there is nothing to draw."""

from results.leaderboard.charts import pictures
from results.leaderboard.charts.picture import Picture
from results.leaderboard.charts.svg import svg
from results.leaderboard.values.charted.curves import Curve, Curves
from results.leaderboard.values.charted.scale import Scale
from results.leaderboard.values.charted.tradeoffs import TradeOff


def trade_off(of: TradeOff) -> str:
    """Draw score against cost."""
    return _drawn(pictures.trade_off(of), of.subject.title, of.summary)


def scale(of: Scale) -> str:
    """Draw score against the size of the backbone."""
    return _drawn(pictures.scale(of), of.subject.title, of.summary)


def losses(of: Curve, beside: Curves | None = None) -> str:
    """Draw the losses of a run, or of a method beside others."""
    ends = [("training loss", of.loss), ("validation loss", of.validation_loss)]
    told = "; ".join(
        f"{name} {own[0].mean:.4f} at step {own[0].step}, {own[-1].mean:.4f} at step {own[-1].step}"
        for name, own in ends
        if own
    )
    return _drawn(pictures.training(of, beside), f"Losses of {of.title}", told)


def _drawn(picture: Picture | None, title: str, description: str) -> str:
    return svg(picture, title, description) if picture else ""
