"""From what a run kept of its evaluation to scores, without the model: so it can be done again.

Every extractor of a benchmark is applied to every completion, every metric to every text.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

from harness import plugins
from harness.spec.spec import Spec
from harness.worker.rows import Rows
from results.record import POOLED
from results.runfolder.folder import RunFolder
from tasks.contract import Benchmark, Row
from tasks.data.contamination import contaminated
from tasks.metrics import overlap
from tasks.metrics.degeneration import degeneration
from tasks.metrics.overlap import Measured, MetricUnavailableError
from tasks.metrics.perplexity import batch_mean_perplexity, perplexity

Line = dict[str, Any]
Scores = list[dict[str, Any]]

MOST_UNPARSED = 0.1
"""A larger share of answers that cannot be read is told: it is a failure of form, not of skill."""

Overlap = Callable[[Sequence[str], Sequence[str]], Measured]

OVERLAPS: Mapping[str, Overlap] = {
    "bleu": overlap.bleu,
    "rouge-l": overlap.rouge_l,
    "meteor": overlap.meteor,
}
MORE: Mapping[str, Overlap] = {"sentence bleu": overlap.sentence_bleu}
"""Measured of every text, but in no table."""


def score(folder: RunFolder, spec: Spec, rows: Rows) -> dict[str, list[Any]]:
    """Judge all that a run generated; write the verdicts, return scores and flags."""
    judged = [Judged(folder, spec, rows, name) for name in spec.tests]
    scores = [score for one in judged for score in one.scores()]
    flags = [flag for one in judged for flag in one.flags()]
    texts = [one for one in judged if not one.benchmark.extractors]
    if texts:
        found, missing = _of_texts(POOLED, texts)
        scores += found
        flags += missing
    # Only now: a run that cannot be scored is left as it was.
    for one in judged:
        if one.verdicts:
            folder.write_lines(f"verdicts/{one.name}.jsonl", one.verdicts)
    return {"scores": scores, "flags": flags + _of_training(folder)}


class Judged:
    """The completions of one benchmark with what they are judged by."""

    def __init__(self, folder: RunFolder, spec: Spec, rows: Rows, name: str) -> None:
        self.name, self.folder, self.protocol = name, folder, spec.protocol
        self.benchmark = plugins.benchmark(name)
        self.rows, self.batch_size = rows.tests[name], spec.train.batch_size
        self.lines: list[Line] = folder.read_lines(f"generations/{name}.jsonl")
        if [line["id"] for line in self.lines] != [row.id for row in self.rows]:
            raise ValueError(f"{name}: the generations are not those of the rows of the run")
        self.known = contaminated(
            (row.question for row in rows.train), [row.question for row in self.rows]
        )
        """Places of test rows that the training set holds."""
        self.completions = [self.protocol.heard(line["text"]) for line in self.lines]
        self.verdicts = verdicts(self.benchmark, self.rows, self.completions)

    def scores(self) -> Scores:
        """Give every score of the benchmark."""
        if not self.benchmark.extractors:
            return _of_texts(self.name, [self])[0]
        found = accuracies(self.name, self.verdicts, self.protocol.extractor)
        return [*found, *self._clean(), *self._by_likelihood()]

    def flags(self) -> Iterator[str]:
        """Name what is degenerate in the completions, and which prompts were too long."""
        headline = self.protocol.extractor
        extracted = [one["extracted"][headline] for one in self.verdicts]
        gold = [row.answer for row in self.rows] if extracted else []
        ended = [line["ended"] for line in self.lines]
        for sentence in degeneration(self.completions, ended, extracted, gold).sentences():
            yield f"{self.name}: {sentence}"
        unparsed = extracted.count("") / len(extracted) if extracted else 0
        if unparsed > MOST_UNPARSED:
            yield f"{self.name}: no answer found in {100 * unparsed:.0f} %"
        counted = {
            "prompts longer than the limit, which were not cut": self._count("long", self.lines),
            "references longer than the model reads, cut for perplexity": self._count(
                "cut", self.likelihoods()
            ),
            f"of {len(self.rows)} test rows are in the training set": len(self.known),
        }
        for what, count in counted.items():
            if count:
                yield f"{self.name}: {count} {what}"
        if self.benchmark.options and not self._by_likelihood():
            yield f"{self.name}: the likelihood of an option is not a number"

    def likelihoods(self) -> list[Line]:
        """Read what the worker took of likelihoods; nothing where it took none."""
        file = f"likelihoods/{self.name}.jsonl"
        return self.folder.read_lines(file) if self.folder.has(file) else []

    def _count(self, key: str, lines: Sequence[Line]) -> int:
        return sum(bool(line.get(key)) for line in lines)

    def _clean(self) -> Scores:
        """Score the rows that are not found in the training set, by the headline extractor."""
        headline = self.protocol.extractor
        clean = [one for place, one in enumerate(self.verdicts) if place not in self.known]
        if not clean:
            return []
        share = _share([one["correct"][headline] for one in clean])
        return [_score(self.name, "clean accuracy", headline, share, len(clean))]

    def _by_likelihood(self) -> Scores:
        """Score the options that the model finds most likely; of equals the first counts."""
        if not self.benchmark.options:
            return []
        lines = self.likelihoods()
        if not all(isfinite(value) for line in lines for value in line["options"].values()):
            return []
        chosen = [max(line["options"], key=line["options"].get) for line in lines]
        right = [one == row.answer for one, row in zip(chosen, self.rows, strict=True)]
        return [_score(self.name, "option likelihood", "", _share(right), len(right), True)]


def verdicts(benchmark: Benchmark, rows: Sequence[Row], completions: Sequence[str]) -> list[Line]:
    """Say per row what each extractor found and whether it is right; nothing without extractors."""
    found = []
    if not benchmark.extractors:
        return []
    for row, completion in zip(rows, completions, strict=True):
        extracted = {name: take(completion) for name, take in benchmark.extractors.items()}
        correct = {n: benchmark.judge(one, row.answer) for n, one in extracted.items()}
        found.append({"id": row.id, "extracted": extracted, "correct": correct})
    return found


def accuracies(name: str, found: Sequence[Line], headline: str) -> Scores:
    """Score a benchmark under each extractor."""
    return [
        _score(
            name,
            "accuracy",
            extractor,
            _share([verdict["correct"][extractor] for verdict in found]),
            len(found),
            extractor == headline,
            unparsed=sum(not verdict["extracted"][extractor] for verdict in found),
        )
        for extractor in found[0]["correct"]
    ]


def _of_texts(name: str, judged: Sequence[Judged]) -> tuple[Scores, list[str]]:
    """Score texts of one benchmark, or of several together; say which metric cannot be had."""
    scores, missing = [], []
    references = [row.output for one in judged for row in one.rows]
    completions = [text for one in judged for text in one.completions]
    wanted = {metric: measure for metric, measure in OVERLAPS.items() if _shown(metric, judged)}
    for metric, measure in {**wanted, **MORE}.items():
        try:
            found = measure(completions, references)
        except MetricUnavailableError as error:
            missing.append(f"{metric} is not measured: {error}")
            continue
        fields = (name, metric, "", found.value, len(references), metric in wanted)
        scores.append(_score(*fields, signature=found.signature))
    lines = [line for one in judged for line in one.likelihoods()]
    return scores + _perplexities(name, lines, judged[0].batch_size), missing


def _shown(metric: str, judged: Sequence[Judged]) -> bool:
    return all(metric in one.benchmark.metrics for one in judged)


def _perplexities(name: str, lines: Sequence[Line], batch_size: int) -> Scores:
    """Score references by token, and by batches of whole texts as HyCAM's code does.

    A perplexity beyond the largest float is left out, and so is a reference none of whose tokens
    the model could read.
    """
    lines = [line for line in lines if line["answer_tokens"]]
    if not lines:
        return []
    answer, text = ([line[key] for line in lines] for key in ("answer", "text"))
    answers, texts = ([line[f"{key}_tokens"] for line in lines] for key in ("answer", "text"))
    by_batch = batch_mean_perplexity(text, texts, batch_size)
    found = [
        _score(name, "perplexity", "", perplexity(answer, answers), sum(answers), True),
        _score(name, "perplexity (hycam)", "", by_batch, sum(texts)),
    ]
    return [one for one in found if isfinite(one["value"])]


def _of_training(folder: RunFolder) -> list[str]:
    """Say which training rows were not trained on, or not whole."""
    record = folder.read("adapter/train.json")
    said = {
        "dropped": "training rows dropped: no answer within the limit of tokens",
        "cut": "training rows cut at the limit of tokens",
    }
    return [f"{record[key]} {text}" for key, text in said.items() if record[key]]


def _score(
    benchmark: str,
    metric: str,
    extractor: str,
    value: float,
    n: int,
    headline: bool = False,
    **more: Any,
) -> dict[str, Any]:
    fields = {"benchmark": benchmark, "metric": metric, "extractor": extractor}
    return {**fields, "headline": headline, "value": value, "n": n, **more}


def _share(right: Sequence[bool]) -> float:
    return sum(right) / len(right)
