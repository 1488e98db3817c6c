"""Pages as files: they stand alone, lead to one another and say what the server says."""

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from starlette.testclient import TestClient

from results.errors import ResultsError
from results.leaderboard.build import build
from results.leaderboard.source import Source
from results.record import Run
from results.store import Store

Stored = tuple[str, dict[str, Run]]


@pytest.fixture(scope="module")
def built(
    tmp_path_factory: pytest.TempPathFactory, store: Stored, source: Callable[..., Source]
) -> Path:
    out = tmp_path_factory.mktemp("built")
    assert build(source(store[0]), out) == len([one for one in out.rglob("*") if one.is_file()])
    return out


def links(page: Path) -> list[str]:
    return [unescape(one) for one in re.findall(r'(?:href|src)="([^"#]+)', page.read_text())]


def test_every_link_leads_to_a_file(built: Path) -> None:
    pages = list(built.rglob("*.html"))
    assert len(pages) > 20
    for page in pages:
        for link in links(page):
            split = urlsplit(link)
            assert not split.scheme, link
            assert not split.netloc, link
            target = (page.parent / unquote(split.path)).resolve()
            assert not split.path or target.is_file(), f"{page}: {link}"
            assert target.is_relative_to(built.resolve())


def test_the_first_page_leads_to_every_page(built: Path) -> None:
    found, waiting = set[Path](), [built / "index.html"]
    while waiting:
        page = waiting.pop().resolve()
        if page in found:
            continue
        found.add(page)
        if page.suffix == ".html":
            paths = (urlsplit(link).path for link in links(page))
            waiting += [page.parent / unquote(path) for path in paths if path]
    assert found == {one.resolve() for one in built.rglob("*") if one.is_file()}


def test_a_file_has_the_numbers_of_the_server(
    built: Path, store: Stored, client: Callable[..., TestClient]
) -> None:
    numbers = re.compile(r'class="number[^"]*">([\d.]+)')
    served = numbers.findall(client(store[0]).get("/").text)
    assert len(served) == 12
    assert numbers.findall((built / "index.html").read_text()) == served


def test_no_file_asks_for_what_a_page_from_disk_cannot_have(built: Path) -> None:
    script = (built / "static" / "page.js").read_text()
    assert not re.search(r"\bfetch\(|XMLHttpRequest|\bimport\b", script)
    for page in built.rglob("*.html"):
        assert 'type="module"' not in page.read_text()
        assert "Content-Security-Policy" in page.read_text()


def test_the_items_of_a_run_are_pages_for_each_kind(built: Path) -> None:
    counts = {
        page.stem: page.read_text().count("<article") for page in built.glob("items/*/*.html")
    }
    assert counts == {
        "gsm8k-all-1": 4,
        "gsm8k-right-1": 1,
        "gsm8k-wrong-1": 3,
        "gsm8k-unparsed-1": 1,
        "gsm8k-cut-1": 1,
    }


def test_an_empty_store_makes_no_pages(tmp_path: Path, source: Callable[..., Source]) -> None:
    Store(tmp_path / "empty.db")
    with pytest.raises(ResultsError, match="holds no runs"):
        build(source(str(tmp_path / "empty.db")), tmp_path / "out")


def test_every_view_has_its_charts_as_pages_and_as_drawings(built: Path) -> None:
    folder = built / "charts" / "math"
    for policy in ("shared", "own", "validation"):
        found = {one.name for one in folder.iterdir()}
        pages = [f"tiny-{policy}-trade-off-{one}" for one in ("parameters", "time", "memory")]
        assert {f"{one}.html" for one in [*pages, f"tiny-{policy}-training"]} <= found
        assert len(list(folder.glob(f"every-backbone-*-{policy}-scale.html"))) == 1
        drawing = (folder / f"{pages[0]}-1.svg").read_text()
        assert drawing in (folder / f"{pages[0]}.html").read_text()


def test_a_file_compares_two_methods_with_the_tests_of_the_server(
    built: Path, store: Stored, client: Callable[..., TestClient]
) -> None:
    file = (built / "compare" / "math" / "tiny" / "dypam" / "lora.html").read_text()
    (one,) = client(store[0]).get("/api/compare?first=dypam&second=lora").json()["compared"]
    micro = one["comparison"]["contrasts"][-2]
    assert one["comparison"]["summary"] in file
    for shown in (micro["difference"], micro["seeds"]["interval"], micro["seeds"]["effect"]):
        assert f">{shown}" in file
    assert "Tests over new items are not made here: `harness compare dypam lora`" in file


def test_every_two_methods_that_have_scores_are_compared_once(built: Path) -> None:
    assert len(list(built.glob("compare/math/tiny/*/*.html"))) == 3
