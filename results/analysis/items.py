"""The items of a run, each a prompt with its answer and verdict, and those of two runs compared."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from results.record import Score

Kind = Literal["right", "wrong", "unparsed", "cut"]

PairKind = Literal["gained", "lost", "both-right", "both-wrong", "different-answer"]
"""`gained`: the first of two runs is right and the second is wrong; `lost`: the other way."""


@dataclass(frozen=True)
class Item:
    """One row of one benchmark, as one run answered it."""

    benchmark: str
    id: int
    """Place of the row in its file, from 0."""
    prompt: str
    """As the model saw it; empty where the run folder keeps none."""
    gold: str
    """The gold answer; empty where there is no single right one, or none was kept."""
    reference: str
    """The text to compare with; empty where the answer is judged."""
    answer: str
    """All that the model generated, special tokens left out."""
    judged: str
    """What of it was judged: the protocol may end an answer at a text."""
    tokens: tuple[int, ...]
    """The generated tokens."""
    ended: bool
    """Whether the model ended the answer, or the limit did."""
    long: bool
    """Whether the prompt exceeds the limit of tokens; it was not cut."""
    in_training: bool
    """Whether the training set holds the question."""
    extractor: str
    """The extractor that decides; empty where nothing is extracted."""
    extracted: Mapping[str, str]
    """What was found, by extractor; an empty text where it found nothing."""
    correct: Mapping[str, bool]
    """Whether that is right, by extractor."""
    likelihoods: Mapping[str, float]
    """Log-likelihoods in nats, of each option or of the reference; empty if none were taken."""

    @property
    def verdict(self) -> Literal["right", "wrong", ""]:
        """What the extractor that decides says; empty where the answer is not judged."""
        if not self.correct:
            return ""
        return "right" if self.correct[self.extractor] else "wrong"

    @property
    def kinds(self) -> set[Kind]:
        """The kinds that it is of; an answer in which nothing was found is wrong too."""
        kinds: dict[Kind, bool] = {
            "right": self.verdict == "right",
            "wrong": self.verdict == "wrong",
            "unparsed": self.found == "",
            "cut": not self.ended,
        }
        return {kind for kind, holds in kinds.items() if holds}

    @property
    def found(self) -> str | None:
        """What the extractor that decides found; None where nothing is extracted."""
        return self.extracted.get(self.extractor)

    @property
    def choice(self) -> str:
        """The most likely option, the first of equals; empty without options."""
        options = self.likelihoods if self.correct else {}
        return max(options, key=options.__getitem__) if options else ""


@dataclass(frozen=True)
class Pair:
    """One row as two runs answered it."""

    first: Item
    second: Item

    @property
    def kinds(self) -> set[PairKind]:
        """The kinds that it is of; answers that are not judged can only be different."""
        verdicts = self.first.verdict, self.second.verdict
        kinds: dict[PairKind, bool] = {
            "gained": verdicts == ("right", "wrong"),
            "lost": verdicts == ("wrong", "right"),
            "both-right": verdicts == ("right", "right"),
            "both-wrong": verdicts == ("wrong", "wrong"),
            "different-answer": _told(self.first) != _told(self.second),
        }
        return {kind for kind, holds in kinds.items() if holds}


@dataclass(frozen=True)
class Agreement:
    """How many items of a benchmark two runs of one spec answered how alike."""

    benchmark: str
    bit_equal: int
    """Tokens and likelihoods are equal to the last bit."""
    same_answer: int
    """Not so, but what was found, the verdicts and the chosen option are; of a text, the text."""
    different: tuple[int, ...]
    """The ids of the items with another answer."""


@dataclass(frozen=True)
class ScorePair:
    """A headline score before and after; None where a run lacks it."""

    benchmark: str
    metric: str
    before: float | None
    after: float | None


@dataclass(frozen=True)
class Rerun:
    """A stored run and another run of its spec, compared."""

    run_id: str
    title: str
    agreements: tuple[Agreement, ...]
    scores: tuple[ScorePair, ...]
    environment: Mapping[str, tuple[object, object]]
    """What differs in the environment, before and after, such as "packages.torch"."""
    adapter_equal: bool | None
    """Whether the weights of the two adapters are equal; None where nothing was trained."""
    folder: str
    """Of the new run, if it was kept."""

    @property
    def same(self) -> bool:
        """Whether all answers are the same."""
        return not any(one.different for one in self.agreements)


def of_kinds(items: Iterable[Item], kinds: Collection[Kind]) -> list[Item]:
    """Keep the items that are of every one of `kinds`."""
    return [item for item in items if item.kinds.issuperset(kinds)]


def pairs(first: Iterable[Item], second: Iterable[Item]) -> list[Pair]:
    """Put the items of the same rows side by side, in the order of `first`."""
    others = {(item.benchmark, item.id): item for item in second}
    keyed = ((item, others.get((item.benchmark, item.id))) for item in first)
    return [Pair(item, other) for item, other in keyed if other is not None]


def disagreeing(found: Iterable[Pair]) -> list[Pair]:
    """Keep the pairs whose verdicts differ."""
    return [pair for pair in found if pair.first.verdict != pair.second.verdict]


def agreement(benchmark: str, found: Sequence[Pair]) -> Agreement:
    """Count how alike two runs answered the rows of a benchmark."""
    equal = [_bits(pair.first) == _bits(pair.second) for pair in found]
    same = [_answer(pair.first) == _answer(pair.second) for pair in found]
    return Agreement(
        benchmark,
        bit_equal=sum(equal),
        same_answer=sum(s and not e for s, e in zip(same, equal, strict=True)),
        different=tuple(
            pair.first.id for pair, s, e in zip(found, same, equal, strict=True) if not (s or e)
        ),
    )


def score_pairs(before: Iterable[Score], after: Iterable[Score]) -> tuple[ScorePair, ...]:
    """Put the headline scores of two runs side by side."""
    first, second = _headline(before), _headline(after)
    return tuple(ScorePair(*key, first.get(key), second.get(key)) for key in first | second)


def _told(item: Item) -> str | None:
    """Give what decides over an item: what was found in it, or of a text all that is judged."""
    return item.judged if item.found is None else item.found


def _bits(item: Item) -> tuple[object, ...]:
    # As text, in which a NaN equals itself.
    return item.tokens, item.answer, item.ended, repr(dict(item.likelihoods))


def _answer(item: Item) -> tuple[object, ...]:
    judged = item.extracted, item.correct, item.choice
    return judged if item.correct else (item.answer,)


def _headline(scores: Iterable[Score]) -> dict[tuple[str, str], float]:
    return {(one.benchmark, one.metric): one.value for one in scores if one.headline}
