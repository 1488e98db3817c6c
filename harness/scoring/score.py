"""From the kept files of a run to its scores, without model or data, so it can be repeated.

Every extractor of a benchmark is applied to every completion, every metric to every text.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness import plugins
from harness.scoring import flags
from harness.scoring.accuracy import accuracies, clean_accuracy, option_accuracy, verdicts
from harness.scoring.texts import overlaps, perplexities
from harness.spec.spec import Spec
from results.record import POOLED, Score
from results.runfolder.folder import RunFolder


@dataclass(frozen=True)
class Judgement:
    """The scores of a run, and what is suspicious in its answers."""

    scores: tuple[Score, ...]
    flags: tuple[str, ...]


def score(folder: RunFolder, spec: Spec) -> Judgement:
    """Judge all that a run generated, and write the verdicts."""
    judged = [Judged(folder, spec, name) for name in spec.tests]
    scores = [score for benchmark in judged for score in benchmark.scores]
    found = [flag for benchmark in judged for flag in benchmark.flags()]
    texts = [benchmark for benchmark in judged if not benchmark.verdicts]
    if texts:
        pooled = TextScores(POOLED, texts)
        scores += pooled.scores
        found += [*pooled.unavailable, *(f"{POOLED}: {flag}" for flag in pooled.infinite)]
    # Only now: a run that cannot be scored is left as it was.
    for benchmark in judged:
        if benchmark.verdicts:
            folder.write_verdicts(benchmark.name, benchmark.verdicts)
    return Judgement(tuple(scores), (*found, *flags.of_training(folder.train_record())))


class Judged:
    """The answers to one benchmark, judged."""

    def __init__(self, folder: RunFolder, spec: Spec, name: str) -> None:
        self.name, self.benchmark = name, plugins.benchmark(name)
        self.headline, self.batch_size = spec.protocol.extractor, spec.train.batch_size
        self.generations = folder.generations(name)
        _check_count(name, len(self.generations), spec)
        self.completions = [spec.protocol.heard(one.text) for one in self.generations]
        self.verdicts = verdicts(self.benchmark, self.generations, self.completions)
        self.options = folder.option_likelihoods(name) if self.benchmark.options else []
        self.references = [] if self.verdicts else folder.reference_likelihoods(name)
        self.infinite: list[str] = []
        if self.verdicts:
            self.scores = self._answers()
        else:
            texts = TextScores(name, [self])
            self.scores, self.infinite = texts.scores, texts.infinite

    def flags(self) -> Iterator[str]:
        """Name what is suspicious, each with the benchmark."""
        found = [
            *flags.of_answers(self.generations, self.completions, self.verdicts, self.headline),
            *flags.of_references(self.references),
            *self.infinite,
        ]
        if self.benchmark.options and "option likelihood" not in {s.metric for s in self.scores}:
            found.append("the likelihood of an option is not finite")
        return (f"{self.name}: {flag}" for flag in found)

    def _answers(self) -> list[Score]:
        clean = clean_accuracy(self.name, self.verdicts, self.generations, self.headline)
        found = [*accuracies(self.name, self.verdicts, self.headline), *clean]
        if self.benchmark.options:
            found += option_accuracy(self.name, self.options, self.generations)
        return found


def _check_count(name: str, count: int, spec: Spec) -> None:
    """Refuse more or fewer answers than rows; how many a fold tests is not in the spec."""
    planned = min(spec.tests[name].rows, spec.limit or spec.tests[name].rows)
    if spec.fold is None and count != planned:
        raise ValueError(f"{name}: {count} answers to {planned} rows")


class TextScores:
    """The scores of texts of one benchmark, or of several together.

    Attributes:
        scores: Those that could be measured.
        unavailable: Which metrics need something that this machine lacks.
        infinite: Which perplexities are not finite.
    """

    def __init__(self, name: str, judged: Sequence[Judged]) -> None:
        completions = [text for one in judged for text in one.completions]
        references = [generation.reference for one in judged for generation in one.generations]
        likelihoods = [row for one in judged for row in one.references]
        shared = set.intersection(*(set(one.benchmark.metrics) for one in judged))
        batch_size = judged[0].batch_size
        compared, self.unavailable = overlaps(name, completions, references, shared)
        perplexed, self.infinite = perplexities(name, likelihoods, batch_size)
        self.scores = compared + perplexed
