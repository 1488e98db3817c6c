"""Scores of texts that are compared with a reference."""

from collections.abc import Callable, Collection, Mapping, Sequence
from math import isfinite

from results.record import Score
from results.runfolder.values import ReferenceLikelihood
from tasks.metrics import overlap
from tasks.metrics.overlap import Measured, MetricUnavailableError
from tasks.metrics.perplexity import batch_mean_perplexity, perplexity

Overlap = Callable[[Sequence[str], Sequence[str]], Measured]

OVERLAPS: Mapping[str, Overlap] = {
    "bleu": overlap.bleu,
    "rouge-l": overlap.rouge_l,
    "meteor": overlap.meteor,
}
"""Shown in tables where a benchmark names them."""
UNTABLED: Mapping[str, Overlap] = {"sentence bleu": overlap.sentence_bleu}
"""Measured for every text, but in no table."""


def overlaps(
    name: str, completions: Sequence[str], references: Sequence[str], tabled: Collection[str]
) -> tuple[list[Score], list[str]]:
    """Score completions by their overlap with references; name the metrics that cannot be measured.

    Args:
        name: The benchmark, or `POOLED`.
        completions: The texts of the model.
        references: As many.
        tabled: The metrics of `OVERLAPS` that tables show of this benchmark.
    """
    scores, missing = [], []
    wanted = {metric: measure for metric, measure in OVERLAPS.items() if metric in tabled}
    for metric, measure in {**wanted, **UNTABLED}.items():
        try:
            measured = measure(completions, references)
        except MetricUnavailableError as error:
            missing.append(f"{metric} is not measured: {error}")
            continue
        scores.append(
            Score(
                name,
                metric,
                "",
                metric in wanted,
                measured.value,
                len(references),
                signature=measured.signature,
            )
        )
    return scores, missing


def perplexities(
    name: str, likelihoods: Sequence[ReferenceLikelihood], batch_size: int
) -> tuple[list[Score], list[str]]:
    """Score references by token, and by batches of whole texts as HyCAM's code does.

    A reference none of whose tokens the model could read counts for nothing. A perplexity that is
    not finite is left out of the scores and named in the flags.
    """
    rows = [
        (row.answer, row.answer_tokens, row.text, row.text_tokens) if row.answer_tokens else EMPTY
        for row in likelihoods
    ]
    if all(row is EMPTY for row in rows):
        return [], []
    answer, answer_tokens, text, text_tokens = zip(*rows, strict=True)
    by_batch = batch_mean_perplexity(text, text_tokens, batch_size)
    measured = [
        Score(name, "perplexity", "", True, perplexity(answer, answer_tokens), sum(answer_tokens)),
        Score(name, "perplexity (hycam)", "", False, by_batch, sum(text_tokens)),
    ]
    flags = [
        f"{score.metric} is not measured: it is {score.value}"
        for score in measured
        if not isfinite(score.value)
    ]
    return [score for score in measured if isfinite(score.value)], flags


EMPTY = (0.0, 0, 0.0, 0)
"""The likelihoods of a row that counts for nothing but keeps its place in its batch."""
