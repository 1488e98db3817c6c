"""Downloads over HTTP that continue where they were cut off."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    import httpx2

DELAYS = (1.0, 2.0, 4.0)
"""Seconds to wait before the second, third and fourth attempt."""
TIMEOUT = 30.0
"""Seconds without a byte after which an attempt has failed."""

Progress = Callable[[int, int | None], None]
"""Called with the number of bytes so far, and with that of all if the server gives it."""

CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


class UnavailableError(Exception):
    """The address did not give the file; the message says why."""


class UnreachableError(UnavailableError):
    """No connection to the host came about."""


class PassingError(UnavailableError):
    """The address did not give the file, but may at another attempt."""


def reach(url: str) -> None:
    """Ask for an address once, whatever it answers.

    Raises:
        UnreachableError: It does not answer.
    """
    import httpx2  # noqa: PLC0415 - start-up time of commands that fetch nothing

    try:
        httpx2.head(url, timeout=TIMEOUT)
    except httpx2.RequestError as error:
        raise UnreachableError(str(error) or type(error).__name__) from error


@dataclass
class Transfer:
    """One download, by as many requests as it takes.

    Attributes:
        url: From where.
        authorization: A header, or none.
        progress: Called after each piece.
        sleep: Waits this many seconds.
        tag: The ETag of what was received; empty before the first reply.
    """

    url: str
    authorization: dict[str, str]
    progress: Progress
    sleep: Callable[[float], None]
    tag: str = ""

    def run(self, stream: BinaryIO) -> None:
        """Append to `stream` what it lacks."""
        import httpx2  # noqa: PLC0415 - start-up time of commands that fetch nothing

        with httpx2.Client(follow_redirects=True, timeout=TIMEOUT) as client:
            for delay in (*DELAYS, None):
                try:
                    self._receive(client, stream)
                    break
                except (httpx2.RequestError, PassingError) as error:
                    if delay is None:
                        lost = isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout)
                        raise (UnreachableError if lost else UnavailableError)(
                            str(error) or type(error).__name__
                        ) from error
                    self.sleep(delay)

    def _receive(self, client: "httpx2.Client", stream: BinaryIO) -> None:
        done = stream.seek(0, os.SEEK_END)
        with client.stream("GET", self.url, headers=self._headers(done)) as response:
            done, total = self._align(response, stream, done)
            self.tag = response.headers.get("ETag", "")
            self.progress(done, total)
            for piece in response.iter_raw():
                stream.write(piece)
                done += len(piece)
                self.progress(done, total)
        stream.flush()
        if total is not None and done < total:
            raise PassingError(f"the reply ended after {done} of {total} bytes")

    def _headers(self, done: int) -> dict[str, str]:
        # A range of compressed content would be one of other bytes.
        headers = {"Accept-Encoding": "identity", **self.authorization}
        return headers | {"Range": f"bytes={done}-"} if done else headers

    def _align(
        self, response: "httpx2.Response", stream: BinaryIO, done: int
    ) -> tuple[int, int | None]:
        """Cut `stream` where the reply begins; return that place and the size of the file.

        Raises:
            UnavailableError: The reply does not hold what was asked for.
        """
        if response.status_code == HTTPStatus.PARTIAL_CONTENT:
            given = CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
            same = self.tag in {"", response.headers.get("ETag")}
            if same and given and int(given[1]) == done:
                return done, None if given[2] == "*" else int(given[2])
        elif response.is_success:
            stream.truncate(0)
            length = response.headers.get("Content-Length")
            return 0, None if length is None else int(length)
        elif response.status_code != HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            raise _refusal(response)
        stream.truncate(0)
        raise PassingError(f"the server does not continue after {done} bytes")


def _refusal(response: "httpx2.Response") -> UnavailableError:
    reason = f"{response.status_code} {response.reason_phrase}"
    if response.is_server_error or response.status_code == HTTPStatus.TOO_MANY_REQUESTS:
        return PassingError(reason)
    if response.status_code in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        reason += " (what is gated at the hub needs a token in HF_TOKEN)"
    return UnavailableError(reason)
