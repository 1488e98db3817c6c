"""Score against cost, on runs made by hand."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from results.errors import ResultsError
from results.leaderboard.source import Opened, Source
from results.leaderboard.values.charted.tradeoffs import TradeOff, trade_off_page
from results.leaderboard.view import Axes, View
from results.record import Run, Score
from results.store import Store

Open = Callable[[list[Run]], Opened]

METHODS = {"ia3": (10, 70), "lora": (100, 80), "dora": (200, 80), "vera": (300, 60)}
"""Trainable parameters of 1,000, and right answers of 100 at seed 1."""


@pytest.fixture
def opened(tmp_path: Path, source: Callable[..., Source]) -> Open:
    def of(runs: list[Run]) -> Opened:
        store = Store(str(tmp_path / "harness.db"))
        for run in runs:
            store.add(run)
        return source(str(tmp_path / "harness.db")).open()

    return of


@pytest.fixture
def runs(make: Callable[..., Run]) -> list[Run]:
    """Three seeds of each method, of which the second has one right answer more."""
    return [
        make(
            method,
            seed,
            {"gsm8k": right + (seed == 2)},
            minute=number,
            trainable_parameters=parameters,
            peak_memory_bytes=0 if method == "vera" else 1000 - parameters,
        )
        for number, (method, (parameters, right)) in enumerate(METHODS.items())
        for seed in (1, 2, 3)
    ]


def only(opened: Opened, view: View | None = None, **axes: Any) -> TradeOff:
    (chart,) = trade_off_page(opened, view or View(), Axes(**axes)).charts
    return chart


def test_the_front_holds_what_no_cheaper_method_reaches(opened: Open, runs: list[Run]) -> None:
    points = {one.method: one for one in only(opened(runs)).points}
    assert list(points) == ["ia3", "lora", "dora", "vera"]  # the cheapest first
    assert [name for name, one in points.items() if one.on_front] == ["ia3", "lora"]
    assert points["dora"].beaten_by == ("lora",)
    assert points["vera"].beaten_by == ("ia3", "lora")


def test_numbers_are_there_as_numbers_and_as_printed(opened: Open, runs: list[Run]) -> None:
    first, *_ = only(opened(runs)).points
    assert (first.cost, first.cost_text) == (1.0, "1 %")
    # Of 70, 71 and 70: mean 70.333, SD 0.57735, and t(0.975, 2) = 4.30265 give +- 1.43422.
    assert (first.score.value, first.score.text) == (70.33, "70.33")
    assert (first.score.low, first.score.high) == (68.9, 71.77)
    assert (first.score.interval, first.score.over) == ("68.90 to 71.77", "seeds")


def test_an_interval_beyond_the_front_is_marked(opened: Open, runs: list[Run]) -> None:
    points = {one.method: one for one in only(opened(runs)).points}
    assert points["dora"].reaches_front  # the same scores as lora, at a higher cost
    assert not points["vera"].reaches_front
    assert not points["lora"].reaches_front  # it is on the front


def test_what_has_no_number_is_named_with_the_reason(opened: Open, runs: list[Run]) -> None:
    chart = only(opened(runs), against="memory")
    assert [one.method for one in chart.points] == ["dora", "lora", "ia3"]
    assert [(one.name, one.why) for one in chart.missing] == [("vera", "no peak memory is known")]


def test_a_failed_method_is_named(opened: Open, runs: list[Run], make: Any) -> None:
    failed = make("boft", 1, minute=60, status="failed", scores=(), reason="OSError")
    chart = only(opened([*runs, failed]))
    assert [(one.name, one.why) for one in chart.missing] == [("boft", "failed")]


def test_what_is_not_trained_is_a_level_and_never_on_the_front(
    opened: Open, runs: list[Run], make: Callable[..., Run]
) -> None:
    chart = only(opened([*runs, make("base", 1, {"gsm8k": 20}, trainable_parameters=0)]))
    assert [(one.method, one.score.text) for one in chart.references] == [("base", "20.00")]
    assert [one.method for one in chart.points if one.on_front] == ["ia3", "lora"]


def test_of_a_perplexity_the_lower_is_on_the_front(opened: Open, make: Callable[..., Run]) -> None:
    def run(method: str, parameters: int, value: float, seed: int) -> Run:
        score = Score("dolly", "perplexity", "", True, value + seed / 10, 100)
        return make(
            method, seed, scores=(score,), trainable_parameters=parameters, minute=parameters
        )

    found = {"ia3": (1, 9.0), "lora": (2, 8.0), "dora": (3, 8.5)}
    chart = only(opened([run(name, *of, seed) for name, of in found.items() for seed in (1, 2)]))
    assert chart.subject.lower_is_better
    assert [one.method for one in chart.points if one.on_front] == ["ia3", "lora"]


def test_one_method_has_nothing_to_trade(opened: Open, runs: list[Run]) -> None:
    chart = only(opened(runs[:3]))
    assert "there is nothing to trade" in chart.notes[0]


def test_one_seed_says_that_intervals_are_over_items(opened: Open, runs: list[Run]) -> None:
    chart = only(opened(runs[::3]))
    assert {one.score.over for one in chart.points} == {"items"}
    assert "over test items: nothing is said of other seeds" in " ".join(chart.notes)


def test_what_the_view_hides_changes_no_front(opened: Open, runs: list[Run]) -> None:
    chart = only(opened(runs), View(search="ora"))
    assert [(one.method, one.on_front) for one in chart.points] == [("lora", True), ("dora", False)]
    assert chart.hidden == 2
    assert chart.front == ((1.0, 70.33), (10.0, 80.33))  # ia3, which is hidden, and lora


def test_settings_of_one_method_are_joined(opened: Open, make: Callable[..., Run]) -> None:
    sizes: Mapping[str, int] = {"lora[r=64]": 80, "lora[r=8]": 10, "rosa:roae-only": 9, "rosa": 3}
    runs = [make(name, 1, minute=n, trainable_parameters=n) for name, n in sizes.items()]
    assert only(opened(runs)).settings == (("lora[r=8]", "lora[r=64]"),)


def test_methods_are_called_as_in_papers_and_found_by_both_names(
    opened: Open, runs: list[Run]
) -> None:
    plain = opened(runs)
    source = replace(plain.source, title=lambda kind, name: {"ia3": "(IA)^3"}.get(name, ""))
    chart = only(source.open(), View(methods=("ia3", "vera")))
    assert [(one.method, one.title) for one in chart.points] == [
        ("ia3", "(IA)³"),
        ("vera", "vera"),
    ]
    assert chart.points[1].beaten_by == ("(IA)³", "lora")
    assert [one.method for one in only(source.open(), View(search="IA)")).points] == ["ia3"]


def test_means_without_an_interval_are_named(opened: Open, make: Callable[..., Run]) -> None:
    runs = [make(name, seed, minute=seed) for name in ("lora", "dora") for seed in (1, 2)]
    assert only(opened(runs)).notes[-1] == "No interval of dora, lora: no spread over seeds."


def test_runs_that_do_not_compare_have_charts_of_their_own(
    opened: Open, runs: list[Run], make: Callable[..., Run]
) -> None:
    other = [make(name, 1, minute=90, setting="setting-b") for name in ("lora", "dora")]
    charts = trade_off_page(opened([*runs, *other]), View(), Axes()).charts
    assert [len(chart.points) for chart in charts] == [2, 4]


def test_another_column_is_asked_for_by_name_and_an_unknown_one_names_the_nearest(
    opened: Open, make: Callable[..., Run]
) -> None:
    two = opened([make("lora", 1, {"gsm8k": 50, "aqua": 20})])
    assert only(two, score="aqua").points[0].score.text == "20.00"
    with pytest.raises(ResultsError, match="Did you mean 'aqua'"):
        only(two, score="aqa")
