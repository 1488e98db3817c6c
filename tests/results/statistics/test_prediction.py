"""One more run, predicted from a few: the interval holds it as often as it says."""

import numpy as np
import pytest
from scipy import stats

from results.statistics.prediction import prediction
from results.statistics.test import Undefined


def test_it_is_student_s_quantile_times_the_spread_of_a_difference() -> None:
    values = [61.2, 60.1, 62.4, 61.9]
    expected = stats.t.ppf(0.975, 3) * np.std(values, ddof=1) * (1 + 1 / 4) ** 0.5
    assert prediction(values) == pytest.approx(expected)


@pytest.mark.parametrize("n", [3, 5])
def test_one_more_value_falls_within_it_in_95_of_100_cases(n: int) -> None:
    drawn = np.random.default_rng(5).normal(size=(4000, n + 1))
    held = 0
    for row in drawn.tolist():
        half = prediction(row[:n])
        assert not isinstance(half, Undefined)
        held += abs(row[n] - np.mean(row[:n])) <= half
    assert held / 4000 == pytest.approx(0.95, abs=0.01)


def test_without_spread_there_is_none() -> None:
    assert prediction([]) == Undefined("one seed")
    assert prediction([0.5, 0.5]) == Undefined("no spread over seeds")
