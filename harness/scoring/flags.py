"""What is suspicious in the answers of a run, in sentences beside its numbers."""

from collections.abc import Iterator, Sequence

from results.runfolder.values import Generation, ReferenceLikelihood, TrainRecord, Verdict
from tasks.metrics.degeneration import degeneration

MOST_UNPARSED = 0.1
"""Above this share of unparsable answers the run is flagged."""


def of_answers(
    generations: Sequence[Generation],
    completions: Sequence[str],
    judged: Sequence[Verdict],
    headline: str,
) -> Iterator[str]:
    """Name what is degenerate in the completions, and which prompts are too long or not new."""
    extracted = [verdict.extracted[headline] for verdict in judged]
    gold = [generation.answer for generation in generations] if judged else []
    ended = [generation.ended for generation in generations]
    yield from degeneration(completions, ended, extracted, gold).sentences()
    unparsed = extracted.count("") / len(extracted) if extracted else 0
    if unparsed > MOST_UNPARSED:
        yield f"no answer found in {100 * unparsed:.0f} %"
    long = sum(generation.long for generation in generations)
    if long:
        yield f"{long} prompts longer than the limit, which were not cut"
    known = sum(generation.in_training for generation in generations)
    if known:
        yield f"{known} of {len(generations)} test rows are in the training set"


def of_references(likelihoods: Sequence[ReferenceLikelihood]) -> Iterator[str]:
    """Say how many references were cut."""
    cut = sum(row.cut for row in likelihoods)
    if cut:
        yield f"{cut} references longer than the model reads, cut for perplexity"


def of_training(record: TrainRecord | None) -> Iterator[str]:
    """Say which training rows were not trained on, or not whole; nothing without training."""
    if record and record.dropped:
        yield f"{record.dropped} training rows dropped: no answer within the limit of tokens"
    if record and record.cut:
        yield f"{record.cut} training rows cut at the limit of tokens"
    if record and record.halvings:
        yield f"micro-batch halved {_times(record.halvings)}: memory was short; same rows per step"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
