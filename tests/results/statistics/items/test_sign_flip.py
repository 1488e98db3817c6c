"""The sign-flip permutation, against all signs written out, and convolutions of whole numbers."""

from collections.abc import Sequence
from itertools import product
from math import comb, lcm, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student
from scipy.stats import ttest_rel

from results.statistics.items.mcnemar import mcnemar
from results.statistics.items.sign_flip import DRAWS, sign_flip
from results.statistics.items.verdicts import Answers, Average, Items
from results.statistics.test import Alternative, Test, Undefined


def runs(*rows: Sequence[float], clusters: Sequence[int] | None = None) -> Items:
    numbers = None if clusters is None else np.array(clusters)
    return Items(tuple(range(len(rows))), np.array(rows, float), numbers)


def outcome(a: Answers, b: Answers, average: Average, alternative: Alternative) -> Test:
    result = sign_flip(a, b, average, alternative)
    assert isinstance(result, Test)
    return result


def enumerated(moved: list[float], alternative: Alternative) -> float:
    """Write out every sign of every part of the difference."""
    sums = [
        sum(s * d for s, d in zip(signs, moved, strict=True))
        for signs in product((1, -1), repeat=len(moved))
    ]
    seen = sum(moved)
    if alternative == "greater":
        return sum(total >= seen - 1e-9 for total in sums) / len(sums)
    return sum(abs(total) >= abs(seen) - 1e-9 for total in sums) / len(sums)


alternatives = st.sampled_from(["two-sided", "greater"])
verdicts = st.integers(0, 1)


@given(
    st.lists(st.tuples(verdicts, verdicts, verdicts, verdicts), min_size=1, max_size=9),
    alternatives,
)
def test_p_is_the_share_of_all_signs_that_are_as_extreme(
    rows: list[tuple[int, int, int, int]], alternative: Alternative
) -> None:
    # Two seeds each: the difference of an item is one of means over seeds.
    one, two, three, four = zip(*rows, strict=True)
    moved = [(w + x) / 2 - (y + z) / 2 for w, x, y, z in rows]
    a, b = {"gsm8k": runs(one, two)}, {"gsm8k": runs(three, four)}
    if not any(moved):
        assert sign_flip(a, b) == Undefined("no item tells the two apart")
    else:
        assert outcome(a, b, "micro", alternative).p == pytest.approx(
            enumerated(moved, alternative)
        )


@given(
    st.lists(st.floats(-3, 3), min_size=2, max_size=5),
    st.lists(st.floats(-3, 3), min_size=1, max_size=4),
    alternatives,
)
def test_each_benchmark_weighs_the_same_in_a_macro_average(
    first: list[float], second: list[float], alternative: Alternative
) -> None:
    first, second = [round(d, 6) for d in first], [round(d, 6) for d in second]
    a = {"gsm8k": runs(first), "aqua": runs(second)}
    b = {"gsm8k": runs([0.0] * len(first)), "aqua": runs([0.0] * len(second))}
    moved = [d / len(first) / 2 for d in first] + [d / len(second) / 2 for d in second]
    if any(moved):
        result = outcome(a, b, "macro", alternative)
        assert result.p == pytest.approx(enumerated(moved, alternative))
        assert result.difference == pytest.approx(sum(moved))


def test_items_of_one_passage_change_their_sign_together() -> None:
    scores, passages = [1.0, 1.0, 0.0, 1.0, -1.0, 1.0], [8, 8, 8, 2, 5, 5]
    result = outcome(
        {"boolq": runs(scores, clusters=passages)},
        {"boolq": runs([0.0] * 6, clusters=passages)},
        "micro",
        "two-sided",
    )
    # The passages add 2, 1 and 0: of 2 2 2 signs those of 2 and 1 count, and 2 of 4 give +-3.
    assert result.p == result.smallest_p == 0.5


def test_with_verdicts_of_one_run_each_it_is_mcnemars_test() -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.random((2, 1, 22_419)) < [[[0.62]], [[0.6]]]).astype(float)
    flips = sign_flip({"all": Items((1,), a)}, {"all": Items((1,), b)})
    exact = mcnemar({"all": Items((1,), a)}, {"all": Items((1,), b)})
    assert isinstance(flips, Test)
    assert isinstance(exact, Test)
    assert flips.p == pytest.approx(exact.p, rel=1e-8)


