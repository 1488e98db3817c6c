"""Tables that differ in how they were made are told apart by the note on their conditions."""

from collections.abc import Callable
from typing import Any

import pytest

from results.analysis.history import history
from results.analysis.pairwise import compare
from results.analysis.table import tables
from results.conditions import of_spec
from results.record import Run
from results.reports import history as history_report
from results.reports import pairwise as pairwise_report
from results.reports import prose
from results.reports.formats import render

Make = Callable[..., Run]


def by(make: Make, method: str, lr: float, **facts: Any) -> Run:
    recipe = {"lr": lr, "epochs": 1}
    changed = {name: value for name, value in recipe.items() if value != 0.001}
    given = {"recipe": f"{lr}", "spec": {"train": recipe}, "conditions": {"recipe": changed}}
    return make(method, series=f"{method} {lr}", **(given | facts))


def made(runs: list[Run], **choices: bool) -> set[str]:
    return {prose.protocol(table.conditions) for table in tables(runs, **choices)}


def test_tables_of_two_recipes_say_by_which_they_were_made(make: Make) -> None:
    runs = [by(make, "lora", 0.001), by(make, "lora", 0.0001)]
    assert made(runs) == {
        "Protocol paper/1, recipe [epochs=1].",
        "Protocol paper/1, recipe [lr=0.0001, epochs=1].",
    }


@pytest.mark.parametrize("name", ["markdown", "latex", "csv", "json"])
def test_every_format_names_what_is_not_the_default(make: Make, name: str) -> None:
    runs = [by(make, "lora", 0.001, conditions={"batches": {"batch_size": 8}})]
    text = render(tables(runs), name).replace("\\", "")
    assert "batches" in text
    assert "batch_size" in text


def test_fields_in_which_rows_differ_are_in_their_labels_and_not_in_the_note(make: Make) -> None:
    runs = [by(make, "lora", 0.0003), by(make, "dypam", 0.0001)]
    (note,) = made(runs, own_recipes=True)
    assert "recipe [epochs=1]" in note
    assert "lr=" not in note


def test_a_bare_backbone_gives_a_table_no_recipe(make: Make) -> None:
    base = by(make, "base", 0.0001, trainable_parameters=0, minute=1)
    assert any("recipe [epochs=1]" in note for note in made([base, by(make, "lora", 0.001)]))
    assert not any("recipe" in note for note in made([base]))


def test_two_settings_of_one_protocol_are_told_apart_by_their_hash(make: Make) -> None:
    runs = [make(setting="abcdef0123456789"), make(setting="0123456789abcdef")]
    first, second = sorted(made(runs))
    assert "setting 01234567." in first
    assert "setting abcdef01." in second
    assert not any("setting" in note for note in made(runs[:1]))


def test_history_and_comparison_name_them_too(make: Make) -> None:
    runs = [by(make, "lora", 0.0001), by(make, "dypam", 0.0001)]
    named = "recipe [lr=0.0001, epochs=1]"
    assert f"paper/1, {named}" in history_report.markdown(history(runs))
    assert named in pairwise_report.markdown(compare(runs, "lora", "dypam"))


def test_the_frozen_defaults_name_nothing_of_a_run_by_them() -> None:
    train = {"version": 2, "lr": 0.001, "betas": [0.9, 0.999], "epochs": 3, "patience": 0}
    assert of_spec({"train": train, "generate": {"batch_size": 32, "round_tokens": 64}}) == {}
    assert of_spec({"train": {**train, "betas": [0.9, 0.95]}}) == {"recipe": {"betas": [0.9, 0.95]}}
