"""GRIMMER against listing all samples, and against a published example."""

from decimal import Decimal
from fractions import Fraction
from itertools import combinations_with_replacement
from math import sqrt
from statistics import pstdev, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from results.audit.interval import ROUNDED, Interval
from results.audit.spread import largest_variance, possible, splits


@given(st.integers(1, 4), st.integers(0, 30), st.integers(0, 200), st.integers(0, 10))
def test_splits_are_found_where_listing_all_finds_one(
    parts: int, total: int, squares: int, n: int
) -> None:
    listed = combinations_with_replacement(range(n + 1), parts)
    expected = any(sum(one) == total and sum(k * k for k in one) == squares for one in listed)
    assert splits(parts, total, squares, n) is expected


@given(
    st.integers(1, 9),
    st.integers(2, 4),
    st.fractions(0, 1, max_denominator=100),
    st.fractions(0, Fraction(2, 3), max_denominator=100),
)
def test_a_deviation_is_possible_where_listing_all_samples_finds_one(
    n: int, seeds: int, mean: Fraction, sd: Fraction
) -> None:
    margin = Fraction(1, 200)
    means, sds = (Interval(one - margin, one + margin) for one in (mean, sd))
    samples = combinations_with_replacement([Fraction(k, n) for k in range(n + 1)], seeds)
    inside = [one for one in samples if means.low <= sum(one) / seeds <= means.high]
    squares = [_squares(one) / divisor for one in inside for divisor in (seeds - 1, seeds)]
    expected = any(max(Fraction(0), sds.low) ** 2 <= one <= sds.high**2 for one in squares)
    assert possible(means, sds, n, seeds) is expected


@given(
    st.sampled_from([238, 1319, 10_042]).flatmap(
        lambda n: st.tuples(st.just(n), st.lists(st.integers(0, n), min_size=2, max_size=7))
    ),
    st.sampled_from([0, 1]),
)
def test_the_deviation_of_any_counts_is_possible(drawn: tuple[int, list[int]], less: int) -> None:
    n, counts = drawn
    shares = tuple(Fraction(k, n) for k in counts)
    mean = sum(shares) / Fraction(len(shares))
    sd = Fraction(sqrt(_squares(shares) / (len(shares) - less)))
    around = [ROUNDED.interval(Decimal(round(one * 10**5)).scaleb(-5)) for one in (mean, sd)]
    assert possible(around[0], around[1], n, len(counts))


def _squares(sample: tuple[Fraction, ...]) -> Fraction:
    mean = sum(sample) / Fraction(len(sample))
    return sum(((one - mean) ** 2 for one in sample), Fraction(0))


@pytest.mark.parametrize(("sd", "consistent"), [(2.47, False), (2.45, True), (2.48, True)])
def test_a_published_example_of_grimmer(sd: float, consistent: bool) -> None:
    """Allard's, 2018, of the test of Anaya, 2016: 18 whole numbers, mean 3.44, SD 2.47."""
    scale, margin = 20, Fraction(5, 1000)
    mean, deviation = Fraction(344, 100), Fraction(round(sd * 100), 100)
    found = possible(
        Interval((mean - margin) / scale, (mean + margin) / scale),
        Interval((deviation - margin) / scale, (deviation + margin) / scale),
        n=scale,
        seeds=18,
    )
    assert found is consistent


@given(st.lists(st.floats(0, 1), min_size=2, max_size=6))
def test_no_sample_varies_more_than_its_mean_allows(sample: list[float]) -> None:
    mean = Fraction(sum(map(Fraction, sample)), 1) / len(sample)
    most = sqrt(largest_variance(Interval(mean, mean), len(sample)))
    assert pstdev(sample) <= stdev(sample) <= most + 1e-9
