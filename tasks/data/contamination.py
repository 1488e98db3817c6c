"""Test questions that a training set holds, and questions that benchmarks share.

    "Tom has 1,200 pens ."  ->  "tom has 1 200 pens"  ->  masked: "tom has # pens"

Texts are compared in three ways; the second and the third find all that the first one finds:

* exact: the normalised texts are equal;
* masked: they are equal once every number is masked, so the same story with other numbers counts;
* ngram: they share 13 words in a row, as in Brown et al., 2020, Language Models are Few-Shot
  Learners, appendix C.

A question that was put in other words is not found.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, takewhile

WORD = re.compile(r"[^\W_]+")
NUMBERS = re.compile(r"\d+(?: \d+)*")
N = 13


@dataclass(frozen=True)
class Findings:
    """The items of one benchmark that were found in a training set.

    Attributes:
        n: How many items the benchmark has.
        exact: Places, from 0 and rising, of the items whose normalised text is in the set.
        masked: Places of those that are in it once numbers are masked; contains `exact`.
        ngram: Places of those that share 13 words in a row with it; contains `exact`.
    """

    n: int
    exact: tuple[int, ...]
    masked: tuple[int, ...]
    ngram: tuple[int, ...]


@dataclass(frozen=True)
class Overlap:
    """What two benchmarks share, by normalised text.

    Attributes:
        first: One benchmark.
        second: The other one.
        questions: How many different questions they share.
        first_rows: How many rows of the first hold them; more than `questions` if some repeat.
        second_rows: The same of the second.
    """

    first: str
    second: str
    questions: int
    first_rows: int
    second_rows: int


@dataclass(frozen=True)
class Report:
    """What was found in a training set, and what the benchmarks have in common.

    Attributes:
        benchmarks: The findings by benchmark.
        overlaps: Every pair that shares a question, in the order of `benchmarks`.
    """

    benchmarks: Mapping[str, Findings]
    overlaps: tuple[Overlap, ...]


def normalise(text: str) -> str:
    """Keep letters and digits, in NFKC and lower case, with one space between two words.

    Punctuation, symbols and white space separate words and are dropped, so that `3.5` is the
    two words `3 5`, `2 + 2` is `2 2` and `can't` is `can t`, not `cant`. Texts that differ in
    symbols alone are thus the same, and `1,200` differs from `1200` until numbers are masked.

        >>> normalise(" Tom's pens cost $3.50   each ?")
        'tom s pens cost 3 50 each'
    """
    return " ".join(WORD.findall(unicodedata.normalize("NFKC", text).lower()))


def mask(normalised: str) -> str:
    """Replace every number of a normalised text by `#`; spelled numbers stay.

    Numbers with nothing but punctuation between them are one, since `1,200`, `3.5` and `3/4` are.

        >>> mask(normalise("1,200 pens, 3.5 each, 4th of two boxes"))
        '# pens # each #th of two boxes'
    """
    return NUMBERS.sub("#", normalised)


def ngrams(normalised: str) -> Iterator[str]:
    """Yield each run of 13 words; none where there are fewer words."""
    words = normalised.split()
    return (" ".join(words[start : start + N]) for start in range(len(words) - N + 1))


def contaminated(training: Iterable[str], questions: Sequence[str]) -> frozenset[int]:
    """Find the places of the questions whose normalised text is in the training texts.

    >>> sorted(contaminated(["tom has 2 pens"], ["Who?", "Tom has 2 pens.", "Tom has 3 pens."]))
    [1]
    """
    normalised = [normalise(question) for question in questions]
    found = set(normalised).intersection(map(normalise, training))
    return frozenset(_places(question in found for question in normalised))


def report(training: Iterable[str], tests: Mapping[str, Sequence[str]]) -> Report:
    """Look for the questions of each benchmark in the training texts.

    Only the questions are kept in memory; the training texts are read once. A benchmark's prompt
    template is no finding: 13-grams are taken after the words with which all of its texts begin.
    A question that has fewer than 13 words from there on counts as `ngram` only if it is found
    exactly.
    """
    questions = {name: [normalise(text) for text in texts] for name, texts in tests.items()}
    bodies = {name: _without_template(texts) for name, texts in questions.items()}
    exact = {text for texts in questions.values() for text in texts}
    masked = set(map(mask, exact))
    grams = {gram for texts in bodies.values() for text in texts for gram in ngrams(text)}
    found: set[str] = set()
    found_masked: set[str] = set()
    found_grams: set[str] = set()
    for text in map(normalise, training):
        found |= exact & {text}
        found_masked |= masked & {mask(text)}
        found_grams.update(grams.intersection(ngrams(text)))
    findings = {
        name: Findings(
            n=len(texts),
            exact=_places(text in found for text in texts),
            masked=_places(mask(text) in found_masked for text in texts),
            ngram=_places(
                text in found or not found_grams.isdisjoint(ngrams(body))
                for text, body in zip(texts, bodies[name], strict=True)
            ),
        )
        for name, texts in questions.items()
    }
    pairs = (_overlap(first, second, questions) for first, second in combinations(questions, 2))
    return Report(findings, tuple(pair for pair in pairs if pair.questions))


def _places(found: Iterable[bool]) -> tuple[int, ...]:
    return tuple(place for place, yes in enumerate(found) if yes)


def _without_template(questions: Sequence[str]) -> list[str]:
    words = [question.split() for question in questions]
    if len(set(questions)) == 1:  # alone, a question would be nothing but template
        return list(questions)
    columns = zip(*words, strict=False)
    template = sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, columns))
    return [" ".join(question[template:]) for question in words]


def _overlap(first: str, second: str, questions: Mapping[str, Sequence[str]]) -> Overlap:
    shared = set(questions[first]) & set(questions[second])
    return Overlap(
        first,
        second,
        questions=len(shared),
        first_rows=sum(question in shared for question in questions[first]),
        second_rows=sum(question in shared for question in questions[second]),
    )
