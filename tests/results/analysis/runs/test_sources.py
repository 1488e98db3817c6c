"""Versions of a method: they have names where several are printed, and nowhere else."""

from collections.abc import Callable
from typing import Any

import pytest

from results.analysis.history import history
from results.analysis.pairwise import compare
from results.analysis.runs.selection import is_of
from results.analysis.table import Table, tables
from results.record import Run
from results.reports.history import markdown

Make = Callable[..., Run]

V1, V2 = "11111111" + 56 * "a", "22222222" + 56 * "a"


@pytest.fixture
def run(make: Make) -> Make:
    def made(source: str, method: str = "tanh", seed: int = 1, **changes: Any) -> Run:
        name = method.partition("[")[0]
        fields = changes.pop("fields", {})
        spec = {
            "train": {"lr": 0.001},
            "method": {"name": name, "source": source, "fields": fields},
        }
        recipe = changes.get("recipe", "")
        return make(method, seed, spec=spec, series=f"{method} {source} {recipe}", **changes)

    return made


def labels(found: list[Table]) -> list[str]:
    return [row.label for table in found for block in table.blocks for row in block.rows]


def notes(found: list[Table]) -> list[str]:
    return [
        note for table in found for block in table.blocks for r in block.rows for note in r.notes
    ]


def test_a_note_names_the_version_that_is_shown_and_those_left_out(run: Make) -> None:
    old = [run(V1, seed=seed) for seed in (1, 2)]
    found = tables([*old, run(V2, minute=1)])
    assert labels(found) == ["tanh"]
    assert notes(found) == ["version @22222222; runs of another version left out: 2 of @11111111"]


def test_two_tables_of_two_versions_of_a_method_name_them(run: Make) -> None:
    lora = [run(V1, "lora", recipe=recipe) for recipe in ("a", "b")]
    found = tables([*lora, run(V1, "tanh[r=4]", recipe="a"), run(V2, recipe="b", minute=1)])
    assert labels(found) == ["lora", "tanh@22222222", "lora", "tanh@11111111[r=4]"]


def test_layer_selection_has_a_source_of_its_own_and_is_no_version(run: Make) -> None:
    found = tables([run(V1), run(V2, "tanh[dls=true]", fields={"dls": {"every": 10}})])
    assert labels(found) == ["tanh", "tanh[dls=true]"]


def test_the_history_names_versions_only_where_there_are_several(run: Make) -> None:
    runs = [run(V1), run(V2, minute=1), run(V1, "lora")]
    assert [one.label for one in history(runs)] == ["tanh@11111111", "tanh@22222222", "lora"]
    assert [one.label for one in history(runs[1:])] == ["tanh", "lora"]
    assert "| tanh@11111111 |" in markdown(history(runs))


def test_a_version_is_named_as_it_is_printed(run: Make) -> None:
    one = run(V1, "tanh[r=4]", fields={"r": 4})
    assert is_of(one, "tanh@11111111[r=4]")
    assert is_of(one, "tanh[r=4]")
    assert not is_of(one, "tanh@22222222[r=4]")


def test_a_version_that_ran_before_another_is_compared_by_its_name(run: Make) -> None:
    tanh = [run(V1, correct={"gsm8k": 10}), run(V2, correct={"gsm8k": 20}, minute=1)]
    lora = run(V1, "lora", correct={"gsm8k": 50})
    (comparison,) = compare([*tanh, lora], "lora", "tanh@1111")
    assert comparison.contrasts[0].difference == pytest.approx(0.4)


def test_what_was_asked_for_is_shown_and_later_versions_in_the_store_are_named(run: Make) -> None:
    asked = run(V1)
    later = [run(V2, seed=seed, minute=seed) for seed in (1, 2)]
    elsewhere = [
        run(V2, recipe="another"),
        run(V2, backbone="another"),
        run(V2, setting="another"),
        run(V2, "tanh[r=4]"),
        run(V2, status="failed", scores=()),
        run(V1, seed=2),
    ]
    found = tables([asked], stored=[*later, *elsewhere, asked])
    assert notes(found) == ["version @11111111; runs of another version left out: 2 of @22222222"]
    assert labels(found) == ["tanh"]
