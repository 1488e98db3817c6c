"""Variance components, against mean squares worked out in exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from results.statistics.components import Components, components, crossed
from results.statistics.items.verdicts import Answers, Items
from results.statistics.test import Test, Undefined

Table = list[list[int]]

# Three seeds and four items; two seeds and the same four items.
A: Table = [[1, 1, 0, 1], [1, 1, 1, 1], [0, 1, 0, 0]]
B: Table = [[0, 1, 0, 0], [0, 0, 1, 0]]


def items(table: Table, repeat: int = 1) -> Items:
    values = np.repeat(np.array(table, float), repeat, axis=1)
    clusters = None if repeat == 1 else np.repeat(np.arange(len(table[0])), repeat)
    return Items(tuple(range(len(table))), values, clusters)


def mean(values: list[int] | list[Fraction]) -> Fraction:
    return Fraction(sum(values)) / len(values)


def mean_squares(table: Table) -> tuple[Fraction, Fraction, Fraction]:
    """Give the mean squares of seeds, items and residuals, from the sums in the docstring."""
    s, n = len(table), len(table[0])
    rows, columns = [mean(row) for row in table], [mean(list(c)) for c in zip(*table, strict=True)]
    grand = mean(rows)
    seeds = n * sum((row - grand) ** 2 for row in rows) / (s - 1)
    each = s * sum((column - grand) ** 2 for column in columns) / (n - 1)
    cells = ((i, j) for i in range(s) for j in range(n))
    residual = sum((table[i][j] - rows[i] - columns[j] + grand) ** 2 for i, j in cells)
    return seeds, each, residual / ((s - 1) * (n - 1))


def test_the_mean_squares_are_those_of_a_table_done_by_hand() -> None:
    # Rows 3/4, 1, 1/4; columns 2/3, 1, 1/3, 2/3; grand mean 2/3. Sums of squares: seeds
    # 4 (1/144 + 1/9 + 25/144) = 7/6, items 3 (0 + 1/9 + 1/9 + 0) = 2/3, all 12 * 2/9 = 8/3,
    # so residuals 5/6; over 2, 3 and 6 degrees of freedom.
    assert mean_squares(A) == (Fraction(7, 12), Fraction(2, 9), Fraction(5, 36))


def test_components_follow_from_the_mean_squares() -> None:
    # var_alpha = (7/12 - 5/36) / 4 = 1/9, var_beta = (2/9 - 5/36) / 3 = 1/36, var_e = 5/36.
    found = components({"gsm8k": items(A)})
    assert isinstance(found, Components)
    assert found.mean == pytest.approx(2 / 3)
    assert found.seeds == pytest.approx(1 / 9)
    assert found.items == pytest.approx(1 / 36 / 4)
    assert found.residual == pytest.approx(5 / 36 / 4)
    assert found.n == (3, 4)
    # var_alpha / S + var_beta / n + var_e / (S n)
    assert found.error**2 == pytest.approx(1 / 27 + 1 / 144 + 5 / 432)


def test_a_negative_component_is_taken_for_0() -> None:
    # Every seed has one item of two right, and every item one seed of two: all is residual.
    found = components({"gsm8k": items([[1, 0], [0, 1]])})
    assert isinstance(found, Components)
    assert (found.seeds, found.items) == (0, 0)
    assert found.residual == pytest.approx(0.5)


def derived(a: Table, b: Table) -> tuple[Fraction, Fraction]:
    """Give variance and degrees of freedom of the difference, by the docstring in fractions."""
    n = len(a[0])
    d = [
        mean(list(x)) - mean(list(y))
        for x, y in zip(zip(*a, strict=True), zip(*b, strict=True), strict=True)
    ]
    shared = sum((one - mean(d)) ** 2 for one in d) / (n - 1) / n
    variance, squares = shared, shared**2 / (n - 1)
    for table in (a, b):
        s = len(table)
        seeds, _, residual = (square / n / s for square in mean_squares(table))
        variance += max(Fraction(0), seeds - residual)
        squares += seeds**2 / (s - 1) + residual**2 / ((s - 1) * (n - 1))
    return variance, max(Fraction(1), variance**2 / squares) if squares else Fraction(0)


def test_the_difference_of_two_methods_follows_from_the_mean_squares() -> None:
    # d = 2/3, 1/2, -1/6, 2/3 has the mean 5/12 and the sum of squares 68/144, divided by 3 and 4
    # 17/432. Of A (7/12 - 5/36) / 12 = 1/27. Of B both rows are 1/4: MS_seeds is 0, which is below
    # its residual.
    variance, df = derived(A, B)
    assert variance == Fraction(17, 432) + Fraction(1, 27)
    result = crossed({"gsm8k": items(A)}, {"gsm8k": items(B)})
    assert isinstance(result, Test)
    assert result.difference == pytest.approx(2 / 3 - 1 / 4)
    assert result.df == pytest.approx(float(df))
    assert result.statistic == pytest.approx((5 / 12) / float(variance) ** 0.5)
    assert result.p == pytest.approx(2 * student.sf(result.statistic, float(df)))
    half = student.ppf(0.975, float(df)) * float(variance) ** 0.5
    assert result.interval == pytest.approx((5 / 12 - half, 5 / 12 + half))
    assert (result.claim, result.n) == ("seeds and items", (3, 2))


def tables(seeds: int, n: int) -> st.SearchStrategy[Table]:
    row = st.lists(st.integers(0, 3), min_size=n, max_size=n)
    return st.lists(row, min_size=seeds, max_size=seeds)


def test_of_one_sided_p_the_two_add_up_to_1() -> None:
    a, b = {"gsm8k": items(A)}, {"gsm8k": items(B)}
    one, other = crossed(a, b, alternative="greater"), crossed(b, a, alternative="greater")
    both = crossed(a, b)
    assert isinstance(one, Test)
    assert isinstance(other, Test)
    assert isinstance(both, Test)
    assert one.p + other.p == pytest.approx(1)
    assert one.p == pytest.approx(both.p / 2)


@given(tables(3, 4), tables(2, 4))
def test_any_two_tables_agree_with_the_derivation_in_fractions(a: Table, b: Table) -> None:
    result = crossed({"x": items(a)}, {"x": items(b)})
    variance, df = derived(a, b)
    if isinstance(result, Undefined):
        assert variance == 0 or sum(sum(mean_squares(table)[::2]) for table in (a, b)) == 0
    else:
        error = float(variance) ** 0.5
        assert result.difference == pytest.approx(float(mean([mean(r) for r in a])) - np.mean(b))
        assert (result.statistic or 0) * error == pytest.approx(result.difference, abs=1e-12)
        assert result.df == pytest.approx(float(df))


@given(tables(3, 4), tables(2, 4), st.integers(2, 4))
def test_copies_of_an_item_in_one_cluster_change_nothing(a: Table, b: Table, copies: int) -> None:
    once = crossed({"x": items(a)}, {"x": items(b)})
    often = crossed({"x": items(a, copies)}, {"x": items(b, copies)})
    if isinstance(once, Undefined):
        assert often == once
    else:
        assert isinstance(often, Test)
        assert (often.p, often.df) == pytest.approx((once.p, once.df))


def two_benchmarks() -> tuple[Answers, Answers]:
    a = {"gsm8k": items(A), "aqua": items([[1, 0], [1, 1], [0, 0]])}
    b = {"gsm8k": items(B), "aqua": items([[0, 0], [1, 0]])}
    return a, b


def test_of_a_macro_average_the_seeds_are_those_of_the_average() -> None:
    # Per-seed macro averages of A: (3/4 + 1/2) / 2, (1 + 1) / 2, (1/4 + 0) / 2 = 5/8, 1, 1/8, of
    # mean 7/12 and variance 37/192 (deviations 1/24, 10/24, -11/24). Residuals: of gsm8k
    # 5/36 / 4 = 5/144; of aqua, rows 1/2, 1, 0 and columns 2/3, 1/3, the sum of squares
    # 6/4 - 1 - 1/6 = 1/3 over 2 degrees of freedom and 2 items: 1/12. Together / 4: 17/576.
    found = components(two_benchmarks()[0], "macro")
    assert isinstance(found, Components)
    assert found.mean == pytest.approx(7 / 12)
    assert found.residual == pytest.approx(17 / 576)
    assert found.seeds == pytest.approx(37 / 192 - 17 / 576)
    # Items: gsm8k var_beta / 4 = 1/144; aqua (MS_items 1/6 - 1/6) / 3 = 0; together / 4.
    assert found.items == pytest.approx(1 / 144 / 4)


def test_the_micro_average_pools_the_items() -> None:
    a, b = two_benchmarks()
    pooled = [[*x, *y] for x, y in zip(A, [[1, 0], [1, 1], [0, 0]], strict=True)]
    others = [[*x, *y] for x, y in zip(B, [[0, 0], [1, 0]], strict=True)]
    one, expected = crossed(a, b), crossed({"x": items(pooled)}, {"x": items(others)})
    assert isinstance(one, Test)
    assert isinstance(expected, Test)
    assert (one.p, one.df, one.difference) == pytest.approx(
        (expected.p, expected.df, expected.difference)
    )


def test_the_estimated_variance_is_right_on_average() -> None:
    # Simulated from the model with known components: the variance of the difference over new seeds
    # and items is 2 (var_alpha / S + var_beta / n + var_e / (S n)).
    rng = np.random.default_rng(4)
    alpha, beta, epsilon, s, n = 0.3, 1.0, 2.0, 4, 30
    squares = []
    for _ in range(1000):
        a, b = (
            Items(
                tuple(range(s)),
                rng.normal(0, alpha, (s, 1))
                + rng.normal(0, beta, n)
                + rng.normal(0, epsilon, (s, n)),
            )
            for _ in range(2)
        )
        result = crossed({"x": a}, {"x": b})
        assert isinstance(result, Test)
        squares.append((result.difference / (result.statistic or 1)) ** 2)
    expected = 2 * (alpha**2 / s + beta**2 / n + epsilon**2 / (s * n))
    # Negative seed components are taken for 0, so a little above; four standard errors below.
    error = np.std(squares) / len(squares) ** 0.5
    assert expected - 4 * error < np.mean(squares) < 1.1 * expected


def test_less_than_one_degree_of_freedom_is_taken_for_one() -> None:
    # d is 0, 0, -1/2: by 2 and 3, 1/36. Of b MS_seeds and MS_residual are 1/6, so by 6 both are
    # 1/36 and cancel out. df = (1/36)^2 / ((1/36)^2 (1/2 + 1 + 1/2)) = 1/2.
    result = crossed({"x": items([[0, 0, 0], [0, 0, 0]])}, {"x": items([[0, 0, 0], [0, 0, 1]])})
    assert isinstance(result, Test)
    assert result.error == pytest.approx(1 / 6)
    assert result.df == 1


ONE_SEED = items([[1, 0, 1]])
SAME = items([[1, 0, 1], [1, 0, 1]])


@pytest.mark.parametrize(
    ("a", "b", "why"),
    [
        (ONE_SEED, items(B), Undefined("one seed")),
        (items(B), ONE_SEED, Undefined("one seed")),
        (items([[1], [0]]), items([[1], [0]]), Undefined("a benchmark of one item")),
        (SAME, items([[0, 0, 0], [0, 0, 0]]), Undefined("no spread over seeds")),
        (items(A), SAME, Undefined("other items", withheld=True)),
        (
            Items((1, 2), np.array([[np.inf, 1.0], [0.0, 1.0]])),
            items(B),
            Undefined("the score of an item is not finite"),
        ),
    ],
)
def test_what_has_no_answer_is_undefined_with_the_reason(
    a: Items, b: Items, why: Undefined
) -> None:
    assert crossed({"x": a}, {"x": b}) == why


def test_one_seed_has_no_components() -> None:
    assert components({"x": ONE_SEED}) == Undefined("one seed")
