"""Option letters in completions: by the rules of LLM-Adapters, and strictly."""

import re

from tasks.answers.statements import DENIED, alone, one_of, stated

LETTER = re.compile(r"A|B|C|D|E")

ITEM = one_of(r"\(?(?<![\w'-])[A-E](?![\w'-])\)?")
# "A" before a small letter is the article, unless it opens the statement.
IN_STATEMENT = re.compile(rf"{DENIED}(?:^\W*?|\b[Oo]ption\s|(?!\(?A\s[a-z])){ITEM}")
MARKED = re.compile(
    rf"{DENIED}(?:^[^\w\n]*?(?=\(?[A-E](?:[^\w\n]*$|[).]\s))|\b[Oo]ption\s|(?=\([A-E]\))){ITEM}",
    re.MULTILINE,
)


def first_letter(completion: str) -> str:
    """Take the first capital A to E anywhere; empty if there is none.

    LLM-Adapters, `evaluate.py`, `extract_answer_letter`: no word boundary, so that words count.

        >>> first_letter("The answer is (C)")
        'C'
        >>> first_letter("Answer: C"), first_letter("Based on the table, D")
        ('A', 'B')
        >>> first_letter("the answer is c")
        ''
    """
    found = LETTER.search(completion.strip())
    return found.group() if found else ""


def stated_letter(completion: str) -> str:
    """Take the capital A to E that is stated; empty if there is none.

    In a statement any letter that is no part of a word counts. Elsewhere it must be marked: "(C)",
    "option C", or "C)", "C." or "C" at the start of a line. See `tasks.answers.statements`.

        >>> stated_letter("Based on the table, the answer is (D)."), stated_letter("Answer: C")
        ('D', 'C')
        >>> stated_letter("C) 40 km"), stated_letter("A car and (B) a bus"), stated_letter("A car")
        ('C', 'B', '')
        >>> stated_letter("(A) 20 (B) 30"), stated_letter("The answer is A or B")
        ('', '')
    """
    return stated(completion, _in_statement, _marked)


def same_letter(extracted: str, answer: str) -> bool:
    """Whether both are the same letter; no letter is wrong."""
    return extracted == answer


def _in_statement(text: str) -> list[str]:
    return [found.strip("()") for found in alone(IN_STATEMENT, text)]


def _marked(text: str) -> list[str]:
    return [found.strip("()") for found in alone(MARKED, text)]
