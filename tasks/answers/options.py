"""Option words in completions: by the rules of LLM-Adapters, and strictly."""

import re

from tasks.answers.letters import ORDINALS
from tasks.answers.statements import named, named_by, stated
from tasks.contract import Extractor

TRUTH = ("true", "false")
SOLUTIONS = ("solution1", "solution2")
ANSWERS = ("answer1", "answer2", "answer3", "answer4", "answer5")
ENDINGS = ("ending1", "ending2", "ending3", "ending4")
OPTIONS = ("option1", "option2")


SPEECH = re.compile(r"\"[^\"\s]{0,200}[ ][^\"\n]*(?:\"|$)", re.MULTILINE)
"""What somebody in a story says; no answer, unless something else says so."""


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
    option = named_by("|".join(map(_spelled, words)), re.IGNORECASE)
    stems = "|".join({word.rstrip("12345") for word in words if word[-1] in "12345"}) or "$^"
    ordinal = re.compile(rf"\b({'|'.join(ORDINALS)})[ ]({stems})\b", re.IGNORECASE)

    def numbered(match: re.Match[str]) -> str:
        return f"{match[2]}{ORDINALS.index(match[1].lower()) + 1}"

    def named_in(text: str) -> list[str]:
        return named(option, ordinal.sub(numbered, text), _word)

    def told(text: str) -> list[str]:
        return named_in(SPEECH.sub(" ", text))

    return lambda completion: stated(completion, named_in, told)


def _spelled(word: str) -> str:
    """Write the expression of a word; "no" before another word is no answer, unless it opens."""
    open_or_alone = r"(?:(?<![^\n])|(?!no\s\w))" if word == "no" else ""
    return rf"\b{open_or_alone}{re.sub(r'(?=[0-9])', ' ?', word)}\b(?!-\w)"


def _word(found: str) -> str:
    return "".join(found.lower().split())


def same_option(extracted: str, answer: str) -> bool:
    """Whether both are the same option; no option is wrong."""
    return extracted == answer
