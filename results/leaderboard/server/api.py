"""Addresses that answer with JSON: the same values as the pages."""

from dataclasses import dataclass
from typing import Annotated, Any, get_type_hints

from fastapi import FastAPI, Query, Request
from fastapi.responses import Response
from pydantic import TypeAdapter

from results.analysis.items import Kind
from results.leaderboard.source import Source
from results.leaderboard.values.attempts.history import HistoryPage, history_page
from results.leaderboard.values.attempts.items import ItemsPage, answers
from results.leaderboard.values.attempts.run import RunPage, run_page
from results.leaderboard.values.ranking.rank import RankPage, rank_page
from results.leaderboard.view import View, from_query
from results.record import Status

SCHEMA = "/api/openapi.json"

Page = Annotated[int, Query(ge=1, le=10**6)]

RANKING = TypeAdapter(RankPage)


def fields(of: type) -> list[Any]:
    """Describe the fields of an address as OpenAPI does; all may be left out."""
    return [
        {"name": name, "in": "query", "schema": TypeAdapter(kind).json_schema()}
        for name, kind in get_type_hints(of).items()
    ]


@dataclass(frozen=True)
class Refused:
    """Why there is no answer."""

    detail: str


REFUSED: Any = {
    "4XX": {"description": "The address names what there is not.", "model": Refused},
    503: {"description": "The store cannot be read.", "model": Refused},
}


def add_api(made: FastAPI, source: Source) -> None:
    """Add the values of `source`."""
    extra = {"parameters": fields(View)}

    @made.get("/api/rank", response_model=RankPage, responses=REFUSED, openapi_extra=extra)
    def ranking(request: Request) -> Response:
        """Give a view of the ranking, by the query that the address of its page has."""
        view, opened = from_query(request.query_params.multi_items()), source.open()

        def written() -> bytes:
            return RANKING.dump_json(rank_page(opened, view))

        written_before = source.kept.pages.get(("api", view), opened.store.changed, written)
        return Response(written_before, media_type="application/json")

    @made.get("/api/runs", responses=REFUSED)
    def attempts(status: Status | None = None, page: Page = 1) -> HistoryPage:
        """Give a page of attempts, newest first."""
        return history_page(source.open(), status, page)

    @made.get("/api/run/{run}", responses=REFUSED)
    def one_run(run: str) -> RunPage:
        """Give the newest attempt at a run, by the first digits of its id."""
        return run_page(source.open(), run)

    @made.get("/api/run/{run}/items/{benchmark}", responses=REFUSED)
    def of_run(run: str, benchmark: str, kind: Kind | None = None, page: Page = 1) -> ItemsPage:
        """Give a page of the items of a run."""
        return answers(source.open(), run, benchmark).page(kind, page)
