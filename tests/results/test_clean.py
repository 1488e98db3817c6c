"""Clean averages: without the test rows that the training set holds."""

from collections.abc import Callable, Mapping

import pytest

from results.formats import render
from results.record import Run, Score
from results.table import Table, tables

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
    vera = render([table], "markdown").splitlines()[7]
    assert vera.split("|")[2].strip() == "vera†"
    assert [cell.strip() for cell in vera.split("|")[-3:-1]] == ["-", "-"]


def test_clean_scores_of_fewer_benchmarks_make_no_average(make: Make, run: Run) -> None:
    part = scores("clean accuracy", {"gsm8k": (0.5, 100)}, False)
    (table,) = tables([run, make("vera", scores=(*scores("accuracy", PLAIN, True), *part))], True)
    assert means(table, 1)["clean macro"] is None


def test_only_the_plain_accuracy_has_clean_averages(make: Make, run: Run) -> None:
    likelihood = scores("option likelihood", PLAIN, True, "")
    found = tables([make(scores=(*run.scores, *likelihood))], clean=True)
    assert [table.columns[-1] for table in found] == ["clean macro", "macro"]
