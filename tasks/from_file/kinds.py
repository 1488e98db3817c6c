"""What an answer can be, and with it how completions are read, judged and measured."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from tasks.answers.gold import must_be_letter, must_be_number
from tasks.answers.letters import first_letter, same_letter, stated_letter
from tasks.answers.numbers import last_number, stated_number, within_tolerance
from tasks.answers.options import first_of, stated_of
from tasks.contract import Benchmark, Row
from tasks.data.content import DataError
from tasks.data.files import read

AnswerKind = Literal["number", "letter", "options", "text"]

MOST_OPTIONS = 20
OPTION = re.compile(r"(?!not\b)\w+(?:[ -]\w+)*", re.IGNORECASE)
EXPECTED_OPTION = "an option: words of letters and digits that do not begin with `not`"


def numbers(benchmark: Benchmark) -> Benchmark:
    """Judge by the number, as the sets of mathematics are."""
    return replace(
        benchmark,
        extractors={"llm-adapters": last_number, "strict": stated_number},
        judge=within_tolerance,
        check_gold=must_be_number,
    )


def letters(benchmark: Benchmark) -> Benchmark:
    """Judge by the letter of the option, as AQuA is."""
    return replace(
        benchmark,
        extractors={"llm-adapters": first_letter, "strict": stated_letter},
        judge=same_letter,
        check_gold=must_be_letter,
    )


def options(benchmark: Benchmark) -> Benchmark:
    """Judge by the option word, as BoolQ is; the options are the answers that the file holds.

    Raises:
        DataError: The file is not what it should be, or its answers are no options.
    """
    rows, _ = read(
        benchmark.file, Path(benchmark.file.places[0]), ("instruction", "answer"), must_be_option
    )
    words = options_of(benchmark.file.places[0], rows)
    # Alternatives are tried in order, and one option may begin another.
    longest_first = sorted(words, key=len, reverse=True)
    return replace(
        benchmark,
        extractors={"llm-adapters": first_of(*longest_first), "strict": stated_of(*longest_first)},
        judge=same_words,
        check_gold=lambda row: "" if row.answer in words else f"one of {', '.join(words)}",
        options=lambda row: {word: word for word in words},
    )


def texts(benchmark: Benchmark) -> Benchmark:
    """Compare with the reference, as Dolly is."""
    return replace(benchmark, metrics=("bleu", "rouge-l", "perplexity"))


KINDS: Mapping[str, Callable[[Benchmark], Benchmark]] = {
    "number": numbers,
    "letter": letters,
    "options": options,
    "text": texts,
}


def options_of(file: str, rows: Sequence[Row]) -> list[str]:
    """List the different answers, in alphabetical order.

    Raises:
        DataError: Two differ in case or spaces alone, or they are too many to be options.
    """
    first: dict[str, Row] = {}
    for row in rows:
        before = first.setdefault(_bare(row.answer), row)
        if before.answer != row.answer:
            raise DataError(
                f"{file}: row {row.id + 1}: the answer is {row.answer!r}, expected "
                f"{before.answer!r} as in row {before.id + 1}."
            )
    if len(first) > MOST_OPTIONS:
        raise DataError(
            f"{file}: {len(first)} different answers, expected {MOST_OPTIONS} options at most. "
            'kind="text" compares free answers with the reference.'
        )
    return sorted(row.answer for row in first.values())


def same_words(extracted: str, answer: str) -> bool:
    """Compare without case and spaces, which the strict extractor drops.

    >>> same_words("newyork", "New York"), same_words("", "New York")
    (True, False)
    """
    return _bare(extracted) == _bare(answer)


def must_be_option(row: Row) -> str:
    """Require words that the extractors can find in a completion."""
    return "" if OPTION.fullmatch(row.answer) else EXPECTED_OPTION


def _bare(text: str) -> str:
    return "".join(text.lower().split())
