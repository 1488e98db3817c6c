"""Runs of two environments share a table only on request, which then names both."""

from collections.abc import Callable

from results.analysis.runs.eras import pooled
from results.analysis.table import tables
from results.record import Run
from results.reports import formats
from results.reports.sheets.printing import Printing

Make = Callable[..., Run]


def of_two(make: Make) -> list[Run]:
    stacks = {"old": {"torch": "2.12"}, "new": {"torch": "2.13"}}
    return [
        make(seed=seed, minute=minute, environment_id=name, environment=stack)
        for minute, (seed, (name, stack)) in enumerate(zip((1, 2), stacks.items(), strict=True))
    ]


def test_environments_have_tables_of_their_own(make: Make) -> None:
    assert [table.seeds for table in tables(of_two(make))] == [(2,), (1,)]


def test_pooled_environments_share_a_table_that_names_both(make: Make) -> None:
    (table,) = found = tables(pooled(of_two(make)))
    assert table.seeds == (1, 2)
    text = formats.render(found, "markdown", Printing(), "main")
    assert "pools the environment new (torch 2.13); pools the environment old (torch 2.12)" in text
    assert "Environment new" not in text


def test_a_setting_of_one_environment_stays_as_it_is(make: Make) -> None:
    runs = [make(seed=1), make(seed=2)]
    assert pooled(runs) == runs


def test_a_table_notes_runs_of_a_changed_harness(make: Make) -> None:
    dirty = {"harness": {"version": "0.1.0", "commit": "abc", "dirty": True}}
    ((row,),) = [
        block.rows for block in tables([make(seed=1), make(seed=2, environment=dirty)])[0].blocks
    ]
    assert "seed 2: the harness had uncommitted changes" in row.notes
