"""Adjusted p-values against scipy, against definitions of their own, and against examples."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from results.statistics.multiplicity import Correction, adjust, every_one

families = st.lists(st.floats(0, 1), max_size=30)
corrections: st.SearchStrategy[Correction] = st.sampled_from(("holm", "bh", "none"))


def test_holm_of_four_p_values_by_hand() -> None:
    # 4 * 0.005; 3 * 0.01; 2 * 0.03; then 0.04, which may not lie below 0.06.
    ps = [0.01, 0.04, 0.03, 0.005]
    assert adjust(ps, "holm") == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_benjamini_and_hochberg_call_four_of_their_fifteen_p_values_significant() -> None:
    # The worked example of Benjamini and Hochberg, 1995, section 3.2: at 0.05 Bonferroni finds
    # three (Holm does too), their procedure four (p = 0.0095 against 4 / 15 * 0.05 = 0.013).
    ps = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240]
    ps += [0.4262, 0.5719, 0.6528, 0.7590, 1.0000]
    assert sum(p < 0.05 for p in adjust(ps, "bh")) == 4
    assert sum(p < 0.05 for p in adjust(ps, "holm")) == 3


@given(families)
def test_benjamini_and_hochberg_are_what_scipy_finds(ps: list[float]) -> None:
    expected = list(false_discovery_control(ps)) if ps else []
    assert adjust(ps, "bh") == pytest.approx(expected)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=7))
def test_holm_is_closed_testing_with_bonferroni(ps: list[float]) -> None:
    # Marcus, Peritz and Gabriel, 1976: the adjusted p is the largest Bonferroni p of all the sets
    # of hypotheses that hold it, which is why Holm's needs no independence of the tests.
    sets = [one for size in range(1, len(ps) + 1) for one in combinations(range(len(ps)), size)]
    expected = [
        max(min(1.0, len(one) * min(ps[j] for j in one)) for one in sets if i in one)
        for i in range(len(ps))
    ]
    assert adjust(ps, "holm") == pytest.approx(expected)


@given(families)
def test_holm_rejects_what_its_steps_reject(ps: list[float]) -> None:
    # The procedure as Holm, 1979, states it: from the smallest p on, compare with
    # alpha / (m - i + 1), and stop at the first that is not smaller.
    significant = 0
    for i, p in enumerate(sorted(ps)):
        if p * (len(ps) - i) >= 0.05:
            break
        significant += 1
    assert sum(p < 0.05 for p in adjust(ps, "holm")) == significant


@given(families, corrections)
def test_an_adjusted_p_is_a_p_and_never_smaller(ps: list[float], how: Correction) -> None:
    adjusted = adjust(ps, how)
    assert len(adjusted) == len(ps)
    assert all(p <= after <= 1 for p, after in zip(ps, adjusted, strict=True))


@given(families, corrections)
def test_adjusting_keeps_the_order(ps: list[float], how: Correction) -> None:
    adjusted = [after for _, after in sorted(zip(ps, adjust(ps, how), strict=True))]
    assert adjusted == sorted(adjusted)


@given(families, corrections)
def test_the_order_of_the_tests_does_not_matter(ps: list[float], how: Correction) -> None:
    assert sorted(adjust(ps[::-1], how)) == sorted(adjust(ps, how))


@given(families)
def test_holm_is_at_least_as_strict_as_benjamini_and_hochberg(ps: list[float]) -> None:
    pairs = zip(adjust(ps, "holm"), adjust(ps, "bh"), strict=True)
    assert all(holm >= bh - 1e-12 for holm, bh in pairs)


@given(st.floats(0, 1), corrections)
def test_one_test_alone_is_not_adjusted(p: float, how: Correction) -> None:
    assert adjust([p], how) == [p]


def test_better_than_every_baseline_is_as_sure_as_the_least_sure_of_its_tests() -> None:
    assert every_one([0.001, 0.03, 0.02]) == 0.03
