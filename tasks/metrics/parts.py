"""Metrics of texts as sums over the texts, so that any selection of texts can be scored."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tasks.metrics.overlap import Texts, meteor, rouge_l

Floats = NDArray[np.float64]

ORDERS = 4
"""Of the n-grams of BLEU-4."""


def bleu(hypotheses: Texts, references: Texts) -> Floats:
    """Count n-grams of each text, (texts, 10): right ones and all, by order; both lengths."""
    from sacrebleu.metrics.bleu import BLEU  # noqa: PLC0415 (start-up time)

    metric = BLEU(force=True)
    found = (
        metric.corpus_score([text], [[reference]])
        for text, reference in zip(hypotheses, references, strict=True)
    )
    return np.array([[*one.counts, *one.totals, one.sys_len, one.ref_len] for one in found], float)


def bleu_of(sums: Floats) -> Floats:
    """Give corpus BLEU-4 in percent of summed counts, (..., 10) to (...).

    An order without a right n-gram counts as 1/2, the next one as 1/4 and so on, as sacrebleu's
    smoothing `exp` does. Papineni et al., 2002.
    """
    right, total = sums[..., :ORDERS], sums[..., ORDERS : 2 * ORDERS]
    length, reference = sums[..., -2], sums[..., -1]
    smoothed = np.where(right == 0, 0.5 ** np.cumsum(right == 0, axis=-1), right)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(smoothed / total).mean(axis=-1)
        brevity = np.minimum(0.0, 1 - reference / length)
        score: Floats = 100 * np.exp(logs + brevity)
    return np.where((total[..., -1] > 0) & (right[..., 0] > 0), score, 0.0)


def mean_of(sums: Floats) -> Floats:
    """Give the mean of summed values, from sum and number, (..., 2) to (...)."""
    mean: Floats = sums[..., 0] / sums[..., 1]
    return mean


def _each(measure: Callable[[Texts, Texts], Any]) -> Callable[[Texts, Texts], Floats]:
    def parts(hypotheses: Texts, references: Texts) -> Floats:
        pairs = zip(hypotheses, references, strict=True)
        return np.array([[measure([text], [one]).value, 1.0] for text, one in pairs])

    return parts


PARTS: Mapping[str, Callable[[Texts, Texts], Floats]] = {
    "bleu": bleu,
    "rouge-l": _each(rouge_l),
    "meteor": _each(meteor),
}
"""By metric, the parts of each text, (texts, parts)."""

SCORES: Mapping[str, Callable[[Floats], Floats]] = {
    "bleu": bleu_of,
    "rouge-l": mean_of,
    "meteor": mean_of,
    "perplexity": mean_of,
}
"""By metric, the score of summed parts; of a perplexity the mean loss of a token, in nats."""
