"""GRIM against printing all means, against published examples, and against the figures stated."""

from decimal import ROUND_FLOOR, ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from results.audit.counting import multiples, possible
from results.audit.interval import ROUNDED, TRUNCATED, Printing
from tests.results.audit.faults import printable

WAYS = {ROUNDED: (ROUND_HALF_UP, ROUND_HALF_DOWN), TRUNCATED: (ROUND_FLOOR,)}


def cut(numerator: int, denominator: int, printing: Printing) -> set[int]:
    exact = Decimal(numerator) / Decimal(denominator)
    return {int(exact.to_integral_value(how)) for how in WAYS[printing]}


@given(
    st.integers(1, 12), st.integers(1, 3), st.sampled_from([10, 100]), st.sampled_from(list(WAYS))
)
def test_possible_is_what_printing_all_means_prints(
    n: int, seeds: int, top: int, printing: Printing
) -> None:
    found = possible(n, seeds, top, printing)
    one = {value for k in range(n + 1) for value in cut(k * top, n, printing)}
    counts = {v for k in range(n * seeds + 1) for v in cut(k * top, n * seeds, printing)}
    assert found.one == one
    assert found.counts == counts
    means = (sum(values) for values in combinations_with_replacement(sorted(one), seeds))
    printed = {value for total in means for value in cut(total, seeds, printing)}
    # Where steps are shorter than a unit, all values are possible anyway.
    assert {value for value in range(top + 1) if value in found} == counts | printed


@pytest.mark.parametrize(("n", "seeds"), [(238, 5), (254, 3), (1000, 5), (1319, 1), (10042, 5)])
@pytest.mark.parametrize("truncated", [True, False])
def test_it_is_what_the_planting_of_faults_takes_as_printable(
    n: int, seeds: int, truncated: bool
) -> None:
    found = possible(n, seeds, 10_000, TRUNCATED if truncated else ROUNDED)
    flags = printable(n, seeds, 10_000, truncated)
    assert [value in found for value in range(10_001)] == flags.tolist()


def test_12_percent_of_two_decimal_values_are_means_of_5_seeds_on_238_items() -> None:
    means = {f"{Decimal(k) * 100 / 1190:.2f}" for k in range(1191)}
    assert round(100 * len(means) / 10_001) == 12
    counts = possible(238, 5, 10_000, ROUNDED).counts
    assert {Decimal(value) / 100 for value in counts} == set(map(Decimal, means))


def test_every_two_decimal_value_is_a_share_of_10042_items() -> None:
    shares = np.round(np.arange(10_043) / 10_042 * 100, 2)
    assert len(set(shares.tolist())) == 10_001
    assert possible(10_042, 1, 10_000, ROUNDED).share == 1


@pytest.mark.parametrize(
    ("mean", "n", "consistent"),
    [("5.19", 28, False), ("5.18", 28, True), ("5.21", 28, True), ("3.44", 18, True)],
)
def test_published_examples_of_grim(mean: str, n: int, consistent: bool) -> None:
    """The first is that of Brown and Heathers, 2017: 28 answers from 1 to 7; the last, Allard's."""
    assert (int(Decimal(mean) * 100) in multiples(7 * n, 700, ROUNDED)) is consistent
