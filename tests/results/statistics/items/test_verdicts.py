"""What may be compared on test items, and what clusters and benchmarks make of them."""

from statistics import fmean, variance

import numpy as np
import pytest

from results.statistics.items.verdicts import Answers, Average, Items, fault, strata
from results.statistics.test import Undefined


def items(*rows: list[float], clusters: list[int] | None = None) -> Items:
    seeds = tuple(range(len(rows)))
    return Items(seeds, np.array(rows), None if clusters is None else np.array(clusters))


GSM8K = items([1.0, 0.0, 1.0, 1.0])


@pytest.mark.parametrize(
    ("a", "b", "why"),
    [
        ({}, {}, Undefined("no items")),
        ({"gsm8k": items([])}, {"gsm8k": items([])}, Undefined("no items")),
        ({"gsm8k": GSM8K}, {"aqua": GSM8K}, Undefined("other items", withheld=True)),
        ({"gsm8k": GSM8K}, {"gsm8k": items([1.0])}, Undefined("other items", withheld=True)),
        (
            {"gsm8k": items([1.0, 0.0], clusters=[4, 4])},
            {"gsm8k": items([1.0, 0.0], clusters=[4, 5])},
            Undefined("other items", withheld=True),
        ),
        (
            {"gsm8k": items([1.0, 0.0], clusters=[4, 4])},
            {"gsm8k": items([1.0, 0.0])},
            Undefined("other items", withheld=True),
        ),
        (
            {"gsm8k": GSM8K, "aqua": items([1.0], [0.0])},
            {"gsm8k": GSM8K, "aqua": items([1.0], [0.0])},
            Undefined("a seed lacks a benchmark", withheld=True),
        ),
        (
            {"gsm8k": items([float("nan"), 1.0])},
            {"gsm8k": items([0.0, 1.0])},
            Undefined("the score of an item is not finite"),
        ),
        (
            {"gsm8k": items([0.0, 1.0])},
            {"gsm8k": items([0.0, float("inf")])},
            Undefined("the score of an item is not finite"),
        ),
        ({"gsm8k": GSM8K}, {"gsm8k": GSM8K}, None),
        ({"gsm8k": GSM8K}, {"gsm8k": items([1.0] * 4, [0.0] * 4)}, None),
    ],
)
def test_only_finite_scores_of_the_same_items_are_compared(
    a: Answers, b: Answers, why: Undefined | None
) -> None:
    assert fault(a, b) == why


@pytest.mark.parametrize(
    ("average", "expected"), [("micro", 4 / 6), ("macro", (3 / 4 + 1 / 2) / 2)]
)
def test_the_average_is_the_mean_of_the_means_of_its_parts(
    average: Average, expected: float
) -> None:
    parts = strata({"gsm8k": GSM8K, "aqua": items([0.0, 1.0])}, average)
    assert fmean(part.means[0] for part in parts) == expected


def test_clusters_of_two_benchmarks_stay_apart_when_they_are_pooled() -> None:
    (pooled,) = strata(
        {
            "boolq": items([1.0, 0.0, 1.0], clusters=[7, 7, 0]),
            "gsm8k": items([1.0, 1.0]),
            "siqa": items([1.0, 0.0, 0.0], clusters=[0, 7, 7]),
        },
        "micro",
    )
    assert pooled.units == 2 + 2 + 2
    assert sorted(pooled.sums[0]) == [0, 1, 1, 1, 1, 1]
    assert sorted(pooled.sizes) == [1, 1, 1, 1, 2, 2]


def test_deviations_of_single_items_give_the_variance_of_their_mean() -> None:
    # s^2 / n by the standard library.
    scores = [0.2, 0.9, 0.4, 0.7, 0.7]
    assert (items(scores).deviations ** 2).sum() == pytest.approx(variance(scores) / 5)


def test_deviations_of_equal_clusters_give_the_variance_of_the_mean_of_their_means() -> None:
    # Three passages of two questions: the mean is that of three numbers, 0.5, 0.8 and 0.1.
    six = items([0.4, 0.9, 0.2, 0.6, 0.7, 0.0], clusters=[5, 1, 9, 5, 1, 9])
    assert (six.deviations**2).sum() == pytest.approx(variance([0.5, 0.8, 0.1]) / 3)
