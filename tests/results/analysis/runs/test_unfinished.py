"""What did not finish stands in the table, with its reason."""

import csv
import json
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest

from results.analysis.ranking import Cell
from results.analysis.table import Table, TableRow, tables
from results.record import Run
from results.reports.formats import render
from results.statistics.test import Undefined

Make = Callable[..., Run]


def failed(make: Make, method: str, seed: int = 1, **facts: Any) -> Run:
    """Make a run that ended before anything was counted, as run folders tell it."""
    given = {
        "status": "failed",
        "reason": "OutOfMemoryError: 3 GiB.\nTraceback",
        "scores": (),
        "trainable_parameters": 0,
        "total_parameters": 0,
        "environment_id": "",
    }
    return make(method, seed, **(given | facts))


def row(table: Table, method: str) -> TableRow:
    return next(row for block in table.blocks for row in block.rows if row.method == method)


def cell(table: Table, method: str) -> Cell:
    return row(table, method).cells[0]


def test_a_method_that_failed_is_a_row_with_its_reason(make: Make) -> None:
    (table,) = tables([make("dypam", 1), failed(make, "lora")])
    run_id = failed(make, "lora").run_id
    reason = f"failed: OutOfMemoryError: 3 GiB (run {run_id})"
    assert cell(table, "lora").missing == {1: reason}
    assert row(table, "lora").trainable_percent is None
    assert row(table, "lora").notes == (f"seed 1 {reason}",)
    markdown = render([table], "markdown")
    assert any("| failed |" in line for line in markdown.splitlines() if "lora†" in line)
    assert f"lora†: seed 1 {reason}." in markdown


def test_where_no_run_finished_the_table_says_of_each_how_it_ended(make: Make) -> None:
    planned = {"spec": {"tests": {"gsm8k": {}, "svamp": {}}}}
    known = {"environment_id": "known", "total_parameters": 1000, "trainable_parameters": 10}
    diverged = failed(make, "dypam", status="diverged", reason="step 2: NaN", **planned, **known)
    (table,) = tables([diverged, failed(make, "lora", **planned)])
    assert (table.benchmarks, table.seeds) == (("gsm8k", "svamp"), (1,))
    assert {one.method: one.trainable_percent for one in table.blocks[0].rows} == {
        "dypam": 1.0,
        "lora": None,
    }
    printed = render([table], "markdown")
    assert "no run finished of seed 1." in printed
    rows = [line.split() for line in printed.splitlines() if line.startswith("|") and "†" in line]
    assert [line[3:-1:2] for line in rows] == [
        ["dypam†", "1", "diverged", "diverged", "diverged"],
        ["lora†", "-", "failed", "failed", "failed"],
    ]
    assert "step 2: NaN" in printed
    assert "OutOfMemoryError: 3 GiB" in printed


def test_beside_finished_runs_another_setting_without_any_makes_no_table(make: Make) -> None:
    (table,) = tables([make("dypam", 1), failed(make, "lora", setting="another")])
    assert [one.method for one in table.blocks[0].rows] == ["dypam"]


@pytest.mark.parametrize("status", ["failed", "diverged"])
def test_every_format_says_how_a_run_ended(make: Make, status: str) -> None:
    ended = failed(make, "lora", status=status)
    found = tables([make("dypam", 1), ended])
    lines = csv.DictReader(StringIO(render(found, "csv")))
    (first, *_) = [line for line in lines if line["method"] == "lora"]
    assert first["missing"].startswith(f"seed 1: {status}: OutOfMemoryError")
    (table,) = json.loads(render(found, "json"))
    lora = table["blocks"][0]["rows"][1]["cells"][0]
    assert lora["missing"]["1"].startswith(status)
    assert status in render(found, "latex")


def test_a_failed_seed_withholds_the_test(make: Make) -> None:
    whole = [make("dypam", seed, {"gsm8k": 80 + seed}) for seed in (1, 2)]
    half = [make("lora", seed, {"gsm8k": 50 + seed}) for seed in (1, 2)]
    (table,) = tables([*whole, *half, failed(make, "lora", 3)])
    assert row(table, "lora").seeds == (1, 2)
    assert not cell(table, "lora").complete
    assert cell(table, "dypam").test == Undefined("seeds are missing", withheld=True)


def test_a_seed_that_was_not_run_is_told_apart_from_one_that_failed(make: Make) -> None:
    runs = [make("dypam", seed) for seed in (1, 2, 3)]
    (table,) = tables([*runs, make("lora", 1), failed(make, "lora", 2)])
    assert [why.partition(":")[0] for why in cell(table, "lora").missing.values()] == [
        "failed",
        "not run",
    ]


def test_a_failure_that_was_mended_is_forgotten(make: Make) -> None:
    runs = [make("lora", 1), failed(make, "lora", 1, minute=1), failed(make, "lora", 1)]
    (table,) = tables(runs)
    assert row(table, "lora").notes == ()


def test_a_failure_of_an_earlier_version_is_left_out_once_a_newer_one_finished(make: Make) -> None:
    old = failed(make, "lora", 2, series="before")
    (table,) = tables([old, make("lora", 1, series="after", minute=1)])
    assert (row(table, "lora").notes, cell(table, "lora").missing) == ((), {})


def test_a_failure_of_another_setting_recipe_or_environment_is_in_no_table(make: Make) -> None:
    others = [
        failed(make, "lora", **{name: "another"})
        for name in ("setting", "recipe", "environment_id", "group")
    ]
    (table,) = tables([make("dypam", 1), *others])
    assert [row.method for row in table.blocks[0].rows] == ["dypam"]


def test_a_failed_fold_leaves_the_seed_without_a_number(make: Make) -> None:
    folds = [make("lora", 1, fold=fold) for fold in (0, 1)]
    (table,) = tables([*folds, failed(make, "lora", 1, fold=2)])
    assert cell(table, "lora").sample.mean is None
    assert cell(table, "lora").missing[1].startswith("failed: fold 2, OutOfMemoryError")


def test_a_bare_backbone_that_failed_is_not_taken_for_a_trained_method(make: Make) -> None:
    spec = {"method": {"fields": {}}, "train": {}}
    runs = [make("lora", seed) for seed in (1, 2)] + [failed(make, "base", 1, spec=spec)]
    (table,) = tables(runs)
    assert list(cell(table, "base").missing) == [1]


def test_a_backbone_without_a_method_of_the_table_says_so(make: Make) -> None:
    runs = [make("lora", 1), make("dypam", 1), make("lora", 1, backbone="llama")]
    (table,) = tables(runs)
    assert {block.backbone: block.absent for block in table.blocks} == {
        "llama": ("dypam",),
        "tiny": (),
    }
    assert "llama, no run of dypam." in render([table], "markdown")
