"""Commands besides tables pool environments on request only, and then say so."""

from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from harness.commands.leaderboard import source
from harness.commands.seeds import plan
from results.leaderboard.server.app import app
from results.record import Run
from results.store import Store

BOTH = "pools the environment new (torch 2.13); pools the environment old (torch 2.12)"


@pytest.fixture
def store(tmp_path: Path, make: Callable[..., Run]) -> str:
    """Store two runs of one method in each of two environments."""
    place = str(tmp_path / "harness.db")
    for seed, (name, torch) in enumerate([("old", "2.12"), ("new", "2.13")] * 2):
        stack = {"environment_id": name, "environment": {"torch": torch}}
        Store(place).add(make(seed=seed, minute=seed, correct={"gsm8k": 50 + seed}, **stack))
    return place


def test_a_plan_of_seeds_is_made_for_each_environment_unless_they_are_pooled(store: str) -> None:
    apart = plan(store, None, 1.0, "")
    assert [one.seeds_now for one in apart.value] == [(2,), (2,)]
    assert "pools" not in apart.text
    pooled = plan(store, None, 1.0, "", pool_eras=True)
    assert [one.seeds_now for one in pooled.value] == [(4,)]
    assert BOTH in pooled.text


def test_pages_have_a_table_for_each_environment_unless_they_are_pooled(store: str) -> None:
    apart, pooled = (
        TestClient(app(source(store, private=False, pool_eras=pool)), "http://localhost")
        for pool in (False, True)
    )
    assert [table["seeds"] for table in apart.get("/api/rank").json()["tables"]] == [[1, 3], [0, 2]]
    assert [table["seeds"] for table in pooled.get("/api/rank").json()["tables"]] == [[0, 1, 2, 3]]
    assert "pools the environment" not in apart.get("/").text
    page = pooled.get("/").text
    assert BOTH in page
    assert "harness table --tasks math --backbones tiny --format latex --pool-eras" in page
