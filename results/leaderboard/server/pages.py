"""Addresses that answer with a page."""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response
from fastapi.staticfiles import StaticFiles

from results.analysis.items import Kind
from results.leaderboard.html import pages
from results.leaderboard.html.links import Served
from results.leaderboard.html.render import STATIC, page
from results.leaderboard.server.api import SCHEMA, Page
from results.leaderboard.source import Source
from results.leaderboard.values.attempts.history import history_page
from results.leaderboard.values.attempts.items import answers
from results.leaderboard.values.attempts.run import run_page
from results.leaderboard.values.ranking.rank import rank_page
from results.leaderboard.view import View, from_query
from results.record import Status

LINKS = Served()

HTML: dict[str, Any] = {"response_class": HTMLResponse, "include_in_schema": False}
"""What answers with a page."""


def ranking(source: Source, view: View) -> bytes:
    """Write a view of the ranking, unless it was written before and nothing changed since."""
    opened = source.open()

    def written() -> bytes:
        return pages.rank(rank_page(opened, view), LINKS, opened.firsts).encode()

    return source.kept.pages.get(("page", view), opened.store.changed, written)


def add_pages(made: FastAPI, source: Source) -> None:
    """Add the pages over `source`, and the files that they load."""
    made.mount("/static", StaticFiles(directory=STATIC), name="static")

    @made.get("/", **HTML)
    def rank(request: Request) -> Response:
        view = from_query(request.query_params.multi_items())
        return HTMLResponse(ranking(source, view))

    @made.get("/runs", **HTML)
    def runs(status: Status | None = None, page: Page = 1) -> str:
        return pages.runs(history_page(source.open(), status, page), LINKS)

    @made.get("/run/{run}", **HTML)
    def run(run: str) -> str:
        return pages.run(run_page(source.open(), run), LINKS)

    @made.get("/run/{run}/items/{benchmark}", **HTML)
    def items(run: str, benchmark: str, kind: Kind | None = None, page: Page = 1) -> str:
        return pages.items(answers(source.open(), run, benchmark).page(kind, page), LINKS)

    @made.get("/api", **HTML)
    def api() -> str:
        described = made.openapi()["paths"].items()
        return page("api", LINKS, schema=SCHEMA, operations=[(p, o["get"]) for p, o in described])
