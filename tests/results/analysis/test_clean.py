"""Clean averages: without the test rows that the training set holds."""

from collections.abc import Callable, Mapping

import pytest

from results.analysis.table import Table, tables
from results.record import Run, Score
from results.reports.formats import render
from results.reports.sheets.printing import Printing

Make = Callable[..., Run]
Sizes = Mapping[str, tuple[float, int]]
"""Of each benchmark its value and its rows."""

PLAIN: Sizes = {"mawps": (0.9, 100), "gsm8k": (0.5, 100)}
CLEAN: Sizes = {"mawps": (0.6, 20), "gsm8k": (0.5, 100)}


def scores(metric: str, sizes: Sizes, headline: bool, extractor: str = "e") -> list[Score]:
    return [Score(name, metric, extractor, headline, *size) for name, size in sizes.items()]


def means(table: Table, row: int = 0) -> dict[str, float | None]:
    return {cell.column: cell.sample.mean for cell in table.blocks[0].rows[row].cells}


@pytest.fixture
def run(make: Make) -> Run:
    plain, clean = scores("accuracy", PLAIN, True), scores("clean accuracy", CLEAN, False)
    strict = scores("clean accuracy", {"mawps": (0.0, 20), "gsm8k": (0.0, 100)}, False, "strict")
    return make(scores=(*plain, *clean, *strict))


def test_clean_averages_stand_beside_the_plain_ones(run: Run) -> None:
    (table,) = tables([run], clean=True)
    # By hand: (0.6 * 20 + 0.5 * 100) / 120 = 62 / 120; (0.6 + 0.5) / 2 = 0.55.
    assert table.columns[-4:] == ("micro", "macro", "clean micro", "clean macro")
    found = means(table)
    assert found["micro"] == pytest.approx(0.7)
    assert found["clean micro"] == pytest.approx(62 / 120)
    assert found["clean macro"] == pytest.approx(0.55)


def test_clean_averages_are_shown_on_request_alone_and_explained(run: Run) -> None:
    assert "clean" not in render(tables([run]), "markdown")
    text = render(tables([run], clean=True), "markdown")
    assert (
        "clean: without test rows that are found in the training set after normalisation." in text
    )


def test_a_run_without_clean_scores_shows_a_dash(make: Make, run: Run) -> None:
    older = make("vera", scores=tuple(scores("accuracy", PLAIN, True)))
    (table,) = tables([run, older], clean=True)
    assert means(table, 1)["clean micro"] is None
    assert means(table, 1)["micro"] == pytest.approx(0.7)
    vera = render([table], "markdown").splitlines()[5]
    assert vera.split("|")[2].strip() == "vera†"
    assert [cell.strip() for cell in vera.split("|")[-3:-1]] == ["-", "-"]


def test_clean_scores_of_fewer_benchmarks_make_no_average(make: Make, run: Run) -> None:
    part = scores("clean accuracy", {"gsm8k": (0.5, 100)}, False)
    (table,) = tables([run, make("vera", scores=(*scores("accuracy", PLAIN, True), *part))], True)
    assert means(table, 1)["clean macro"] is None


def test_benchmarks_without_a_clean_row_are_named_and_the_averages_are_of_the_others(
    make: Make,
) -> None:
    plain = {"addsub": (0.9, 50), "singleeq": (0.8, 50), **PLAIN}
    all_scores = (*scores("accuracy", plain, True), *scores("clean accuracy", CLEAN, False))
    (table,) = tables([make(scores=all_scores)], clean=True)
    assert means(table)["clean micro"] == pytest.approx(62 / 120)
    assert table.blocks[0].rows[0].notes == (
        "clean averages without addsub, singleeq: no row of theirs is clean",
    )
    assert table.blocks[0].rows[0].cells[-1].complete


def test_no_clean_row_at_all_shows_a_dash_and_is_no_gap_of_seeds(make: Make) -> None:
    runs = [make(seed=seed, scores=tuple(scores("accuracy", PLAIN, True))) for seed in (1, 2)]
    (table,) = tables(runs, clean=True)
    assert means(table)["clean micro"] is means(table)["clean macro"] is None
    assert table.blocks[0].rows[0].notes == ("no clean rows",)
    lora = render([table], "markdown", Printing(characters=None)).splitlines()[4]
    assert lora.split("|")[2].strip() == "lora"
    assert [cell.strip() for cell in lora.split("|")[-3:-1]] == ["-", "-"]


def test_no_word_is_said_of_clean_rows_unless_asked_for(make: Make) -> None:
    (table,) = tables([make(scores=tuple(scores("accuracy", PLAIN, True)))])
    assert table.blocks[0].rows[0].notes == ()


def test_only_the_plain_accuracy_has_clean_averages(make: Make, run: Run) -> None:
    likelihood = scores("option likelihood", PLAIN, True, "")
    found = tables([make(scores=(*run.scores, *likelihood))], clean=True)
    assert [table.columns[-1] for table in found] == ["clean macro", "macro"]
