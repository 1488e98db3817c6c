"""A run that diverged has its place in a table, and no number in it."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from results.analysis.history import history
from results.analysis.pairwise import compare
from results.analysis.table import tables
from results.record import Run
from results.reports import history as history_report
from results.reports.formats import names, render
from results.reports.prose import protocol, title
from results.statistics.test import Test, Undefined
from results.store import Reader, Store

Make = Callable[..., Run]

REASON = "step 12: the loss is nan"


def diverged(make: Make, method: str, seed: int, **changes: Any) -> Run:
    return make(method, seed, status="diverged", reason=REASON, scores=(), **changes)


def said(notes: tuple[str, ...]) -> list[str]:
    """Give notes without the ids of the runs that they name."""
    return [re.sub(r" \(run [0-9a-f]{16}\)", "", note) for note in notes]


def grid(make: Make) -> list[Run]:
    """Make three seeds of two methods, of which the third of lora diverged."""
    right = {"hycam": (90, 91, 92), "lora": (40, 42, 44)}
    runs = [
        make(method, seed, correct={"gsm8k": count})
        for method, counts in right.items()
        for seed, count in enumerate(counts)
    ]
    return [*runs[:-1], diverged(make, "lora", 2)]


def test_it_is_named_in_a_note_and_not_averaged(make: Make) -> None:
    (table,) = tables(grid(make))
    _, lora = table.blocks[0].rows
    assert said(lora.notes) == ["seed 2 diverged: step 12: the loss is nan"]
    assert dict(lora.cells[0].sample.by_seed) == {0: 0.40, 1: 0.42}
    assert not lora.cells[0].complete
    for name in names():
        assert "step 12: the loss is nan" in render([table], name)


def test_a_table_of_which_no_trained_method_finished_names_the_seeds_that_did(make: Make) -> None:
    runs = [diverged(make, "lora", seed) for seed in range(2)]
    (table,) = tables(runs)
    assert "no run finished of seeds 0, 1." in title(table)
    (table,) = tables([*runs, make("base", 7, trainable_parameters=0)])
    assert title(table).endswith("seed 7 alone.")


@pytest.mark.parametrize("own_recipes", [False, True])
def test_its_recipe_is_told_where_no_other_run_was_trained(own_recipes: bool, make: Make) -> None:
    spec = {"train": {"lr": 1e19, "epochs": 1}}
    conditions = {"recipe": {"lr": 1e19, "epochs": 1}}
    run = diverged(make, "lora", 1, spec=spec, conditions=conditions, recipe="recipe-b")
    base = make("base", 7, trainable_parameters=0)
    (table,) = tables([run, base], own_recipes=own_recipes)
    assert "paper/1, recipe [lr=1e+19, epochs=1]" in protocol(table.conditions)


def test_it_withholds_the_tests_that_its_seed_would_be_in(make: Make) -> None:
    whole = [*grid(make)[:-1], make("lora", 2, correct={"gsm8k": 44})]
    (before,), (after,) = tables(whole), tables(grid(make))
    assert isinstance(before.blocks[0].rows[0].cells[0].test, Test)
    assert after.blocks[0].rows[0].cells[0].test == Undefined("seeds are missing", withheld=True)
    (comparison,) = compare(grid(make), "hycam", "lora")
    assert comparison.contrasts[0].test == Undefined("seeds are missing", withheld=True)


def test_a_seed_that_diverged_in_one_method_alone_withholds_the_test_of_both(make: Make) -> None:
    runs = [run for run in grid(make) if (run.method, run.seed) != ("hycam", 2)]
    (comparison,) = compare(runs, "hycam", "lora")
    assert comparison.contrasts[0].test == Undefined("seeds are missing", withheld=True)


def test_a_method_that_only_diverged_keeps_a_row_without_numbers(make: Make) -> None:
    (table,) = tables([make("hycam", 1), diverged(make, "lora", 1)])
    _, lora = table.blocks[0].rows
    assert (lora.label, lora.trainable_percent) == ("lora", 0.5)
    assert [cell.sample.mean for cell in lora.cells] == [None] * len(table.columns)
    assert said(lora.notes) == ["seed 1 diverged: step 12: the loss is nan"]


def test_a_fold_that_diverged_leaves_its_seed_without_a_number(make: Make) -> None:
    series = {"series": "one"}
    runs = [make("lora", 1, fold=0, **series), diverged(make, "lora", 1, fold=1, **series)]
    (table,) = tables(runs)
    (lora,) = table.blocks[0].rows
    assert lora.cells[0].sample.mean is None
    assert said(lora.notes) == ["seed 1 diverged: fold 1, step 12: the loss is nan"]


def test_the_history_says_where_and_why(make: Make) -> None:
    (entry,) = history([diverged(make, "lora", 1)])
    assert (entry.status, entry.overall, entry.reason) == ("diverged", None, REASON)
    text = history_report.markdown([entry])
    assert "diverged" in text
    assert REASON in text


def test_the_store_keeps_it_apart_from_the_finished(make: Make, tmp_path: Path) -> None:
    store = Store(tmp_path / "harness.db")
    one, other = diverged(make, "lora", 1), make("lora", 2)
    for run in (one, other):
        store.add(run)
    reader = Reader(tmp_path / "harness.db")
    assert (reader.diverged_ids(), reader.finished_ids()) == ({one.run_id}, {other.run_id})
    assert reader.runs(status="diverged") == [one]
