import json
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.backbones import TINY
from harness.cli.notebook import Grid, Tables
from harness.commands import table as stored
from harness.commands.preview import preview
from harness.commands.started import started
from harness.errors import UserError
from harness.planning.request import Request
from harness.scheduling.resources import Resources
from results.errors import ResultsError
from results.reports.sheets.printing import Printing
from results.store import Reader

SMALL = {"train.epochs": 1, "protocol.max_new_tokens": 24}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("notebook")


def asked(place: Path, **more: Any) -> Grid:
    return harness.grid(
        "lora",
        ["gsm8k"],
        settings=SMALL,
        limit=3,
        train_limit=40,
        store=place / "harness.db",
        runs=place / "runs",
        **more,
    )


@pytest.fixture(scope="module")
def done(place: Path) -> Grid:
    return asked(place)


def test_a_grid_gives_its_runs_and_their_table(done: Grid) -> None:
    (run,) = done.runs
    assert (run.method, run.backbone, run.seed, run.status) == ("lora", "tiny", 2333, "finished")
    assert (run.spec["limit"], run.spec["train"]["epochs"]) == (3, 1)
    assert done.failed == {}
    (table,) = done.table.values
    assert [row.method for block in table.blocks for row in block.rows] == ["lora"]


def test_a_second_grid_finds_the_runs_in_the_store_and_tells_it_nothing(
    done: Grid, place: Path
) -> None:
    (seen,) = Reader(place / "harness.db").last_seen()
    assert asked(place).runs == done.runs
    assert Reader(place / "harness.db").last_seen() == [seen]
    assert seen.ended


def test_the_runs_are_those_that_the_command_line_plans(done: Grid, place: Path) -> None:
    request = Request(
        methods="lora",
        tasks="gsm8k",
        settings=["train.epochs=1", "protocol.max_new_tokens=24"],
        limit=3,
        train_limit=40,
    )
    with started("local", Resources()) as opened:
        listed = preview(request, str(place / "harness.db"), place / "runs", opened)
    assert listed.startswith(done.runs[0].run_id)
    assert "(stored)" in listed


def test_a_table_of_the_store_reads_as_the_command_prints_it(done: Grid, place: Path) -> None:
    found = harness.table(place / "harness.db", "math")
    store = str(place / "harness.db")
    for name, text in (("markdown", found.markdown()), ("latex", found.latex())):
        assert text == stored.table(store, "math", name, Printing(), clean=False, own_recipes=False)
    assert found.values == done.table.values


def test_of_several_recipes_one_is_chosen_as_the_command_chooses(done: Grid, place: Path) -> None:
    store = str(place / "harness.db")
    found = harness.table(store, choose="validation").markdown()
    assert found == stored.table(store, None, "markdown", Printing(), choose="validation")


def rows(frame: Any) -> list[dict[str, Any]]:
    """Read a data frame, or what stands for it without pandas."""
    found: list[dict[str, Any]] = frame.to_dict("records") if find_spec("pandas") else frame
    return found


def test_the_frame_of_a_table_has_its_numbers_and_that_of_a_grid_the_scores(done: Grid) -> None:
    (run,) = done.runs
    (score,) = (one for one in run.scores if one.headline)
    (cell,) = (row for row in rows(done.table.frame()) if row["column"] == "gsm8k")
    assert (cell["method"], cell["mean"]) == ("lora", score.value)
    listed = rows(done.frame())
    assert [(row["run_id"], row["value"]) for row in listed] == [
        (run.run_id, one.value) for one in run.scores
    ]


def test_without_pandas_a_frame_is_a_list_of_dicts(
    done: Grid, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.cli.notebook.find_spec", lambda name: None)
    found = done.table.frame()
    assert isinstance(found, list)
    assert json.loads(json.dumps(found)) == found


def test_seeds_are_how_many_or_which(place: Path) -> None:
    with pytest.raises(UserError, match="'0,0,'"):
        asked(place, seeds=[0, 0])
    with pytest.raises(UserError, match="--seeds 9"):
        asked(place, seeds=9)


def test_a_mistake_is_the_message_of_the_command_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"Did you mean 'lora'(.|\n)*Did you mean 'gsm8k'"):
        harness.grid("lorra", "gms8k", store=tmp_path / "a.db", runs=tmp_path / "runs")
    with pytest.raises(ResultsError, match="There is no store"):
        harness.table(tmp_path / "a.db")
    with pytest.raises(UserError, match="Did you mean 'validation'"):
        harness.table(tmp_path / "a.db", choose="validaton")


def test_a_run_that_fails_raises_nothing_and_its_reason_is_given(tmp_path: Path) -> None:
    backbone = tmp_path / "broken"
    shutil.copytree(TINY, backbone)
    (backbone / "model.safetensors").write_bytes(b"no weights")
    found = harness.grid(
        "lora",
        "gsm8k",
        backbones=str(backbone),
        settings=SMALL,
        limit=3,
        train_limit=40,
        store=tmp_path / "a.db",
        runs=tmp_path / "runs",
    )
    assert found.runs == ()
    assert "| lora†  |           - | failed |" in found.table.markdown()
    assert [bool(reason) for reason in found.failed.values()] == [True]


def test_importing_the_package_is_light_and_a_wrong_name_is_an_attribute_error() -> None:
    show = "import harness, sys; print(*{name.partition('.')[0] for name in sys.modules})"
    listed = subprocess.run(
        [sys.executable, "-c", show], capture_output=True, text=True, check=True
    ).stdout
    assert {"torch", "transformers", "pydantic", "sqlalchemy"} & set(listed.split()) == set()
    with pytest.raises(AttributeError, match="'gird'"):
        _ = harness.gird


def test_a_notebook_shows_tables_as_markdown(done: Grid) -> None:
    assert isinstance(done.table, Tables)
    assert done._repr_markdown_() == done.table.markdown()
