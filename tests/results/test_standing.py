"""Best, second and star of one column."""

import pytest

from results.standing import Cell, cells, standing
from results.statistics import Undefined, Welch, sample


def judged(accuracies: dict[str, list[float]]) -> dict[str, Cell]:
    """Judge methods by their accuracies, of seeds 0, 1, 2 and so on."""
    samples = {method: sample(dict(enumerate(values))) for method, values in accuracies.items()}
    seeds = frozenset(seed for one in samples.values() for seed in one.by_seed)
    return cells("gsm8k", samples, seeds)


@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ({"a": 0.7, "b": 0.9, "c": 0.8}, {"a": "", "b": "best", "c": "second"}),
        ({"a": 0.9, "b": 0.9, "c": 0.8}, {"a": "best", "b": "best", "c": ""}),
        ({"a": 0.9, "b": 0.8, "c": 0.8}, {"a": "best", "b": "second", "c": "second"}),
        ({"a": 0.9}, {"a": ""}),
        ({}, {}),
    ],
)
def test_equals_share_a_mark_and_two_best_leave_no_second(
    means: dict[str, float], expected: dict[str, str]
) -> None:
    assert standing(means) == expected


def test_what_prints_equal_ranks_equal() -> None:
    assert standing({"a": 0.900001, "b": 0.900002, "c": 0.8999}) == {
        "a": "best",
        "b": "best",
        "c": "",
    }


def test_the_best_is_starred_when_it_beats_the_best_other_beyond_chance() -> None:
    column = judged({"a": [0.80, 0.81, 0.82], "b": [0.50, 0.51, 0.52], "c": [0.10, 0.11, 0.12]})
    test = column["a"].test
    assert isinstance(test, Welch)
    assert test.difference == pytest.approx(0.3)  # from b, not from c
    # b and c differ from a beyond chance as well, but are not the best.
    assert [method for method, cell in column.items() if cell.starred] == ["a"]


def test_the_best_is_not_starred_within_chance() -> None:
    best = judged({"a": [0.4, 0.8, 0.6], "b": [0.5, 0.7, 0.55]})["a"]
    assert best.standing == "best"
    assert not best.starred


@pytest.mark.parametrize(
    ("accuracies", "reason"),
    [
        ({"a": [0.8], "b": [0.5]}, "one seed"),
        ({"a": [0.8, 0.8], "b": [0.5, 0.5]}, "no spread over seeds"),
        ({"a": [0.80, 0.81, 0.82], "b": [0.50, 0.51]}, "seeds are missing"),
        ({"a": [0.80, 0.81], "b": [0.50, 0.51], "c": [0.1, 0.2, 0.3]}, "seeds are missing"),
        ({"a": [0.80, 0.81], "b": []}, "no other method"),
        ({"a": [0.80, 0.81]}, "no other method"),
    ],
)
def test_a_test_that_cannot_be_made_is_withheld_with_its_reason(
    accuracies: dict[str, list[float]], reason: str
) -> None:
    best = judged(accuracies)["a"]
    assert best.test == Undefined(reason)
    assert not best.starred
