"""What the choice of the extractor does to numbers and ranks."""

import json
from collections.abc import Callable, Mapping

import pytest

from results.json_text import json_text
from results.record import Run, Score
from results.spread import Change, MethodSpread, Spread, markdown, spread

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


def by_method(one: Spread) -> dict[str, MethodSpread]:
    return {found.method: found for found in one.methods}


def test_micro_and_unparsed_are_pooled_over_benchmarks_and_averaged_over_seeds(
    runs: list[Run],
) -> None:
    (one,) = spread(runs)
    strict = by_method(one)["dypam"].readings[1]
    # By hand: (48 + 300) / 400 = 0.87 and (52 + 300) / 400 = 0.88; (8 + 16) / 800 = 0.03.
    assert strict.extractor == "strict"
    assert strict.micro == pytest.approx(0.875)
    assert strict.unparsed == pytest.approx(0.03)


def test_the_extractor_of_the_protocol_comes_first(runs: list[Run]) -> None:
    (one,) = spread(runs)
    assert one.extractors == ("paper", "strict")


def test_the_difference_is_of_the_largest_and_the_smallest(runs: list[Run]) -> None:
    (one,) = spread(runs)
    # By hand: lora has (60 + 300) / 400 = 0.9 and (20 + 300) / 400 = 0.8.
    assert by_method(one)["lora"].difference == pytest.approx(0.1)


def test_a_change_of_order_is_named_with_the_extractors_of_each(runs: list[Run]) -> None:
    (one,) = spread(runs)
    ranks = {name: [x.rank for x in found.readings] for name, found in by_method(one).items()}
    assert ranks == {"dypam": [2, 1], "lora": [1, 2]}
    assert one.changes == (Change(("dypam", "lora"), ("strict",), ("paper",)),)
    assert "dypam is ahead of lora under strict, but behind it under paper." in markdown([one])


def test_equal_under_one_extractor_is_no_change_of_order(make: Make) -> None:
    read: dict[str, Read] = {
        "a": {"paper": (0.5, 0), "strict": (0.5, 0)},
        "b": {"paper": (0.5, 0), "strict": (0.4, 0)},
    }
    (one,) = spread(make(name, scores=scores(found)) for name, found in read.items())
    ranks = {name: [x.rank for x in found.readings] for name, found in by_method(one).items()}
    assert ranks == {"a": [1, 1], "b": [1, 2]}
    assert one.changes == ()
    assert "No two methods change their order between the extractors." in markdown([one])


def test_an_extractor_that_a_run_lacks_has_no_number_and_no_rank(make: Make) -> None:
    read: dict[str, Read] = {
        "a": {"paper": (0.5, 0), "strict": (0.5, 0)},
        "b": {"paper": (0.7, 0)},
    }
    (one,) = spread(make(name, scores=scores(found)) for name, found in read.items())
    strict = by_method(one)["b"].readings[1]
    assert (strict.micro, strict.rank, strict.unparsed) == (None, None, None)
    assert by_method(one)["a"].readings[1].rank == 1


def test_markdown_shows_accuracy_rank_and_unparsed_of_each_extractor(runs: list[Run]) -> None:
    text = markdown(spread(runs))
    assert "math, protocol paper/1, accuracy in percent, micro, mean over seeds" in text
    assert "| lora   |     2 | 90.00 |    1 |       0.50 |  80.00 |    2 |      10.00 |" in text
    assert "sample data" in text


def test_the_mean_over_folds_is_taken_within_a_seed(make: Make) -> None:
    folds = {0: 0.2, 1: 0.6}
    runs = [make(fold=fold, scores=scores({"paper": (x, 0)})) for fold, x in folds.items()]
    (one,) = spread(runs)
    # By hand: (20 + 300) / 400 = 0.8 and (60 + 300) / 400 = 0.9.
    assert one.methods[0].readings[0].micro == pytest.approx(0.85)
    assert "mean over 2 folds" in markdown([one])


def test_runs_without_accuracies_have_no_spread(make: Make) -> None:
    assert spread([make(scores=(Score("dolly", "bleu", "", True, 20.0, 9),))]) == []


def test_the_spread_is_readable_by_machines(runs: list[Run]) -> None:
    (one,) = json.loads(json_text(spread(runs)))
    assert one["methods"][1]["readings"][0]["rank"] == 1
    assert one["changes"][0]["second_ahead"] == ["paper"]
