"""A store that is empty, old, gone or being written, and a run folder that is gone."""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from playwright.sync_api import Page, expect

from results.record import Run
from results.runfolder.folder import RunFolder
from results.store import Store

pytestmark = pytest.mark.parts

Visit = Callable[..., Page]
Outlet = Any


@pytest.fixture(scope="module")
def served(
    tmp_path_factory: pytest.TempPathFactory, server: Callable[..., Any]
) -> Iterator[tuple[Path, Outlet]]:
    """Serve a place at which each test puts a store of its own."""
    place = tmp_path_factory.mktemp("served") / "harness.db"
    with server(place) as outlet:
        yield place, outlet


@pytest.fixture
def place(served: tuple[Path, Outlet]) -> Iterator[Path]:
    yield served[0]
    served[0].unlink(missing_ok=True)


@pytest.fixture
def outlet(served: tuple[Path, Outlet]) -> Outlet:
    return served[1]


def test_an_empty_store_says_what_fills_it(place: Path, outlet: Outlet, visit: Visit) -> None:
    Store(place)
    page = visit(outlet)
    expect(page.get_by_text("The store holds no runs.")).to_be_visible()
    page.get_by_role("link", name="Runs", exact=True).click()
    expect(page.get_by_text("There are no such runs.")).to_be_visible()


def test_a_run_that_ends_is_there_at_the_next_look_while_another_is_being_written(
    place: Path, outlet: Outlet, visit: Visit, make: Callable[..., Run]
) -> None:
    store = Store(place)
    store.add(make("lora", 1))
    page = visit(outlet)
    expect(page.get_by_role("rowheader", name="lora")).to_be_visible()
    store.add(make("vera", 1, minute=1))
    with sa.create_engine(f"sqlite:///{place}").connect() as writing:
        writing.execute(sa.text("BEGIN IMMEDIATE"))
        writing.execute(sa.text("UPDATE runs SET method = 'not yet' WHERE 1"))
        page.reload()
        expect(page.get_by_role("rowheader", name="vera")).to_be_visible()
        assert "not yet" not in page.inner_text("main")
        writing.rollback()


def test_a_store_of_an_older_schema_says_what_brings_it_up_to_date(
    place: Path, outlet: Outlet, visit: Visit, guard: Any
) -> None:
    guard.expected.append("503")
    Store(place)
    with sa.create_engine(f"sqlite:///{place}").begin() as connection:
        connection.execute(sa.text("UPDATE harness_schema SET version_num = '001'"))
    page = visit(outlet)
    expect(page.get_by_role("heading", level=1)).to_have_text("The store cannot be read")
    expect(page.get_by_role("alert")).to_contain_text("brings it up to date")


def test_a_store_that_vanishes_is_said_to_be_gone_and_shown_when_it_is_back(
    place: Path, outlet: Outlet, visit: Visit, guard: Any, make: Callable[..., Run]
) -> None:
    guard.expected.append("503")
    Store(place).add(make("lora", 1))
    page = visit(outlet)
    kept = place.rename(place.with_suffix(".kept"))
    page.get_by_role("link", name="Runs", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("There is no store at harness.db")
    shutil.move(kept, place)
    page.reload()
    expect(page.get_by_role("rowheader")).to_have_count(1)


def test_what_is_no_store_is_said_to_be_none(
    place: Path, outlet: Outlet, visit: Visit, guard: Any
) -> None:
    guard.expected.append("503")
    place.write_bytes(os.urandom(4096))
    page = visit(outlet)
    expect(page.get_by_role("heading", level=1)).to_have_text("The store cannot be read")


def test_a_run_whose_folder_is_gone_says_so(
    place: Path,
    outlet: Outlet,
    visit: Visit,
    guard: Any,
    make: Callable[..., Run],
    folder: Callable[[Path, Run], RunFolder],
) -> None:
    guard.expected.append("404")
    run = make("lora", 1)
    there = folder(place.with_name("lora"), run).path
    Store(place).add(replace(run, folder=str(there)))
    page = visit(outlet, outlet.at(f"/run/{run.run_id}"))
    page.get_by_role("link", name="items").click()
    expect(page.get_by_role("article")).to_have_count(4)
    shutil.rmtree(there)
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text("are not there")
    page.go_back()
    page.reload()
    expect(page.get_by_role("note")).to_contain_text("Its run folder is not where the store says")
    assert page.get_by_role("link", name="items").count() == 0


def test_words_of_every_language_run_in_their_direction(
    place: Path,
    outlet: Outlet,
    visit: Visit,
    make: Callable[..., Run],
    folder: Callable[[Path, Run], RunFolder],
) -> None:
    run = make("lora", 1)
    there = folder(place.with_name("words"), run).path
    Store(place).add(replace(run, folder=str(there)))
    page = visit(outlet, outlet.at(f"/run/{run.run_id}/items/gsm8k"))
    directions = {
        text.inner_text(): text.evaluate("one => getComputedStyle(one).direction")
        for text in page.locator("dt:text-is('Generation') + dd pre").all()
    }
    assert directions["Die Größe ist 7."] == "ltr"
    assert directions["答案是\u30008。"] == "ltr"
    assert directions["הוא 9 \\u202e"] == "rtl"
    # A text that turns the direction leaves that of what stands around it.
    assert (
        page.locator("article h2").last.evaluate("one => getComputedStyle(one).direction") == "ltr"
    )
    assert page.locator("article pre").last.evaluate(
        "one => getComputedStyle(one).unicodeBidi"
    ) in ("isolate", "plaintext", "isolate-override")
