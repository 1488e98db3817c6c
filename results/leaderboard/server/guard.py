"""Who is answered, and what an answer may load."""

from fastapi import FastAPI, Request
from fastapi.responses import Response
from starlette.middleware.base import RequestResponseEndpoint
from starlette.types import ASGIApp, Receive, Scope, Send

from results.leaderboard.html.render import SERVED

HEADERS = {
    "Content-Security-Policy": f"{SERVED}; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def add_guard(made: FastAPI, hosts: tuple[str, ...]) -> None:
    """Let only visitors through who ask for one of `hosts`."""

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

    made.add_middleware(Heads)


class Heads:
    """Answers HEAD as it answers GET; the server that calls this sends the headers alone."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what is asked for."""
        asked = {**scope, "method": "GET"} if scope.get("method") == "HEAD" else scope
        await self._app(asked, receive, send)
