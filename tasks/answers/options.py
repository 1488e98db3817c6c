"""Option words in completions: by the rules of LLM-Adapters, and strictly."""

import re

from tasks.answers.statements import DENIED, alone, one_of, stated
from tasks.contract import Extractor

TRUTH = ("true", "false")
SOLUTIONS = ("solution1", "solution2")
ANSWERS = ("answer1", "answer2", "answer3", "answer4", "answer5")
ENDINGS = ("ending1", "ending2", "ending3", "ending4")
OPTIONS = ("option1", "option2")


def first_of(*words: str) -> Extractor:
    """Make an extractor of the first of `words` anywhere; it gives an empty text if none is there.

    LLM-Adapters, `commonsense_evaluate.py`, `extract_answer`: parts of words count, other case or
    spacing does not.

        >>> extract = first_of("true", "false")
        >>> extract("the correct answer is false"), extract("untrue"), extract("True")
        ('false', 'true', '')
        >>> first_of(*ANSWERS)("answer10"), first_of(*ANSWERS)("answer 1")
        ('answer1', '')
    """
    option = re.compile("|".join(words))

    def first(completion: str) -> str:
        found = option.search(completion)
        return found.group() if found else ""

    return first


def stated_of(*words: str) -> Extractor:
    """Make an extractor of the word that a completion states; it gives an empty text if none is.

    Whole words in any case, with or without a space before the number. See
    `tasks.answers.statements` for what is stated.

        >>> extract = stated_of(*ANSWERS)
        >>> extract("answer1 is wrong, so the correct answer is Answer 3."), extract("answer10")
        ('answer3', '')
        >>> extract = stated_of("true", "false")
        >>> extract("not false but True"), extract("true or false"), extract("untrue")
        ('true', '', '')
    """
    words_spaced = "|".join(re.sub(r"(?=\d)", " ?", word) for word in words)
    option = re.compile(DENIED + one_of(rf"\b(?:{words_spaced})\b"), re.IGNORECASE)

    def named(text: str) -> list[str]:
        return ["".join(found.lower().split()) for found in alone(option, text)]

    return lambda completion: stated(completion, named)


def same_option(extracted: str, answer: str) -> bool:
    """Whether both are the same option; no option is wrong."""
    return extracted == answer
