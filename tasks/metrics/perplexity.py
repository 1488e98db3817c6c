"""Perplexity from the negative log-likelihoods of rows, in two ways that do not compare."""

from collections.abc import Iterable, Sequence
from math import exp, inf


def perplexity(nll: Sequence[float], tokens: Sequence[int]) -> float:
    """Measure perplexity in which every token counts the same, however rows are batched.

    Rows of 1 and 3 tokens with likelihoods of 1/2 and 1/8: the fourth root of 2 times 8.

        >>> from math import log
        >>> round(perplexity([log(2), log(8)], [1, 3]), 6)
        2.0

    Args:
        nll: For each row, the sum over its tokens, in nats.
        tokens: For each row, the number of its tokens. A row of 0 tokens, which the model could
            not read, is left out.

    Returns:
        At least 1. Infinity if it is too large for a float, and NaN if a sum is: the caller has to
        report both.

    Raises:
        ValueError: Not as many counts as sums, or no tokens.
    """
    return _exp(_mean(_read(zip(nll, tokens, strict=True))))


def batch_mean_perplexity(nll: Sequence[float], tokens: Sequence[int], batch_size: int) -> float:
    """Measure perplexity as HyCAM's released code does: every batch counts the same.

    The mean over the tokens of each batch, the mean of these over the batches, and its exponential.
    So the number depends on `batch_size` and on the order of rows, and a last batch that is not
    full counts as much as the others. That code counts the tokens of the prompt too: give sums and
    counts over prompt and answer.

    Give all rows, in file order. A row of 0 tokens keeps its place in its batch but is left out of
    the mean; a batch of such rows alone is skipped.

    The batches below, of two rows and of one, have means of log 2 and log 8.

        >>> from math import log
        >>> round(batch_mean_perplexity([log(2), log(8), log(8)], [1, 3, 1], 2), 6)
        4.0

    Args:
        nll: For each row, the sum over its tokens, in nats.
        tokens: For each row, the number of its tokens; 0 if the model could not read it.
        batch_size: Rows in a batch.

    Returns:
        At least 1. Infinity if it is too large for a float, and NaN if a sum is: the caller has to
        report both.

    Raises:
        ValueError: Not as many counts as sums, or no tokens.
    """
    rows = list(zip(nll, tokens, strict=True))
    starts = range(0, len(rows), batch_size)
    batches = [_read(rows[start : start + batch_size]) for start in starts]
    return _exp(_mean([(_mean(batch), 1) for batch in batches if batch]))


def _read(rows: Iterable[tuple[float, int]]) -> list[tuple[float, int]]:
    return [(nll, tokens) for nll, tokens in rows if tokens]


def _mean(rows: Sequence[tuple[float, int]]) -> float:
    if not rows:
        raise ValueError("No row has a token; perplexity is over at least one.")
    return sum(nll for nll, _ in rows) / sum(tokens for _, tokens in rows)


def _exp(mean: float) -> float:
    try:
        return exp(mean)
    except OverflowError:
        return inf
