"""Scores of answers that are right or wrong, under every extractor."""

from collections.abc import Sequence
from math import isfinite

from results.record import Score
from results.runfolder.values import Generation, OptionLikelihoods, Verdict
from tasks.contract import EXTRACTOR_VERSIONS, Benchmark


def verdicts(
    benchmark: Benchmark, generations: Sequence[Generation], completions: Sequence[str]
) -> list[Verdict]:
    """Judge each completion by what each extractor finds in it; nothing without extractors."""
    if not benchmark.extractors:
        return []
    judged = []
    for generation, completion in zip(generations, completions, strict=True):
        extracted = {name: extract(completion) for name, extract in benchmark.extractors.items()}
        correct = {
            name: benchmark.judge(answer, generation.answer) for name, answer in extracted.items()
        }
        judged.append(Verdict(id=generation.id, extracted=extracted, correct=correct))
    return judged


def accuracies(name: str, judged: Sequence[Verdict], headline: str) -> list[Score]:
    """Score a benchmark under each extractor."""
    return [
        Score(
            name,
            "accuracy",
            extractor,
            extractor == headline,
            _share([verdict.correct[extractor] for verdict in judged]),
            len(judged),
            unparsed=sum(not verdict.extracted[extractor] for verdict in judged),
            extractor_version=EXTRACTOR_VERSIONS.get(extractor, 1),
        )
        for extractor in judged[0].correct
    ]


def clean_accuracy(
    name: str, judged: Sequence[Verdict], generations: Sequence[Generation], headline: str
) -> list[Score]:
    """Score the rows that the training set does not hold; nothing if it holds them all."""
    clean = [
        verdict.correct[headline]
        for verdict, generation in zip(judged, generations, strict=True)
        if not generation.in_training
    ]
    if not clean:
        return []
    version = EXTRACTOR_VERSIONS.get(headline, 1)
    share = _share(clean)
    return [
        Score(name, "clean accuracy", headline, False, share, len(clean), extractor_version=version)
    ]


def option_accuracy(
    name: str, likelihoods: Sequence[OptionLikelihoods], generations: Sequence[Generation]
) -> list[Score]:
    """Score the options that the model finds most likely, the first of equals.

    Nothing if a likelihood is not finite.
    """
    values = [value for row in likelihoods for value in row.options.values()]
    if not all(map(isfinite, values)):
        return []
    chosen = [max(row.options, key=row.options.__getitem__) for row in likelihoods]
    right = [
        option == generation.answer for option, generation in zip(chosen, generations, strict=True)
    ]
    return [Score(name, "option likelihood", "", True, _share(right), len(right))]


def _share(right: Sequence[bool]) -> float:
    return sum(right) / len(right)
