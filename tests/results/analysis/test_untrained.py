"""The bare backbone among trained methods: it needs one run and no test."""

from collections.abc import Callable

import pytest

from results.analysis.pairwise import compare
from results.analysis.table import Table, TableRow, tables
from results.record import Run
from results.reports.formats import names, render
from results.statistics.test import Test, Undefined

Make = Callable[..., Run]


@pytest.fixture
def base(make: Make) -> Run:
    return make("base", seed=7, correct={"gsm8k": 65}, trainable_parameters=0)


@pytest.fixture
def trained(make: Make) -> list[Run]:
    """Make dypam better than lora beyond chance; base, at 65, is between them."""
    rights = {"dypam": [80, 81, 82], "lora": [50, 51, 52]}
    return [
        make(method, seed, {"gsm8k": right})
        for method, all_rights in rights.items()
        for seed, right in enumerate(all_rights)
    ]


@pytest.fixture
def table(base: Run, trained: list[Run]) -> Table:
    (found,) = tables([base, *trained])
    return found


def row(table: Table, method: str) -> TableRow:
    (found,) = (row for row in table.blocks[0].rows if row.method == method)
    return found


def test_an_untrained_method_misses_no_seed_and_is_complete(table: Table) -> None:
    assert row(table, "base").notes == ()
    assert all(cell.complete for cell in row(table, "base").cells)


def test_its_seed_is_asked_of_no_trained_method_and_is_not_in_the_title(table: Table) -> None:
    assert row(table, "lora").notes == ()
    assert table.seeds == (0, 1, 2)
    assert "mean ± SD over 3 seeds (0, 1, 2)" in render([table], "markdown")


@pytest.mark.parametrize("name", ["latex", "markdown"])
def test_the_title_says_of_which_method_there_is_one_run_alone(table: Table, name: str) -> None:
    assert "3 seeds (0, 1, 2); one run of base." in render([table], name)


def test_on_several_backbones_it_says_on_which(make: Make, base: Run, trained: list[Run]) -> None:
    other = make("lora", seed=1, backbone="llama")
    title = render(tables([base, *trained, other]), "markdown").splitlines()[0]
    listed = title.rpartition("one run of ")[2].removesuffix(".").split(", ")
    assert sorted(listed) == ["base on tiny", "lora on llama"]


def test_where_all_have_one_seed_the_title_says_no_more(base: Run, make: Make) -> None:
    assert "seed 0 alone." in render(tables([base, make("lora", seed=0)]), "markdown")


def test_an_untrained_method_is_ranked_like_the_others(table: Table) -> None:
    ranks = {row.method: row.cells[0].rank for row in table.blocks[0].rows}
    assert ranks == {"dypam": 1, "base": 2, "lora": 3}


def test_tests_are_between_trained_methods_only(table: Table) -> None:
    best = row(table, "dypam").cells[0]
    assert isinstance(best.test, Test)
    assert best.test.difference == pytest.approx(0.30)  # from lora, not from base
    assert best.significantly_best
    assert row(table, "base").cells[0].test == Undefined("not trained")


def test_a_best_that_is_not_trained_has_no_star(make: Make, trained: list[Run]) -> None:
    strong = make("base", seed=7, correct={"gsm8k": 99}, trainable_parameters=0)
    (table,) = tables([strong, *trained])
    assert [row.cells[0].rank for row in table.blocks[0].rows] == [1, 2, 3]
    assert not any(row.cells[0].significantly_best for row in table.blocks[0].rows)
    assert "all columns: not trained, no test." in render([table], "markdown")


def test_one_trained_method_beside_it_has_nothing_to_be_tested_against(
    base: Run, trained: list[Run]
) -> None:
    (table,) = tables([base, *trained[:3]])
    assert row(table, "dypam").cells[0].test == Undefined("no other trained method")
    (comparison,) = compare([base, *trained], "dypam", "base")
    assert comparison.contrasts[0].difference == pytest.approx(0.16)
    assert comparison.contrasts[0].test == Undefined("no other trained method")


@pytest.mark.parametrize("name", sorted({"markdown", "latex"} & set(names())))
def test_its_numbers_show_no_spread_even_if_it_was_run_for_more_seeds(
    make: Make, base: Run, trained: list[Run], name: str
) -> None:
    again = make("base", seed=8, correct={"gsm8k": 65}, trainable_parameters=0, minute=1)
    (table,) = tables([base, again, *trained])
    (line,) = (line for line in render([table], name).splitlines() if "base" in line[:40])
    assert "65.00" in line
    assert "±" not in line
    assert "pm" not in line
    assert row(table, "base").notes == ()


def test_a_benchmark_that_it_lacks_is_still_noted(make: Make, base: Run) -> None:
    both = make("lora", correct={"gsm8k": 50, "aqua": 50})
    (table,) = tables([base, both])
    assert row(table, "base").notes == ("seed 7 lacks aqua, micro, macro",)


def test_it_alone_makes_a_table_of_its_seed(base: Run) -> None:
    (table,) = tables([base])
    assert table.seeds == (7,)
    assert row(table, "base").cells[0].complete