def convolved(sizes: dict[str, int], differ: dict[str, int], seen: int) -> float:
    """Give the exact p of a macro difference in whole numbers: `seen` of 1 / (B lcm(sizes))."""
    ways = {0: 1}
    for name, n in differ.items():
        step = lcm(*sizes.values()) // sizes[name]
        found: dict[int, int] = {}
        for total, count in ways.items():
            for plus in range(n + 1):
                at = total + step * (2 * plus - n)
                found[at] = found.get(at, 0) + count * comb(n, plus)
        ways = found
    extreme = sum(count for total, count in ways.items() if abs(total) >= seen)
    return extreme / 2 ** sum(differ.values())


def test_drawn_signs_agree_with_the_exact_distribution() -> None:
    sizes = {"aqua": 60, "gsm8k": 80, "mawps": 50, "svamp": 75}
    differ = {"aqua": 20, "gsm8k": 30, "mawps": 25, "svamp": 24}
    wins = {"aqua": 14, "gsm8k": 18, "mawps": 13, "svamp": 15}
    seen = sum(1200 // sizes[name] * (2 * wins[name] - differ[name]) for name in sizes)
    exact = convolved(sizes, differ, seen)
    a = {n: runs([1] * wins[n] + [0] * (size - wins[n])) for n, size in sizes.items()}
    b = {
        n: runs([0] * wins[n] + [1] * (differ[n] - wins[n]) + [0] * (size - differ[n]))
        for n, size in sizes.items()
    }
    result = outcome(a, b, "macro", "two-sided")
    assert 0.01 < exact < 0.2
    assert abs(result.p - exact) < 4 * sqrt(exact * (1 - exact) / DRAWS)
    assert result == sign_flip(a, b, "macro")
    # (b + 1)/(m + 1) of a whole number b.
    assert (result.p * (DRAWS + 1)) % 1 == pytest.approx(0, abs=1e-6)


def test_no_drawn_p_is_0() -> None:
    rng = np.random.default_rng(1)
    losses = rng.normal(3.0, 1.0, 300)
    result = outcome({"dolly": runs(losses)}, {"dolly": runs(losses * 0)}, "micro", "two-sided")
    assert result.p == result.smallest_p == 1 / (DRAWS + 1)


def test_five_items_cannot_reach_the_level_and_say_so() -> None:
    result = outcome({"x": runs([1] * 5)}, {"x": runs([0] * 5)}, "micro", "two-sided")
    assert result.smallest_p == 0.0625
    assert not result.possible
    assert result.interval is None  # every difference is 1


def test_the_interval_is_that_of_a_paired_t_test_over_items() -> None:
    a, b = [0.1, 0.9, 0.4, 0.6, 0.8], [0.3, 0.2, 0.4, 0.1, 0.5]
    expected = ttest_rel(a, b).confidence_interval()
    result = outcome({"x": runs(a)}, {"x": runs(b)}, "micro", "two-sided")
    assert result.interval == pytest.approx((expected.low, expected.high))


def test_the_interval_of_a_macro_average_adds_the_variances_of_the_benchmarks() -> None:
    # Differences 1, 0 and 1, 1, 0, 0: means 1/2 and 1/2, variances of the means 1/4 and 1/12; of
    # the macro average 1/16 + 1/48 = 1/12. df = (1/12)^2 / ((1/16)^2 / 1 + (1/48)^2 / 3) = 12/7.
    a = {"x": runs([1, 0]), "y": runs([1, 1, 0, 0])}
    b = {"x": runs([0, 0]), "y": runs([0, 0, 0, 0])}
    low, high = outcome(a, b, "macro", "two-sided").interval or (0.0, 0.0)
    half = student.ppf(0.975, 12 / 7) * sqrt(1 / 12)
    assert (low, high) == pytest.approx((0.5 - half, 0.5 + half))


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_scores_that_are_not_finite_are_undefined(bad: float) -> None:
    result = sign_flip({"x": runs([bad, 1])}, {"x": runs([1, 1])})
    assert result == Undefined("the score of an item is not finite")


def test_other_items_are_withheld() -> None:
    result = sign_flip({"x": runs([0, 1])}, {"x": runs([1, 1, 1])})
    assert result == Undefined("other items", withheld=True)
