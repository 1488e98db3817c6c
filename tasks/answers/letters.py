"""Option letters in completions, by the rules of LLM-Adapters."""

import re

LETTER = re.compile(r"A|B|C|D|E")


def first_letter(completion: str) -> str:
    """Take the first capital A to E anywhere; empty where there is none.

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


def same_letter(extracted: str, answer: str) -> bool:
    """Whether both are the same letter; no letter is wrong."""
    return extracted == answer
