"""Mistakes as pages, and below `/api` as JSON: what was wrong, and what there is instead."""

import re
from typing import Any
from urllib.parse import urlencode

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.exceptions import HTTPException

from results.errors import ResultsError, nearest, unknown
from results.leaderboard.html import pages
from results.leaderboard.server.pages import LINKS
from results.leaderboard.source import Source
from results.leaderboard.view import WrongView

API = "/api/"
MOST = 100
"""Characters that are repeated of what an address asked for."""


def add_errors(made: FastAPI, source: Source) -> None:
    """Answer what the store or an address lacks with a sentence."""

    @made.exception_handler(ResultsError)
    def mistaken(request: Request, error: Exception) -> Response:
        message = source.public.text(str(error))
        try:
            source.open()
        except ResultsError as unread:
            why = source.public.unread(source.place, str(unread))
            return _answer(request, 503, "The store cannot be read", why)
        instead = LINKS.rank(error.instead) if isinstance(error, WrongView) else ""
        return _answer(request, 404, "Not found", message, instead)

    @made.exception_handler(RequestValidationError)
    def unreadable(request: Request, error: RequestValidationError) -> Response:
        message = "\n".join(map(_fault, error.errors()))
        instead = _without_faults(request, error)
        return _answer(request, 400, "Not found", message, instead)

    @made.exception_handler(HTTPException)
    def missing(request: Request, error: HTTPException) -> Response:
        path, found = request.url.path, [getattr(one, "path", "") for one in made.routes]
        below = [one for one in found if "{" not in one and one.startswith(API) == _is_api(request)]
        title, message, instead = "Not answered", f"{error.detail}.", ""
        if error.status_code == 404:  # noqa: PLR2004 (others are not about the path)
            title, message = "Not found", unknown("page", path[:MOST], below)
            instead = nearest(path[:MOST], below) or ""
        return _answer(request, error.status_code, title, message, instead)


def _is_api(request: Request) -> bool:
    return request.url.path.startswith(API)


def _fault(fault: Any) -> str:
    """Say what is wrong with one field of an address."""
    name, given = fault["loc"][-1], str(fault["input"])[:MOST]
    if known := _known(fault):
        return unknown(name, given, known)
    return f"{name}={given}: {fault['msg']}."


def _known(fault: Any) -> list[str]:
    """List the words that a field takes; none of a number."""
    return re.findall(r"'([^']*)'", str(fault.get("ctx", {}).get("expected", "")))


def _without_faults(request: Request, error: RequestValidationError) -> str:
    """Write the address with the nearest words, and without what has none."""
    right = dict(request.query_params)
    for fault in error.errors():
        name = str(fault["loc"][-1])
        right[name] = nearest(right.get(name, ""), _known(fault)) or ""
    query = urlencode({name: value for name, value in right.items() if value})
    return f"{request.url.path}{'?' * bool(query)}{query}"


def _answer(request: Request, status: int, title: str, message: str, instead: str = "") -> Response:
    if _is_api(request):
        return JSONResponse({"detail": message}, status_code=status)
    return HTMLResponse(pages.error(title, message, LINKS, instead), status_code=status)
