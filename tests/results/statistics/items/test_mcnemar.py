"""McNemar's test, against the binomial distribution in exact fractions."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from results.statistics.items.mcnemar import mcnemar
from results.statistics.items.verdicts import Answers, Items
from results.statistics.test import Alternative, Test, Undefined


def one(verdicts: list[float]) -> Items:
    return Items((2333,), np.array([verdicts]))


def answers(b: int, c: int, both: int = 0, neither: int = 0) -> tuple[Answers, Answers]:
    """Make b items that only the first has right, c that only the second has."""
    first = [1.0] * b + [0.0] * c + [1.0] * both + [0.0] * neither
    second = [0.0] * b + [1.0] * c + [1.0] * both + [0.0] * neither
    return {"gsm8k": one(first)}, {"gsm8k": one(second)}


def at_most(k: int, n: int) -> Fraction:
    return Fraction(sum(comb(n, i) for i in range(k + 1)), 2**n)


counts = st.tuples(st.integers(0, 60), st.integers(0, 60)).filter(any)


@given(counts, st.integers(0, 5))
def test_p_is_that_of_a_fair_coin_in_exact_fractions(bc: tuple[int, int], both: int) -> None:
    b, c = bc
    result = mcnemar(*answers(b, c, both))
    assert isinstance(result, Test)
    expected = min(Fraction(1), 2 * at_most(min(b, c), b + c))
    assert result.p == pytest.approx(float(expected), rel=1e-12)
    assert result.difference == pytest.approx((b - c) / (b + c + both))
    assert result.n == (b + c + both, b + c + both)


@given(counts)
def test_the_one_sided_p_is_the_chance_of_as_many_for_the_first(bc: tuple[int, int]) -> None:
    b, c = bc
    result = mcnemar(*answers(b, c), alternative="greater")
    assert isinstance(result, Test)
    expected = Fraction(sum(comb(b + c, i) for i in range(b, b + c + 1)), 2 ** (b + c))
    assert result.p == pytest.approx(float(expected), rel=1e-12)


def test_the_interval_adds_one_item_for_each() -> None:
    # b = 1, c = 7, n = 21: shares 2/23 and 8/23, difference -6/23, variance
    # (10/23 - 36/529) / 23 = 194/12167, so -6/23 -+ 1.959964 sqrt(194/12167).
    result = mcnemar(*answers(1, 7, both=1, neither=12))
    assert isinstance(result, Test)
    half = 1.959963985 * (194 / 12167) ** 0.5
    assert result.interval == pytest.approx((-6 / 23 - half, -6 / 23 + half))


@pytest.mark.parametrize(("alternative", "smallest"), [("two-sided", 2 / 32), ("greater", 1 / 32)])
def test_five_items_that_differ_cannot_reach_the_level_on_two_sides(
    alternative: Alternative, smallest: float
) -> None:
    result = mcnemar(*answers(5, 0, both=30), alternative=alternative)
    assert isinstance(result, Test)
    assert result.p == result.smallest_p == smallest
    assert result.possible == (alternative == "greater")


def test_benchmarks_are_pooled() -> None:
    a = {"gsm8k": one([1.0, 1.0, 0.0]), "aqua": one([1.0, 1.0])}
    b = {"gsm8k": one([0.0, 0.0, 1.0]), "aqua": one([0.0, 1.0])}
    assert mcnemar(a, b) == mcnemar(*answers(3, 1, both=1))


VERDICTS = one([1.0, 0.0])
CLUSTERED = Items((2333,), VERDICTS.values, np.array([3, 3]))
TWO_RUNS = Items((1, 2), np.ones((2, 2)))


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        (VERDICTS, VERDICTS, "no item tells the two apart"),
        (CLUSTERED, CLUSTERED, "stand alone"),
        (TWO_RUNS, VERDICTS, "one run each"),
        (VERDICTS, one([0.5, 1.0]), "right and wrong"),
        (VERDICTS, one([float("nan"), 1.0]), "not finite"),
        (VERDICTS, one([1.0]), "other items"),
    ],
)
def test_what_it_cannot_test_is_undefined_with_the_reason(a: Items, b: Items, reason: str) -> None:
    result = mcnemar({"gsm8k": a}, {"gsm8k": b})
    assert isinstance(result, Undefined)
    assert reason in result.reason


def test_a_macro_average_of_several_benchmarks_is_not_pooled() -> None:
    a, b = {"x": VERDICTS, "y": VERDICTS}, {"x": VERDICTS, "y": one([0.0, 1.0])}
    assert isinstance(mcnemar(a, b, "macro"), Undefined)
    assert isinstance(mcnemar(a, b, "micro"), Test)
