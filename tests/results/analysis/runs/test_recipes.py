"""Runs of several training recipes: apart by default, together if each method has its own."""

import csv
import json
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest

from results.analysis.pairwise import compare
from results.analysis.table import tables
from results.analysis.testing.tests import Testing
from results.record import Run
from results.reports import pairwise as pairwise_report
from results.reports.formats import render
from results.statistics.test import Test

Make = Callable[..., Run]

COMMON: dict[str, Any] = {"epochs": 3, "schedule": "cosine", "betas": [0.9, 0.999]}


def trained(make: Make, method: str, seed: int = 1, right: int = 50, **recipe: Any) -> Run:
    """Make a run that was trained by the common recipe but for the fields of `recipe`."""
    train = COMMON | recipe
    name = json.dumps(train)
    series = f"{method} {name}"
    spec = {"train": train}
    return make(method, seed, {"gsm8k": right}, recipe=name, series=series, spec=spec)


def labels(runs: list[Run]) -> list[str]:
    (table,) = tables(runs, own_recipes=True)
    return [row.label for row in table.blocks[0].rows]


def test_runs_of_two_recipes_share_no_table_by_default(make: Make) -> None:
    runs = [trained(make, "lora", lr=0.001), trained(make, "dypam", lr=0.0002)]
    assert sorted(table.blocks[0].rows[0].label for table in tables(runs)) == ["dypam", "lora"]


def test_they_share_one_if_each_method_has_its_own_recipe_and_its_title_says_so(
    make: Make,
) -> None:
    runs = [trained(make, "lora", lr=0.001), trained(make, "dypam", lr=0.0002)]
    (table,) = tables(runs, own_recipes=True)
    assert [row.cells[0].rank for row in table.blocks[0].rows] == [1, 1]
    assert "each method with its own recipe" in render([table], "markdown").splitlines()[0]
    assert "each method with its own recipe" in render([table], "latex")
    assert "each method with its own recipe" not in render(tables(runs), "markdown")


def test_runs_of_two_settings_never_share_a_table(make: Make) -> None:
    runs = [make("lora"), make("dypam", setting="another")]
    assert len(tables(runs, own_recipes=True)) == 2


def test_a_label_shows_the_fields_that_differ_as_the_command_line_writes_them(make: Make) -> None:
    assert labels([trained(make, "lora", lr=0.0002), trained(make, "dypam", lr=0.001)]) == [
        "dypam[train.lr=0.001]",
        "lora[train.lr=0.0002]",
    ]
    assert labels(
        [trained(make, "lora[r=64]", lr=0.0002), trained(make, "lora[r=64]", lr=0.001)]
    ) == ["lora[r=64,train.lr=0.0002]", "lora[r=64,train.lr=0.001]"]


def test_texts_and_lists_are_written_as_the_command_line_reads_them(make: Make) -> None:
    found = labels(
        [trained(make, "a", schedule="linear", lr=1e-5), trained(make, "b", betas=[0.9, 0.95])]
    )
    assert found == [
        "a[train.schedule=linear,train.betas=[0.9,0.999],train.lr=1e-05]",
        "b[train.schedule=cosine,train.betas=[0.9,0.95]]",
    ]


def test_one_recipe_for_all_leaves_the_labels_as_they_are(make: Make) -> None:
    assert labels([trained(make, "lora[r=64]"), trained(make, "dypam")]) == ["dypam", "lora[r=64]"]


def test_a_recipe_that_is_in_the_label_already_is_not_written_twice(make: Make) -> None:
    called = "lora[train.lr=0.0002,r=64]"
    assert labels([trained(make, called, lr=0.0002), trained(make, "dypam", lr=0.001)]) == [
        "dypam[train.lr=0.001]",
        "lora[r=64,train.lr=0.0002]",
    ]


def test_seeds_are_averaged_within_a_recipe_only(make: Make) -> None:
    runs = [
        trained(make, "lora", seed, right, lr=lr)
        for lr, rights in ((0.001, [40, 50]), (0.0002, [60, 80]))
        for seed, right in enumerate(rights)
    ]
    (table,) = tables(runs, own_recipes=True)
    means = {row.label: row.cells[0].sample.mean for row in table.blocks[0].rows}
    assert means == {
        "lora[train.lr=0.0002]": pytest.approx(0.70),
        "lora[train.lr=0.001]": pytest.approx(0.45),
    }
    assert all(row.notes == () for row in table.blocks[0].rows)


def test_the_csv_names_the_recipe_of_every_number(make: Make) -> None:
    runs = [trained(make, "lora", lr=0.001), trained(make, "dypam", lr=0.0002)]
    lines = csv.DictReader(StringIO(render(tables(runs, own_recipes=True), "csv")))
    assert {(line["method"], json.loads(line["recipe"])["lr"]) for line in lines} == {
        ("dypam[train.lr=0.0002]", 0.0002),
        ("lora[train.lr=0.001]", 0.001),
    }


def test_an_untrained_base_is_in_the_table_of_every_recipe_and_shows_none(make: Make) -> None:
    base = make("base", recipe="whatever", trainable_parameters=0)
    runs = [trained(make, "lora", lr=0.001), trained(make, "dypam", lr=0.0002), base]
    assert [[row.label for row in table.blocks[0].rows] for table in tables(runs)] in (
        [["base", "lora"], ["base", "dypam"]],
        [["base", "dypam"], ["base", "lora"]],
    )
    assert labels(runs) == ["base", "dypam[train.lr=0.0002]", "lora[train.lr=0.001]"]


def test_two_untrained_runs_of_two_recipes_are_one_row_without_a_note(make: Make) -> None:
    runs = [
        make("base", recipe=recipe, series=recipe, trainable_parameters=0) for recipe in ("a", "b")
    ]
    for own_recipes in (False, True):
        (table,) = tables(runs, own_recipes=own_recipes)
        (row,) = table.blocks[0].rows
        assert row.notes == ()


def test_a_comparison_is_within_a_recipe_unless_each_method_has_its_own(make: Make) -> None:
    runs = [
        trained(make, method, seed, right, lr=lr)
        for method, lr, rights in (
            ("dypam", 0.001, [80, 82]),
            ("lora", 0.001, [50, 52]),
            ("lora", 0.0002, [60, 62]),
        )
        for seed, right in enumerate(rights)
    ]
    (same,) = compare(runs, "dypam", "lora")
    assert same.methods == ("dypam", "lora")
    assert same.contrasts[0].difference == pytest.approx(0.3)
    own = compare(runs, "dypam", "lora", own_recipes=True, testing=Testing(test="welch"))
    # Both lora rows are compared with dypam; a label shows the recipe only where the two differ.
    assert {one.methods: one.contrasts[0].difference for one in own} == {
        ("dypam", "lora"): pytest.approx(0.3),
        ("dypam[train.lr=0.001]", "lora[train.lr=0.0002]"): pytest.approx(0.2),
    }
    assert all(isinstance(one.contrasts[0].test, Test) for one in own)
    assert "each method with its own recipe" in pairwise_report.markdown(own)
