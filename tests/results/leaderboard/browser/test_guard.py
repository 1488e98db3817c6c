"""The guard of these tests sees what it is there for."""

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from playwright.sync_api import Page

from results.leaderboard.html.render import POLICY

pytestmark = pytest.mark.parts

BROKEN = "Content Security Policy"


@pytest.mark.parametrize(
    ("html", "fault"),
    [
        ("<p onclick='1'>", BROKEN),
        ("<p style='color: red'>", BROKEN),
        ("<script>1</script>", BROKEN),
        ("<link rel=stylesheet href=http://127.0.0.2/a.css>", BROKEN),
        ("<a href=http://127.0.0.2/>", "request: http://127.0.0.2/"),
        ("<script src=asks.js></script>", "dialog: 7"),
        ("<script src=fails.js></script>", "error: mistake"),
        ("<img src=gone.png>", "ERR_FILE_NOT_FOUND"),
    ],
)
def test_the_guard_sees(
    tmp_path: Path, visit: Callable[..., Page], guard: Any, html: str, fault: str
) -> None:
    (tmp_path / "asks.js").write_text("alert(7)")
    (tmp_path / "fails.js").write_text("throw Error('mistake')")
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    (tmp_path / "page.html").write_text(f"<!doctype html>{policy}<p>{html}")
    outlet = SimpleNamespace(base=f"{tmp_path.as_uri()}/", home=f"{tmp_path.as_uri()}/page.html")
    page = visit(outlet)
    if "<a" in html:
        page.route("**", lambda route: route.abort())
        page.locator("a").dispatch_event("click")
    page.wait_for_timeout(100)
    assert [one for one in guard.faults if re.search(fault, one)]
    guard.faults.clear()
