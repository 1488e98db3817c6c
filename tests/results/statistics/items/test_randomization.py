"""Approximate randomisation, against every swap written out, sign flips and sacreBLEU's own."""

import random
from itertools import product
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest

from results.statistics.items.drawn import DRAWS
from results.statistics.items.randomization import randomization
from results.statistics.items.sign_flip import sign_flip
from results.statistics.items.verdicts import Floats, Items
from results.statistics.test import Alternative, Test, Undefined


def ratio(sums: Floats) -> Floats:
    ratios: Floats = sums[..., 0] / sums[..., 1]
    return ratios


def runs(rows: list[tuple[int, int]]) -> Items:
    return Items((2333,), np.array([rows], float))


pairs = st.tuples(st.integers(0, 9), st.integers(1, 9))
alternatives = st.sampled_from(["two-sided", "greater"])


@given(st.lists(st.tuples(pairs, pairs), min_size=1, max_size=7), alternatives)
def test_p_is_the_share_of_all_swaps_that_are_as_extreme(
    rows: list[tuple[tuple[int, int], tuple[int, int]]], alternative: Alternative
) -> None:
    differences = []
    for swaps in product((False, True), repeat=len(rows)):
        sides = [(y, x) if swap else (x, y) for swap, (x, y) in zip(swaps, rows, strict=True)]
        scores = [
            sum(side[k][0] for side in sides) / sum(side[k][1] for side in sides) for k in (0, 1)
        ]
        differences.append(scores[0] - scores[1])
    seen = differences[0]
    if alternative == "greater":
        expected = np.mean([d >= seen - 1e-9 for d in differences])
    else:
        expected = np.mean([abs(d) >= abs(seen) - 1e-9 for d in differences])
    a, b = ({"x": runs([row[k] for row in rows])} for k in (0, 1))
    result = randomization(ratio, a, b, alternative=alternative)
    if isinstance(result, Undefined):
        assert all(x == y for x, y in rows)
    else:
        assert result.difference == pytest.approx(seen)
        assert result.p == pytest.approx(expected)


@pytest.mark.parametrize(
    ("seeds", "n", "average"), [(1, 6, "macro"), (3, 90, "macro"), (3, 90, "micro")]
)
def test_of_a_mean_it_is_the_sign_flip(seeds: int, n: int, average: str) -> None:
    rng = np.random.default_rng(9)

    def answers(mean: float) -> dict[str, Items]:
        sizes = {"x": n, "y": n + 3}
        return {k: Items((1,) * seeds, rng.normal(mean, 1, (seeds, m))) for k, m in sizes.items()}

    a, b = answers(0.2), answers(0.0)
    parts = [
        {k: Items(v.seeds, np.stack([v.values, np.ones_like(v.values)], -1)) for k, v in m.items()}
        for m in (a, b)
    ]
    flips = sign_flip(a, b, average)  # type: ignore[arg-type]
    swaps = randomization(ratio, *parts, average)  # type: ignore[arg-type]
    assert isinstance(flips, Test)
    assert isinstance(swaps, Test)
    assert swaps.difference == pytest.approx(flips.difference)
    assert abs(swaps.p - flips.p) < 6 * sqrt(flips.p * (1 - flips.p) / DRAWS)


WORDS = ["the", "a", "cat", "dog", "sat", "ran", "on", "under", "mat", "and", "then", "it", "was"]


def bleu(sums: Floats) -> Floats:
    """Corpus BLEU of 4 matches, 4 totals, and the lengths of answers and references."""
    precisions = np.log(sums[..., :4] / sums[..., 4:8]).mean(-1)
    brevity = np.minimum(0, 1 - sums[..., 9] / sums[..., 8])
    scores: Floats = 100 * np.exp(precisions + brevity)
    return scores


def texts(count: int) -> tuple[list[str], list[str], list[str]]:
    """Make references, and answers of two models that change some of their words."""
    rng = random.Random(10)
    references = [" ".join(rng.choices(WORDS, k=rng.randint(8, 15))) for _ in range(count)]

    def changed(text: str, share: float) -> str:
        words = [rng.choice(WORDS) if rng.random() < share else w for w in text.split()]
        return " ".join(words[: rng.randint(7, 15)])

    one, other = ([changed(text, share) for text in references] for share in (0.25, 0.28))
    return references, one, other


def parts(answers: list[str], references: list[str]) -> Items:
    metric = BLEU(smooth_method="none")
    rows = [
        metric._extract_corpus_statistics([answer], [[reference]])[0]
        for answer, reference in zip(answers, references, strict=True)
    ]
    # sacreBLEU's rows begin with the two lengths.
    return Items((1,), np.array([[[*row[2:], *row[:2]] for row in rows]], float))


def test_corpus_bleu_is_computed_anew_and_agrees_with_sacrebleus_own_test() -> None:
    references, one, other = texts(120)
    a, b = parts(one, references), parts(other, references)
    metric = BLEU(smooth_method="none")
    scores = [metric.corpus_score(answers, [references]).score for answers in (one, other)]
    result = randomization(bleu, {"wmt": a}, {"wmt": b})
    assert isinstance(result, Test)
    assert result.difference == pytest.approx(scores[0] - scores[1])
    paired = PairedTest(
        [("one", one), ("other", other)], {"BLEU": metric}, [references], "ar", n_samples=4000
    )
    p = paired()[1]["BLEU"][1].p_value
    assert p is not None
    assert 0.005 < p < 0.5
    assert abs(result.p - p) < 4 * sqrt(p * (1 - p) * (1 / DRAWS + 1 / 4000))


ROW = Items((1,), np.array([[[1.0, 2.0], [2.0, 2.0]]]))
TWO_SEEDS = Items((1, 2), np.ones((2, 2, 2)))
NO_TOKENS = Items((1,), np.array([[[1.0, 0.0], [2.0, 0.0]]]))


@pytest.mark.parametrize(
    ("a", "b", "why"),
    [
        (ROW, ROW, Undefined("no item tells the two apart")),
        (ROW, TWO_SEEDS, Undefined("other numbers of seeds", withheld=True)),
        (ROW, NO_TOKENS, Undefined("the score of what is swapped is not finite")),
        (ROW, Items((1,), np.ones((1, 3, 2))), Undefined("other items", withheld=True)),
    ],
)
def test_what_has_no_answer_is_undefined_with_the_reason(
    a: Items, b: Items, why: Undefined
) -> None:
    assert randomization(ratio, {"x": a}, {"x": b}) == why
