"""The interval of an average of shares, against Wilson's and a simulation of known shares."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from results.statistics import wilson
from results.statistics.items.verdicts import Average
from results.statistics.strata import interval

counts = st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
averages = st.sampled_from(["micro", "macro"])


@given(counts, averages)
def test_of_one_benchmark_it_is_wilsons(count: tuple[int, int], average: Average) -> None:
    right, n = count
    assert interval([(right / n, n)], average) == pytest.approx(
        wilson.interval(right / n, n), abs=1e-12
    )


@given(st.lists(counts, min_size=1, max_size=7), averages)
def test_it_holds_the_average_and_lies_between_0_and_1(
    every: list[tuple[int, int]], average: Average
) -> None:
    shares = [(right / n, n) for right, n in every]
    low, high = interval(shares, average)
    micro = sum(right for right, _ in every) / sum(n for _, n in every)
    middle = micro if average == "micro" else sum(share for share, _ in shares) / len(shares)
    assert -1e-9 <= low <= middle + 1e-9
    assert middle - 1e-9 <= high <= 1 + 1e-9


def test_the_distances_to_the_limits_add_in_squares() -> None:
    # Wilson of 5 of 10: 0.236593 to 0.763407; of 0 of 3: 0 to 0.561497. Macro 1/4, micro 5/13.
    above, other = 0.763407 - 0.5, 0.561497
    expected = (0.25 - above / 2, 0.25 + sqrt(above**2 + other**2) / 2)
    assert interval([(0.5, 10), (0.0, 3)], "macro") == pytest.approx(expected, abs=1e-6)
    high = 5 / 13 + sqrt((10 * above) ** 2 + (3 * other) ** 2) / 13
    assert interval([(0.5, 10), (0.0, 3)], "micro")[1] == pytest.approx(high, abs=1e-6)


@pytest.mark.parametrize("average", ["micro", "macro"])
def test_it_covers_the_average_of_the_true_shares_95_times_in_100(average: Average) -> None:
    rng = np.random.default_rng(5)
    sizes, true = np.array([254, 60, 120]), np.array([0.35, 0.9, 0.97])
    weights = sizes / sizes.sum() if average == "micro" else np.full(3, 1 / 3)
    counts = rng.binomial(sizes, true, (2000, 3))
    limits = [
        interval([(k / n, int(n)) for k, n in zip(row, sizes, strict=True)], average)
        for row in counts
    ]
    covered = [low <= weights @ true <= high for low, high in limits]
    assert 0.93 < np.mean(covered) < 0.97
