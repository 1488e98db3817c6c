"""Fetching from a server on this machine: whatever happens on the way, the file is whole or absent.

The server's replies follow RFC 9110, sections 13 to 15 (ETag, ranges, status codes).
"""

import gzip
import json
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tasks.contract import DataFile
from tasks.data import fetch as fetching
from tasks.data.fetch import offline, unfinished
from tasks.data.files import DataError

ROWS = 400
CONTENT = json.dumps(
    [{"instruction": f"What is {n} + 1?", "output": f"{n + 1}"} for n in range(ROWS)]
).encode()
HASH = sha256(CONTENT).hexdigest()
HALF = len(CONTENT) // 2

Reply = Callable[["Handler"], None]


@dataclass
class Site:
    """A server's content, the replies that come before it, and what it was asked for."""

    url: str
    content: bytes = CONTENT
    tag: str = '"one"'
    replies: list[Reply] = field(default_factory=list)
    ranges: list[str | None] = field(default_factory=list)
    tokens: list[str | None] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)


class Handler(BaseHTTPRequestHandler):
    """Answers with the next of the site's replies, then with its content."""

    site: Site

    def do_GET(self) -> None:
        self.site.paths.append(self.path)
        self.site.ranges.append(self.headers["Range"])
        self.site.tokens.append(self.headers["Authorization"])
        reply = self.site.replies.pop(0) if self.site.replies else Handler.give
        reply(self)

    def head(self, status: int, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def give(self, size: int | None = None) -> None:
        """Send what was asked for, or only so many bytes of it."""
        content, asked = self.site.content, self.headers["Range"]
        begin = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
        if begin >= len(content):
            return self.head(416, Content_Range=f"bytes */{len(content)}")
        span = (
            {"Content_Range": f"bytes {begin}-{len(content) - 1}/{len(content)}"} if asked else {}
        )
        length = str(len(content) - begin)
        self.head(206 if asked else 200, Content_Length=length, ETag=self.site.tag, **span)
        self.wfile.write(content[begin:][:size])
        return None

    def log_message(self, format: str, *args: object) -> None:
        pass


def status(code: int) -> Reply:
    return lambda handler: handler.head(code, Content_Length="0")


def cut(size: int) -> Reply:
    """Announce the whole, send so many bytes, then close the connection."""
    return lambda handler: handler.give(size)


def whole(handler: Handler) -> None:
    """Ignore the range that was asked for."""
    handler.head(200, Content_Length=str(len(handler.site.content)))
    handler.wfile.write(handler.site.content)


def elsewhere(handler: Handler) -> None:
    """Send another range than was asked for."""
    size = len(handler.site.content)
    handler.head(206, Content_Length="1", Content_Range=f"bytes 0-0/{size}")
    handler.wfile.write(handler.site.content[:1])


def portion(handler: Handler) -> None:
    """Send less of the range than was asked for."""
    end, size = HALF + 100, len(CONTENT)
    handler.head(206, Content_Length="100", Content_Range=f"bytes {HALF}-{end - 1}/{size}")
    handler.wfile.write(CONTENT[HALF:end])


def compressed(handler: Handler) -> None:
    """Compress on the way where the client allows it."""
    if "gzip" not in handler.headers.get("Accept-Encoding", ""):
        return handler.give()
    content = gzip.compress(handler.site.content)
    handler.head(200, Content_Length=str(len(content)), Content_Encoding="gzip")
    handler.wfile.write(content)
    return None


def redirect(url: str) -> Reply:
    return lambda handler: handler.head(302, Location=url, Content_Length="0")


@contextmanager
def served() -> Iterator[Site]:
    class Own(Handler):
        pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Own) as server:
        Own.site = Site(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield Own.site
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def site() -> Iterator[Site]:
    with served() as site:
        yield site


PROXIES = [f"{scheme}_proxy" for scheme in ("all", "http", "no")]
SWITCHES = ["HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE"]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    proxies = [*PROXIES, *map(str.upper, PROXIES)]
    for name in (*proxies, *SWITCHES, "HF_TOKEN", "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)
    # A folder without certificates: to load those of the machine takes longer than a test.
    monkeypatch.setenv("SSL_CERT_DIR", str(Path(__file__).parent))


def known(site: Site, path: str = "/toy.json") -> DataFile:
    places = ("toys/toy.json", "toy.json")
    return DataFile("toy set", places, HASH, ROWS, "the toy makers", "MIT", url=site.url + path)


def quiet(done: int, total: int | None) -> None:
    pass


def fetch(file: DataFile, folder: Path, waits: list[float] | None = None) -> Path:
    waits = [] if waits is None else waits
    return fetching.fetch(file, folder, quiet, sleep=waits.append)


def refused(file: DataFile, folder: Path) -> str:
    with pytest.raises(DataError) as caught:
        fetch(file, folder)
    return str(caught.value)


def files_in(folder: Path) -> list[str]:
    return [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]


def leave(file: DataFile, folder: Path, content: bytes) -> None:
    """Leave an unfinished download."""
    partial = unfinished(file, folder)
    partial.parent.mkdir(parents=True)
    partial.write_bytes(content)


def test_a_file_comes_to_its_first_place_and_nothing_else_stays(site: Site, tmp_path: Path) -> None:
    path = fetch(known(site), tmp_path)
    assert path == tmp_path / "toys/toy.json"
    assert path.read_bytes() == CONTENT
    assert files_in(tmp_path) == ["toys/toy.json"]


def test_what_is_there_is_not_asked_for_again(site: Site, tmp_path: Path) -> None:
    (tmp_path / "toy.json").write_bytes(CONTENT)
    assert fetch(known(site), tmp_path) == tmp_path / "toy.json"
    assert site.paths == []


def test_another_file_in_its_place_is_refused_and_kept(site: Site, tmp_path: Path) -> None:
    (tmp_path / "toy.json").write_bytes(b"mine")
    message = refused(known(site), tmp_path)
    assert str(tmp_path / "toy.json") in message
    assert "Move it away" in message
    assert (tmp_path / "toy.json").read_bytes() == b"mine"
    assert site.paths == []


def test_progress_counts_up_to_the_size(site: Site, tmp_path: Path) -> None:
    seen: list[tuple[int, int | None]] = []
    file = known(site)
    leave(file, tmp_path, CONTENT[:HALF])
    fetching.fetch(file, tmp_path, lambda done, total: seen.append((done, total)))
    assert seen[0] == (HALF, len(CONTENT))
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert seen == sorted(seen)


@pytest.fixture(scope="module")
def lasting() -> Iterator[Site]:
    with served() as site:
        yield site


@given(st.integers(0, len(CONTENT)))
@example(0)
@example(len(CONTENT) - 1)
@example(len(CONTENT))
@settings(max_examples=10)
def test_whatever_beginning_is_left_over_the_result_is_the_file(lasting: Site, size: int) -> None:
    lasting.ranges.clear()
    with tempfile.TemporaryDirectory() as folder:
        file = known(lasting)
        leave(file, Path(folder), CONTENT[:size])
        assert fetch(file, Path(folder)).read_bytes() == CONTENT
        assert files_in(Path(folder)) == ["toys/toy.json"]
    assert lasting.ranges[0] == (f"bytes={size}-" if size else None)


def test_a_connection_cut_midway_is_continued(site: Site, tmp_path: Path) -> None:
    site.replies = [cut(HALF)]
    waits: list[float] = []
    assert fetch(known(site), tmp_path, waits).read_bytes() == CONTENT
    assert site.ranges == [None, f"bytes={HALF}-"]
    assert waits == [1.0]


def test_a_connection_that_is_cut_four_times_leaves_what_came(site: Site, tmp_path: Path) -> None:
    file = known(site)
    site.replies = [cut(100)] * 4
    assert offline(file, tmp_path) in refused(file, tmp_path)
    assert files_in(tmp_path) == [str(unfinished(file, tmp_path).relative_to(tmp_path))]
    assert unfinished(file, tmp_path).read_bytes() == CONTENT[:400]
    fetch(file, tmp_path)
    assert site.ranges == [None, "bytes=100-", "bytes=200-", "bytes=300-", "bytes=400-"]


def test_an_interrupted_fetch_leaves_no_file_and_is_continued(site: Site, tmp_path: Path) -> None:
    file = known(site)

    def interrupt(done: int, total: int | None) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetching.fetch(file, tmp_path, interrupt)
    left = unfinished(file, tmp_path).stat().st_size
    assert files_in(tmp_path) == [str(unfinished(file, tmp_path).relative_to(tmp_path))]
    assert left > 0
    fetch(file, tmp_path)
    assert site.ranges[1] == f"bytes={left}-"
    assert files_in(tmp_path) == ["toys/toy.json"]


@pytest.mark.parametrize("reply", [whole, elsewhere, status(416)])
def test_a_server_that_does_not_continue_is_asked_for_all(
    site: Site, tmp_path: Path, reply: Reply
) -> None:
    file = known(site)
    leave(file, tmp_path, CONTENT[:HALF])
    site.replies = [reply]
    assert fetch(file, tmp_path).read_bytes() == CONTENT


def test_a_range_that_comes_in_portions_is_joined(site: Site, tmp_path: Path) -> None:
    file = known(site)
    leave(file, tmp_path, CONTENT[:HALF])
    site.replies = [portion]
    assert fetch(file, tmp_path).read_bytes() == CONTENT
    assert site.ranges == [f"bytes={HALF}-", f"bytes={HALF + 100}-"]


def test_a_server_that_compresses_on_the_way_is_asked_not_to(site: Site, tmp_path: Path) -> None:
    site.replies = [compressed]
    assert fetch(known(site), tmp_path).read_bytes() == CONTENT


def test_content_that_changed_between_two_requests_is_not_joined(
    site: Site, tmp_path: Path
) -> None:
    def other(handler: Handler) -> None:
        site.content, site.tag = CONTENT[:-1].replace(b"What", b"Who!") + b"]", '"old"'
        handler.give(HALF)
        site.content, site.tag = CONTENT, '"one"'

    site.replies = [other]
    assert fetch(known(site), tmp_path).read_bytes() == CONTENT
    assert site.ranges == [None, f"bytes={HALF}-", None]


def test_another_address_does_not_continue_what_the_first_one_left(
    site: Site, tmp_path: Path
) -> None:
    leave(known(site, "/old/toy.json"), tmp_path, b"of another revision")
    fetch(known(site, "/new/toy.json"), tmp_path)
    assert site.ranges == [None]


@pytest.mark.parametrize("code", [429, 500, 503])
def test_a_passing_failure_is_tried_again(site: Site, tmp_path: Path, code: int) -> None:
    site.replies = [status(code), status(code)]
    waits: list[float] = []
    assert fetch(known(site), tmp_path, waits).read_bytes() == CONTENT
    assert waits == [1.0, 2.0]


@pytest.mark.parametrize(("code", "requests"), [(404, 1), (401, 1), (403, 1), (503, 4), (416, 4)])
def test_a_refusal_says_what_to_download_and_where_to_put_it(
    site: Site, tmp_path: Path, code: int, requests: int
) -> None:
    file = known(site)
    site.replies = [status(code)] * 4
    message = refused(file, tmp_path)
    assert offline(file, tmp_path) in message
    assert (str(code) in message) == (code != 416)
    assert ("HF_TOKEN" in message) == (code in {401, 403})
    assert len(site.paths) == requests
    assert files_in(tmp_path) == []


def test_without_a_server_the_message_is_the_same(tmp_path: Path) -> None:
    with served() as gone:
        file = known(gone)
    assert offline(file, tmp_path) in refused(file, tmp_path)


def test_the_advice_names_address_and_place(site: Site, tmp_path: Path) -> None:
    file = known(site)
    for part in (site.url + "/toy.json", str(tmp_path / "toys/toy.json"), "the toy makers"):
        assert part in offline(file, tmp_path)
    nowhere = replace(file, url=None)
    assert refused(nowhere, tmp_path) == offline(nowhere, tmp_path)
    assert str(tmp_path / "toys/toy.json") in offline(nowhere, tmp_path)


@pytest.mark.parametrize("name", SWITCHES)
def test_the_hubs_offline_switches_forbid_any_attempt(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "1")
    assert refused(known(site), tmp_path) == offline(known(site), tmp_path)
    assert site.paths == []
    monkeypatch.setenv(name, "0")
    fetch(known(site), tmp_path)


def test_wrong_content_is_removed_and_told_with_both_hashes(site: Site, tmp_path: Path) -> None:
    site.content = CONTENT + b"\n"
    message = refused(known(site), tmp_path)
    assert HASH in message
    assert sha256(CONTENT + b"\n").hexdigest() in message
    assert files_in(tmp_path) == []


def test_without_a_hash_on_record_the_rows_are_counted(site: Site, tmp_path: Path) -> None:
    file = replace(known(site), sha256=None)
    site.content = b"<html>Not here any more</html>"
    assert "not JSON" in refused(file, tmp_path)
    site.content = json.dumps(json.loads(CONTENT)[1:]).encode()
    assert f"{ROWS - 1} rows, toy set has {ROWS}" in refused(file, tmp_path)
    assert files_in(tmp_path) == []
    site.content = CONTENT
    assert fetch(file, tmp_path).read_bytes() == CONTENT


@pytest.mark.parametrize("digest", [HASH, None])
def test_a_compressed_file_is_known_by_what_it_holds(
    site: Site, tmp_path: Path, digest: str | None
) -> None:
    file = replace(known(site, "/toy.json.gz"), sha256=digest)
    site.content = gzip.compress(CONTENT, mtime=1)
    path = fetch(file, tmp_path)
    assert path == tmp_path / "toys/toy.json.gz"
    assert path.read_bytes() == site.content
    assert fetch(file, tmp_path) == path
    assert len(site.paths) == 1


def test_a_compressed_file_that_is_none_is_refused(site: Site, tmp_path: Path) -> None:
    assert "gzip" in refused(known(site, "/toy.json.gz"), tmp_path)
    assert files_in(tmp_path) == []


def test_the_token_goes_to_the_hub_alone(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "secret")
    with served() as other:
        site.replies = [redirect(f"{site.url}/moved.json"), redirect(f"{other.url}/toy.json")]
        fetching.fetch(known(site), tmp_path, quiet, trusted=site.url)
        assert site.tokens == ["Bearer secret", "Bearer secret"]
        assert other.tokens == [None]


@pytest.mark.parametrize(
    "trusted", ["https://huggingface.co", "http://127.0.0.1", "http://127.0.0.1:1"]
)
def test_a_server_that_is_not_the_hub_gets_no_token(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trusted: str
) -> None:
    monkeypatch.setenv("HF_TOKEN", "secret")
    fetching.fetch(known(site), tmp_path, quiet, trusted=trusted)
    assert site.tokens == [None]


def test_the_proxy_of_the_environment_is_asked(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", site.url)
    file = replace(known(site), url="http://data.example/toy.json")
    fetch(file, tmp_path)
    assert site.paths == ["http://data.example/toy.json"]


def both(site: Site, folder: Path, answer: Reply) -> tuple[Future[Path], Future[Path]]:
    """Fetch twice at once; the first one gets `answer` when the second has begun to wait."""
    begun, second = threading.Event(), threading.Event()

    def slow(handler: Handler) -> None:
        begun.set()
        second.wait(0.2)  # Long enough for a second request, were one made.
        answer(handler)

    def next_one(handler: Handler) -> None:
        second.set()
        handler.give()

    site.replies = [slow, next_one]
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(fetch, known(site), folder)
        assert begun.wait(5)
        return first, pool.submit(fetch, known(site), folder)


def test_of_two_that_fetch_at_once_one_downloads(site: Site, tmp_path: Path) -> None:
    first, other = both(site, tmp_path, Handler.give)
    assert first.result() == other.result() == tmp_path / "toys/toy.json"
    assert site.ranges == [None]
    assert files_in(tmp_path) == ["toys/toy.json"]


def test_of_two_that_fetch_at_once_the_failure_of_one_leaves_the_other_whole(
    site: Site, tmp_path: Path
) -> None:
    first, other = both(site, tmp_path, status(404))
    assert isinstance(first.exception(), DataError)
    assert other.result().read_bytes() == CONTENT
    assert files_in(tmp_path) == ["toys/toy.json"]


def test_a_folder_that_cannot_be_made_is_named(site: Site, tmp_path: Path) -> None:
    (tmp_path / "toys").write_text("a file, not a folder")
    assert f"{tmp_path / 'toys'}: cannot be written" in refused(known(site), tmp_path)
