"""Perplexity from the negative log-likelihoods of rows, in two ways that do not compare."""

from collections.abc import Sequence
from math import exp, inf


def perplexity(nll: Sequence[float], tokens: Sequence[int]) -> float:
    """Measure perplexity in which every token counts the same, however rows are batched.

    Rows of 1 and 3 tokens with likelihoods of 1/2 and 1/8: the fourth root of 2 times 8.

        >>> from math import log
        >>> round(perplexity([log(2), log(8)], [1, 3]), 6)
        2.0

    Args:
        nll: By row, the sum over its tokens, in nats.
        tokens: By row, how many tokens the sum is over.

    Returns:
        Infinity where it is too large for a float.

    Raises:
        ValueError: Not as many counts as sums, or no tokens.
    """
    return _exp(_mean(list(zip(nll, tokens, strict=True))))


def batch_mean_perplexity(nll: Sequence[float], tokens: Sequence[int], batch_size: int) -> float:
    """Measure perplexity as HyCAM's released code does: every batch counts the same.

    The exponential of the mean, over batches of rows in file order, of the mean over the tokens
    of the batch. So the number depends on `batch_size` and on the order, and a last batch that is
    not full counts as much as the others. That code counts the tokens of the prompt too: give
    sums and counts over prompt and answer.

    The batches below, of two rows and of one, have means of log 2 and log 8.

        >>> from math import log
        >>> round(batch_mean_perplexity([log(2), log(8), log(8)], [1, 3, 1], 2), 6)
        4.0

    Args:
        nll: By row, the sum over its tokens, in nats.
        tokens: By row, how many tokens the sum is over.
        batch_size: Rows in a batch.

    Returns:
        Infinity where it is too large for a float.

    Raises:
        ValueError: Not as many counts as sums, no rows, or a batch without tokens.
    """
    rows = list(zip(nll, tokens, strict=True))
    starts = range(0, len(rows), batch_size)
    means = [_mean(rows[start : start + batch_size]) for start in starts]
    return _exp(_mean([(mean, 1) for mean in means]))


def _mean(rows: Sequence[tuple[float, int]]) -> float:
    count = sum(tokens for _, tokens in rows)
    if not count:
        raise ValueError(f"{len(rows)} rows without a token; perplexity is over at least one.")
    return sum(nll for nll, _ in rows) / count


def _exp(mean: float) -> float:
    try:
        return exp(mean)
    except OverflowError:
        return inf
