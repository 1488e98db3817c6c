"""The bootstraps, against every possible resample written out."""

from collections.abc import Sequence
from itertools import product
from math import sqrt

import numpy as np
import pytest

from results.statistics.components import crossed
from results.statistics.items.bootstrap import bootstrap, bootstrap_of
from results.statistics.items.drawn import DRAWS
from results.statistics.items.hierarchical import hierarchical
from results.statistics.items.verdicts import Answers, Floats, Items
from results.statistics.test import Test, Undefined


def runs(*rows: Sequence[float], clusters: Sequence[int] | None = None) -> Items:
    numbers = None if clusters is None else np.array(clusters)
    return Items(tuple(range(len(rows))), np.array(rows, float), numbers)


def agrees(result: Test | Undefined, every: list[float]) -> None:
    """Check p and interval against all outcomes, each as likely as the others."""
    assert isinstance(result, Test)
    outcomes = np.array(every)
    share = min((outcomes <= 1e-12).mean(), (outcomes >= -1e-12).mean())
    assert 0.004 < share < 0.5
    assert abs(result.p - 2 * share) < 8 * sqrt(share * (1 - share) / DRAWS) + 2 / DRAWS
    low, high = result.interval or (0.0, 0.0)
    # The ends are quantiles: about 2.5 % of the outcomes lie beyond, at least so many up to them.
    slack = 4 * sqrt(0.025 * 0.975 / DRAWS)
    for beyond, up_to in (
        ((outcomes < low - 1e-9).mean(), (outcomes <= low + 1e-9).mean()),
        ((outcomes > high + 1e-9).mean(), (outcomes >= high - 1e-9).mean()),
    ):
        assert beyond <= 0.025 + slack
        assert up_to >= 0.025 - slack


def means(values: list[float]) -> list[float]:
    """Give the mean of every resample."""
    return [sum(drawn) / len(values) for drawn in product(values, repeat=len(values))]


def test_p_and_interval_are_those_of_all_resamples() -> None:
    a, b = [1, 1, 1, 0, 1, 0], [0, 0, 1, 0, 0, 1]
    result = bootstrap({"x": runs(a)}, {"x": runs(b)})
    agrees(result, means([x - y for x, y in zip(a, b, strict=True)]))
    assert isinstance(result, Test)
    assert result.difference == pytest.approx(2 / 6)
    assert result == bootstrap({"x": runs(a)}, {"x": runs(b)})


def test_items_of_one_passage_are_drawn_together() -> None:
    d, passages = [1.0, 0.5, -1.0, 1.0, -0.25, 0.5], [3, 3, 7, 7, 9, 4]
    held = [(1.5, 2), (0.0, 2), (-0.25, 1), (0.5, 1)]
    every = [
        sum(total for total, _ in drawn) / sum(size for _, size in drawn)
        for drawn in product(held, repeat=4)
    ]
    a, b = runs(d, clusters=passages), runs([0.0] * 6, clusters=passages)
    agrees(bootstrap({"x": a}, {"x": b}), every)


def test_the_benchmarks_of_a_macro_average_are_resampled_each_for_itself() -> None:
    first, second = [1.0, 1.0, 0.0, -1.0], [1.0, -1.0, 0.0]
    every = [(one + other) / 2 for one in means(first) for other in means(second)]
    a = {"x": runs(first), "y": runs(second)}
    b = {"x": runs([0] * 4), "y": runs([0] * 3)}
    agrees(bootstrap(a, b, "macro"), every)
    agrees(bootstrap(a, b, "micro"), means(first + second))


def mean_loss(sums: Floats) -> Floats:
    losses: Floats = sums[..., 0] / sums[..., 1]
    return losses


def test_a_mean_loss_is_computed_anew_from_the_rows_that_are_drawn() -> None:
    # Nats and tokens of five rows; the tokens are the same under both models.
    tokens = [3, 8, 5, 2, 6]
    first, second = [7.0, 9.0, 12.0, 2.0, 20.0], [4.0, 11.0, 7.5, 2.5, 15.0]
    rows = list(zip(first, second, tokens, strict=True))
    every = [
        (sum(x for x, _, _ in drawn) - sum(y for _, y, _ in drawn)) / sum(n for _, _, n in drawn)
        for drawn in product(rows, repeat=5)
    ]
    a, b = (
        {"dolly": Items((1,), np.array([list(zip(nats, tokens, strict=True))]))}
        for nats in (first, second)
    )
    result = bootstrap_of(mean_loss, a, b)
    agrees(result, every)
    assert isinstance(result, Test)
    assert result.difference == pytest.approx(50 / 24 - 40 / 24)


