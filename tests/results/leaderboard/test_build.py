"""Pages as files: they stand alone, lead to one another and say what the server says."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from starlette.testclient import TestClient

from results.analysis.items import Item
from results.errors import ResultsError
from results.leaderboard.build import build
from results.leaderboard.html.links import Files
from results.leaderboard.source import Source
from results.leaderboard.values.attempts.run import NO_FOLDER
from results.record import Run
from results.runfolder.folder import RunFolder
from results.store import Store

Stored = tuple[str, dict[str, Run]]


@pytest.fixture(scope="module")
def built(
    tmp_path_factory: pytest.TempPathFactory, store: Stored, source: Callable[..., Source]
) -> Path:
    out = tmp_path_factory.mktemp("built")
    written = build(source(store[0]), out).files
    assert written == len((out / "files.txt").read_text().splitlines())
    return out


def links(page: Path) -> list[str]:
    return [unescape(one) for one in re.findall(r'(?:href|src)="([^"#]+)', page.read_text())]


def test_every_link_leads_to_a_file(built: Path) -> None:
    pages = list(built.rglob("*.html"))
    assert len(pages) > 15
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
    listed = (built / "files.txt").read_text().splitlines()
    assert found == {(built / one).resolve() for one in listed}


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


def test_the_items_of_a_benchmark_are_a_script_that_registers_what_the_api_gives(
    built: Path, store: Stored, client: Callable[..., TestClient]
) -> None:
    run = store[1]["lora 3"].run_id
    data = built / Files().data(run, "gsm8k")
    registered = re.fullmatch(r"items\.register\((.*)\);\n", data.read_text(), re.DOTALL)
    assert registered
    answered = client(store[0]).get(f"/api/run/{run}/items/gsm8k").json()
    assert json.loads(registered[1])["items"] == answered["items"]
    assert [one["kinds"] for one in answered["items"]] == [
        ["right"],
        ["wrong"],
        ["wrong", "unparsed", "cut"],
        ["wrong"],
    ]


def test_a_build_again_gives_the_same_bytes(
    built: Path, store: Stored, source: Callable[..., Source], tmp_path: Path
) -> None:
    for _ in range(2):
        build(source(store[0]), tmp_path / "out")
        assert files(tmp_path / "out") == files(built)


def files(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def test_a_build_removes_what_builds_wrote_and_nothing_else(
    store: Stored, source: Callable[..., Source], make: Callable[..., Run], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    build(source(store[0]), out)
    (out / "CNAME").write_text("board.example")
    (out / "run" / "notes.html").write_text("mine")
    (tmp_path / "outside").write_text("mine")
    with (out / "files.txt").open("a") as listed:
        listed.write("../outside\n")
    first = files(out)
    Store(tmp_path / "small.db").add(make("lora", 9))
    build(source(str(tmp_path / "small.db")), out)
    assert {"CNAME", "run/notes.html"} <= files(out).keys()
    names = (out / "files.txt").read_text().splitlines()
    assert files(out).keys() == {*names, "files.txt", "CNAME", "run/notes.html"}
    assert len(files(out)) < len(first)
    assert (tmp_path / "outside").exists()
    assert not (out / "items").exists()


def test_a_folder_that_no_build_wrote_is_left_alone(
    store: Stored, source: Callable[..., Source], tmp_path: Path
) -> None:
    (tmp_path / "index.html").write_text("mine")
    with pytest.raises(ResultsError, match="no build wrote into it"):
        build(source(store[0]), tmp_path)
    assert files(tmp_path) == {"index.html": b"mine"}


def test_a_repository_without_files_may_be_built_into(
    store: Stored, source: Callable[..., Source], tmp_path: Path
) -> None:
    (tmp_path / ".git").mkdir()
    build(source(store[0]), tmp_path)
    assert (tmp_path / "index.html").exists()


def test_a_build_that_fails_leaves_the_pages_of_before(
    built: Path, store: Stored, source: Callable[..., Source], tmp_path: Path
) -> None:
    def fail(folder: RunFolder, benchmark: str) -> list[Item]:
        raise OSError(f"{folder.path}: {benchmark}")

    build(source(store[0]), tmp_path)
    with pytest.raises(OSError, match="gsm8k"):
        build(replace(source(store[0]), items=fail), tmp_path)
    assert files(tmp_path) == files(built)


def test_what_cannot_be_read_is_told_and_the_rest_is_built(
    make: Callable[..., Run],
    folder_of: Callable[..., Run],
    source: Callable[..., Source],
    tmp_path: Path,
) -> None:
    store = Store(tmp_path / "harness.db")
    for name in ("whole", "damaged", "no-run"):
        run = folder_of(make(name, 1), tmp_path / "runs" / name)
        store.add(run)
    store.add(make("gone", 1, folder=str(tmp_path / "gone")))
    (tmp_path / "runs/damaged/verdicts/gsm8k.jsonl").write_text("{")
    (tmp_path / "runs/no-run/run.json").write_text("{}")
    out = tmp_path / "out"
    lacks = build(source(str(tmp_path / "harness.db")), out).lacks
    assert len(lacks) == 3
    for what in ("verdicts/gsm8k.jsonl is damaged", "no-run/run.json is damaged", NO_FOLDER):
        assert any(what in one for one in lacks)
    assert len(list(out.glob("run/*.html"))) == 4
    assert len(list(out.glob("items/*/*.js"))) == 1
    (said,) = (one for one in out.glob("items/*/*.html") if "damaged" in one.read_text())
    assert "…/gsm8k.jsonl is damaged" in said.read_text()
    assert str(tmp_path) not in said.read_text()


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
