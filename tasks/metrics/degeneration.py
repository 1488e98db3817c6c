"""Signs of degenerate output: no text, no end, repeated text, always the same answer.

A score does not show them: a model that answers `true` to all of BoolQ has 62.17 %.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MOST_EMPTY = 0.01  # A model that was trained on answers leaves hardly any out.
MOST_CUT = 0.1
MOST_REPEATING = 0.05
SAME_ANSWER = 0.95
FEWEST_ANSWERS = 20  # Among fewer, one answer to nearly all of them is often chance.

COPIES = 4
SHORTEST_STRETCH = 32  # Characters: four braces that close a program are no repetition.


@dataclass(frozen=True)
class Degeneration:
    """What is degenerate in the completions of one benchmark, in shares of all of them, 0 to 1.

    Attributes:
        completions: How many there are.
        empty: White space only.
        cut: Ended by the token limit, not by the model.
        repeating: Ending in the same text again and again, see `repeats`.
        answer: The answer that was extracted most often; empty if there is none.
        answered: From which this answer was extracted.
        gold: For which this answer is the gold answer.
    """

    completions: int
    empty: float
    cut: float
    repeating: float
    answer: str = ""
    answered: float = 0.0
    gold: float = 0.0

    def sentences(self) -> tuple[str, ...]:
        """Name what is beyond the thresholds of this module; nothing where all is well.

        A share is beyond its threshold if it is larger. For the same answer: at least
        `SAME_ANSWER` of at least `FEWEST_ANSWERS` completions have it, while fewer than
        `SAME_ANSWER` of the gold answers do.

            >>> Degeneration(50, 0.0, 0.8, 0.05, "true", answered=1.0, gold=0.62).sentences()
            ('cut at the limit: 80 %', 'always the same answer: true (100 %)')
        """
        return tuple(self._sentences())

    def _sentences(self) -> Iterator[str]:
        if self.empty > MOST_EMPTY:
            yield f"empty: {_percent(self.empty)}"
        if self.cut > MOST_CUT:
            yield f"cut at the limit: {_percent(self.cut)}"
        if self.repeating > MOST_REPEATING:
            yield f"repeats itself: {_percent(self.repeating)}"
        if self.completions >= FEWEST_ANSWERS and self.answered >= SAME_ANSWER > self.gold:
            yield f"always the same answer: {self.answer} ({_percent(self.answered)})"


def degeneration(
    completions: Sequence[str],
    ended: Sequence[bool],
    extracted: Sequence[str] = (),
    gold: Sequence[str] = (),
) -> Degeneration:
    """Look for signs of degenerate output in the completions of one benchmark.

    Args:
        completions: One for each row; at least one.
        ended: For each row, whether the model ended the completion.
        extracted: For each row, the answer found, or an empty text, which is no answer; left out
            where the benchmark has none.
        gold: For each row, the right answer; left out with `extracted`. Answers are compared as
            they are written: `15` is not `15.0`.
    """
    count = len(completions)
    answers = Counter(answer for answer in extracted if answer)
    # The first in the alphabet of those equally frequent, so that the order of rows is no matter.
    answer = min(answers, key=lambda answer: (-answers[answer], answer), default="")
    return Degeneration(
        completions=count,
        empty=sum(not completion.strip() for completion in completions) / count,
        cut=sum(not end for end in ended) / count,
        repeating=sum(map(repeats, completions)) / count,
        answer=answer,
        answered=answers[answer] / count,
        gold=sum(right == answer for right in gold) / count,
    )


def repeats(text: str) -> bool:
    r"""Whether `text` ends in four or more copies in a row of some text, 32 characters in all.

    One more copy may follow, cut short. Words, lines and single signs are found alike, in any
    script; white space of any length is one space. What repeats with a change, as a count does,
    is not found, nor what repeats and then goes on. Time is linear in the length.

        >>> repeats("So: " + "It is 7. " * 4), repeats("It is 7.\n" * 4 + "It")
        (True, True)
        >>> repeats("The answer is 7. " * 3), repeats("ha ha ha ha"), repeats("10000000")
        (False, False, False)
    """
    # Knuth, Morris and Pratt: the longest border of each prefix, here of the text from its end;
    # a prefix is made of copies of what its longest border leaves of it.
    backward = f" {' '.join(text.split())}"[::-1]
    borders = [0]
    for length, sign in enumerate(backward[1:], 2):
        border = borders[-1]
        while border and backward[border] != sign:
            border = borders[border - 1]
        border += backward[border] == sign
        if length >= max(SHORTEST_STRETCH, COPIES * (length - border)):
            return True
        borders.append(border)
    return False


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
