"""Addresses of charts: pages, drawings as files, and their values as JSON."""

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import Response

from results.leaderboard.html import charts
from results.leaderboard.html.charts import Drawn
from results.leaderboard.server.api import REFUSED, Page, fields
from results.leaderboard.server.pages import HTML, LINKS
from results.leaderboard.source import Opened, Source
from results.leaderboard.values.charted.curves import CurvesPage, curves_page
from results.leaderboard.values.charted.scale import ScalePage, scale_page
from results.leaderboard.values.charted.tradeoffs import TradeOffPage, trade_off_page
from results.leaderboard.view import Axes, Chart, View, axes_from_query, from_query

DRAWN: dict[Chart, Callable[[Opened, View, Axes], Drawn]] = {
    "trade-off": lambda *asked: charts.trade_offs(trade_off_page(*asked)),
    "scale": lambda *asked: charts.scale(scale_page(*asked)),
    "training": lambda opened, view, _: charts.training(curves_page(opened, view)),
}


def add_charts(made: FastAPI, source: Source) -> None:
    """Add the charts of `source`."""
    described: dict[str, Any] = {
        "responses": REFUSED,
        "openapi_extra": {"parameters": fields(View) + fields(Axes)},
    }

    @made.get("/charts", **HTML)
    def trade_offs(request: Request) -> str:
        return page("trade-off", request)

    @made.get("/charts/{chart}.svg", include_in_schema=False)
    def drawing(chart: Chart, request: Request, number: Page = 1) -> Response:
        svg = DRAWN[chart](source.open(), *_asked(request)).drawing(number)
        return Response(svg, media_type="image/svg+xml")

    @made.get("/charts/{chart}", **HTML)
    def page(chart: Chart, request: Request) -> str:
        opened = source.open()
        return DRAWN[chart](opened, *_asked(request)).page(LINKS, opened.firsts)

    @made.get("/api/charts/trade-off", **described)
    def trade_off_values(request: Request) -> TradeOffPage:
        """Give score against cost, with the Pareto front of the means."""
        return trade_off_page(source.open(), *_asked(request))

    @made.get("/api/charts/scale", **described)
    def scale_values(request: Request) -> ScalePage:
        """Give score against the size of the backbone."""
        return scale_page(source.open(), *_asked(request))

    @made.get("/api/charts/training", **described)
    def training_values(request: Request) -> CurvesPage:
        """Give losses by step, mean and extremes over the runs of each method."""
        return curves_page(source.open(), _asked(request)[0])


def _asked(request: Request) -> tuple[View, Axes]:
    pairs = request.query_params.multi_items()
    return from_query(pairs), axes_from_query(pairs)
