"""A browser, pages over a store of real runs, and a guard that reads what the browser complains of.

Playwright drives the chromium of the system; it brings none of its own.
"""

import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import fspath, getuid
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Dialog,
    Page,
    Request,
    sync_playwright,
)

import harness
from harness.commands.leaderboard import source
from results.leaderboard.build import build
from results.leaderboard.html.links import Files, Links, Served

OUTLETS = ("served", "static", "disk")
"""The server; files behind a plain web server; the same files opened from disk."""

GRID = ("--tasks", "svamp,aqua", "--limit", "3", "--train-limit", "40")
CUT = ("--tasks", "boolq", "--limit", "3", "--set", "protocol.max_new_tokens=3")


@dataclass(frozen=True)
class Outlet:
    """Pages, and how their addresses begin."""

    base: str
    links: Links

    @property
    def home(self) -> str:
        return self.at(self.links.home())

    def at(self, address: str) -> str:
        return self.base + address.removeprefix("/")


@dataclass
class Guard:
    """What a browser complained of, and what a page asked for that is not its own."""

    expected: list[str] = field(default_factory=list)
    """Patterns of complaints that belong to what a test does."""
    faults: list[str] = field(default_factory=list)

    def watch(self, page: Page, base: str) -> None:
        def asked(request: Request) -> None:
            if not request.url.startswith(base):
                self.faults.append(f"request: {request.url}")

        def told(message: ConsoleMessage) -> None:
            if message.type in ("error", "warning"):
                self.faults.append(f"{message.type}: {message.text}")

        def dialog(shown: Dialog) -> None:
            self.faults.append(f"dialog: {shown.message}")
            shown.dismiss()

        page.on("request", asked)
        page.on("console", told)
        page.on("dialog", dialog)
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))

    @property
    def unexpected(self) -> list[str]:
        known = [re.compile(one) for one in self.expected]
        return [one for one in self.faults if not any(pattern.search(one) for pattern in known)]


@pytest.fixture
def guard() -> Iterator[Guard]:
    """Fail a test at whose end the browser has complained."""
    made = Guard()
    yield made
    assert made.unexpected == []


@pytest.fixture
def visit(browser: Browser, guard: Guard) -> Iterator[Callable[..., Page]]:
    """Open an address as a visitor of its own does, who has seen no page before."""
    contexts = []

    def visit(outlet: Outlet, address: str = "", **options: Any) -> Page:
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.set_default_timeout(10_000)
        guard.watch(page, outlet.base)
        page.goto(address or outlet.home)
        return page

    yield visit
    for context in contexts:
        context.close()


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    found = shutil.which("chromium")
    assert found, "These tests need chromium; `make parts` installs it, or: apt install chromium"
    # No sandbox can be set up as root.
    arguments = ["--no-sandbox"] if getuid() == 0 else []
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=arguments)
        yield started
        started.close()


@pytest.fixture(scope="package")
def real(
    tmp_path_factory: pytest.TempPathFactory, program: Callable[..., subprocess.CompletedProcess]
) -> Path:
    """Make a store by real runs of the embedded model, of every ending and of two backbones."""
    root = tmp_path_factory.mktemp("real")
    tiny = Path(harness.__file__).parent / "backbones" / "tiny" / "model"
    shutil.copytree(tiny, root / "other")
    assert program(root, "new", "method", "crashes").returncode == 0
    crashes = root / "crashes.py"
    wrong = crashes.read_text().replace(
        "low = func", 'raise RuntimeError("no update")\n        low = func'
    )
    crashes.write_text(wrong)
    # What takes time is to start: two commands, not one for each of these endings.
    for ends, command in (
        (0, ("base", "--backbones", f"tiny,{root / 'other'}", *CUT)),
        (1, ("base,lora,dypam,lora[train.lr=1e9],crashes.py", "--seeds", "3", *GRID)),
    ):
        done = program(root, "run", "--methods", *command)
        assert done.returncode == ends, done.stderr
    return root


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def process(port: int, *command: str, folder: Path) -> Iterator[str]:
    """Run a server until it is no longer needed; give the address that its pages begin with."""
    running = subprocess.Popen(
        [sys.executable, *command], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        while running.poll() is None and not _answers(port):
            time.sleep(0.05)
        assert running.poll() is None, running.stderr.read()  # type: ignore[union-attr]
        yield f"http://127.0.0.1:{port}/"
    finally:
        running.terminate()
        running.communicate()


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


@contextmanager
def serve(store: Path) -> Iterator[Outlet]:
    """Serve pages over a store, as `harness leaderboard serve` does."""
    port = free_port()
    command = ("-m", "harness", "leaderboard", "serve", "--port", str(port), "--store", store.name)
    with process(port, *command, folder=store.parent) as base:
        yield Outlet(base, Served())


@contextmanager
def static(folder: Path) -> Iterator[Outlet]:
    """Serve files as any web server does."""
    port = free_port()
    command = ("-m", "http.server", "--bind", "127.0.0.1", str(port))
    with process(port, *command, folder=folder) as base:
        yield Outlet(base, Files())


@contextmanager
def outlets(store: Path, built: Path) -> Iterator[dict[str, Outlet]]:
    """Offer a store in every way."""
    build(source(fspath(store), private=False), built)
    with serve(store) as served, static(built) as files:
        disk = Outlet(f"{built.as_uri()}/", Files())
        yield dict(zip(OUTLETS, (served, files, disk), strict=True))


@pytest.fixture(scope="package")
def offered(real: Path) -> Iterator[dict[str, Outlet]]:
    with outlets(real / "harness.db", real / "built") as every:
        yield every


@pytest.fixture(scope="session")
def offer() -> Callable[..., Any]:
    # Fixtures, since test files cannot import one another.
    return outlets


@pytest.fixture(scope="session")
def server() -> Callable[..., Any]:
    return serve


@pytest.fixture(params=OUTLETS)
def outlet(request: pytest.FixtureRequest, offered: dict[str, Outlet]) -> Outlet:
    return offered[request.param]
