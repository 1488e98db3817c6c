"""Pages over a store, served: the only code that knows FastAPI."""

from typing import Annotated, Any, get_type_hints

import uvicorn
from fastapi import FastAPI, Query, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from pydantic import TypeAdapter
from starlette.exceptions import HTTPException
from starlette.middleware.base import RequestResponseEndpoint

from results.analysis.items import Kind
from results.errors import ResultsError
from results.leaderboard import pages
from results.leaderboard.history import HistoryPage, history_page
from results.leaderboard.items import ItemsPage, answers
from results.leaderboard.links import Served
from results.leaderboard.rank import RankPage, rank_page
from results.leaderboard.render import POLICY, STATIC, page
from results.leaderboard.run import RunPage, run_page
from results.leaderboard.source import Source
from results.leaderboard.view import View, from_query
from results.record import Status

LOCAL = ("127.0.0.1", "localhost", "[::1]")
"""The hosts that a page is asked for by; another one is another site's, which reads along."""

OPEN = """\
note: this page has no login. Who reaches {host}:{port} reads all runs and all answers of the store.
  It answers only to the names in its address, and to those that --name adds.
  To let few in, serve it on 127.0.0.1 behind a web server that asks for a password; in nginx:
    auth_basic "runs"; auth_basic_user_file FILE; proxy_pass http://127.0.0.1:{port};
"""

HEADERS = {
    "Content-Security-Policy": f"{POLICY}; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}

LINKS = Served()
SCHEMA = "/api/openapi.json"

Page = Annotated[int, Query(ge=1, le=10**6)]

FIELDS = [
    {"name": name, "in": "query", "schema": TypeAdapter(kind).json_schema()}
    for name, kind in get_type_hints(View).items()
]
"""The fields of a view, as OpenAPI describes them; all may be left out."""


def serve(source: Source, host: str, port: int, names: tuple[str, ...] = ()) -> None:
    """Serve pages until the process is ended.

    Args:
        source: What is served.
        host: The address to listen at.
        port: The port to listen at.
        names: The names of this machine by which visitors ask for a page, besides the local ones.
    """
    uvicorn.run(app(source, (*LOCAL, host, *names)), host=host, port=port, log_level="warning")


def app(source: Source, hosts: tuple[str, ...] = LOCAL) -> FastAPI:
    """Make the application; it answers only to `hosts`."""
    made = FastAPI(title="peft-proving-ground", docs_url=None, redoc_url=None, openapi_url=SCHEMA)
    made.mount("/static", StaticFiles(directory=STATIC), name="static")
    _guard(made, hosts)
    _add_pages(made, source)
    _add_api(made, source)
    _add_errors(made, source)
    return made


def _guard(made: FastAPI, hosts: tuple[str, ...]) -> None:
    @made.middleware("http")
    async def guard(request: Request, follow: RequestResponseEndpoint) -> Response:
        """Refuse a foreign Host header, and let a page load nothing that is not its own."""
        name = request.headers.get("host", "").lower()
        name = name if name.endswith("]") else name.rpartition(":")[0] or name
        if name not in hosts:
            told = f"This server is not {name[:100]!r}.\n"
            return Response(told, status_code=421, media_type="text/plain")
        answer = await follow(request)
        answer.headers.update(HEADERS)
        return answer


def _add_pages(made: FastAPI, source: Source) -> None:
    show: dict[str, Any] = {"response_class": HTMLResponse, "include_in_schema": False}

    @made.get("/", **show)
    def rank(request: Request) -> str:
        opened = source.open()
        view = from_query(request.query_params.multi_items())
        return pages.rank(rank_page(opened, view), LINKS, opened.firsts)

    @made.get("/runs", **show)
    def runs(status: Status | None = None, page: Page = 1) -> str:
        return pages.runs(history_page(source.open(), status, page), LINKS)

    @made.get("/run/{run}", **show)
    def run(run: str) -> str:
        return pages.run(run_page(source.open(), run), LINKS)

    @made.get("/run/{run}/items/{benchmark}", **show)
    def items(run: str, benchmark: str, kind: Kind | None = None, page: Page = 1) -> str:
        return pages.items(answers(source.open(), run, benchmark).page(kind, page), LINKS)

    @made.get("/api", **show)
    def api() -> str:
        described = made.openapi()["paths"].items()
        return page("api", LINKS, schema=SCHEMA, operations=[(p, o["get"]) for p, o in described])


def _add_api(made: FastAPI, source: Source) -> None:
    refused: Any = {404: {"description": "There is no such thing in the store."}}
    refused[503] = {"description": "The store cannot be read."}

    @made.get("/api/rank", responses=refused, openapi_extra={"parameters": FIELDS})
    def ranking(request: Request) -> RankPage:
        """Give a view of the ranking, by the query that the address of its page has."""
        return rank_page(source.open(), from_query(request.query_params.multi_items()))

    @made.get("/api/runs", responses=refused)
    def attempts(status: Status | None = None, page: Page = 1) -> HistoryPage:
        """Give a page of attempts, newest first."""
        return history_page(source.open(), status, page)

    @made.get("/api/run/{run}", responses=refused)
    def one_run(run: str) -> RunPage:
        """Give the newest attempt at a run, by the first digits of its id."""
        return run_page(source.open(), run)

    @made.get("/api/run/{run}/items/{benchmark}", responses=refused)
    def of_run(run: str, benchmark: str, kind: Kind | None = None, page: Page = 1) -> ItemsPage:
        """Give a page of the items of a run."""
        return answers(source.open(), run, benchmark).page(kind, page)


def _add_errors(made: FastAPI, source: Source) -> None:
    @made.exception_handler(ResultsError)
    def mistaken(request: Request, error: Exception) -> Response:
        message = source.public.text(str(error))
        try:
            source.open()
        except ResultsError:
            return _answer(request, 503, "The store cannot be read", message)
        return _answer(request, 404, "There is nothing like that", message)

    @made.exception_handler(HTTPException)
    def unknown(request: Request, error: HTTPException) -> Response:
        return _answer(request, error.status_code, "There is no such page", str(error.detail))


def _answer(request: Request, status: int, title: str, message: str) -> Response:
    if request.url.path.startswith("/api/"):
        return JSONResponse({"detail": message}, status_code=status)
    return HTMLResponse(pages.error(title, message, LINKS), status_code=status)
