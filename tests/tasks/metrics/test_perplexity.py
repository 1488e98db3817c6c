"""Perplexity, against values worked out by hand from likelihoods that are powers of two."""

from math import inf, isclose, log, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.metrics.perplexity import batch_mean_perplexity, perplexity

ROWS = st.lists(st.tuples(st.floats(0, 1000), st.integers(1, 1200)), min_size=1, max_size=30)


def bits(*counts: int) -> list[float]:
    """Negative log-likelihoods of 2 ** -count."""
    return [count * log(2) for count in counts]


def test_perplexity_weighs_rows_by_their_tokens() -> None:
    # 2 + 6 + 4 bits over 1 + 3 + 2 tokens: 2 bits a token.
    assert isclose(perplexity(bits(2, 6, 4), [1, 3, 2]), 4)
    # 1 bit over one token, 9 over nine tokens and none over ten: half a bit a token, where the
    # mean of the rows' perplexities would be 5/3.
    assert isclose(perplexity(bits(1, 9, 0), [1, 9, 10]), 2**0.5)


def test_batch_mean_perplexity_weighs_batches_alike() -> None:
    # Batches of rows 1-2, 3-4 and 5: 8 bits over 4 tokens, 3 over 3, 3 over 1; mean 2 bits.
    nll, tokens = bits(2, 6, 1, 2, 3), [1, 3, 1, 2, 1]
    assert isclose(batch_mean_perplexity(nll, tokens, 2), 4)
    # All together: 14 bits over 8 tokens.
    assert isclose(perplexity(nll, tokens), 2**1.75)


def test_batch_mean_perplexity_depends_on_batch_size_and_order() -> None:
    # Row by row: 0 and 3 bits a token, mean 1.5; in one batch 3 bits over 3 tokens.
    assert isclose(batch_mean_perplexity(bits(0, 3), [2, 1], 1), 2**1.5)
    assert isclose(batch_mean_perplexity(bits(0, 3), [2, 1], 2), 2)
    # Batches 0, 0 | 3 and 0, 3 | 0, over one token each: 0 and 3 bits, 1.5 and 0 bits.
    assert isclose(batch_mean_perplexity(bits(0, 0, 3), [1, 1, 1], 2), 2**1.5)
    assert isclose(batch_mean_perplexity(bits(0, 3, 0), [1, 1, 1], 2), 2**0.75)


def test_rows_without_tokens_keep_their_places_in_the_batches() -> None:
    # Rows of 2, -, 6, 1 and 4 bits, a token each, in batches of two: 2 and - | 6 and 1 | 4. So the
    # batches have 2, 3.5 and 4 bits, mean 19/6; without the second row it were 4 and 2.5, 3.25.
    nll, tokens = [*bits(2), 0.0, *bits(6, 1, 4)], [1, 0, 1, 1, 1]
    assert isclose(batch_mean_perplexity(nll, tokens, 2), 2 ** (19 / 6))
    # 13 bits over 4 tokens.
    assert isclose(perplexity(nll, tokens), 2**3.25)


def test_a_batch_without_tokens_is_skipped() -> None:
    # Batches of 1 and 3 bits around one of two rows without tokens.
    nll, tokens = [*bits(1, 1), 0.0, 0.0, *bits(3)], [1, 1, 0, 0, 1]
    assert isclose(batch_mean_perplexity(nll, tokens, 2), 4)


@pytest.mark.parametrize("nll", [nan, inf, 5.0])
def test_what_is_given_for_a_row_without_tokens_is_no_matter(nll: float) -> None:
    assert isclose(perplexity([nll, *bits(2)], [0, 1]), 4)
    assert isclose(batch_mean_perplexity([nll, *bits(2)], [0, 1], 2), 4)


@given(ROWS)
def test_in_one_batch_both_are_the_same(rows: list[tuple[float, int]]) -> None:
    nll, tokens = [nll for nll, _ in rows], [count for _, count in rows]
    assert batch_mean_perplexity(nll, tokens, len(rows)) == perplexity(nll, tokens)


@given(ROWS, st.integers(1, 8))
def test_perplexity_lies_between_those_of_the_rows(
    rows: list[tuple[float, int]], batch_size: int
) -> None:
    nll, tokens = [nll for nll, _ in rows], [count for _, count in rows]
    means = [nll / count for nll, count in rows]
    low = perplexity([min(means) * (1 - 1e-9)], [1])
    high = perplexity([max(means) * (1 + 1e-9)], [1])
    assert low <= perplexity(nll, tokens) <= high
    assert low <= batch_mean_perplexity(nll, tokens, batch_size) <= high


@pytest.mark.parametrize("nll", [710.0, 1e308, inf])
def test_what_is_too_large_for_a_float_is_infinite(nll: float) -> None:
    assert perplexity([nll, nll], [1, 1]) == inf
    assert batch_mean_perplexity([nll, nll], [1, 1], 1) == inf


@pytest.mark.parametrize(
    ("nll", "tokens"),
    [([1.0, 2.0], [1]), ([1.0], [1, 2]), ([], []), ([0.0], [0]), ([0.0] * 3, [0] * 3)],
)
def test_rows_without_their_counts_or_without_tokens_are_refused(
    nll: list[float], tokens: list[int]
) -> None:
    with pytest.raises(ValueError, match=r"argument|token"):
        perplexity(nll, tokens)
    with pytest.raises(ValueError, match=r"argument|token"):
        batch_mean_perplexity(nll, tokens, 2)
