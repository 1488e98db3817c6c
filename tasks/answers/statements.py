"""Where a completion states its answer: the frame of all `strict` extractors.

An answer is *stated* behind "the answer is", "answer:", "the correct option is", "####" (alone with
one word on its line) or in a LaTeX box. The last statement that names an answer counts, and in it
the first answer named, up to the end of the sentence or line. A statement that names none, as "The
answer is 12:30" among numbers, ends the search: nothing else is guessed. Without any statement, an
answer counts only if the completion names no other.

An answer behind "not" is not named, nor is one of several joined by "or", "and" or "/". Whatever
follows "### Instruction" is a problem that the model made up, and is cut.
"""

import re
from collections.abc import Callable

RUNAWAY = "### Instruction"

CUE = re.compile(
    r"""(?: \b(?: answer | correct[ ]\w+ )
            (?: [ ](?:to|of|for)[ ][^.:\n]{1,80}? )?
            (?: \s+(?:is|was|\w+[ ]be)\b | [\s*_]*[:=] )
          | (?<!\#)\#{4} (?=[ ]*\S+[ ]*(?:\n|\Z))
          | \\boxed(?=\{)
        ) [\s:=*_]*""",
    re.IGNORECASE | re.VERBOSE,
)
SENTENCE_END = re.compile(r"\n|[.!?]\s+(?=[A-Z\d])")

DENIED = r"(?P<denied>(?:\bnot|n't)\s+)?"

Named = Callable[[str], list[str]]
"""All answers that a text names, in order."""


def stated(completion: str, named: Named, named_elsewhere: Named | None = None) -> str:
    """Find the stated answer, else the only one that the completion names; empty if neither.

    Args:
        completion: What the model wrote.
        named: Reads a statement.
        named_elsewhere: Reads a completion without statement; `named` by default.

    >>> stated("The answer is red. Now the answer is blue or so. Green", str.split)
    'blue'
    >>> stated("red red", str.split), stated("red blue", str.split)
    ('red', '')
    """
    text = completion.split(RUNAWAY, maxsplit=1)[0]
    statements = [SENTENCE_END.split(part)[0] for part in CUE.split(text)[1:]]
    if statements:
        return next((found[0] for found in map(named, reversed(statements)) if found), "")
    only = set((named_elsewhere or named)(text))
    return only.pop() if len(only) == 1 else ""


def one_of(item: str) -> str:
    """Write the expression of an `item`, the group `one`, and items joined to it, `others`.

    >>> match = re.search(one_of("[xy]"), "x or y")
    >>> match and (match["one"], match["others"])
    ('x', ' or y')
    """
    return rf"(?P<one>{item})(?P<others>(?:\s*(?:/|\bor\b|\band\b)\s*{item})*)"


def alone(pattern: re.Pattern[str], text: str) -> list[str]:
    """List each `one` that `pattern` finds in `text`, neither denied nor joined to others.

    >>> alone(re.compile(DENIED + one_of("[xy]")), "x or y, not x, y")
    ['y']
    """
    matches = pattern.finditer(text)
    return [match["one"] for match in matches if not (match["denied"] or match["others"])]
