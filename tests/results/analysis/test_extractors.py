"""What the choice of the extractor does to numbers and ranks."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from results.analysis.extractors import (
    ExtractorEffect,
    OrderChange,
    Reading,
    extractor_effects,
)
from results.record import Run, Score
from results.reports.extractors import markdown
from results.reports.to_json import to_json

Make = Callable[..., Run]
Read = Mapping[str, tuple[float, int]]
"""Of each extractor the accuracy on GSM8K, and how many of its 100 answers it could not read."""


def scores(read: Read) -> tuple[Score, ...]:
    """Make the scores of two benchmarks; aqua has 300 rows, all right and all read."""
    gsm8k = (
        Score("gsm8k", "accuracy", name, name == "paper", value, 100, unparsed)
        for name, (value, unparsed) in read.items()
    )
    aqua = (Score("aqua", "accuracy", name, name == "paper", 1.0, 300) for name in read)
    return (*gsm8k, *aqua, Score("gsm8k", "option likelihood", "", True, 0.1, 100))


@pytest.fixture
def runs(make: Make) -> list[Run]:
    """Make lora better by the paper's extractor, dypam by the strict one."""
    read: dict[tuple[str, int], Read] = {
        ("dypam", 1): {"strict": (0.48, 8), "paper": (0.50, 0)},
        ("dypam", 2): {"strict": (0.52, 16), "paper": (0.54, 0)},
        ("lora", 1): {"strict": (0.20, 40), "paper": (0.60, 2)},
        ("lora", 2): {"strict": (0.20, 40), "paper": (0.60, 2)},
    }
    return [make(method, seed, scores=scores(found)) for (method, seed), found in read.items()]


def readings(one: ExtractorEffect, method: str, benchmark: str = "micro") -> tuple[Reading, ...]:
    (found,) = (found for found in one.methods if found.method == method)
    (line,) = (line for line in found.benchmarks if line.benchmark == benchmark)
    return line.readings


def ranks(one: ExtractorEffect, average: str) -> dict[str, list[int | None]]:
    return {
        found.method: [read.rank for read in readings(one, found.method, average)]
        for found in one.methods
    }


def test_micro_and_unparsed_are_pooled_over_benchmarks_and_averaged_over_seeds(
    runs: list[Run],
) -> None:
    (one,) = extractor_effects(runs)
    strict = readings(one, "dypam")[1]
    # By hand: (48 + 300) / 400 = 0.87 and (52 + 300) / 400 = 0.88; (8 + 16) / 800 = 0.03.
    assert strict.extractor == "strict/1"
    assert strict.accuracy == pytest.approx(0.875)
    assert strict.unparsed == pytest.approx(0.03)


def test_macro_counts_every_benchmark_the_same(runs: list[Run]) -> None:
    (one,) = extractor_effects(runs)
    strict = readings(one, "dypam", "macro")[1]
    # By hand: (0.50 + 1) / 2 with 0.50 the mean of 0.48 and 0.52; (0.12 + 0) / 2.
    assert strict.accuracy == pytest.approx(0.75)
    assert strict.unparsed == pytest.approx(0.06)


def test_every_benchmark_has_a_line_below_the_averages_and_no_rank(runs: list[Run]) -> None:
    (one,) = extractor_effects(runs)
    assert [line.benchmark for line in one.methods[0].benchmarks] == [
        "micro",
        "macro",
        "gsm8k",
        "aqua",
    ]
    assert readings(one, "lora", "gsm8k") == (
        Reading("paper/1", 0.6, None, 0.02),
        Reading("strict/1", 0.2, None, 0.4),
    )
    assert {read.accuracy for read in readings(one, "lora", "aqua")} == {1.0}


def test_the_extractor_of_the_protocol_comes_first(runs: list[Run]) -> None:
    (one,) = extractor_effects(runs)
    assert one.extractors == ("paper/1", "strict/1")


def test_the_difference_is_of_the_largest_and_the_smallest(runs: list[Run]) -> None:
    (one,) = extractor_effects(runs)
    # By hand: lora has (60 + 300) / 400 = 0.9 and (20 + 300) / 400 = 0.8.
    differences = [line.difference for line in one.methods[1].benchmarks]
    # macro (0.6 + 1) / 2 less (0.2 + 1) / 2, gsm8k 0.6 less 0.2, aqua always 1.
    assert differences == pytest.approx([0.1, 0.2, 0.4, 0.0])


