"""Addresses that answer with a file to take along."""

from fastapi import FastAPI, Request
from fastapi.responses import Response

from results.leaderboard.html.links import file_name
from results.leaderboard.source import Source
from results.leaderboard.values.ranking.rank import rank_page, taken
from results.leaderboard.values.ranking.take import FORMS
from results.leaderboard.view import from_query


def add_files(made: FastAPI, source: Source) -> None:
    """Add what can be taken along of `source`."""

    @made.get("/take/{form}", include_in_schema=False)
    def take(request: Request, form: str) -> Response:
        opened = source.open()
        page = rank_page(opened, from_query(request.query_params.multi_items()))
        text = taken(opened, page, form)
        return Response(
            # Half of a surrogate pair is no UTF-8; JSON has this escape of it.
            text.encode("utf-8", "backslashreplace"),
            media_type=f"{FORMS[form].media}; charset=utf-8",
            headers={"Content-Disposition": f'attachment; filename="{file_name(page.view, form)}"'},
        )
