"""A page that was made before is shown again only if nothing changed that it shows."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from results.leaderboard.server.ahead import make_groups
from results.leaderboard.source import Source
from results.leaderboard.values.tables import found
from results.leaderboard.view import View
from results.record import Run, Verdicts
from results.store import Store

Make = Callable[..., Run]


@pytest.fixture
def place(tmp_path: Path, make: Make) -> str:
    """Make a store of two methods with three seeds each."""
    made = Store(tmp_path / "harness.db")
    for minute, method in enumerate(("lora", "dypam")):
        for seed in (1, 2, 3):
            made.add(make(method, seed, {"gsm8k": 50 + seed}, minute=minute))
    return str(tmp_path / "harness.db")


@pytest.fixture
def served(place: str, client: Callable[..., TestClient]) -> TestClient:
    """Serve the store, and look at the pages once."""
    made = client(place)
    assert [made.get(path).status_code for path in ("/", "/api/rank", "/runs")] == [200] * 3
    return made


def lora(served: TestClient) -> Any:
    (table,) = served.get("/api/rank").json()["tables"]
    (row,) = (row for row in table["blocks"][0]["rows"] if row["method"] == "lora")
    return row


def test_a_run_is_shown_as_soon_as_it_is_stored(place: str, served: TestClient, make: Make) -> None:
    Store(place).add(make("lora", 4, {"gsm8k": 90}, minute=9))
    assert lora(served)["seeds"] == [1, 2, 3, 4]
    assert lora(served)["cells"][0]["text"] == "61.50"  # of 51, 52, 53 and 90
    assert "61.50" in served.get("/").text
    assert "4 seeds" in served.get("/").text
    assert served.get("/api/runs").json()["counts"]["finished"] == 7


def test_other_scores_are_shown_as_soon_as_they_are_stored(
    place: str, served: TestClient, make: Make
) -> None:
    changed = make("lora", 3, {"gsm8k": 83}, flags=("gsm8k: always the same answer",))
    Store(place).replace_scores(changed)
    assert lora(served)["cells"][0]["text"] == "62.00"  # of 51, 52 and 83
    assert "62.00" in served.get("/").text
    assert lora(served)["badges"][0]["kind"] == "flags"


def test_a_group_and_a_backbone_are_offered_as_soon_as_they_have_a_run(
    place: str, served: TestClient, make: Make
) -> None:
    Store(place).add(make("lora", 1, minute=9, group="qa", series="qa"))
    Store(place).add(make("lora", 1, minute=10, backbone="small"))
    given = served.get("/api/rank").json()
    assert given["groups"] == ["math", "qa"]
    assert given["backbones"] == ["small", "tiny"]
    assert given["view"]["backbones"] == ["small"]


def test_another_store_in_its_place_is_shown(
    place: str, served: TestClient, tmp_path: Path, make: Make
) -> None:
    other = Store(tmp_path / "other.db")
    for seed in (1, 2, 3):
        other.add(make("lora", seed, {"gsm8k": 10}))
    shutil.copy(tmp_path / "other.db", place)
    assert lora(served)["cells"][0]["text"] == "10.00"


def test_tables_are_made_again_only_when_a_run_of_their_group_changes(
    place: str, source: Callable[..., Source], make: Make
) -> None:
    pages = source(place)

    def tables() -> object:
        return found(pages.open(), View(group="math", backbones=("tiny",)))

    first = tables()
    Store(place).add(make("lora", 1, minute=9, group="qa", series="qa"))
    assert tables() is first
    Store(place).add(make("lora", 1, minute=0), [Verdicts("gsm8k", "rows", 1, b"\x80", None)])
    assert tables() is not first


def test_tables_of_all_groups_are_made_before_they_are_asked_for(
    place: str, source: Callable[..., Source], make: Make
) -> None:
    Store(place).add(make("lora", 1, minute=9, group="qa", series="qa"))
    pages = source(place)
    make_groups(pages.open())
    read: list[str] = []
    asked = replace(pages, marked=lambda runs: read.extend(["runs"]) or list(runs))
    for group in ("math", "qa"):
        assert found(asked.open(), View(group=group, backbones=("tiny",))).tables
    assert read == []


def test_a_view_on_several_pages_has_each_table_once(
    tmp_path: Path, make: Make, client: Callable[..., TestClient]
) -> None:
    place, scores = tmp_path / "many.db", {f"b{n}": 50 for n in range(48)}
    store = Store(place)
    for setting in range(7):  # two methods in 48 columns and two averages: 100 cells a table
        for method in ("lora", "dypam"):
            run = make(method, 1, scores, minute=setting, setting=f"setting-{setting}")
            store.add(replace(run, protocol=f"paper/{setting}"))
    served = client(str(place))

    def protocols(query: str) -> list[str]:
        return [one["protocol"] for one in served.get(f"/api/rank{query}").json()["tables"]]

    every = [f"paper/{setting}" for setting in reversed(range(7))]
    assert protocols("?page=0") == every
    assert [protocols(f"?page={n}") for n in range(1, 6)] == [
        every[0:2],
        every[2:4],
        every[4:6],
        every[6:],
        [],
    ]
    assert protocols("") == every[:2]
    assert protocols("?protocol=paper/0") == every[6:]
    assert "Page 1 of 4" in served.get("/").text
    assert served.get("/?page=two").status_code == 404
