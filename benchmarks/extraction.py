"""How long extractors take on long completions: in proportion to their length.

A model that repeats itself writes one piece again and again; each piece here once made some
expression slow, or could. A completion of 100,000 characters may take 15 times as long as one of
10,000, and a second at most.
"""

import time
from collections.abc import Iterator

from benchmarks.reading import load
from tasks.answers.letters import first_letter, stated_letter
from tasks.answers.numbers import last_number, stated_number
from tasks.answers.options import ANSWERS, first_of, stated_of
from tasks.contract import Extractor

EXTRACTORS: dict[str, Extractor] = {
    "llm-adapters, number": last_number,
    "llm-adapters, letter": first_letter,
    "llm-adapters, options": first_of(*ANSWERS),
    "strict, number": stated_number,
    "strict, letter": stated_letter,
    "strict, options": stated_of(*ANSWERS, "yes", "no"),
}
BEGINNINGS = ("", "The answer is ", "correct ")
PIECES = (
    *(
        " ",
        "\n",
        "_",
        "-",
        "#",
        "*",
        ",",
        ".",
        "(",
        "[",
        "{",
        "$",
        "^",
        "<",
        "'",
        '"',
        "|",
        "a",
        "\u00bd",
    ),
    *(
        "1",
        "1,",
        "1,000",
        "0.",
        "1/",
        "1 ",
        "1-",
        "1 = ",
        "1 and ",
        "1 apple ",
        "$1",
        "(1 + ",
        "x = 1, ",
    ),
    *("(A", "A, ", "A or ", "A) 1\n", "answer1 or ", "answer1, ", "no ", "not true", '"yes '),
    *(
        "answer ",
        "answer is ",
        "the answer is ",
        "answer (",
        "correct a",
        "value of ",
        "is the answer ",
    ),
    *(
        "\\boxed{",
        "\\boxed",
        "\\text{",
        "\\frac{1}{",
        "\\frac1",
        "<think>",
        "####",
        "Wait. ",
        "\nQ:",
    ),
    *("one ", "one hundred ", "half a ", "minus ", "so ", "total ", "e.g. ", "1. ", "either "),
    "She sold 48 / 2 = 24 clips in May, and 48 + 24 = 72 in all. ",
    "The ratio of A to B is 3:4, so the share of the first is 3/7. Therefore the answer is (B). ",
)
SHORT, LONG = 10_000, 100_000
ROUNDS = 3
MEASURABLE = 0.02
"""CPU seconds. Of what takes less, the clock tells no ratio."""


def report() -> None:
    """Print the longest time of each extractor, and its largest ratio of long to short."""
    print(f"Extraction from {len(BEGINNINGS) * len(PIECES)} texts, {load()}:\n")
    print("| extractor | 100,000 characters, longest CPU time | to that of 10,000, largest |")
    print("| :--- | ---: | ---: |")
    for name, extractor in EXTRACTORS.items():
        times = list(_times(extractor))
        longest = max(long for _, long in times)
        ratios = [long / short for short, long in times if long > MEASURABLE]
        largest = f"{max(ratios):.1f}" if ratios else "-"
        print(f"| {name} | {longest:.2f} s | {largest} |")


def _times(extractor: Extractor) -> Iterator[tuple[float, float]]:
    for beginning in BEGINNINGS:
        for piece in PIECES:
            text = beginning + piece * (LONG // len(piece) + 1)
            yield _seconds(extractor, text[:SHORT]), _seconds(extractor, text[:LONG])


def _seconds(extractor: Extractor, text: str) -> float:
    """Take the CPU time of the fastest of a few rounds, whatever else the machine does."""
    found = []
    for _ in range(ROUNDS):
        start = time.process_time()
        extractor(text)
        found.append(time.process_time() - start)
    return min(found)
