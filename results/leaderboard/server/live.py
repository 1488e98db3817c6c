"""What runs now: its page, its values, and a stream of them for as long as a visitor looks."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable

from fastapi import FastAPI
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from pydantic import TypeAdapter

from results.leaderboard.html import pages
from results.leaderboard.server.pages import HTML, LINKS
from results.leaderboard.values.attempts.live import Live, LivePage

HEARTBEAT = 15.0
"""Seconds without news after which a comment is sent, so that nobody on the way hangs up."""

UNBUFFERED = {"X-Accel-Buffering": "no"}
"""What a proxy such as nginx must not hold back."""

PAGE = TypeAdapter(LivePage)


class News:
    """The values as they are sent, made once for all who listen."""

    def __init__(self, live: Live) -> None:
        self._live, self._one = live, asyncio.Lock()
        self._page: LivePage | None = None
        self._text = ""

    async def text(self) -> str:
        """Give the values as one line of JSON."""
        async with self._one:  # who waits here takes no thread
            page = await run_in_threadpool(self._live.page)
            if page is not self._page:
                self._page, self._text = page, PAGE.dump_json(page).decode()
            return self._text

    async def stream(self, ending: Callable[[], bool]) -> AsyncIterator[str]:
        """Yield server-sent events, one whenever the values change, until the server ends."""
        sent, when = "", 0.0
        while not ending():
            text, now = await self.text(), time.monotonic()
            if text != sent or now - when > HEARTBEAT:
                yield ": nothing new\n\n" if text == sent else f"data: {text}\n\n"
                sent, when = text, now
            await asyncio.sleep(self._live.every)


def add_live(made: FastAPI, live: Live, ending: Callable[[], bool]) -> None:
    """Add what shows the runs at work, until the server is `ending`."""
    news = News(live)

    @made.get("/live", **HTML)
    def now() -> str:
        return pages.live(live.page(), LINKS)

    @made.get("/api/live")
    def at_work() -> LivePage:
        """Give what runs now and what ended lately; `/api/live/stream` sends it as it changes."""
        return live.page()

    @made.get("/api/live/stream", include_in_schema=False)
    async def stream() -> StreamingResponse:
        events = news.stream(ending)
        return StreamingResponse(events, media_type="text/event-stream", headers=UNBUFFERED)
