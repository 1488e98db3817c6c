"""Option letters in completions: by the rules of LLM-Adapters, and strictly."""

import re

from tasks.answers.statements import named, named_by, stated

LETTER = re.compile(r"A|B|C|D|E")

# A small letter only where it can be no word; "A" before a small letter is the article.
_OPTION = r"\b(?:[Oo]ption|[Cc]hoice|[Ll]etter)\s{0,2}['\"(]?[A-Ea-e](?![\w'-])"
_ARTICLE = r"A\s(?!and\b|or\b|is\b)[a-z]"
IN_STATEMENT = named_by(
    rf"{_OPTION}|\([A-Ea-e]\)|^A(?!\w)"
    rf"|(?<![\w'-])(?:(?!{_ARTICLE})[A-E](?!['-]?\w)|[a-e](?=[).:](?:\s|$)|\W{{0,3}}$))"
)
_LEAD = (
    r"(?:'s|\b(?:is|so|i\.e\.|hence|therefore|thus|us|be|choose|chose|pick|select|with|say))"
    r"[,:]?\s{1,3}"
)
MARKED = named_by(
    rf"{_OPTION}|(?<!\w)\([A-Ea-e]\)|['\"][A-E]['\"]"
    r"|(?<![^\n])[^\w\n(]{0,5}[A-Ea-e](?:[).:]\s|[^\w\n]{0,5}(?![^\n]))"
    rf"|{_LEAD}[A-E](?=\W{{0,3}}(?:$|\n|[.,;(])|\s(?:because|since|as)\b)"
)
ORDINALS = ("first", "second", "third", "fourth", "fifth")
ORDINAL = re.compile(rf"\b({'|'.join(ORDINALS)})[ ](?:option|choice)\b", re.IGNORECASE)


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
    """Take the letter A to E that is stated, as a capital; empty if there is none.

    In a statement any letter counts that is no word or part of one. Elsewhere it must be marked:
    "(C)", "option C", or "C)", "C." or "C" at the start of a line. See `tasks.answers.statements`.

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
    return named(IN_STATEMENT, _lettered(text.strip()), _letter)


def _marked(text: str) -> list[str]:
    return named(MARKED, _lettered(text), _letter)


def _lettered(text: str) -> str:
    """Write "the second option" as "the option B"."""
    return ORDINAL.sub(lambda found: f"option {'ABCDE'[ORDINALS.index(found[1].lower())]}", text)


def _letter(found: str) -> str:
    return re.sub(r"\W", "", found)[-1].upper()