def test_a_change_of_order_is_named_with_the_extractors_of_each(runs: list[Run]) -> None:
    (one,) = extractor_effects(runs)
    for average in ("micro", "macro"):
        assert ranks(one, average) == {"dypam": [2, 1], "lora": [1, 2]}
        assert OrderChange(average, ("dypam", "lora"), ("strict/1",), ("paper/1",)) in one.changes
        sentence = "dypam is ahead of lora under strict/1, but behind it under paper/1."
        assert f"In {average}, {sentence}" in markdown([one])


def test_an_order_that_changes_in_macro_alone_is_told(make: Make) -> None:
    # aqua has 300 rows, gsm8k 100: a is always ahead in micro. By hand, in hundredths:
    # macro 90, 90 against 85, 95.
    rights = {"a": {"paper": (80, 100), "strict": (80, 100)}, "b": {"paper": (80, 90)}}
    rights["b"]["strict"] = (100, 90)
    runs = [
        make(
            method,
            scores=tuple(
                Score(name, "accuracy", extractor, extractor == "paper", right / 100, rows)
                for extractor, (gsm8k, aqua) in read.items()
                for name, right, rows in (("gsm8k", gsm8k, 100), ("aqua", aqua, 300))
            ),
        )
        for method, read in rights.items()
    ]
    (one,) = extractor_effects(runs)
    assert ranks(one, "micro") == {"a": [1, 1], "b": [2, 2]}
    assert one.changes == (OrderChange("macro", ("a", "b"), ("paper/1",), ("strict/1",)),)


def test_equal_under_one_extractor_is_no_change_of_order(make: Make) -> None:
    read: dict[str, Read] = {
        "a": {"paper": (0.5, 0), "strict": (0.5, 0)},
        "b": {"paper": (0.5, 0), "strict": (0.4, 0)},
    }
    (one,) = extractor_effects(make(name, scores=scores(found)) for name, found in read.items())
    assert ranks(one, "micro") == {"a": [1, 1], "b": [1, 2]}
    assert one.changes == ()
    assert "No two methods change their order between the extractors." in markdown([one])


def test_an_extractor_that_a_run_lacks_has_no_number_and_no_rank(make: Make) -> None:
    read: dict[str, Read] = {
        "a": {"paper": (0.5, 0), "strict": (0.5, 0)},
        "b": {"paper": (0.7, 0)},
    }
    (one,) = extractor_effects(make(name, scores=scores(found)) for name, found in read.items())
    assert readings(one, "b")[1] == Reading("strict/1", None, None, None)
    assert readings(one, "a")[1].rank == 1


def test_markdown_shows_accuracy_rank_and_unparsed_of_each_extractor(runs: list[Run]) -> None:
    text = markdown(extractor_effects(runs))
    assert "math, protocol paper/1, accuracy in percent, mean over seeds" in text
    for line in (
        "lora   |     2 | micro     |   90.00 |    1 |       0.50 |    80.00 |    2 |      10.00 |",
        "lora   |     2 | gsm8k     |   60.00 |    - |       2.00 |    20.00 |    - |      40.00 |",
    ):
        assert line in text
    assert "sample data" in text


def test_the_mean_over_folds_is_taken_within_a_seed(make: Make) -> None:
    folds = {0: 0.2, 1: 0.6}
    runs = [make(fold=fold, scores=scores({"paper": (x, 0)})) for fold, x in folds.items()]
    (one,) = extractor_effects(runs)
    # By hand: (20 + 300) / 400 = 0.8 and (60 + 300) / 400 = 0.9.
    assert readings(one, "lora")[0].accuracy == pytest.approx(0.85)
    assert "mean over 2 folds" in markdown([one])


def test_two_versions_of_an_extractor_are_two_readings(make: Make) -> None:
    strict = Score("gsm8k", "accuracy", "strict", False, 0.2, 100)
    paper = Score("gsm8k", "accuracy", "paper", True, 0.5, 100)
    newer = replace(strict, value=0.4, extractor_version=2)
    (one,) = extractor_effects([make(seed=1, scores=(paper, strict)), make(scores=(paper, newer))])
    found = {read.extractor: read.accuracy for read in readings(one, "lora")}
    assert found == {"paper/1": 0.5, "strict/1": 0.2, "strict/2": 0.4}


def test_runs_without_accuracies_have_no_spread(make: Make) -> None:
    assert extractor_effects([make(scores=(Score("dolly", "bleu", "", True, 20.0, 9),))]) == []


def test_the_spread_is_readable_by_machines(runs: list[Run]) -> None:
    (one,) = json.loads(to_json(extractor_effects(runs)))
    micro, _, gsm8k, _ = one["methods"][1]["benchmarks"]
    assert micro["readings"][0]["rank"] == 1
    assert gsm8k["readings"][0]["unparsed"] == 0.02
    assert one["changes"][0]["second_ahead"] == ["paper/1"]
