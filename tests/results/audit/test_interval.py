"""Which numbers print as a given one, against printing them with the decimal module."""

from decimal import ROUND_FLOOR, ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from results.audit.interval import ROUNDED, TRUNCATED

numbers = st.decimals(0, 100, places=5)
digits = st.integers(0, 3)


def cut(value: Decimal, decimals: int, how: str) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-decimals), how)


@given(numbers, digits, st.sampled_from([ROUND_HALF_UP, ROUND_HALF_DOWN]))
def test_a_number_is_in_the_interval_of_what_it_is_rounded_to(
    value: Decimal, decimals: int, how: str
) -> None:
    low, high = ROUNDED.interval(cut(value, decimals, how))
    assert low <= Fraction(value) <= high
    assert high - low == Fraction(1, 10**decimals)


@given(numbers, digits)
def test_a_number_is_in_the_interval_of_what_it_is_truncated_to(
    value: Decimal, decimals: int
) -> None:
    low, high = TRUNCATED.interval(cut(value, decimals, ROUND_FLOOR))
    assert low <= Fraction(value) < high
    assert high - low == Fraction(1, 10**decimals)


@given(st.lists(numbers, min_size=2, max_size=6), digits)
def test_a_mean_of_printed_numbers_that_is_printed_has_lost_its_digits_twice(
    values: list[Decimal], decimals: int
) -> None:
    for printing, how in ((ROUNDED, ROUND_HALF_UP), (TRUNCATED, ROUND_FLOOR)):
        printed = [cut(value, decimals, how) for value in values]
        mean = cut(sum(printed, Decimal(0)) / len(values), decimals, how)
        low, high = printing.interval(mean, times=2)
        assert low <= Fraction(sum(values)) / len(values) <= high