def test_a_mean_computed_from_parts_is_tested_as_the_mean() -> None:
    rng = np.random.default_rng(6)
    a, b = rng.random((2, 3, 80))
    one, other = {"x": Items((1, 2, 3), a)}, {"x": Items((1, 2, 3), b)}
    parts = [{"x": Items((1, 2, 3), np.stack([v, np.ones_like(v)], -1))} for v in (a, b)]
    of_items, of_parts = bootstrap(one, other), bootstrap_of(mean_loss, *parts)
    assert isinstance(of_items, Test)
    assert isinstance(of_parts, Test)
    assert of_parts.difference == pytest.approx(of_items.difference)
    assert of_parts.interval == pytest.approx(of_items.interval, abs=0.005)


def test_seeds_and_items_are_both_drawn() -> None:
    a, b = [[1, 1, 0], [1, 0, 1]], [[0, 1, 0], [0, 0, 0]]
    every = [
        np.mean([a[s][i] for s in of_a for i in which])
        - np.mean([b[s][i] for s in of_b for i in which])
        for of_a in product((0, 1), repeat=2)
        for of_b in product((0, 1), repeat=2)
        for which in product((0, 1, 2), repeat=3)
    ]
    result = hierarchical({"x": runs(*a)}, {"x": runs(*b)})
    agrees(result, [float(one) for one in every])
    assert isinstance(result, Test)
    assert result.difference == pytest.approx(0.5)
    assert (result.claim, result.n) == ("seeds and items", (2, 2))


def test_a_run_answers_all_benchmarks_so_its_seed_is_drawn_once() -> None:
    # Each seed is right on one benchmark and wrong on the other: what is drawn of seeds cancels
    # out in the macro average, whose only spread is that of one item of two in a third benchmark.
    a = {"x": runs([1, 1], [0, 0]), "y": runs([0, 0], [1, 1]), "z": runs([1, 0], [1, 0])}
    b = {name: runs([0, 0], [0, 0]) for name in "xyz"}
    result = hierarchical(a, b, "macro")
    assert isinstance(result, Test)
    assert result.interval == pytest.approx((1 / 3, 2 / 3))


def test_of_few_seeds_or_items_the_name_says_that_it_is_too_narrow() -> None:
    rng = np.random.default_rng(7)

    def named(seeds: int, n: int) -> list[str]:
        a, b = rng.random((2, seeds, n))
        pair = ({"x": Items((1,) * seeds, a)}, {"x": Items((1,) * seeds, b)})
        results = bootstrap(*pair), hierarchical(*pair)
        return [one.name for one in results if isinstance(one, Test)]

    assert named(9, 49) == [
        "paired two-sided bootstrap (too narrow below 50 items)",
        "hierarchical two-sided bootstrap (too narrow below 10 seeds)",
    ]
    assert named(10, 50) == ["paired two-sided bootstrap", "hierarchical two-sided bootstrap"]


def test_the_hierarchical_interval_of_many_seeds_is_that_of_the_components() -> None:
    rng = np.random.default_rng(8)
    a, b = (
        {"x": Items(tuple(range(40)), rng.normal(0, 1, (40, 1)) + rng.normal(0, 2, (40, 300)))}
        for _ in range(2)
    )
    one, other = hierarchical(a, b), crossed(a, b)
    assert isinstance(one, Test)
    assert isinstance(other, Test)
    assert one.interval == pytest.approx(other.interval, abs=0.06)


ONE: Answers = {"x": runs([1, 0, 1])}
TWO: Answers = {"x": runs([1, 0, 1], [0, 0, 1])}


@pytest.mark.parametrize(
    ("result", "why"),
    [
        (bootstrap(ONE, ONE), Undefined("no spread over items")),
        (bootstrap({"x": runs([1])}, {"x": runs([0])}), Undefined("a benchmark of one item")),
        (bootstrap(ONE, {"x": runs([1])}), Undefined("other items", withheld=True)),
        (
            bootstrap(ONE, {"x": runs([1, 0, float("nan")])}),
            Undefined("the score of an item is not finite"),
        ),
        (hierarchical(ONE, TWO), Undefined("one seed")),
        (
            hierarchical({"x": runs([1, 0], [1, 0])}, {"x": runs([0, 1], [0, 1])}),
            Undefined("no spread over seeds"),
        ),
        (
            bootstrap_of(
                mean_loss,
                {"x": Items((1,), np.array([[[1.0, 0.0], [2.0, 3.0]]]))},
                {"x": Items((1,), np.array([[[1.0, 0.0], [2.0, 4.0]]]))},
            ),
            Undefined("the score of a resample is not finite"),
        ),
    ],
)
def test_what_has_no_answer_is_undefined_with_the_reason(
    result: Test | Undefined, why: Undefined
) -> None:
    assert result == why
