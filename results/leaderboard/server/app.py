"""Pages over a store, served: the only code that knows FastAPI is here and beside it."""

import gc
import socket
from collections.abc import Callable, Iterable
from contextlib import suppress
from threading import Thread

import uvicorn
from fastapi import FastAPI

from results.errors import ResultsError
from results.leaderboard.server.ahead import make_ahead
from results.leaderboard.server.api import SCHEMA, add_api
from results.leaderboard.server.charts import add_charts
from results.leaderboard.server.comparisons import add_comparisons
from results.leaderboard.server.errors import add_errors
from results.leaderboard.server.files import add_files
from results.leaderboard.server.guard import add_guard
from results.leaderboard.server.live import add_live
from results.leaderboard.server.pages import add_pages, ranking
from results.leaderboard.source import Source
from results.leaderboard.values.attempts.live import Live
from results.leaderboard.view import View

LOCAL = ("127.0.0.1", "localhost", "[::1]")
"""The hosts that a page is asked for by; another one is another site's, which reads along."""

ALLOCATIONS = 100_000
"""Of objects, until Python looks for cycles of them."""

OPEN = """\
note: this page has no login. Who reaches {host}:{port} reads all runs and all answers of the store.
  It answers only to the names in its address, and to those that --name adds.
  To let few in, serve it on 127.0.0.1 behind a web server that asks for a password; in nginx:
    auth_basic "runs"; auth_basic_user_file FILE; proxy_pass http://127.0.0.1:{port};
"""


def listen(host: str, port: int) -> socket.socket:
    """Take an address for a server.

    Raises:
        ResultsError: It is taken, or not of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        why = str(error.strerror).partition(" (")[0].lower()
        raise ResultsError(
            f"No server can listen at {host}, port {port}: {why}.\n"
            "  Please give another --port or --host, or end the server that listens there."
        ) from error


def serve(source: Source, listening: socket.socket, names: Iterable[str]) -> None:
    """Make the first page, then serve pages until the process is ended.

    Args:
        source: What is served.
        listening: Where it is asked for.
        names: The names by which visitors ask for this machine, besides the local ones.
    """

    def ending() -> bool:
        return server.should_exit

    # Looking for cycles among what is kept took a third of the time, and there are none.
    gc.set_threshold(ALLOCATIONS)
    with suppress(ResultsError):  # every visitor is told
        ranking(source, View())
    Thread(target=make_ahead, args=[source], daemon=True).start()
    made = app(source, (*LOCAL, *map(bracketed, names)), ending)
    server = uvicorn.Server(uvicorn.Config(made, log_level="warning"))
    with suppress(KeyboardInterrupt):
        server.run([listening])


def bracketed(host: str) -> str:
    """Write a host as addresses of pages have it.

    >>> bracketed("::1"), bracketed("127.0.0.1")
    ('[::1]', '127.0.0.1')
    """
    return f"[{host}]" if ":" in host else host


def app(
    source: Source, hosts: tuple[str, ...] = LOCAL, ending: Callable[[], bool] = bool
) -> FastAPI:
    """Make the application; it answers only to `hosts`, and hangs up when it is `ending`."""
    made = FastAPI(title="peft-proving-ground", docs_url=None, redoc_url=None, openapi_url=SCHEMA)
    add_guard(made, hosts)
    add_pages(made, source)
    add_files(made, source)
    add_api(made, source)
    add_charts(made, source)
    add_live(made, Live(source), ending)
    add_comparisons(made, source)
    add_errors(made, source)
    return made
