"""Mistakes as pages, and below `/api` as JSON."""

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.exceptions import HTTPException

from results.errors import ResultsError
from results.leaderboard.html import pages
from results.leaderboard.server.pages import LINKS
from results.leaderboard.source import Source


def add_errors(made: FastAPI, source: Source) -> None:
    """Answer what the store or an address lacks with a sentence."""

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
